import { execFileSync } from 'node:child_process';
import { chmodSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rig } from './folders.ts';

test('workspace provenance takes text, respects .gitignore files and lists the rest by size and time', async () => {
  const { workspace, taken, store } = await rig({
    '.gitignore': '*.log\n/build/\n!keep.log\n:odd\n',
    'sub/.gitignore': 'secret*\n!secret.md\n',
    'train.py': 'print()',
    'x.log': 'log',
    'keep.log': 'kept',
    'build/out.txt': 'x',
    'sub/build/in.txt': 'not ignored: the pattern is rooted',
    'sub/secret.txt': 's',
    'sub/secret.md': 's',
    ':odd': 'ignored',
    ':(top)x': 'magic name',
    'weights.bin': Buffer.from([1, 0, 2]),
    'big.txt': 'x'.repeat(10_000_001),
    'almost.txt': 'x'.repeat(9_000_000),
    link: { link: 'train.py' },
    'lib/.git/HEAD': 'nested repository',
    'lib/a.py': 'a',
  });
  execFileSync('mkfifo', [join(workspace, 'fifo')]);
  writeFileSync(Buffer.concat([Buffer.from(join(workspace, 'sub/secret-')), Buffer.from([0xff])]), 'ignored too');
  utimesSync(join(workspace, 'weights.bin'), 1000, 2000.5);
  const snapshot = await taken({ kind: 'workspace' });
  expect((await store.entries(snapshot.id)).map(({ path }) => path)).toEqual([
    '.gitignore',
    ':(top)x',
    'almost.txt',
    'keep.log',
    'lib/a.py',
    'link',
    'sub/.gitignore',
    'sub/build/in.txt',
    'sub/secret.md',
    'train.py',
  ]);
  const { listed } = await store.listing(snapshot.id);
  expect(listed.map(({ path, kind, bytes }) => [path, kind, bytes])).toEqual([
    [':odd', 'file', 7],
    ['big.txt', 'file', 10_000_001],
    ['build', 'folder', 0],
    ['fifo', 'other', 0],
    ['lib/.git', 'folder', 0],
    ['sub/secret-\udcff', 'file', 11],
    ['sub/secret.txt', 'file', 1],
    ['weights.bin', 'file', 3],
    ['x.log', 'file', 3],
  ]);
  expect(listed.find(({ path }) => path === 'weights.bin')?.mtimeMs).toBe(2_000_500);
});

test('a .gitignore that is a FIFO does not hang the capture', async () => {
  const { workspace, taken, store } = await rig({ 'a.txt': 'a', 'sub/b.txt': 'b' });
  execFileSync('mkfifo', [join(workspace, '.gitignore')]);
  const { id } = await taken({ kind: 'workspace' });
  expect((await store.entries(id)).map(({ path }) => path)).toEqual(['a.txt', 'sub/b.txt']);
});

test('a folder of 2,000 names is asked about without a stall', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 2000 }, (_, at) => [`d/${'n'.repeat(60)}${at}.${at % 2 ? 'log' : 'py'}`, '']),
  );
  const { taken } = await rig({ '.gitignore': '*.log', ...files });
  expect((await taken({ kind: 'workspace' })).files).toBe(1001);
});

test.runIf(process.getuid?.() !== 0)('what may not be read is listed', async () => {
  const { workspace, taken, store } = await rig({ a: 'x' });
  chmodSync(join(workspace, 'a'), 0);
  expect(statSync(join(workspace, 'a')).mode & 0o777).toBe(0);
  expect((await store.listing((await taken({ kind: 'workspace' })).id)).listed.length).toBe(1);
});
