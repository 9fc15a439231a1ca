// @ts-check
// Bundles src/ to files in dist/. `--watch` rebuilds on change, `--quiet` prints only what is wrong, `--fresh` leaves nothing of earlier builds.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { build, context } from 'esbuild';
import { root } from './environment.mjs';

/**
 * One bundle. `vscode` stays outside of the extension's bundle only: elsewhere the bundler refuses it.
 * `program`: begins with a hashbang and is executable. `light`: starts in milliseconds, so it may bundle no library.
 * `page`: for a webview, with its stylesheet beside it; what a reader of stack traces gains is less there than what loads.
 * `shared`: what several of these need lies once, in files `shared-….js` beside them (docs/decisions/0003-shared-chunks.md).
 * @typedef {{ out: string, source: string, vscode?: boolean, program?: boolean, light?: boolean, page?: boolean, shared?: boolean }} Entry
 */

/** @type {Entry[]} */
export const entries = [
  { out: 'cli.js', source: 'src/cli.ts', program: true, shared: true },
  { out: 'session.js', source: 'src/session.ts', program: true, light: true },
  { out: 'drive.js', source: 'src/drive.ts', shared: true },
  { out: 'keeper.js', source: 'src/controller/keeper.ts', shared: true },
  { out: 'mcp.js', source: 'src/mcp.ts', shared: true },
  { out: 'controller.js', source: 'src/controller/main.ts', shared: true },
  { out: 'runner.js', source: 'src/machines/runner.ts' },
  { out: 'extension.cjs', source: 'src/extension.ts', vscode: true },
  { out: 'window.cjs', source: 'src/window/window.ts', vscode: true },
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

/** @param {string} path */
const isShared = (path) => /^shared-\w+\.js$/.test(basename(path));

/**
 * Puts bundles in place whole, as new files: a run's copy of an old one may be a hard link to it. What the bundles share comes
 * first, so that none is there without what it imports.
 * @param {readonly Entry[]} made
 * @returns {import('esbuild').Plugin}
 */
const publish = (made) => ({
  name: 'publish',
  setup: (bundler) => {
    bundler.onEnd(({ outputFiles = [] }) => {
      const programs = new Set(made.filter((entry) => entry.program === true).map((entry) => entry.out));
      for (const { path, contents } of outputFiles.toSorted(
        (a, b) => Number(isShared(b.path)) - Number(isShared(a.path)),
      )) {
        const fresh = `${path}.${process.pid}`;
        writeFileSync(fresh, contents, { mode: programs.has(basename(path)) ? 0o755 : 0o644 });
        renameSync(fresh, path);
      }
    });
  },
});

/** How long what earlier bundles shared is kept, ms: a program that was started from them may still load a part. */
const sharedKeptMs = 10 * 60_000;

/**
 * Removes what earlier bundles shared and none of these imports.
 * @param {string} folder
 * @param {number} keptMs how old it must be
 */
export const removeOldShared = (folder, keptMs) => {
  const used = new Set();
  const waiting = entries.map((entry) => entry.out).filter((name) => existsSync(join(folder, name)));
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    for (const [, next] of readFileSync(join(folder, name), 'utf8').matchAll(/"\.\/(shared-\w+\.js)"/g)) {
      if (next === undefined || used.has(next)) continue;
      used.add(next);
      waiting.push(next);
    }
  }
  for (const name of readdirSync(folder).filter((each) => isShared(each) && !used.has(each)))
    if (Date.now() - statSync(join(folder, name)).mtimeMs >= keptMs) rmSync(join(folder, name), { force: true });
};

/**
 * The MCP library's own smaller JSON Schema validator, with Node's stdin and stdout: the one that it takes for Node (ajv) weighs more than
 * all else of `mcp.js`, and validates only what clients are asked for, which `hma mcp` never does.
 * @type {import('esbuild').Plugin}
 */
