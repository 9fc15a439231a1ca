import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { readOutput } from '../../src/machines/outputLog.ts';
import { identify, isAlive, signalProcess } from '../../src/machines/processes.ts';
import { abandonStart, endRunner, observeRunner, startRunner, treeOfRunner } from '../../src/machines/runnerControl.ts';
import { MachineRoom, observed, runnerJs, running, tiersHere, uniqueSeconds, until } from './machineRoom.ts';

let room: MachineRoom;
beforeEach(() => {
  room = new MachineRoom();
});
afterEach(() => {
  room.close();
});

const output = (dir: string): string => readFileSync(join(dir, 'output.log'), 'utf8');

describe.each(tiersHere)('a program in tier %s', (tier) => {
  test('its exit code, output and first word are told, and its files are in the workspace', async () => {
    const started = await room.start(tier, [
      '/bin/sh',
      '-c',
      'echo one; echo two >&2; echo three > /dev/stdout; echo done > made; exit 7',
    ]);
    const { report, firstOutputAt, program } = await observed(started, 'ended');
    expect(report).toMatchObject({
      nonce: started.nonce,
      code: 7,
      signal: null,
      cause: 'exit',
      outOfMemory: false,
      outputBytes: 14,
      leftovers: [],
      survivors: [],
      outputLost: 0,
    });
    expect(output(started.dir)).toBe('one\ntwo\nthree\n');
    expect(firstOutputAt?.boot).toBe(report.boot);
    expect(program && isAlive(program)).toBe(false);
    expect(room.read('made')).toBe('done\n');
    expect(existsSync(started.spec.confinement.tmp)).toBe(false);
  });

  test('HOME, TMPDIR and the nonce are its own; the runner keeps nothing else from it', async () => {
    const started = await room.start(tier, ['/usr/bin/env'], {
      env: { SOME: 'thing', NODE_OPTIONS: '--no-warnings', HMA_CRASH: 'never' },
    });
    await observed(started, 'ended');
    const env = Object.fromEntries(
      output(started.dir)
        .trim()
        .split('\n')
        .map((line) => line.split(/=(.*)/s).slice(0, 2)),
    );
    expect(env).toMatchObject({
      HOME: started.spec.confinement.home,
      TMPDIR: started.spec.confinement.tmp,
      HMA_NONCE: started.nonce,
      SOME: 'thing',
      NODE_OPTIONS: '--no-warnings',
    });
    expect(Object.keys(env).filter((name) => name.startsWith('HMA_'))).toEqual(['HMA_NONCE']);
  });

  test('stdin is what was given', async () => {
    const started = await room.start(tier, ['/bin/cat'], { spec: { stdin: 'x'.repeat(200_000) } });
    const { report } = await observed(started, 'ended');
    expect(report.outputBytes).toBe(200_000);
    expect(readdirSync(started.dir)).not.toContain('stdin');
  });

  test('a program that is not there is told as such', async () => {
    const started = await room.start(tier, ['/no/such/program']);
    const { report } = await observed(started, 'ended');
    expect(report).toMatchObject({ cause: 'spawn', code: null });
    expect(report.error).toContain('/no/such/program');
  });

  test('a signal that ended it is named', async () => {
    const started = await room.start(tier, ['/bin/sh', '-c', 'kill -SEGV $$']);
    expect((await observed(started, 'ended')).report).toMatchObject({ cause: 'exit', signal: 'SIGSEGV', code: null });
  });

  test('what it leaves running when it ends is ended and recorded', async () => {
    const seconds = uniqueSeconds();
    const started = await room.start(tier, [
      '/bin/sh',
      '-c',
      `sleep ${seconds} & setsid sleep ${seconds} & (trap '' TERM; sleep ${seconds}; :) & sleep 0.2; exit 0`,
    ]);
    const { report } = await observed(started, 'ended');
    expect(report).toMatchObject({ code: 0, cause: 'exit', survivors: [] });
    expect(report.leftovers.filter((one) => one.command === `sleep ${seconds}`)).toHaveLength(3);
    expect(running(`sleep ${seconds}`)).toEqual([]);
  });

  test('its deadline ends it and its grandchildren, although they ignore SIGTERM', async () => {
    const seconds = uniqueSeconds();
    const started = await room.start(
      tier,
      ['/bin/sh', '-c', `trap '' TERM; (setsid sh -c "trap '' TERM; sleep ${seconds}; :" &); sleep ${seconds}; :`],
      { spec: { timeoutMs: 700 } },
    );
    const { report } = await observed(started, 'ended');
    expect(report).toMatchObject({ cause: 'timeout', survivors: [] });
    expect(running(`sleep ${seconds}`)).toEqual([]);
  });

  test('asked to end, it gets SIGTERM and time to say goodbye', async () => {
    const started = await room.start(
      tier,
      ['/bin/sh', '-c', 'trap "echo bye; exit 4" TERM; echo ready; while :; do sleep 0.05; done'],
      { spec: { graceMs: 10_000 } },
    );
    await observed(started, 'running', (now) => now.firstOutputAt !== undefined);
    const end = await endRunner({ ...started, graceMs: 0 });
    expect(end.survivors).toEqual([]);
    expect((await observed(started, 'ended')).report).toMatchObject({ cause: 'ended', code: 4 });
    // its shell may remark that the sleep it waited for was terminated too
    expect(output(started.dir).replace('Terminated\n', '')).toBe('ready\nbye\n');
  });

  test('its runner killed with -9 is lost, and what is left of it can be ended', async () => {
    const seconds = uniqueSeconds();
    const started = await room.start(tier, ['/bin/sh', '-c', `setsid sleep ${seconds} & echo ready; sleep ${seconds}`]);
    await observed(started, 'running', (now) => now.firstOutputAt !== undefined && now.program !== undefined);
    signalProcess(started.runner, 'SIGKILL');
    const lost = await observed(started, 'lost');
    expect(lost).toMatchObject({ runner: started.runner, rebooted: false });
    if (tier !== 'bubblewrap') expect(lost.alive.map((one) => one.command)).toContain(`sleep ${seconds}`);
    const end = await endRunner({ ...started, graceMs: 0 });
    expect(end.survivors).toEqual([]);
    expect(running(`sleep ${seconds}`)).toEqual([]);
    expect(observeRunner(started.dir)).toMatchObject({ kind: 'lost', alive: [] });
  });

  test('the runner is never a member of its tree', async () => {
    const started = await room.start(tier, ['/bin/sh', '-c', 'echo ready; sleep 30']);
    await observed(started, 'running', (now) => now.firstOutputAt !== undefined);
    expect(treeOfRunner(started).spare).toEqual([started.runner]);
    expect((await endRunner({ ...started, graceMs: 0 })).survivors).toEqual([]);
  });
});

