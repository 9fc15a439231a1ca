import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSnapshotsReadOnly } from '../../src/snapshots/store.ts';
import { newFolder, rig } from './folders.ts';

const big = Buffer.alloc(9 * 1024 * 1024, 'xyz\n');

test('a reader sees all a snapshot holds, large files too', async () => {
  const { dir, taken } = await rig({ 'a.txt': 'one\n', 'b/run.sh': { run: '#!/bin/sh\n' }, 'big.bin': big });
  const { id } = await taken();
  const reader = openSnapshotsReadOnly({ dir });
  expect((await reader.entries(id)).map(({ path, kind }) => [path, kind])).toEqual([
    ['a.txt', 'file'],
    ['b/run.sh', 'executable'],
    ['big.bin', 'file'],
  ]);
  expect((await reader.read(id, 'a.txt')).toString()).toBe('one\n');
  expect((await reader.read(id, 'big.bin')).equals(big)).toBe(true);
  expect(await reader.has('0'.repeat(40))).toBe(false);
});

test('a reader leaves what a living writer has half done', async () => {
  const { dir, taken } = await rig({ 'a.txt': 'one\n' });
  const { id } = await taken();
  const half = [
    join(dir, 'repo.git/objects/pack/tmp_pack_abc'),
    join(dir, 'repo.git/refs/hma/e2.lock'),
    join(dir, 'repo.git/packed-refs.lock'),
    join(dir, 'large/new-1-1'),
  ];
  for (const path of half) writeFileSync(path, 'half');
  const before = tree(dir);
  const reader = openSnapshotsReadOnly({ dir });
  expect((await reader.read(id, 'a.txt')).toString()).toBe('one\n');
  await reader.patch(id, id);
  await reader.verify(id);
  await reader.close();
  expect(tree(dir)).toEqual(before);
});

test('a reader makes nothing where no store is', async () => {
  const dir = join(newFolder(), 'none');
  const reader = openSnapshotsReadOnly({ dir });
  expect(await reader.has('0'.repeat(40)).catch(() => 'threw')).not.toBe(true);
  expect(existsSync(dir)).toBe(false);
  mkdirSync(dir);
  await reader.close();
  expect(readdirSync(dir)).toEqual([]);
});

const tree = (dir: string): string => execFileSync('find', [dir, '-printf', '%P %s %T@\n']).toString();