const smallValidator = {
  name: 'small-validator',
  setup: (bundler) => {
    const library = '@modelcontextprotocol/server';
    bundler.onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, ({ resolveDir }) => ({
      path: 'shims',
      namespace: 'small-validator',
      pluginData: resolveDir,
    }));
    bundler.onLoad({ filter: /.*/, namespace: 'small-validator' }, ({ pluginData }) => ({
      contents: `export { CfWorkerJsonSchemaValidator as DefaultJsonSchemaValidator } from '${library}/validators/cf-worker';
        export { default as process } from 'node:process';`,
      resolveDir: pluginData,
    }));
  },
};

/**
 * esbuild's options for one bundle. What runs without a window keeps its names, so that a stack trace in a log can be read.
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
  define: entry.vscode === true ? { 'import.meta.url': 'undefined' } : {}, // CommonJS has none; what asks for it says so
  banner: { js: banner(entry) },
  minifySyntax: true,
  minifyWhitespace: true,
  minifyIdentifiers: entry.page === true || entry.vscode === true || entry.shared === true,
  keepNames: entry.shared === true, // a stack trace in a log is told by names
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none', // the licences are written whole to licenses.txt
  metafile: true,
  write: false,
  plugins: [smallValidator, publish([entry])],
  logLevel: 'warning',
});

/**
 * esbuild's options for the bundles that share what they have in common.
 * @param {readonly Entry[]} made at least one
 * @param {string} folder
 * @returns {import('esbuild').BuildOptions & { metafile: true, write: false }}
 */
const sharedOptions = (made, folder) => {
  const [first] = made;
  if (first === undefined) throw new Error('no bundle to build');
  const options = bundleOptions({ ...first, program: false }, folder);
  delete options.outfile;
  return {
    ...options,
    entryPoints: made.map(({ source, out }) => ({ in: source, out: out.replace(/\.js$/, '') })),
    outdir: folder,
    splitting: true,
    chunkNames: 'shared-[hash]',
    plugins: [smallValidator, publish(made)],
  };
};

/**
 * The builds to make: the sharing bundles together, each other one alone.
 * @param {readonly Entry[]} present
 * @param {string} folder
 */
const builds = (present, folder) => {
  const sharing = present.filter((entry) => entry.shared === true);
  const alone = present.filter((entry) => entry.shared !== true);
  return [
    ...(sharing.length === 0 ? [] : [{ made: sharing, options: sharedOptions(sharing, folder) }]),
    ...alone.map((entry) => ({ made: [entry], options: bundleOptions(entry, folder) })),
  ];
};

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
  const planned = builds(present, folder);
  const results = await Promise.allSettled(planned.map(({ options }) => build(options)));
  /** @type {string[]} */
  const wrong = [];
  /** @type {Set<string>} */
  const packages = new Set();
  for (const [index, { made }] of planned.entries()) {
    const result = results[index];
    if (result?.status !== 'fulfilled') {
      wrong.push(`${made.map((entry) => entry.source).join(', ')} could not be bundled`);
      for (const entry of made) rmSync(join(folder, entry.out), { force: true });
      continue;
    }
    const { metafile } = result.value;
    for (const each of bundledPackages(metafile)) packages.add(each);
    const words = made.flatMap((entry) => complaint(entry, metafile) ?? []);
    wrong.push(...words);
  }
  removeOldShared(folder, sharedKeptMs);
  writeFileSync(join(folder, 'licenses.txt'), licences([...packages].toSorted()));
  const missing = entries.filter((entry) => !present.includes(entry));
  for (const entry of missing) rmSync(join(folder, entry.out), { force: true });
  const absent = missing.map((entry) => entry.source);
  return { built: present.map((entry) => entry.out), absent, wrong };
};

/** @param {string} folder */
const watchAll = async (folder) => {
  for (const { options } of builds(
    entries.filter((each) => existsSync(join(root, each.source))),
    folder,
  )) {
    const watched = await context({ ...options, logLevel: 'info' });
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
  if (words.includes('--fresh')) removeOldShared(folder, 0);
  if (words.includes('--watch')) await watchAll(folder);
  return 0;
};

if (process.argv[1] === import.meta.filename) process.exitCode = await main(process.argv.slice(2));
