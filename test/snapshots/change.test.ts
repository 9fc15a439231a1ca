import { spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
  statSync,
  mkdirSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openAbsolute, openFile, openFolder } from '../../src/snapshots/folders.ts';
import { open, rig, write } from './folders.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('files that change while they are read', () => {
  test('a file that is written without end is unstable after three tries, and the store goes on', async () => {
    const { workspace, capture, taken } = await rig(
      Object.fromEntries(Array.from({ length: 1500 }, (_, at) => [`d/f${at}`, `x${at}`])),
    );
    const writer = setInterval(() => appendFileSync(join(workspace, 'd/f0'), 'more'), 1);
    const result = await capture();
    clearInterval(writer);
    expect(result).toMatchObject({ ok: false, refusal: { reason: 'unstable', path: 'd/f0' } });
    expect((await taken()).files).toBe(1500);
  });
  test('a change that stops is waited for: the snapshot is one moment of the tree', async () => {
    const { workspace, capture, store } = await rig(
      Object.fromEntries(Array.from({ length: 1500 }, (_, at) => [`d/f${at}`, `x${at}`])),
    );
    // a pair that is only right together, swapped once while the walk is under way
    write(workspace, { first: 'old', 'z last': 'old' });
    const pending = capture();
    await new Promise<void>((resolve) => {
      setTimeout(() => {
        write(workspace, { first: 'new', 'z last': 'new' });
        resolve();
      }, 5);
    });
    const result = await pending;
    if (!result.ok) throw new Error(result.refusal.detail);
    expect(
      [await store.read(result.value.id, 'first'), await store.read(result.value.id, 'z last')].map(String),
    ).toEqual(['new', 'new']);
  });
  test('a file that appears while others are read belongs to it', async () => {
    let appeared = false;
    const { workspace, taken, store } = await rig(
      { 'a.txt': 'a', 'model.pt': Buffer.alloc(9e6, 'm') },
      {
        crashPoint: (name) => {
          if (name !== 'snapshot.large' || appeared) return;
          appeared = true;
          write(workspace, { 'b.txt': 'appeared' });
        },
      },
    );
    const { id } = await taken();
    expect((await store.entries(id)).map(({ path }) => path)).toEqual(['a.txt', 'b.txt', 'model.pt']);
  });
  test('a folder is never opened through a link, nor is a file', async () => {
    const { base, workspace } = await rig({ 'd/f': 'x' });
    write(base, { 'work space/link': { link: 'd' }, 'work space/file link': { link: 'd/f' } });
    const root = openAbsolute(workspace);
    expect(() => openFolder(root, Buffer.from('link'))).toThrow(/ENOTDIR|ELOOP/);
    expect(() => openFile(root, Buffer.from('file link'))).toThrow('ELOOP');
    expect(() => openAbsolute(join(workspace, 'link'))).toThrow(/ENOTDIR|ELOOP/);
    root.close();
  });
  test('a folder that is swapped for a link again and again never leads outside', async () => {
    const { workspace, capture, store, base } = await rig({ 'd/secret': 'inside', 'other/x': 'y' });
    write(base, { 'outside/secret': 'OUTSIDE' });
    // a real process, so that it also strikes between two synchronous calls
    const swapper = spawn(
      'perl',
      [
        '-e',
        'while (1) { rename "d", "hidden"; symlink $ARGV[0], "d"; unlink "d"; rename "hidden", "d"; }',
        join(base, 'outside'),
      ],
      { cwd: workspace, stdio: 'ignore' },
    );
    const ended = new Promise((resolve) => swapper.on('close', resolve));
    try {
      for (let round = 0; round < 20; round++) {
        const result = await capture();
        if (!result.ok) {
          expect(['unstable', 'missing', 'outside']).toContain(result.refusal.reason);
          continue;
        }
        for (const { path, kind } of await store.entries(result.value.id))
          if (kind === 'file') expect(String(await store.read(result.value.id, path))).not.toBe('OUTSIDE');
      }
    } finally {
      swapper.kill('SIGKILL');
      await ended;
    }
  });
});

/** Moves our clock (not the kernel's) on, so that files written just now count as settled when they are read. */
const later = (): void => {
  const real = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => real() + 60_000);
};

