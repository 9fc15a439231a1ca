import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { allPids, readProc, signalProcess, identify } from '../../src/machines/processes.ts';
import { Standby } from '../../src/machines/standby.ts';
import { MachineRoom, observed, runnerJs, tiersHere, until } from './machineRoom.ts';

let room: MachineRoom;
let standby: Standby;
beforeEach(() => {
  room = new MachineRoom();
  standby = new Standby({ node: process.execPath, runner: runnerJs });
});
afterEach(() => {
  standby[Symbol.dispose]();
  room.close();
});

/** Runners of this test process that stand by. */
const waiting = (): number[] =>
  allPids().filter((pid) => {
    const words = readProc(`/proc/${pid}/cmdline`)?.toString().split('\0') ?? [];
    const parent = /^PPid:\s+(\d+)$/m.exec(readProc(`/proc/${pid}/status`)?.toString() ?? '')?.[1];
    return words.includes('--standby') && Number(parent) === process.pid;
  });

test.each(tiersHere)('a runner that stood by runs the program as any other does, in tier %s', async (tier) => {
  standby.expect();
  const [pid] = await until('a runner to stand by', () => (waiting().length > 0 ? waiting() : undefined));
  const started = await room.start(tier, ['/bin/sh', '-c', 'echo "$SOME ${HMA_TEST_CLOCK-none}"; exit 7'], {
    env: { SOME: 'thing', NODE_OPTIONS: '--no-warnings' },
    standby,
  });
  expect(started.runner.pid).toBe(pid);
  const { report, runner } = await observed(started, 'ended');
  expect(report).toMatchObject({ nonce: started.nonce, code: 7, cause: 'exit', outputBytes: 11, leftovers: [] });
  expect(runner).toEqual(started.runner);
});

test('it claims nothing and leaves when it is let go, and with the process that it waits for', async () => {
  standby.expect();
  standby.expect();
  await until('one runner to stand by', () => waiting().length === 1 || undefined);
  standby[Symbol.dispose]();
  await until('it to be gone', () => waiting().length === 0 || undefined);
  expect(readdirSync(room.state)).toEqual([]);
});

test('one that died is replaced by a start of the usual kind', async () => {
  standby.expect();
  const [pid = 0] = await until('a runner to stand by', () => (waiting().length > 0 ? waiting() : undefined));
  const one = identify(pid);
  expect(one && signalProcess(one, 'SIGKILL')).toBe(true);
  await until('it to be gone', () => waiting().length === 0 || undefined);
  const started = await room.start('none', ['/bin/true'], { standby });
  expect((await observed(started, 'ended')).report).toMatchObject({ code: 0, cause: 'exit' });
  expect(existsSync(join(started.dir, 'runner.log'))).toBe(true);
});
