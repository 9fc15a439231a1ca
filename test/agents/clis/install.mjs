// @ts-check
// Installs the real agent CLIs that the tests drive, at the versions that package-lock.json beside this file pins, into the ignored
// folder `.agent-clis/` (about 1.5 GB, from the npm registry). Does nothing where they are there already.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { projectEnvironment, root, run } from '../../bootstrap/environment.mjs';
import { isInstalled } from '../../bootstrap/packages.mjs';

const here = import.meta.dirname;
const folder = join(root, '.agent-clis');
const stamp = join(folder, 'stamp.json');

/** Folder with the CLIs' programs, to be put on a session's PATH. */
export const clisPath = join(folder, 'node_modules/.bin');

/**
 * The programs, the package whose version each must tell, and the install script that fetches its native binary: npm 11 runs none
 * by itself, npm 10 all, among them compilations that nothing here needs. So all are held back and these run by us.
 * @type {Readonly<Record<string, { package: string, script?: string }>>}
 */
const programs = {
  claude: { package: '@anthropic-ai/claude-code', script: 'install.cjs' },
  codex: { package: '@openai/codex' },
  opencode: { package: 'opencode-ai', script: 'postinstall.mjs' },
  gemini: { package: '@google/gemini-cli' },
  qwen: { package: '@qwen-code/qwen-code' },
  kimi: { package: '@moonshot-ai/kimi-code' },
};

/** @type {{ dependencies: Record<string, string> }} */
const wanted = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));

/** What the stamp says once all is installed and each program has told its version. */
const wantedHash = () =>
  createHash('sha256')
    .update(readFileSync(join(here, 'package.json')))
    .update(readFileSync(join(here, 'package-lock.json')))
    .digest('hex');

/**
 * @param {string} place
 * @returns {import('../../bootstrap/packages.mjs').Lock}
 */
const readLock = (place, name = 'package-lock.json') => JSON.parse(readFileSync(join(place, name), 'utf8'));

/** @param {string} hash */
const isStamped = (hash) => {
  try {
    return JSON.parse(readFileSync(stamp, 'utf8')).hash === hash;
  } catch {
    return false; // never installed, or not to the end
  }
};

/** Same npm as the one that runs us, else the one on PATH. */
const npm = () => {
  const called = process.env['npm_execpath'];
  return called?.endsWith('npm-cli.js') === true ? [process.execPath, called] : ['npm'];
};

/**
 * What a program tells as its version, of the pinned one.
 * @param {string} name
 * @returns {string | null} what is wrong, as a sentence
 */
const wrongVersion = (name) => {
  const version = wanted.dependencies[programs[name]?.package ?? ''] ?? '(not in package.json)';
  try {
    const env = { ...projectEnvironment(), HOME: join(folder, 'home'), DISABLE_AUTOUPDATER: '1' };
    const told = execFileSync(join(clisPath, name), ['--version'], { env, encoding: 'utf8', timeout: 120_000 });
    return told.includes(version) ? null : `${name} says "${told.trim()}", wanted is ${version}`;
  } catch (error) {
    return `${name} --version failed: ${error instanceof Error ? error.message : String(error)}`;
  }
};

/** @returns {Promise<number>} an exit code */
const install = async () => {
  console.log('Installing the agent CLIs that the tests drive into .agent-clis/ (1.5 GB, a minute or two) …');
  mkdirSync(join(folder, 'home'), { recursive: true });
  rmSync(stamp, { force: true });
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(here, file), join(folder, file));
  // Not `npm ci`: npm 11 refuses a lock that lacks other platforms' optional binaries, which not every registry carries.
  const command = [...npm(), 'install', '--prefix', folder, '--ignore-scripts', '--no-save', '--no-audit', '--no-fund'];
  const code = await run(command, { env: process.env });
  if (code !== 0) {
    console.error(
      `npm install of the agent CLIs ended with ${code}; its message is above. Is the npm registry reachable?`,
    );
    return code;
  }
  if (!isInstalled(readLock(here), readLock(join(folder, 'node_modules'), '.package-lock.json'))) {
    console.error(`What npm installed into ${folder} is not what ${join(here, 'package-lock.json')} names.`);
    return 1;
  }
  for (const { package: name, script } of Object.values(programs)) {
    if (script === undefined) continue;
    const at = join(folder, 'node_modules', name);
    execFileSync(process.execPath, [join(at, script)], { cwd: at, stdio: 'inherit' });
  }
  return 0;
};

/**
 * Installs what is missing and checks that each program tells the pinned version.
 * @returns {Promise<number>} an exit code; what is wrong was printed
 */
export const ensureAgentClis = async () => {
  const hash = wantedHash();
  if (isStamped(hash)) return 0;
  const code = await install();
  if (code !== 0) return code;
  const wrong = Object.keys(programs).flatMap((name) => wrongVersion(name) ?? []);
  for (const each of wrong) console.error(`✗  ${each}`);
  if (wrong.length > 0) return 1;
  writeFileSync(`${stamp}.new`, JSON.stringify({ hash, versions: wanted.dependencies }, null, 2));
  renameSync(`${stamp}.new`, stamp);
  console.log(`Installed: ${Object.keys(programs).join(', ')}.`);
  return 0;
};

if (process.argv[1] === import.meta.filename) process.exitCode = await ensureAgentClis();
