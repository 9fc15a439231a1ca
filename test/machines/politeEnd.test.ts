import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { bubblewrapArgv } from '../../src/machines/bubblewrap.ts';
import { endTree } from '../../src/machines/endTree.ts';
import type { Polite, Tier } from '../../src/machines/port.ts';
import { identify, signalProcess } from '../../src/machines/processes.ts';
import { endRunner } from '../../src/machines/runnerControl.ts';
import { MachineRoom, observed, running, tiersHere, uniqueSeconds, until, type Started } from './machineRoom.ts';

let room: MachineRoom;
beforeEach(() => {
  room = new MachineRoom();
});
afterEach(() => {
  room.close();
});

/** A program in perl, which can trap what a shell's background job can't; `say` appends to the file `said` of the workspace. */
const perl = (body: string): [string, ...string[]] => [
  '/usr/bin/perl',
  '-e',
  `use POSIX; sub say { open(my $f, ">>", "said"); syswrite($f, "@_\\n"); close $f } $| = 1; ${body}`,
];

/** A child in its own session, which notes what it is asked and goes on, or ends at SIGTERM. */
const tool = (mark: number, atTerm: 'goes on' | 'ends'): string =>
  `my $c = fork; if (!$c) { POSIX::setsid(); $0 = "tool ${mark}"; $SIG{INT} = sub { say("tool INT") };
   $SIG{TERM} = sub { say("tool TERM"); exit 0 if ${atTerm === 'ends' ? 1 : 0} }; say("tool up"); sleep 1 while 1 }`;

/** A harness that takes one signal as the wish to end, says so, and leaves its tool behind. */
const harness = (mark: number, given: { signal: 'INT' | 'TERM'; atTerm: 'goes on' | 'ends' }): [string, ...string[]] =>
  perl(`${tool(mark, given.atTerm)}
    $SIG{${given.signal}} = sub { say("harness ${given.signal}"); select(undef, undef, undef, 0.3); say("harness bye"); exit 3 };
    $SIG{${given.signal === 'INT' ? 'TERM' : 'INT'}} = "IGNORE"; print "ready\\n"; sleep 1 while 1`);

const start = async (
  tier: Tier,
  argv: [string, ...string[]],
  given: { polite: Polite; graceMs?: number },
): Promise<Started> => {
  const started = await room.start(tier, argv, { spec: { polite: given.polite, graceMs: given.graceMs ?? 20_000 } });
  await observed(started, 'running', (now) => now.firstOutputAt !== undefined && now.program !== undefined);
  await until('the tool to be up', () => room.read('said')?.includes('tool up'));
  return started;
};

const said = (): string[] => (room.read('said') ?? '').trim().split('\n').slice(1);

describe.each(tiersHere)('asked to end politely in tier %s', (tier) => {
  test('the program alone gets its signal; what it leaves is asked when it is gone, and ended soon', async () => {
    const mark = uniqueSeconds();
    const started = await start(tier, harness(mark, { signal: 'INT', atTerm: 'goes on' }), {
      polite: { signal: 'SIGINT', to: 'program' },
    });
    const end = await endRunner({ ...started, graceMs: 0 });
    expect(said()).toEqual(['harness INT', 'harness bye', 'tool TERM']);
    const { report } = await observed(started, 'ended');
    expect(report).toMatchObject({ cause: 'ended', code: 3, survivors: [] });
    expect(end.ended.map((one) => one.command)).toEqual([expect.stringContaining(`tool ${mark}`)]);
    // the tool goes on at SIGTERM: it gets the short grace, not the harness's twenty seconds
    expect(report.reapMs).toBeGreaterThanOrEqual(2000);
    expect(report.reapMs).toBeLessThan(10_000);
    expect(running(`tool ${mark}`)).toEqual([]);
  });

  test('the whole tree gets it where the harness wants it so', async () => {
    const mark = uniqueSeconds();
    const started = await start(tier, harness(mark, { signal: 'TERM', atTerm: 'ends' }), {
      polite: { signal: 'SIGTERM', to: 'tree' },
    });
    await endRunner({ ...started, graceMs: 0 });
    expect(said().toSorted()).toEqual(['harness TERM', 'harness bye', 'tool TERM']);
    const { report } = await observed(started, 'ended');
    expect(report).toMatchObject({ cause: 'ended', code: 3, survivors: [] });
    expect(report.reapMs).toBeLessThan(2000);
  });

  test('one that ignores every wish has its grace, then it and its tool are killed', async () => {
    const mark = uniqueSeconds();
    const deaf = perl(`${tool(mark, 'goes on')} $SIG{$_} = sub { say("harness deaf") } for qw(INT TERM);
      print "ready\\n"; sleep 1 while 1`);
    const started = await start(tier, deaf, { polite: { signal: 'SIGINT', to: 'program' }, graceMs: 600 });
    const end = await endRunner({ ...started, graceMs: 0 });
    expect(said()).toEqual(['harness deaf']);
    const { report } = await observed(started, 'ended');
    expect(report).toMatchObject({ cause: 'ended', signal: 'SIGKILL', survivors: [] });
    expect(report.reapMs).toBeGreaterThanOrEqual(600);
    expect(end.ended.map((one) => one.command)).toEqual([expect.stringContaining(`tool ${mark}`)]);
    expect(running(`tool ${mark}`)).toEqual([]);
  });
});

// bubblewrap dies with its runner, and all in it: nothing is left to be asked
test.each(tiersHere.filter((tier) => tier !== 'bubblewrap'))(
  'in tier %s the same goes for what a lost runner left, from the controller',
  async (tier) => {
    const mark = uniqueSeconds();
    const started = await start(tier, harness(mark, { signal: 'INT', atTerm: 'ends' }), {
      polite: { signal: 'SIGINT', to: 'program' },
    });
    signalProcess(started.runner, 'SIGKILL');
    await observed(started, 'lost');
    const end = await endRunner({ ...started, graceMs: 20_000 });
    expect(said()).toEqual(['harness INT', 'harness bye', 'tool TERM']);
    expect(end.survivors).toEqual([]);
    expect(end.ms).toBeLessThan(10_000);
    expect(running(`tool ${mark}`)).toEqual([]);
  },
);

test.runIf(tiersHere.includes('bubblewrap'))(
  'where there is no reaper the program inside bubblewrap is asked, not bubblewrap',
  async () => {
    const mark = uniqueSeconds();
    const confinement = room.confinement('bubblewrap');
    for (const folder of [confinement.home, confinement.tmp]) mkdirSync(folder, { recursive: true });
    const argv = bubblewrapArgv({
      confinement,
      cwd: room.workspace,
      scratch: room.base,
      nested: 'possible',
    });
    const child = spawn(
      argv[0],
      [...argv.slice(1), '/bin/sh', '-c', `echo $$ > ${join(room.workspace, 'up')}; exec "$@"`, 'sh'].concat(
        harness(mark, { signal: 'INT', atTerm: 'ends' }),
      ),
      { stdio: 'ignore', detached: true },
    );
    await until('the tool to be up', () => room.read('said')?.includes('tool up'));
    const root = identify(child.pid ?? 0);
    if (!root) throw new Error('bubblewrap is not there');
    const end = await endTree({
      tree: { tier: 'bubblewrap', nonce: `none-${mark}`, root, program: root, supervisors: [], spare: [] },
      graceMs: 10_000,
      polite: { signal: 'SIGINT', to: 'program' },
    });
    expect(said().slice(0, 2)).toEqual(['harness INT', 'harness bye']);
    expect(end.survivors).toEqual([]);
    expect(running(`tool ${mark}`)).toEqual([]);
  },
);
