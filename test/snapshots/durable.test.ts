import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statfsSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, test } from 'vitest';
import { snapshotCrashPoints } from '../../src/snapshots/crashPoints.ts';
import type { CaptureRequest, Snapshot } from '../../src/snapshots/port.ts';
import { contentsOf, newFolder, open, rig, write } from './folders.ts';

const program = join(import.meta.dirname, 'captureProcess.ts');
const node = realpathSync(join(import.meta.dirname, '../../node_modules/.bin/node'));
const isRoot = process.getuid?.() === 0;
const files = { 'a.txt': 'a', 'd/b.txt': 'b', 'model.pt': Buffer.alloc(9e6, 'm') };

function leftOvers(dir: string): string[] {
  const all = readdirSync(dir, { recursive: true, encoding: 'utf8' });
  return all.filter((name) => /(^|\/)(new-|tmp_|\.tmp|fast_import_crash)|\.(lock|keep|new)$/.test(name));
}

describe('killed at any point, a capture leaves what a later one can use', () => {
  const capturing = snapshotCrashPoints.filter((name) => !/^snapshot\.(?:restore|adopt)\./.test(name)); // adopting: adopt.test.ts
  test.each(capturing)('%s', async (killAt) => {
    const { workspace, dir } = await rig(files);
    const request: CaptureRequest = { root: workspace, include: ['.'], kind: 'candidate', ref: 'e1' };
    const { id } = await (await rig(files)).taken();
    const killed = spawnSync(node, [program, JSON.stringify({ dir, request, killAt })], {
      encoding: 'utf8',
      env: process.env,
    });
    expect([killed.signal, killed.stdout.trim().split('\n').at(-1)]).toEqual(['SIGKILL', killAt]);
    const store = await open({ dir });
    expect(leftOvers(dir)).toEqual([]);
    expect((await store.find('e1'))?.id).toBe(killAt === 'snapshot.ref' ? id : undefined);
    if (killAt === 'snapshot.ref') expect(await store.verify(id)).toEqual([]);
    expect(await store.capture(request)).toMatchObject({ ok: true, value: { id } });
    expect(await store.verify(id)).toEqual([]);
  });
  test('at 12 instants between the points', async () => {
    const many = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`f${at}`, randomBytes(3000)]));
    const { workspace, dir } = await rig({ ...files, ...many });
    const request: CaptureRequest = { root: workspace, include: ['.'], kind: 'candidate', ref: 'e1' };
    for (let round = 0; round < 12; round++) {
      const child = spawn(node, [program, JSON.stringify({ dir, request: { ...request, ref: `e${round}` } })], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const closed = new Promise((resolve) => child.on('close', resolve));
      const lines = createInterface(child.stdout);
      lines.on('line', (line) => {
        if (line === 'snapshot.begin') setTimeout(() => child.kill('SIGKILL'), round * 12);
      });
      await closed;
      const store = await open({ dir });
      const found = await store.find(`e${round}`);
      if (found) expect(await store.verify(found.id)).toEqual([]);
      writeFileSync(join(workspace, 'a.txt'), `round ${round}`);
    }
    const store = await open({ dir });
    const result = await store.capture(request);
    expect(result.ok && (await store.verify(result.value.id))).toEqual([]);
    expect(leftOvers(dir)).toEqual([]);
  });
  test('a git that is killed in the middle is started again', async () => {
    const many = Object.fromEntries(Array.from({ length: 1500 }, (_, at) => [`f${at}`, randomBytes(2000)]));
    const { taken, store } = await rig(many);
    let killed = 0;
    const strike = setInterval(() => {
      for (const pid of children())
        if (killed === 0 && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('fast-import'))
          killed = Number(process.kill(Number(pid), 'SIGKILL'));
    }, 2);
    const { id, files: count } = await taken();
    clearInterval(strike);
    expect([killed, count, await store.verify(id)]).toEqual([1, 1500, []]);
  });
  test.each(snapshotCrashPoints.filter((name) => name.startsWith('snapshot.restore')))(
    '%s: the restore is repeated',
    async (killAt) => {
      const { workspace, dir, taken, store } = await rig(files);
      const { id } = await taken();
      const folder = join(newFolder(), 'r');
      const killed = spawnSync(node, [program, JSON.stringify({ dir, restore: { id, folder }, killAt })], {
        encoding: 'utf8',
      });
      expect(killed.signal).toBe('SIGKILL');
      expect((await store.restore(id, folder)).ok).toBe(true);
      expect(contentsOf(folder)).toEqual(contentsOf(workspace));
    },
  );
});