test('an abandoned start never starts: a runner that comes late exits quietly', async () => {
  const dir = join(room.state, 'late');
  mkdirSync(dir);
  expect(abandonStart(dir, 'late')).toBe('abandoned');
  expect(abandonStart(dir, 'late')).toBe('abandoned');
  const started = await room.start('none', ['/bin/sh', '-c', 'echo ran > ran'], {});
  await observed(started, 'ended');
  expect(abandonStart(started.dir, started.nonce)).toBe('started');
  writeFileSync(join(dir, 'spec.json'), JSON.stringify(started.spec));
  const late = await startRunner({
    node: process.execPath,
    runnerJs,
    dir,
    spec: { ...started.spec, argv: ['/bin/sh', '-c', 'echo late > late'] },
    env: {},
  });
  if (!late.ok) throw new Error(late.refusal.message);
  await until('the late runner to exit', () => !isAlive(late.value));
  expect(observeRunner(dir)).toEqual({ kind: 'abandoned' });
  expect(room.read('late')).toBeUndefined();
});

test('two runners on one start: one runs the program, the other exits', async () => {
  const started = await room.start('none', ['/bin/sh', '-c', 'echo x >> runs; sleep 0.3']);
  await startRunner({
    node: process.execPath,
    runnerJs,
    dir: started.dir,
    spec: started.spec,
    env: { PATH: '/usr/bin:/bin' },
  });
  await observed(started, 'ended');
  expect(room.read('runs')).toBe('x\n');
});

