import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { bytesBelow, collectSnapshots } from '../../src/snapshots/collect.ts';
import { contentsOf, newFolder, open, rig } from './folders.ts';

const big = (letter: string): Buffer => Buffer.alloc(9 * 1024 * 1024, `${letter}\n`);

test('what is kept comes back byte for byte, what is not is gone with its bytes, and the store takes new snapshots', async () => {
  const { workspace, dir, store, taken, restored } = await rig({ 'a.txt': 'one', 'weights.bin': big('k') });
  const kept = await taken();
  const before = contentsOf(workspace);
  writeFileSync(join(workspace, 'a.txt'), 'two');
  writeFileSync(join(workspace, 'weights.bin'), big('x'));
  writeFileSync(
    join(workspace, 'noise.bin'),
    Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * i * 31) % 251)),
  );
  const rejected = await taken();
  await store.close();

  const keep = new Set([kept.id]);
  const would = await collectSnapshots(dir, { keep, dryRun: true });
  expect(would).toMatchObject({ snapshots: 1, bytesBefore: await bytesBelow(dir) });
  expect(would.bytesBefore - would.bytesAfter).toBe(big('x').length);
  expect(await store.has(rejected.id)).toBe(true);

  const done = await collectSnapshots(dir, { keep, dryRun: false });
  expect(done.snapshots).toBe(1);
  expect(done.bytesAfter).toBe(await bytesBelow(dir));
  expect(done.bytesBefore - done.bytesAfter).toBeGreaterThan(big('x').length);
  expect(readdirSync(join(dir, 'large'))).toHaveLength(1);
  expect(await store.has(rejected.id)).toBe(false);
  expect(await store.verify(kept.id)).toEqual([]);
  expect(contentsOf(await restored(kept.id))).toEqual(before);
  expect(await collectSnapshots(dir, { keep, dryRun: false })).toMatchObject({ snapshots: 0 });

  const again = await open({ dir });
  const next = await again.capture({ root: workspace, include: ['.'], kind: 'candidate', ref: 'e9' });
  expect(next.ok && next.value.contentHash).toBe(rejected.contentHash);
});

test('a kept snapshot that can’t be read stops it before anything is removed', async () => {
  const { dir, taken, store } = await rig({ 'a.txt': 'one' });
  const first = await taken();
  await store.close();
  const keep = new Set([first.id, 'f'.repeat(40)]);
  await expect(collectSnapshots(dir, { keep, dryRun: false })).rejects.toThrow('nothing was removed');
  expect(await store.has(first.id)).toBe(true);
});

test('a store that was never made is empty', async () => {
  const dir = join(newFolder(), 'none');
  expect(await collectSnapshots(dir, { keep: new Set(), dryRun: false })).toEqual({
    ...{ snapshots: 0, bytesBefore: 0, bytesAfter: 0 },
  });
  rmSync(dir, { recursive: true, force: true });
});