function children(): string[] {
  return readdirSync('/proc/self/task').flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
  );
}

const mounts: string[] = [];
afterEach(() => {
  for (const mount of mounts.splice(0)) execFileSync('umount', ['--lazy', mount]);
});

function smallDisk(megabytes: number): string {
  const mount = newFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', mount]);
  mounts.push(mount);
  return mount;
}

// needs root to mount a small disk; a plain user's run leaves this part out
describe.runIf(isRoot)('a full disk (skipped unless root: a tmpfs is mounted)', () => {
  test('is said, whatever write meets it, and leaves nothing that breaks later captures', async () => {
    const disk = smallDisk(8);
    const { workspace, dir, capture, taken, store } = await rig(
      { 'small.txt': 'first' },
      { dir: join(disk, 'snapshots') },
    );
    const first = await taken();
    write(workspace, Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`noise/f${at}`, randomBytes(40_000)])));
    expect(await capture({ ref: 'full' })).toMatchObject({ ok: false, refusal: { reason: 'disk_full' } });
    write(workspace, { 'noise2/large': randomBytes(9_500_000) });
    expect(await capture({ include: ['noise2'], ref: 'full' })).toMatchObject({
      ok: false,
      refusal: { reason: 'disk_full' },
    });
    expect(leftOvers(dir)).toEqual([]);
    expect(await store.find('full')).toBe(undefined);
    write(workspace, { 'small.txt': 'second' });
    const second = await taken({ include: ['small.txt'] });
    expect([await store.verify(first.id), await store.verify(second.id)]).toEqual([[], []]);
  });
  test('with not a byte left, and again when space is freed; restoring onto it too', async () => {
    const disk = smallDisk(3);
    const { workspace, dir, capture, taken, store } = await rig(
      { 'small.txt': 'first' },
      { dir: join(disk, 'snapshots') },
    );
    const first = await taken();
    // fill page by page, so that each kind of file in turn is the one that fails
    for (let pages = 0; pages < 12; pages++) {
      fill(disk, pages);
      write(workspace, { 'small.txt': `${pages} ${'x'.repeat(pages)}`, 'random.bin': randomBytes(100) });
      const result = await capture({ ref: `pages/${pages}` });
      if (result.ok) expect(await store.verify(result.value.id)).toEqual([]);
      else expect(result.refusal.reason).toBe('disk_full');
      if (pages === 0) expect(result.ok).toBe(false);
      unlinkSync(join(disk, 'ballast'));
      expect(leftOvers(dir)).toEqual([]);
      const after = await taken({ ref: `after/${pages}` });
      expect(await store.verify(after.id)).toEqual([]);
    }
    expect(await store.verify(first.id)).toEqual([]);
    fill(disk, 0);
    expect(await store.restore(first.id, join(disk, 'r'))).toMatchObject({
      ok: false,
      refusal: { reason: 'disk_full' },
    });
    unlinkSync(join(disk, 'ballast'));
    expect((await store.restore(first.id, join(disk, 'r'))).ok).toBe(true);
    const opened = await open({ dir });
    expect(await opened.verify(first.id)).toEqual([]);
  });
});

/** Fills a disk until only so many pages are free. */
function fill(disk: string, pages: number): void {
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(Math.max(0, bavail - pages) * bsize));
}