test('a missing Node is a refusal with its path', async () => {
  const dir = join(room.state, 'none');
  mkdirSync(dir);
  const spec = { nonce: 'n', kind: 'probe', argv: ['true'], cwd: '/', confinement: room.confinement('none') } as const;
  const refusal = await startRunner({ node: '/no/node', runnerJs: '/no/runner.js', dir, spec, env: {} });
  expect(refusal).toMatchObject({ ok: false, refusal: { reason: 'cannot_start' } });
  expect(observeRunner(dir)).toEqual({ kind: 'not_started' });
});

test('huge output is bounded: its beginning and end are kept, with what was dropped in between', async () => {
  const started = await room.start(
    'none',
    [
      process.execPath,
      '-e',
      'const b = Buffer.alloc(1 << 20, 97); let left = 300; const go = () => { while (left-- > 0) if (!process.stdout.write(b)) return process.stdout.once("drain", go); process.stdout.write("THE END"); }; process.stdout.write("BEGIN"); go()',
    ],
    { spec: { outputBytes: 1_000_000 } },
  );
  const { report } = await observed(started, 'ended');
  const total = 5 + 300 * (1 << 20) + 7;
  expect(report.outputBytes).toBe(total);
  const text = output(started.dir);
  expect(text.startsWith('BEGINaaa')).toBe(true);
  expect(text.endsWith('aaaTHE END')).toBe(true);
  expect(text).toContain(`\n[hma: ${total - 1_000_000} bytes of output dropped here]\n`);
  expect(text.length).toBeLessThan(1_000_100);
  expect(readOutput(started.dir, 499_998, 10)).toMatchObject({ from: 499_998, next: 500_000, ended: false });
  expect(readOutput(started.dir, 600_000, 10)).toMatchObject({
    from: total - 500_000,
    bytes: Buffer.from('a'.repeat(10)),
    ended: false,
  });
  expect(readOutput(started.dir, total - 7)).toEqual({
    bytes: Buffer.from('THE END'),
    from: total - 7,
    next: total,
    ended: true,
  });
  expect(readdirSync(started.dir).filter((name) => name.startsWith('output.tail'))).toEqual([]);
});

test('the heartbeat goes on by itself and the times index lets output be replayed', async () => {
  const started = await room.start('none', [
    '/bin/sh',
    '-c',
    'echo a; sleep 1.2; echo b; sleep 0.4; echo c; sleep 5; echo d',
  ]);
  const first = await observed(started, 'running', (now) => now.firstOutputAt !== undefined);
  await until('a second heartbeat', () => {
    const now = observeRunner(started.dir);
    return (
      now.kind === 'running' &&
      now.lastHeartbeat &&
      first.lastHeartbeat &&
      now.lastHeartbeat.mono >= first.lastHeartbeat.mono + 4500
    );
  });
  await observed(started, 'ended');
  const lines = readFileSync(join(started.dir, 'output.times.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as [number, number]);
  expect(lines.map(([, bytes]) => bytes).filter((bytes, at, all) => bytes !== all[at - 1])).toEqual([2, 4, 6, 8]);
  const [a, b] = lines as [[number, number], [number, number]];
  expect(b[0] - a[0]).toBeGreaterThan(300);
});

test('identity: another start time or another boot is another process', () => {
  const self = identify(process.pid);
  if (!self) throw new Error('no /proc');
  expect(isAlive(self)).toBe(true);
  expect(isAlive({ ...self, start: '1' })).toBe(false);
  expect(isAlive(self, { then: 'a', now: 'b' })).toBe(false);
});
