// @ts-check
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run } from './environment.mjs';

/**
 * One Debian package and how to see that what we want of it is there (also where it came from elsewhere).
 * @typedef {{ package: string, for: string, required: boolean, found: () => boolean }} SystemPackage
 */

/** @param {string} program */
const onPath = (program) =>
  [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'].some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });

/**
 * Debian keeps libraries in a folder per architecture.
 * @param {string} path
 */
const inLibraries = (path) =>
  existsSync('/usr/lib') && readdirSync('/usr/lib').some((folder) => existsSync(join('/usr/lib', folder, path)));

/** @type {SystemPackage[]} What running the product needs on Debian. */
export const productPackages = [
  { package: 'git', for: 'snapshots of candidates', required: true, found: () => onPath('git') },
  { package: 'bubblewrap', for: 'isolation of sessions', required: false, found: () => onPath('bwrap') },
  { package: 'acl', for: 'isolation by a separate uid', required: false, found: () => onPath('setfacl') },
];

/** @type {SystemPackage[]} What its tests need besides. */
export const testPackages = [
  ...productPackages,
  { package: 'strace', for: 'tests of the order of writes', required: false, found: () => onPath('strace') },
  {
    package: 'libfaketime',
    for: 'tests with a stepped clock',
    required: false,
    found: () => inLibraries('faketime/libfaketime.so.1'),
  },
  { package: 'python3', for: 'the task of docs/first-night.md', required: false, found: () => onPath('python3') },
  { package: 'gcc', for: 'test programs in C', required: false, found: () => onPath('gcc') },
  {
    package: 'libc6-dev',
    for: 'test programs in C',
    required: false,
    found: () => existsSync('/usr/include/stdio.h'),
  },
];

/** @type {SystemPackage[]} What the tests in a real VS Code need; installed only when they run. */
export const editorPackages = [
  { package: 'chromium', for: "VS Code's workbench in tests", required: true, found: () => onPath('chromium') },
  {
    package: 'fonts-dejavu-core',
    for: 'readable screenshots',
    required: false,
    found: () => existsSync('/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf'),
  },
];

/**
 * Installs what is missing where it can (root with apt-get), else says what is missing and how to get it.
 * @param {SystemPackage[]} wanted
 * @returns {Promise<boolean>} false if something required is missing still
 */
export const ensureSystem = async (wanted) => {
  const before = wanted.filter((each) => !each.found());
  if (before.length === 0) return true;
  if (process.getuid?.() === 0 && onPath('apt-get')) await aptInstall(before.map((each) => each.package));
  const missing = before.filter((each) => !each.found());
  if (missing.length === 0) return true;
  console.error('Missing on this machine:');
  for (const each of missing) console.error(`  ${each.package.padEnd(12)} ${each.for}`);
  console.error(`On Debian: sudo apt-get install ${missing.map((each) => each.package).join(' ')}`);
  const stop = missing.some((each) => each.required);
  console.error(stop ? 'It does not work without; stopping here.' : 'Going on without; what needs them will say so.');
  return !stop;
};

/** @param {string[]} packages */
const aptInstall = async (packages) => {
  console.log(`Installing ${packages.join(', ')} (apt-get) …`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const updated = await run(['apt-get', '-qq', 'update'], { env });
  if (updated !== 0) console.error(`apt-get update ended with ${updated}; trying with the lists that are there.`);
  await run(['apt-get', '-qq', '-y', '-o', 'Dpkg::Use-Pty=0', 'install', '--no-install-recommends', ...packages], {
    env,
  });
};
