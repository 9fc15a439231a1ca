import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { runnerCrashPoints } from '../../src/machines/crashPoints.ts';
import { isAlive } from '../../src/machines/processes.ts';
import { endRunner, observeRunner, startRunner } from '../../src/machines/runnerControl.ts';
import { MachineRoom, observed, runnerJs, running, tiersHere, uniqueSeconds, until } from './machineRoom.ts';

const isRoot = process.getuid?.() === 0;
let room: MachineRoom;
beforeEach(() => {
  room = new MachineRoom();
});
afterEach(() => {
  room.close();
});

describe.each(runnerCrashPoints)('a runner that dies at %s', (point) => {
  test.each(tiersHere)(
    'in tier %s leaves a state that is told as it is, and a tree that can be ended',
    async (tier) => {
      const mark = uniqueSeconds();
      // it ends by itself only where the point lies behind its end
      const atEnd = ['runner.ended', 'runner.reaped', 'runner.outputClosed', 'runner.exitWritten'].includes(point);
      const line = `setsid sleep ${mark} & echo ready; ${atEnd ? 'exit 5' : `sleep ${mark}`}`;
      const started = await room.start(tier, ['/bin/bash', '-c', line], { env: { HMA_CRASH: point } });
      await until(`the runner to die at ${point}`, () => !isAlive(started.runner));
      const seen = observeRunner(started.dir);
      expect(seen.kind).toBe(point === 'runner.exitWritten' ? 'ended' : 'lost');
      if (seen.kind === 'ended') expect(seen.report).toMatchObject({ code: 5, cause: 'exit' });
      expect((await endRunner({ ...started, graceMs: 0 })).survivors).toEqual([]);
      expect(running(` ${mark}`)).toEqual([]);
      // the start is used up: a second runner on it starts nothing
      const again = await startRunner({
        node: process.execPath,
        runnerJs,
        dir: started.dir,
        spec: started.spec,
        env: { PATH: '/usr/bin:/bin' },
      });
      if (!again.ok) throw new Error(again.refusal.message);
      await until('the second runner to exit', () => !isAlive(again.value));
      expect(observeRunner(started.dir).kind).toBe(seen.kind);
    },
  );
});

test('every crash point is really in the code, once, and only these are', () => {
  const source = readFileSync(runnerJs, 'utf8');
  const used = [...source.matchAll(/crashAt\('([^']+)'\)/g)].map((match) => match[1]);
  expect(new Set(used)).toEqual(new Set(runnerCrashPoints));
  expect(used).toHaveLength(runnerCrashPoints.length);
});

test('after a reboot nothing of an earlier boot counts as alive', async () => {
  const started = await room.start('none', ['/bin/sh', '-c', 'echo ready; sleep 60']);
  await observed(started, 'running', (now) => now.firstOutputAt !== undefined);
  const clock = { now: () => ({ wall: 0, mono: 0, boot: 'another boot' }) };
  expect(observeRunner(started.dir, clock)).toMatchObject({ kind: 'lost', rebooted: true, alive: [] });
  await endRunner({ ...started, graceMs: 0 });
});

test.runIf(isRoot)('a full disk loses output, not the program and not its end', async () => {
  const dir = join(room.state, 'small');
  mkdirSync(dir);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=512k,mode=700', 'hma-test', dir]).status !== 0) return; // no mounts in this container
  try {
    const spec = {
      nonce: 'full-disk',
      kind: 'attempt',
      argv: ['/bin/sh', '-c', 'head -c 3000000 /dev/zero; echo survived > survived; exit 3'],
      cwd: room.workspace,
      confinement: { ...room.confinement('none'), home: join(room.base, 'home'), tmp: join(room.base, 'tmp') },
    } as const;
    const started = await startRunner({ node: process.execPath, runnerJs, dir, spec, env: { PATH: '/usr/bin:/bin' } });
    if (!started.ok) throw new Error(started.refusal.message);
    const { report } = await observed({ dir, nonce: spec.nonce, tier: 'none', runner: started.value, spec }, 'ended');
    expect(report).toMatchObject({ code: 3, cause: 'exit', outputBytes: 3_000_000 });
    expect(report.outputLost).toBeGreaterThan(2_000_000);
    expect(room.read('survived')).toBe('survived\n');
  } finally {
    execFileSync('umount', ['-l', dir]);
  }
});

const memory = '/sys/fs/cgroup/memory';
const canLimitMemory = isRoot && existsSync(join(memory, 'memory.limit_in_bytes'));
test.runIf(canLimitMemory)('a program that eats the memory is told apart, and its runner outlives it', async () => {
  const group = join(memory, `hma-test-${process.pid}`);
  mkdirSync(group);
  try {
    writeFileSync(join(group, 'memory.limit_in_bytes'), String(200 * 1024 * 1024));
    const eat = 'const all = []; for (;;) all.push(Buffer.alloc(8 << 20, 1));';
    const started = await room.start('none', ['/bin/sh', '-c', 'read go; exec "$0" -e "$1"', process.execPath, eat], {
      spec: {
        stdin: 'go\n',
        argv: [
          '/bin/sh',
          '-c',
          `while ! grep -q hma-test /proc/self/cgroup; do :; done; exec "$0" -e "$1"`,
          process.execPath,
          eat,
        ],
      },
    });
    writeFileSync(join(group, 'cgroup.procs'), String(started.runner.pid));
    const now = await observed(started, 'running', (one) => one.program !== undefined);
    writeFileSync(join(group, 'cgroup.procs'), String(now.program?.pid));
    const { report } = await observed(started, 'ended');
    expect(report).toMatchObject({ signal: 'SIGKILL', cause: 'exit', outOfMemory: true, survivors: [] });
  } finally {
    await until('the group to be empty', () => readFileSync(join(group, 'cgroup.procs'), 'utf8') === '');
    rmdirSync(group);
  }
});

test('a program killed by somebody is not out of memory', async () => {
  const started = await room.start('none', ['/bin/sh', '-c', 'kill -9 $$']);
  expect((await observed(started, 'ended')).report).toMatchObject({
    signal: 'SIGKILL',
    outOfMemory: false,
    cause: 'exit',
  });
});

test('a workspace that cannot be prepared is told as a failed start', async () => {
  writeFileSync(join(room.base, 'file'), '');
  const started = await room.start('none', ['/bin/true'], { confinement: { home: join(room.base, 'file', 'home') } });
  const { report } = await observed(started, 'ended');
  expect(report).toMatchObject({ cause: 'spawn', code: null });
  expect(report.error).toContain('could not be prepared');
  expect(readdirSync(started.dir)).toContain('exit.json');
});
