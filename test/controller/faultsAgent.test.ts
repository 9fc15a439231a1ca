import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { runFiles } from '../../src/ledger/places.ts';
import { compileNasty, running, tiersHere, uniqueSeconds } from '../machines/machineRoom.ts';
import { eventually, holding, startFaultRun } from '../rig/faultRun.ts';
import { outputOf } from '../rig/run.ts';

let programs: ReturnType<typeof compileNasty>;
beforeAll(() => {
  programs = compileNasty();
});
afterAll(() => rmSync(programs.folder, { recursive: true, force: true }));

describe.each(tiersHere)('in tier %s', (tier) => {
  it('what an agent leaves behind is gone before the next one starts, and recorded: daemons, cleared environments, re-forks, TMPDIR', async () => {
    const [daemon, cleared, plain] = [uniqueSeconds(), uniqueSeconds(), uniqueSeconds()];
    const { nasty, respawn, folder } = programs;
    const leave = `sleep ${plain} & ${nasty} k ${daemon}; ${nasty} e ${cleared}; ${respawn} 60 "$HMA_WORKSPACE/beat"; dd if=/dev/zero of="$TMPDIR/full" bs=1M count=20 2>&1; echo "TMP $TMPDIR HOME $HOME"; touch "$HOME/trace"`;
    await using run = await startFaultRun(
      {
        A: { '1.1': `${leave}; submit 1; hold` },
        B: { '2.1': 'cat "$HMA_PROMPT"; hold' },
        contract: { policy: { cap: 1 }, isolation: { tier, readable: [folder] } },
      },
      { prepare: ({ root }) => chmodSync(root, 0o755) },
    );
    const state = await run.open(2);
    expect(state.isolation.tier).toBe(tier);
    const [first] = state.options;
    expect(first).toMatchObject({ closure: 'cap', accepted: ['e1'], survivors: [] });
    const commands = first?.ended.map(({ command }) => command).join('\n') ?? '';
    for (const mark of [plain, daemon, cleared]) expect(commands).toContain(String(mark));
    expect(commands).toContain('respawn');
    expect([plain, daemon, cleared].flatMap((mark) => running(String(mark)))).toEqual([]);
    expect(running(`${respawn} 60`)).toEqual([]);
    const said = outputOf(run.runFolder, 'option-1');
    expect(said).toMatch(/TMP \S*option-1\/tmp HOME \S*option-1\/home/);
    expect(
      readdirSync(join(runFiles(run.runFolder).sessions, 'option-1')).filter((name) => ['tmp', 'home'].includes(name)),
    ).toEqual([]);
    await run.client.until(
      'the next session to speak',
      ({ options }) => options[1]?.attempts[0]?.state === 'running' && options[1].attempts[0].spokeAt !== null,
    );
    expect(readFileSync(join(runFiles(run.runFolder).sessions, 'option-2', 'shown', 'prompt.md'), 'utf8')).toMatch(
      new RegExp(`still running when the session before yours closed, and were ended:[^]*${plain}`),
    );
  });
});

/** A memory cgroup of our own, in which a session may run out of memory without harm to anybody else; undefined where none can be had. */
function smallMemory(): string | undefined {
  const places = [
    ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes'],
    ['/sys/fs/cgroup', 'memory.max'],
  ] as const;
  for (const [above, limit] of places) {
    const group = join(above, `hma-test-${process.pid}`);
    try {
      if (!existsSync(above)) continue;
      mkdirSync(group, { recursive: true });
      writeFileSync(join(group, limit), String(64 * 1024 * 1024));
      return group;
    } catch {
      if (existsSync(group)) rmdirSync(group);
    }
  }
  return undefined;
}

