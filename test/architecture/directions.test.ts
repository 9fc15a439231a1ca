import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { bundleOptions, complaint, entries } from '../bootstrap/esbuild.mjs';
import { root } from '../bootstrap/environment.mjs';
import { rims } from './directions.ts';
import { importsOf, violations, type SourceFile } from './imports.ts';

const sourceFiles = (): readonly SourceFile[] =>
  readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => ({ path: path.split(sep).join('/'), text: readFileSync(join(root, 'src', path), 'utf8') }))
    .toSorted((a, b) => a.path.localeCompare(b.path));

test('imports in src follow the directions', () => {
  const files = sourceFiles();
  expect(files.length).toBeGreaterThan(20);
  expect(files.flatMap((file) => importsOf(file.text)).length).toBeGreaterThan(20);
  expect(violations(files)).toEqual([]);
});

test('each file of a rim is there', () => {
  const paths = new Set(sourceFiles().map((file) => file.path));
  expect([...rims].filter((path) => !paths.has(path))).toEqual([]);
});

test('a file that breaks a direction is named with the reason', () => {
  const bad: readonly SourceFile[] = [
    { path: 'base/clock.ts', text: "import type { Contract } from '../task/model.ts';" },
    { path: 'run/decide.ts', text: "import { readFileSync } from 'node:fs';\nimport { join } from 'node:path';" },
    { path: 'archive/evolve.ts', text: "import {\n  append,\n} from '../ledger/port.ts';" },
    { path: 'archive/decide.ts', text: "import type { Segment } from '../ledger/segment.ts';" },
    { path: 'archive/model.ts', text: "import type { Fact } from '../ledger/port.ts';" },
    { path: 'ledger/append.ts', text: "export { serve } from '../controller/serve.ts';" },
    {
      path: 'controller/main.ts',
      text: "import * as vscode from 'vscode';\nconst view = await import('../window/view.ts');",
    },
    { path: 'window/tree.ts', text: "import * as vscode from 'vscode';\nimport '../controller/main.ts';" },
    { path: 'task/load.ts', text: "import { homedir } from 'node:os';\nimport { readText } from './readText.ts';" },
    { path: 'task/resolve.ts', text: "import { load } from './load.ts';" },
    { path: 'run/next.ts', text: "import { load } from '../task/load.ts';" },
    { path: 'controller/open.ts', text: "import { load } from '../task/load.ts';" },
    { path: 'session.ts', text: "import { start } from './cli.ts';" },
    { path: 'utils/misc.ts', text: '' },
  ];
  expect(violations(bad)).toEqual([
    'src/base/clock.ts imports ../task/model.ts: base may not know task',
    'src/run/decide.ts imports node:fs: run does no input or output',
    'src/archive/evolve.ts imports ../ledger/port.ts: archive may know only the types of ledger/port.ts, by import type',
    'src/archive/decide.ts imports ../ledger/segment.ts: archive may know only the types of ledger/port.ts, by import type',
    'src/ledger/append.ts imports ../controller/serve.ts: ledger may not know controller',
    'src/controller/main.ts imports vscode: only the window and extension.ts know vscode',
    'src/controller/main.ts imports ../window/view.ts: controller may not know window',
    'src/window/tree.ts imports ../controller/main.ts: window may not know controller',
    'src/task/resolve.ts imports ./load.ts: it is the rim of task, and task is pure',
    'src/run/next.ts imports ../task/load.ts: it is the rim of task, and run is pure',
    'src/session.ts imports ./cli.ts: a file directly in src is where a process starts, not to be imported',
    'src/utils/misc.ts: it has no direction yet; name it in test/architecture/directions.ts',
  ]);
});

test('imports are found in every form, and not in comments', () => {
  const text = [
    "import a, { b } from './a.ts';",
    "import type { C } from './c.ts';",
    "export * from './d.ts';",
    "export type { D } from './d2.ts';",
    "import { type E2 } from './e2.ts';",
    "type E = import('./e.ts').E;",
    "import './f.ts'; // from './no.ts'",
    "/* import './no.ts' */ const url = 'https://example.org'; // import './no.ts'",
    "const g = await import('./g.ts');",
  ].join('\n');
  const found = importsOf(text);
  expect(found.map((each) => each.from)).toEqual(
    ['a', 'c', 'd', 'd2', 'e2', 'e', 'f', 'g'].map((name) => `./${name}.ts`),
  );
  expect(found.filter((each) => each.typeOnly).map((each) => each.from)).toEqual(['./c.ts', './d2.ts']);
});

test('the bundler refuses vscode in the controller and a library in the light session program', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hma-bundles-'));
  try {
    const source = join(folder, 'bad.ts');
    await writeFile(source, "import * as vscode from 'vscode';\nconsole.log(vscode);\n");
    const controller = { out: 'controller.js', source };
    await expect(build({ ...bundleOptions(controller, folder), logLevel: 'silent' })).rejects.toThrow(
      'Could not resolve "vscode"',
    );
    const extension = { out: 'extension.cjs', source, vscode: true };
    expect((await build(bundleOptions(extension, folder))).errors).toEqual([]);

    await writeFile(
      source,
      `import { z } from ${JSON.stringify(join(root, 'node_modules/zod/index.js'))};\nconsole.log(z);\n`,
    );
    const session = { out: 'session.js', source, light: true };
    const { metafile } = await build(bundleOptions(session, folder));
    expect(complaint(session, metafile)).toMatch(
      /^session\.js must start in milliseconds but bundles node_modules\/zod/,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('vscode stays outside of the extension bundle only', () => {
  expect(entries.filter((entry) => entry.vscode === true).map((entry) => entry.out)).toEqual([
    'extension.cjs',
    'window.cjs',
  ]);
});
