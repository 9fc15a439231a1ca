import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { endTree } from '../../src/machines/endTree.ts';
import { freezeTree, thawTree } from '../../src/machines/freezeTree.ts';
import { descendants, identify, listByUid, processAt, signalProcess } from '../../src/machines/processes.ts';
import { membersOf } from '../../src/machines/processTree.ts';
import { endRunner, treeOfRunner } from '../../src/machines/runnerControl.ts';
import { treeActivity } from '../../src/machines/treeActivity.ts';
import {
  compileNasty,
  MachineRoom,
  observed,
  running,
  testUids,
  tiersHere,
  uniqueSeconds,
  until,
  type Started,
} from './machineRoom.ts';

let room: MachineRoom;
let programs: ReturnType<typeof compileNasty>;
beforeAll(() => {
  programs = compileNasty();
});
afterAll(() => rmSync(programs.folder, { recursive: true, force: true }));
beforeEach(() => {
  room = new MachineRoom();
});
afterEach(() => {
  room.close();
});

/** What a session may start, as a shell line; `mark` is in the command line of each child. */
const children: Readonly<Record<string, (mark: number) => string>> = {
  'a plain child': (mark) => `sleep ${mark} &`,
  'a child that ignores SIGTERM': (mark) => `(trap '' TERM; sleep ${mark}; :) &`,
  'a child in its own session': (mark) => `setsid sleep ${mark} &`,
  'a nohup child': (mark) => `nohup sleep ${mark} >/dev/null 2>&1 &`,
  'a daemon (double fork, own session)': (mark) => `${programs.nasty} k ${mark};`,
  'a daemon with an empty environment': (mark) => `${programs.nasty} e ${mark};`,
  'a daemon with an empty environment that ignores SIGTERM, from a killed parent': (mark) =>
    `sh -c '${programs.nasty} e ${mark}; kill -9 $$';`,
  'a stopped child': (mark) => `sleep ${mark} & sleep 0.3; kill -STOP $!;`,
};

/** Whether the re-forking program still writes its sign of life. */
async function stillBeats(file: string): Promise<boolean> {
  const size = (): number => (existsSync(file) ? statSync(file).size : 0);
  const before = size();
  await wait(400);
  return size() > before;
}

describe.each(tiersHere)('in tier %s nothing outlives its session', (tier) => {
  const start = (argv: [string, ...string[]]): Promise<Started> =>
    room.start(tier, argv, { confinement: { readable: [programs.folder] } });

  test('whatever a session may start', async () => {
    const marks = new Map(Object.keys(children).map((kind) => [kind, uniqueSeconds()]));
    const lines = [...marks].map(([kind, mark]) => children[kind]?.(mark));
    const started = await start(['/bin/bash', '-c', `${lines.join(' ')} echo ready; exec sleep 60`]);
    await observed(started, 'running', (now) => now.firstOutputAt !== undefined && now.program !== undefined);
    const living = (mark: number): number[] =>
      membersOf(treeOfRunner(started))
        .filter((one) => one.command.includes(` ${mark}`))
        .map((one) => one.pid);
    for (const [kind, mark] of marks) await until(kind, () => living(mark).length > 0);
    const end = await endRunner({ ...started, graceMs: 0 });
    expect(end.survivors).toEqual([]);
    expect([...marks].filter(([, mark]) => !end.ended.some((one) => one.command.includes(` ${mark}`)))).toEqual([]);
    expect([...marks].filter(([, mark]) => running(` ${mark}`).length > 0)).toEqual([]);
  });

  test('a daemon that forks itself every 10 ms and changes its session', async () => {
    const beat = join(room.workspace, 'beat');
    const started = await start(['/bin/bash', '-c', `${programs.respawn} 30 ${beat}; echo ready; exec sleep 60`]);
    await observed(started, 'running', (now) => now.firstOutputAt !== undefined && now.program !== undefined);
    await until('the first sign of life', () => existsSync(beat) && statSync(beat).size > 1);
    const end = await endRunner({ ...started, graceMs: 0 });
    expect(end.survivors).toEqual([]);
    expect(await stillBeats(beat)).toBe(false);
  });

  test('a frozen tree does nothing, new forks included, and goes on after the thaw; twice is as good as once', async () => {
    const beat = join(room.workspace, 'beat');
    const line = `${programs.respawn} 30 ${beat}; (while :; do echo x >> steady; sleep 0.02; done) & echo ready; while :; do :; done`;
    const started = await start(['/bin/bash', '-c', line]);
    await observed(started, 'running', (now) => now.firstOutputAt !== undefined && now.program !== undefined);
    const steady = join(room.workspace, 'steady');
    await until('signs of life', () => existsSync(beat) && existsSync(steady));
    const tree = treeOfRunner(started);
    const frozen = await freezeTree(tree);
    expect(frozen.missed).toEqual([]);
    expect(frozen.processes).toBeGreaterThanOrEqual(3);
    expect((await freezeTree(tree)).missed).toEqual([]);
    const before = await treeActivity(tree, started.dir);
    expect(await stillBeats(beat)).toBe(false);
    const size = statSync(steady).size;
    await wait(200);
    expect(statSync(steady).size).toBe(size);
    expect((await treeActivity(tree, started.dir)).cpuMs).toBe(before.cpuMs);
    expect(processAt(started.runner.pid)?.state).not.toBe('T');
    expect((await thawTree(tree)).missed).toEqual([]);
    expect((await thawTree(tree)).missed).toEqual([]);
    await until('the tree to go on', () => statSync(steady).size > size);
    await until('CPU use', () => membersOf(tree).reduce((sum, one) => sum + one.cpuMs, 0) > before.cpuMs);
    expect(await stillBeats(beat)).toBe(true);
    expect((await endRunner({ ...started, graceMs: 0 })).survivors).toEqual([]);
    expect(await stillBeats(beat)).toBe(false);
  });

  test('a frozen tree can be ended', async () => {
    const mark = uniqueSeconds();
    const started = await room.start(tier, ['/bin/bash', '-c', `sleep ${mark} & echo ready; exec sleep 3${mark}`]);
    await observed(started, 'running', (now) => now.firstOutputAt !== undefined && now.program !== undefined);
    await freezeTree(treeOfRunner(started));
    expect((await endRunner({ ...started, graceMs: 0 })).survivors).toEqual([]);
    expect(running(String(mark))).toEqual([]);
  });

  test('ending a session leaves an evaluation beside it alone', async () => {
    const [mine, other] = [uniqueSeconds(), uniqueSeconds()];
    const session = await start(['/bin/bash', '-c', `${programs.nasty} k ${mine}; echo ready; exec sleep 3${mine}`]);
    const evaluation = await room.start(
      tier,
      ['/bin/bash', '-c', `setsid sleep ${other} & echo ready; exec sleep 3${other}`],
      { spec: { kind: 'evaluation' }, confinement: tier === 'uid' ? { uid: testUids()[1] } : {} },
    );
    for (const one of [session, evaluation])
      await observed(one, 'running', (now) => now.firstOutputAt !== undefined && now.program !== undefined);
    const before = running(String(other));
    expect((await endRunner({ ...session, graceMs: 0 })).ended.length).toBeGreaterThan(0);
    expect(running(String(mine))).toEqual([]);
    expect(running(String(other))).toEqual(before);
    expect((await endRunner({ ...evaluation, graceMs: 0 })).survivors).toEqual([]);
    expect(running(String(other))).toEqual([]);
  });
});