describe('an agent that fails', () => {
  it('crashes, is killed, stalls, runs out of memory: each in its own words, with another attempt, then the other agent goes on', async () => {
    const group = smallMemory();
    const eat = group === undefined ? 'exit 9' : `echo $$ > ${group}/cgroup.procs; exec tail /dev/zero`;
    try {
      await using run = await startFaultRun({
        A: { '1.1': 'echo the last words; exit 7', '1.2': 'kill -9 $$', '3.1': 'submit 5; hold' },
        B: { '2.1': 'hold', '2.2': eat, '4.1': 'hold' },
        contract: { policy: { cap: 1 }, stall: '3s' },
      });
      const { options } = await run.open(4);
      const failures = options
        .slice(0, 3)
        .map(({ closure, attempts }) => [
          closure,
          attempts.map((one) => (one.state === 'ended' ? (one.failure?.reason ?? 'none') : one.state)),
        ]);
      expect(failures).toEqual([
        ['failed', ['crash', 'crash']],
        ['failed', ['stall', group === undefined ? 'crash' : 'out_of_memory']],
        ['cap', ['none']],
      ]);
      expect(options[0]?.attempts).toMatchObject([
        { failure: { detail: 'the program exited with code 7; its last output: the last words' } },
        { failure: { detail: expect.stringContaining('was killed by SIGKILL') } },
      ]);
      expect(options.map(({ agent }) => agent)).toEqual(['A', 'B', 'A', 'B']);
    } finally {
      if (group !== undefined) rmdirSync(group);
    }
  });

  it('is no program at all: the run pauses, a person is told by the notify command, and it can be resumed and stopped', async () => {
    const place = mkdtempSync(join(tmpdir(), 'hma-told-'));
    const told = (): { kind: string; text: string; run: string }[] =>
      (existsSync(join(place, 'told')) ? readFileSync(join(place, 'told'), 'utf8') : '')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { kind: string; text: string; run: string });
    try {
      await using run = await startFaultRun({
        ...holding,
        contract: {
          agents: {
            A: { name: 'alpha', adapter: 'command', command: ['/nowhere/agent', '--go'] },
            B: { name: 'beta', adapter: 'command', command: ['nobody-knows-this-program'] },
          },
          failures: { attempts: 2, wait: '50ms', then: 'pause' },
          notify: ['tee', '-a', join(place, 'told')],
        },
      });
      const words =
        "alpha: not started (agent alpha can't start: `/nowhere/agent` is no executable file (looked at /nowhere/agent); check the path, or run chmod +x on it)";
      const { pause, options } = await run.client.until('the pause', (state) => state.pause !== null);
      expect(pause).toMatchObject({ reason: 'agent_failed', detail: words });
      expect(options[0]?.attempts).toHaveLength(2);
      // a resume grants a new set of attempts
      await run.client.intend({ kind: 'resume', by: 'test' });
      await run.client.until(
        'the next pause',
        (state) => state.pause !== null && state.options[0]?.attempts.length === 4,
      );
      await run.client.intend({ kind: 'handoff', by: 'test' });
      await run.client.intend({ kind: 'resume', by: 'test' });
      const second = await run.client.until(
        'the other agent to fail',
        (state) => state.pause !== null && state.options.length === 2,
      );
      expect(second.pause?.detail).toMatch(
        /^beta: not started \(agent beta can't start: `nobody-knows-this-program` was not found on PATH .*install it, or write its absolute path\)/,
      );
      await run.client.intend({ kind: 'stop', by: 'test' });
      await run.finished();
      await eventually('the last notification', () => told().some(({ kind }) => kind === 'finished'));
      expect(
        told()
          .map(({ kind }) => kind)
          .toSorted(),
      ).toEqual(['finished', 'needs_person', 'needs_person', 'needs_person', 'review_ready', 'started']);
      expect(told().find(({ kind }) => kind === 'needs_person')?.text).toBe(`agent_failed: ${words}`);
      expect(new Set(told().map((one) => one.run))).toEqual(new Set([run.run]));
      expect(told().find(({ kind }) => kind === 'finished')?.text).toBe('finished without a candidate');
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  });
});

/** The freezer of cgroup version 1 makes a process that not even SIGKILL ends; nothing else at hand does. */
const freezer = '/sys/fs/cgroup/freezer';

describe('a process that cannot be ended', () => {
  it('stops the handoff until a person has ended it', async () => {
    const group = join(freezer, `hma-test-${process.pid}`);
    const mark = uniqueSeconds();
    const possible = existsSync(freezer);
    if (possible) mkdirSync(group);
    const freeze = possible ? `echo $! > ${group}/cgroup.procs; echo FROZEN > ${group}/freezer.state` : ':';
    try {
      await using run = await startFaultRun({
        A: { '1.1': `sleep ${mark} & ${freeze}; submit 1; hold` },
        B: { '2.1': 'hold' },
        contract: { policy: { cap: 1 } },
      });
      if (possible) {
        const state = await run.client.until('the pause', ({ pause }) => pause !== null, 100_000);
        expect(state.pause).toMatchObject({
          reason: 'survivors',
          detail: expect.stringMatching(
            new RegExp(`^these processes could not be ended: \\d+ \\(sleep ${mark}\\); end them, then resume`),
          ),
        });
        expect(state.options).toMatchObject([{ state: 'ending', survivors: [{ command: `sleep ${mark}` }] }]);
        writeFileSync(join(group, 'freezer.state'), 'THAWED');
        await eventually('it to end', () => running(String(mark)).length === 0);
        await run.client.intend({ kind: 'resume', by: 'test' });
      }
      const after = await run.open(2);
      expect(after.options[0]).toMatchObject({ state: 'closed', closure: 'cap', survivors: [] });
      expect(running(String(mark))).toEqual([]);
    } finally {
      if (possible) writeFileSync(join(group, 'freezer.state'), 'THAWED');
      await eventually('an empty cgroup', () => !possible || readFileSync(join(group, 'cgroup.procs'), 'utf8') === '');
      if (possible) rmdirSync(group);
    }
  });
});
