// @ts-check
import { accessSync, constants, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { nodeBinary, root, run } from './environment.mjs';

/**
 * @typedef {{ version?: string, integrity?: string, optional?: boolean, devOptional?: boolean, peer?: boolean }} LockEntry
 * @typedef {{ packages?: Record<string, LockEntry> }} Lock
 */

/**
 * Whether what npm noted as installed is what the lock file asks for. npm writes its note (`node_modules/.package-lock.json`)
 * last, so an interrupted installation has none; it is kept by `npm install` too, unlike a stamp of our own.
 * Optional packages of other platforms are rightly absent; superfluous packages do no harm.
 * @param {Lock} wanted package-lock.json
 * @param {Lock | undefined} installed node_modules/.package-lock.json
 */
export const isInstalled = (wanted, installed) => {
  if (installed?.packages === undefined) return false;
  for (const [path, entry] of Object.entries(wanted.packages ?? {})) {
    if (path === '') continue;
    const found = installed.packages[path];
    if (found === undefined) {
      if (entry.optional === true || entry.devOptional === true) continue;
      return false;
    }
    if (found.version !== entry.version || found.integrity !== entry.integrity) return false;
  }
  return true;
};

/**
 * @param {string} path
 * @returns {Lock | undefined} undefined where there is no such file, or none that can be read as JSON
 */
const readLock = (path) => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
};

const hasNode = () => {
  try {
    accessSync(nodeBinary, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/**
 * npm as it was called (inside an npm script), else the one on PATH.
 * @returns {string[]}
 */
const npm = () => {
  const called = process.env['npm_execpath'];
  return called !== undefined && basename(called) === 'npm-cli.js' ? [process.execPath, called] : ['npm'];
};

/**
 * Installs the npm packages (Node 22 is one of them) unless they are there as package-lock.json names them.
 * @returns {Promise<boolean>} whether they are there now; if not, the reason was printed
 */
export const ensurePackages = async () => {
  const wanted = readLock(join(root, 'package-lock.json'));
  if (wanted === undefined) {
    console.error('package-lock.json is missing or damaged. Restore it: git checkout -- package-lock.json');
    return false;
  }
  if (hasNode() && isInstalled(wanted, readLock(join(root, 'node_modules/.package-lock.json')))) return true;
  console.log('Installing the npm packages that package-lock.json names (npm ci, about half a minute) …');
  const code = await run([...npm(), 'ci', '--include=dev', '--no-audit', '--no-fund'], { env: process.env });
  if (code !== 0) {
    console.error(`npm ci failed with exit code ${code}; its own message is above. Nothing else was started.`);
    return false;
  }
  if (hasNode()) return true;
  console.error(
    `npm ci went well but left no ${nodeBinary}: the install script of the package "node" did not run.\n` +
      'If npm is set to ignore-scripts, run: npm ci --ignore-scripts=false',
  );
  return false;
};
