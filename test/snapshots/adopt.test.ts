import { randomBytes } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { contentsOf, newFolder, open, rig } from './folders.ts';

const big = (letter: string): Buffer => Buffer.alloc(9 * 1024 * 1024, letter);
const packs = (dir: string): string[] =>
  readdirSync(join(dir, 'repo.git/objects/pack')).filter((name) => name.endsWith('.pack'));

/** A store with two candidates (one large file between them, another in the second) and something that no candidate needs. */
async function source() {
  const { workspace, dir, store, taken } = await rig({ 'a.txt': 'one', 'deep/b.txt': 'same', 'weights.bin': big('k') });
  const first = await taken();
  const wasFirst = contentsOf(workspace);
  writeFileSync(join(workspace, 'a.txt'), 'two');
  writeFileSync(join(workspace, 'more.bin'), big('m'));
  const second = await taken();
  const wasSecond = contentsOf(workspace);
  writeFileSync(join(workspace, 'a.txt'), 'a secret that was tried once');
  const other = await taken();
  await store.close();
  const wanted = [
    { id: first.id, ref: 'carried/e1' },
    { id: second.id, ref: 'carried/e2' },
  ];
  return { dir, wanted, first, second, other, wasFirst, wasSecond };
}

async function restored(store: Awaited<ReturnType<typeof open>>, id: string) {
  const target = join(newFolder(), 'restored');
  expect(await store.restore(id, target)).toMatchObject({ ok: true });
  return contentsOf(target);
}

test('snapshots of another store are wholly here, and nothing else of it; that one may go', async () => {
  const from = await source();
  const dir = join(newFolder(), 'snapshots');
  const store = await open({ dir });
  expect(await store.adopt(from.dir, from.wanted)).toEqual({ ok: true, value: null });
  const large = readdirSync(join(dir, 'large')).map((name) => join(dir, 'large', name));
  expect(large.map((file) => statSync(file).nlink)).toEqual([2, 2]);
  rmSync(from.dir, { recursive: true, force: true });
  expect(await restored(store, from.first.id)).toEqual(from.wasFirst);
  expect(await restored(store, from.second.id)).toEqual(from.wasSecond);
  expect(await store.verify(from.second.id)).toEqual([]);
  expect(await store.find('carried/e2')).toEqual(from.second);
  expect(await store.has(from.other.id)).toBe(false);
  expect(packs(dir)).toHaveLength(1);
});

test('called again it does nothing; killed at any point and called again it ends the same', async () => {
  const from = await source();
  for (const at of ['snapshot.adopt.large', 'snapshot.adopt.objects', 'snapshot.adopt.refs'] as const) {
    const dir = join(newFolder(), 'snapshots');
    const dying = await open({
      dir,
      crashPoint: (point) => {
        if (point === at) throw new Error('killed here');
      },
    });
    expect(await dying.adopt(from.dir, from.wanted)).toMatchObject({ ok: false });
    await dying.close();
    const store = await open({ dir });
    expect(await store.adopt(from.dir, from.wanted)).toEqual({ ok: true, value: null });
    expect(await restored(store, from.second.id)).toEqual(from.wasSecond);
    const before = packs(dir);
    expect(await store.adopt(from.dir, from.wanted)).toEqual({ ok: true, value: null });
    expect(packs(dir)).toEqual(before);
  }
});

test('what is gone or damaged there is refused in words, and no ref is made', async () => {
  const from = await source();
  const dir = join(newFolder(), 'snapshots');
  const store = await open({ dir });
  const words = async (): Promise<string> => {
    const done = await store.adopt(from.dir, from.wanted);
    expect(await store.find('carried/e1')).toBeUndefined();
    return done.ok ? 'adopted' : done.refusal.detail;
  };
  const large = join(from.dir, 'large');
  const [name = ''] = readdirSync(large);
  const whole = readFileSync(join(large, name));
  chmodSync(join(large, name), 0o600);
  writeFileSync(join(large, name), whole.subarray(1));
  expect(await words()).toBe(`the large file ${name} is gone or has another length`);
  writeFileSync(join(large, name), whole);

  const objects = join(from.dir, 'repo.git/objects/pack');
  const pack = join(objects, packs(from.dir)[0] ?? '');
  const bytes = readFileSync(pack);
  chmodSync(pack, 0o600);
  const bad = Buffer.from(bytes);
  bad.writeUInt8(bad.readUInt8(60) ^ 0xff, 60);
  writeFileSync(pack, bad);
  expect(await words()).toMatch(/gone or damaged|git (pack-objects|index-pack) ended with/);
  writeFileSync(pack, bytes);
  expect(await store.adopt(from.dir, from.wanted)).toMatchObject({ ok: true });
});

test('a git that dies as it takes the objects in is told, and nothing waits for ever', async () => {
  const { workspace, dir, store, taken } = await rig();
  writeFileSync(join(workspace, 'noise.bin'), randomBytes(4 * 1024 * 1024)); // more than a pipe holds
  const one = await taken();
  await store.close();
  const path = process.env['PATH'] ?? '';
  const bin = newFolder();
  const script = `#!/bin/sh\n[ "$1" = index-pack ] && { echo 'fatal: no room' >&2; exit 128; }\nPATH=${path} exec git "$@"\n`;
  writeFileSync(join(bin, 'git'), script, { mode: 0o755 });
  const into = await open({ dir: join(newFolder(), 'snapshots'), env: { PATH: `${bin}:${path}` } });
  expect(await into.adopt(dir, [{ id: one.id, ref: 'carried/e1' }])).toMatchObject({
    ok: false,
    refusal: { detail: expect.stringContaining('git index-pack ended with 128: fatal: no room') },
  });
});
