// @ts-check
// Bundles src/ to single files in dist/. `--watch` rebuilds on change, `--quiet` prints only what is wrong.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build, context } from 'esbuild';
import { root } from './environment.mjs';

/**
 * One bundle. `vscode` stays outside of the extension's bundle only: elsewhere the bundler refuses it.
 * `program`: begins with a hashbang and is executable. `light`: starts in milliseconds, so it may bundle no library.
 * `page`: for a webview, with its stylesheet beside it; what a reader of stack traces gains is less there than what loads.
 * @typedef {{ out: string, source: string, vscode?: boolean, program?: boolean, light?: boolean, page?: boolean }} Entry
 */

/** @type {Entry[]} */
export const entries = [
  { out: 'cli.js', source: 'src/cli.ts', program: true },
  { out: 'session.js', source: 'src/session.ts', program: true, light: true },
  { out: 'drive.js', source: 'src/drive.ts' },
  { out: 'keeper.js', source: 'src/controller/keeper.ts' },
  { out: 'controller.js', source: 'src/controller/main.ts' },
  { out: 'runner.js', source: 'src/machines/runner.ts' },
  { out: 'extension.cjs', source: 'src/extension.ts', vscode: true },
  { out: 'review.js', source: 'webview-ui/review/main.tsx', page: true },
];

// Bundled CommonJS libraries call require() for Node's own modules; an ES module has none.
const requireShim =
  "import { createRequire as hmaCreateRequire } from 'node:module';const require = hmaCreateRequire(import.meta.url);";

/** @param {Entry} entry */
const banner = (entry) => {
  if (entry.vscode === true || entry.page === true) return '';
  const own = existsSync(join(root, entry.source)) && readFileSync(join(root, entry.source), 'utf8').startsWith('#!');
  const hashbang = entry.program === true && !own ? '#!/usr/bin/env node\n' : '';
  return hashbang + (entry.light === true ? '' : requireShim);
};

/**
 * Puts a bundle in place whole, as a new file: a run's copy of the old one may be a hard link to it.
 * @param {Entry} entry
 * @returns {import('esbuild').Plugin}
 */
const publish = (entry) => ({
  name: 'publish',
  setup: (bundler) => {
    bundler.onEnd(({ outputFiles = [] }) => {
      for (const { path, contents } of outputFiles) {
        const fresh = `${path}.${process.pid}`;
        writeFileSync(fresh, contents, { mode: entry.program === true ? 0o755 : 0o644 });
        renameSync(fresh, path);
      }
    });
  },
});

/**
 * esbuild's options for one bundle. Identifiers keep their names, so that a stack trace in a log can be read.
 * @param {Entry} entry
 * @param {string} folder where it is written
 * @returns {import('esbuild').BuildOptions & { metafile: true, write: false }}
 */
export const bundleOptions = (entry, folder) => ({
  absWorkingDir: root,
  entryPoints: [entry.source],
  outfile: join(folder, entry.out),
  bundle: true,
  platform: entry.page === true ? 'browser' : 'node',
  target: entry.page === true ? 'chrome138' : 'node22', // VS Code 1.105 is Electron 37
  format: entry.vscode === true ? 'cjs' : 'esm',
  external: entry.vscode === true ? ['vscode'] : [],
  banner: { js: banner(entry) },
  minifySyntax: true,
  minifyWhitespace: true,
  minifyIdentifiers: entry.page === true,
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none', // the licences are written whole to licenses.txt
  metafile: true,
  write: false,
  plugins: [publish(entry)],
  logLevel: 'warning',
});

/**
 * The npm packages in a bundle, by their folders relative to the root.
 * @param {import('esbuild').Metafile} metafile
 * @returns {string[]}
 */
export const bundledPackages = (metafile) => {
  const folders = Object.keys(metafile.inputs).flatMap((path) => {
    const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path);
    return match?.[1] === undefined ? [] : [match[1]];
  });
  return [...new Set(folders)].toSorted();
};

/**
 * @param {Entry} entry
 * @param {import('esbuild').Metafile} metafile
 * @returns {string | undefined} what is wrong with the bundle, in words
 */
export const complaint = (entry, metafile) => {
  const packages = bundledPackages(metafile);
  if (entry.light !== true || packages.length === 0) return undefined;
  const importers = Object.entries(metafile.inputs)
    .filter(
      ([path, input]) =>
        !path.includes('node_modules') && input.imports.some((each) => each.path.includes('node_modules')),
    )
    .map(([path]) => path);
  return `${entry.out} must start in milliseconds but bundles ${packages.join(', ')}, imported by ${importers.join(', ')}`;
};

/** @param {readonly string[]} packages folders relative to the root */
const licences = (packages) =>
  packages
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
      const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'LICENCE', 'license', 'License.txt']
        .map((each) => join(root, folder, each))
        .find((path) => existsSync(path));
      return `${name} ${version} (${license})\n\n${file === undefined ? '' : readFileSync(file, 'utf8').trim()}\n`;
    })
    .join(`\n${'─'.repeat(80)}\n\n`);

/**
 * Builds all bundles whose source exists into a folder.
 * @param {string} folder
 * @returns {Promise<{ built: string[], absent: string[], wrong: string[] }>} `wrong` in words; esbuild prints its own errors
 */
export const buildAll = async (folder) => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n');
  const present = entries.filter((entry) => existsSync(join(root, entry.source)));
  const results = await Promise.allSettled(present.map((entry) => build(bundleOptions(entry, folder))));
  /** @type {string[]} */
  const wrong = [];
  /** @type {Set<string>} */
  const packages = new Set();
  for (const [index, entry] of present.entries()) {
    const result = results[index];
    if (result?.status !== 'fulfilled') {
      wrong.push(`${entry.source} could not be bundled`);
      rmSync(join(folder, entry.out), { force: true });
      continue;
    }
    const { metafile } = result.value;
    for (const each of bundledPackages(metafile)) packages.add(each);
    const words = complaint(entry, metafile);
    if (words !== undefined) wrong.push(words);
  }
  writeFileSync(join(folder, 'licenses.txt'), licences([...packages].toSorted()));
  const missing = entries.filter((entry) => !present.includes(entry));
  for (const entry of missing) rmSync(join(folder, entry.out), { force: true });
  const absent = missing.map((entry) => entry.source);
  return { built: present.map((entry) => entry.out), absent, wrong };
};

/** @param {string} folder */
const watchAll = async (folder) => {
  for (const entry of entries.filter((each) => existsSync(join(root, each.source)))) {
    const watched = await context({ ...bundleOptions(entry, folder), logLevel: 'info' });
    await watched.watch();
  }
};

/** @param {readonly string[]} words */
const main = async (words) => {
  const folder = join(root, 'dist');
  const start = performance.now();
  const { built, absent, wrong } = await buildAll(folder);
  for (const line of wrong) console.error(`✗ ${line}`);
  if (!words.includes('--quiet')) {
    if (absent.length > 0) console.log(`Not there yet, so not bundled: ${absent.join(', ')}`);
    const took = Math.round(performance.now() - start);
    console.log(`${relative(process.cwd(), folder)}: ${built.join(', ')} (${took} ms)`);
  }
  if (wrong.length > 0) return 1;
  if (words.includes('--watch')) await watchAll(folder);
  return 0;
};

if (process.argv[1] === import.meta.filename) process.exitCode = await main(process.argv.slice(2));