test.runIf(tiersHere.includes('uid'))(
  'twenty rounds of nasty children under a uid of their own leave none',
  async () => {
    const reports = [];
    for (let round = 0; round < 20; round++) {
      const mark = uniqueSeconds();
      const beat = join(room.workspace, `beat-${round}`);
      const line = `${programs.nasty} e ${mark}; ${programs.nasty} k ${mark}; ${programs.respawn} 30 ${beat}; (trap '' TERM; setsid sleep ${mark}; :) & echo ready; exit 0`;
      const started = await room.start('uid', ['/bin/bash', '-c', line], { spec: { graceMs: 50 } });
      reports.push((await observed(started, 'ended')).report.survivors);
      expect(listByUid(testUids()[0])).toEqual([]);
      expect(running(String(mark))).toEqual([]);
    }
    expect(reports).toEqual(Array.from({ length: 20 }, () => []));
  },
  120_000,
);

test('the limit of tier none: what kills the reaper, clears its environment and leaves the session is not found again', async () => {
  const mark = uniqueSeconds();
  const started = await room.start('none', [
    '/bin/bash',
    '-c',
    `kill -9 $PPID; sleep 0.1; ${programs.nasty} e ${mark}; exit 0`,
  ]);
  const { report } = await observed(started, 'ended');
  expect(report).toMatchObject({ signal: 'SIGKILL', cause: 'exit' });
  // whether it is caught is a race that it may win: the description says so, and this test cleans up behind it
  for (const pid of running(`${mark} stage2`)) signalProcess({ pid, start: processAt(pid)?.start ?? '' }, 'SIGKILL');
  await until('it to be gone', () => running(`${mark} stage2`).length === 0);
});

test('ending never touches the one who ends, its ancestors or what it spares, even when they carry the marker', async () => {
  const self = identify(process.pid);
  if (!self) throw new Error('no /proc');
  const before = descendants({ pid: process.ppid, start: processAt(process.ppid)?.start ?? '' }).length;
  const end = await endTree({
    tree: { tier: 'none', nonce: 'nobody', root: self, supervisors: [], spare: [] },
    graceMs: 0,
  }).catch((cause: Error) => cause);
  expect(end).toMatchObject({ survivors: [] });
  expect(processAt(process.pid)?.start).toBe(self.start);
  expect(before).toBeGreaterThan(0);
  expect(readFileSync('/proc/self/stat', 'utf8')).not.toBe('');
});