describe('unchanged files are not read again, changed ones always are', () => {
  /** Counts files opened for reading by their access: the cache is proven by contents that only a reader could see. */
  const withForgedCache = async (settled: boolean) => {
    const { dir, workspace, taken } = await rig({ a: 'aaaa', b: 'bbbb' });
    if (settled) later();
    await taken();
    // forge what is remembered of `a`: it shows up only if the file itself is not read
    const [name = ''] = readdirSync(join(dir, 'cache'));
    const body = readFileSync(join(dir, 'cache', name), 'utf8').slice(65);
    const [a = [], b = []] = body.split('\n').map((line) => JSON.parse(line) as unknown[]);
    const forged = [[a[0], a[1], b[2], a[3]], b].map((line) => JSON.stringify(line)).join('\n');
    const { hash } = await import('node:crypto');
    writeFileSync(join(dir, 'cache', name), `${hash('sha256', forged, 'hex')}\n${forged}`);
    const store = await open({ dir });
    const result = await store.capture({ root: workspace, include: ['.'], kind: 'candidate', ref: 'x' });
    if (!result.ok) throw new Error(result.refusal.detail);
    return String(await store.read(result.value.id, 'a'));
  };
  test('settled files come from the cache, also in a new process', async () =>
    expect(await withForgedCache(true)).toBe('bbbb'));
  test('files younger than the margin are read again', async () => expect(await withForgedCache(false)).toBe('aaaa'));

  test('a settled tree that is still the latest one is walked once; whatever comes, goes or changes is seen', async () => {
    later();
    const points: string[] = [];
    const { workspace, taken } = await rig(
      { a: 'one', 'd/b': 'two', run: { run: 'three' } },
      { crashPoint: (name) => void points.push(name) },
    );
    const first = await taken();
    points.length = 0;
    expect(await taken()).toEqual(first);
    expect(points).toEqual(['snapshot.begin', 'snapshot.ref']);
    const contents = new Set([first.contentHash]);
    for (const change of [
      () => write(workspace, { 'd/c': 'new' }),
      () => rmSync(join(workspace, 'a')),
      () => chmodSync(join(workspace, 'run'), 0o644),
      () => renameSync(join(workspace, 'd'), join(workspace, 'e')),
    ]) {
      change();
      contents.add((await taken()).contentHash);
    }
    expect(contents.size).toBe(5);
  });

  test('a change that keeps size and mtime is seen, whatever way it is made', async () => {
    later();
    const { workspace, taken, store } = await rig({ a: 'one', b: 'one', c: 'one', d: 'one' });
    const when = statSync(join(workspace, 'a')).mtime;
    await taken();
    writeFileSync(join(workspace, 'a'), 'two');
    const fd = openSync(join(workspace, 'b'), constants.O_WRONLY);
    writeSync(fd, 'two', 0);
    closeSync(fd);
    writeFileSync(join(workspace, 'c.new'), 'two');
    renameSync(join(workspace, 'c.new'), join(workspace, 'c'));
    truncateSync(join(workspace, 'd'), 0);
    appendFileSync(join(workspace, 'd'), 'two');
    for (const name of ['a', 'b', 'c', 'd']) utimesSync(join(workspace, name), when, when);
    const { id } = await taken();
    expect(await Promise.all(['a', 'b', 'c', 'd'].map(async (name) => String(await store.read(id, name))))).toEqual([
      'two',
      'two',
      'two',
      'two',
    ]);
  });
  test('a cut or altered cache file counts as none', async () => {
    later();
    const { dir, workspace, taken } = await rig({ a: 'aaaa', b: 'bbbb' });
    const first = await taken();
    const [name = ''] = readdirSync(join(dir, 'cache'));
    const whole = readFileSync(join(dir, 'cache', name), 'utf8');
    for (const text of ['', whole.slice(0, 80), whole.replace('"a"', '"q"'), '{']) {
      writeFileSync(join(dir, 'cache', name), text);
      const store = await open({ dir });
      expect(await store.capture({ root: workspace, include: ['.'], kind: 'candidate', ref: 'x' })).toEqual({
        ok: true,
        value: first,
      });
    }
  });
  test('objects that vanished from the repository are stored again', async () => {
    later();
    const { dir, workspace, taken } = await rig({ a: 'aaaa' });
    const first = await taken();
    rmSync(join(dir, 'repo.git/objects/pack'), { recursive: true });
    mkdirSync(join(dir, 'repo.git/objects/pack'));
    rmSync(join(dir, 'repo.git/refs/hma/e1'));
    const store = await open({ dir });
    expect(await store.capture({ root: workspace, include: ['.'], kind: 'candidate', ref: 'x' })).toEqual({
      ok: true,
      value: first,
    });
    expect(await store.verify(first.id)).toEqual([]);
  });
  test('a large file that vanished from the content store is stored again', async () => {
    later();
    const { dir, workspace, taken, store } = await rig({ model: Buffer.alloc(9e6, 'm') });
    const first = await taken();
    rmSync(join(dir, 'large', readdirSync(join(dir, 'large'))[0] ?? ''));
    expect(await store.verify(first.id)).toHaveLength(1);
    expect(await taken()).toEqual(first);
    expect(await store.verify(first.id)).toEqual([]);
    symlinkSync('model', join(workspace, 'link'));
    expect((await taken()).files).toBe(2);
  });
});

test('many captures are packed together in the background and all stay whole', async () => {
  const { workspace, dir, taken, store } = await rig({ 'keep.txt': 'x' });
  const ids: string[] = [];
  for (let at = 0; at < 36; at++) {
    write(workspace, { 'a.txt': `round ${at}` });
    ids.push((await taken()).id);
  }
  await store.close();
  expect(readdirSync(join(dir, 'repo.git/objects/pack')).filter((name) => name.endsWith('.pack')).length).toBeLessThan(
    10,
  );
  for (const [at, id] of ids.entries()) expect(String(await store.read(id, 'a.txt'))).toBe(`round ${at}`);
});