/** What must be on disk before what: each step is found by its system call, and comes after the one above it. */
function orderProblems(calls: readonly string[]): string[] {
  const steps: [string, RegExp][] = [
    ['large file synced', /^fsync\(.*\/large\/new-/],
    ['large file named', /^rename.*\/large\/new-.*\/large\/[0-9a-f]{64}"/],
    ['names of large files synced', /^fsync\(.*\/large>\)/],
    ['pack synced', /^fsync\(.*(\/objects\/pack\/tmp_pack_|tmp_pack_)/],
    ['index of the pack synced', /^fsync\(.*tmp_idx_/],
    ['pack named', /^(link|rename).*tmp_pack_.*\/pack-[0-9a-f]{40}\.pack"/],
    ['index named', /^(link|rename).*tmp_idx_.*\/pack-[0-9a-f]{40}\.idx"/],
    ['names of packs synced', /^fsync\(.*\/objects\/pack>\)/],
    ['ref synced', /^fsync\(.*\/refs\/hma\/e1\.lock/],
    ['ref named', /^rename.*refs\/hma\/e1\.lock"/],
    ['names of refs synced', /^fsync\(.*\/refs\/hma>\)/],
    ['told', /^write\(1<.*"\{\\"ok\\":true/],
  ];
  const problems: string[] = [];
  let at = -1;
  for (const [name, pattern] of steps) {
    const next = calls.findIndex((call, index) => index > at && pattern.test(call));
    if (next < 0) problems.push(`${name}: not after the step before it`);
    else at = next;
  }
  return problems;
}

/** Runs a capture under strace and gives its calls by the time they ended. */
function traced(dir: string, request: CaptureRequest): string[] {
  const log = join(newFolder(), 'strace');
  const run = spawnSync(
    'strace',
    [
      '-f',
      '-y',
      '-s',
      '200',
      '-o',
      log,
      '-e',
      'trace=fsync,fdatasync,rename,renameat,renameat2,link,linkat,write',
      node,
      program,
      JSON.stringify({ dir, request }),
    ],
    { encoding: 'utf8' },
  );
  expect(run.stdout).toContain('"ok":true');
  const begun = new Map<string, string>();
  const calls: string[] = [];
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    const [, pid = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (call.endsWith('<unfinished ...>')) begun.set(pid, call.replace(' <unfinished ...>', ''));
    else if (call.startsWith('<... ')) calls.push((begun.get(pid) ?? '') + call.replace(/^<\.\.\. \w+ resumed>/, ''));
    else if (call !== '') calls.push(call);
  }
  return calls.filter((call) => / = \d+/.test(call) && (!call.startsWith('write') || call.startsWith('write(1<')));
}

describe.runIf(existsSync('/usr/bin/strace'))(
  'objects are synced before the ref, and the ref before the answer (strace)',
  () => {
    test('each step in its place; take any one away and the check fails', async () => {
      const { workspace, dir } = await rig({ ...files, 'x.txt': 'x' });
      const calls = traced(dir, { root: workspace, include: ['.'], kind: 'candidate', ref: 'e1' });
      expect(orderProblems(calls)).toEqual([]);
      for (const pattern of [
        /large\/new-/,
        /\/large>/,
        /tmp_pack_/,
        /tmp_idx_/,
        /objects\/pack>/,
        /e1\.lock/,
        /refs\/hma>/,
      ])
        expect(orderProblems(calls.filter((call) => !(call.startsWith('fsync') && pattern.test(call))))).not.toEqual(
          [],
        );
    });
    test('a repository that does not sync is caught', async () => {
      const { workspace, dir } = await rig(files);
      appendFileSync(join(dir, 'repo.git/config'), '[core]\n\tfsync = none\n');
      const calls = traced(dir, { root: workspace, include: ['.'], kind: 'candidate', ref: 'e1' });
      expect(orderProblems(calls).length).toBeGreaterThan(0);
    });
  },
);

test('two stores on one machine do not share anything but the machine', async () => {
  const one = await rig({ a: '1' });
  const other = await rig({ a: '1' });
  const snapshots: Snapshot[] = [await one.taken(), await other.taken()];
  expect(snapshots[0]).toEqual(snapshots[1]);
  rmSync(one.dir, { recursive: true });
  mkdirSync(one.dir);
  expect(await other.store.verify(snapshots[1]?.id ?? '')).toEqual([]);
});
