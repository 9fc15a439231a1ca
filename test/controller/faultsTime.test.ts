import { existsSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { finalCandidate } from '../../src/review/selection.ts';
import { runFiles } from '../../src/ledger/places.ts';
import { SessionFolder } from '../../src/controller/sessionFolders.ts';
import { identify, isAlive } from '../../src/machines/processes.ts';
import { membersOf } from '../../src/machines/processTree.ts';
import { treeOfRunner } from '../../src/machines/runnerControl.ts';
import { eventsOf } from '../rig/run.ts';
import { eventually, holding, revive, startFaultRun, testClock, type FaultRun } from '../rig/faultRun.ts';

const day = 86_400_000;

/** Lets the controller look at its clocks now: a refused call is an event. */
const poke = async (run: FaultRun): Promise<void> => void (await run.client.intend({ kind: 'budget', by: 'test' }));
const activeNow = (run: FaultRun): number => eventsOf(run.runFolder).at(-1)?.active ?? 0;

describe('the wall clock', () => {
  it('stepped by a day, or a suspend: budgets stay, also in the review; with `until` it is the wall that counts', async () => {
    const clock = testClock(`/tmp/hma-clock-time-${process.pid}`);
    try {
      await using run = await startFaultRun(
        { ...holding, contract: { policy: { cap: 'none' }, budgets: { total: '60m', review: '20m' } } },
        { env: clock.env },
      );
      await run.open(1);
      expect(await run.submit(1, '1')).toMatchObject({ outcome: 'accepted' });
      const before = activeNow(run);
      // a step of the wall and a suspend look alike to CLOCK_MONOTONIC, which stands still while the machine sleeps
      for (const wall of [day, -day, 8 * 3_600_000]) {
        clock.shift({ wall });
        await poke(run);
      }
      expect(await run.submit(1, '2')).toMatchObject({ outcome: 'accepted' });
      expect(activeNow(run) - before).toBeLessThan(60_000);
      expect(run.client.state?.explorationEnding).toBeNull();
      await run.client.intend({ kind: 'review', by: 'test' });
      await run.open('review');
      clock.shift({ wall: 2 * day });
      await poke(run);
      expect(await run.hma('review', 'nominate', 'e1', '--reason', 'after the sleep')).toMatchObject({ exit: 0 });
      expect(run.client.state?.review).toMatchObject({ state: 'open', nomination: { candidate: 'e1' } });
      // a rental that ends: the wall clock ends the review, inside its window, and the nomination counts
      const wall = Date.now() + 2 * day;
      expect(await run.client.intend({ kind: 'budget', until: wall + 3_600_000, by: 'test' })).toMatchObject({
        done: true,
      });
      clock.shift({ wall: 2 * day + 3_600_000 + 1000 });
      await run.person('select', 'e2', '--reason', 'while the clock jumps');
      const state = await run.finished();
      expect(state.review).toMatchObject({ outcome: 'chosen', endReason: 'deadline' });
      expect(finalCandidate({ ...state, ...state.terms })).toMatchObject({ candidate: 'e2', by: 'person' });
    } finally {
      clock.remove();
    }
  });

  it('`until` over a suspend: exploration ends at once when the machine wakes too late, and the fallback is selected', async () => {
    const clock = testClock(`/tmp/hma-clock-until-${process.pid}`);
    try {
      await using run = await startFaultRun(
        {
          ...holding,
          contract: {
            policy: { cap: 'none' },
            budgets: { total: '60m', review: '5m', until: new Date(Date.now() + 3_600_000).toISOString() },
          },
        },
        { env: clock.env },
      );
      await run.open(1);
      for (const text of ['1', '2']) expect(await run.submit(1, text)).toMatchObject({ outcome: 'accepted' });
      clock.shift({ wall: 2 * 3_600_000 });
      expect(await run.submit(1, '3')).toMatchObject({ refused: { code: 'late', reason: 'exploration is over' } });
      const state = await run.finished();
      expect(state.options[0]?.closure).toBe('deadline');
      expect(state.review).toMatchObject({ outcome: 'late' });
      expect(state.selections).toMatchObject([{ candidate: 'e2', by: 'fallback' }]);
    } finally {
      clock.remove();
    }
  });

  const faketime = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
  it.runIf(existsSync(faketime))(
    'stepped for real, by libfaketime: the ledger shows the other day, active time goes on as it was',
    async () => {
      await using run = await startFaultRun({
        ...holding,
        contract: { policy: { cap: 'none' }, budgets: { total: '60m', review: '5m' } },
      });
      await run.open(1);
      expect(await run.submit(1, '1')).toMatchObject({ outcome: 'accepted' });
      const { keeper, controller } = run.pids();
      const before = eventsOf(run.runFolder).at(-1);
      const two = [keeper, controller].map((pid) => identify(pid));
      for (const pid of [keeper, controller]) process.kill(pid, 'SIGKILL');
      await eventually('both to be gone', () => two.every((one) => one === undefined || !isAlive(one)));
      expect(
        await revive(run, {
          env: { LD_PRELOAD: faketime, FAKETIME: '+1d', DONT_FAKE_MONOTONIC: '1', FAKETIME_DONT_RESET: '1' },
        }),
      ).toBe('taken up');
      expect(await run.submit(1, '2')).toMatchObject({ outcome: 'accepted', id: 'e2' });
      const after = eventsOf(run.runFolder).at(-1);
      expect((after?.wall ?? 0) - (before?.wall ?? 0)).toBeGreaterThan(day - 60_000);
      expect((after?.active ?? Infinity) - (before?.active ?? 0)).toBeLessThan(60_000);
      expect(run.client.state?.options[0]?.attempts).toHaveLength(1);
    },
  );
});

describe('a pause', () => {
  it('stops the clock, refuses submissions, freezes the session; a running evaluation commits at the pause; --after waits for the boundary', async () => {
    await using run = await startFaultRun({
      ...holding,
      A: { ...holding.A, '1.2': 'hold' },
      contract: { policy: { cap: 2 } },
    });
    await run.open(1);
    const pending = run.submit(1, 'slow3');
    await run.client.until('the evaluation to run', ({ experiments }) => experiments[0]?.state === 'evaluating');
    expect(await run.person('pause')).toMatchObject({ exit: 0 });
    expect(run.client.state?.pause).toMatchObject({ reason: 'requested' });
    await eventually('the session to be frozen', () => sessionStates(run).every((letter) => letter === 'T'));
    expect(await run.submit(1, '5')).toEqual({
      refused: { code: 'paused', reason: 'the run is paused; submit again when it goes on' },
    });
    const decided = await run.client.until('the verdict', ({ experiments }) => experiments[0]?.state === 'accepted');
    expect(await pending).toMatchObject({ outcome: 'accepted', score: 7 });
    expect(decided.experiments[0]).toMatchObject({ decidedAt: decided.pause?.since });
    expect(await run.person('resume')).toMatchObject({ exit: 0 });
    await eventually('the session to go on', () => sessionStates(run).every((letter) => letter !== 'T'));
    expect(run.client.state?.clock.active).toBe(decided.pause?.since);
    // a session that dies soon after the thaw gets another attempt, which doesn't count as a failure
    for (const { pid } of sessionProcesses(run)) process.kill(pid, 'SIGKILL');
    const thawed = await run.client.until(
      'another attempt',
      ({ options }) => options[0]?.attempts[1]?.state === 'running',
    );
    expect(thawed.options[0]).toMatchObject({ failures: 0, attempts: [{ failure: { reason: 'after_thaw' } }, {}] });
    expect(await run.person('pause', '--after')).toMatchObject({ exit: 0 });
    expect(run.client.state).toMatchObject({ pause: null, pauseAfter: true });
    expect(await run.submit(1, '5')).toMatchObject({ outcome: 'accepted' });
    const paused = await run.client.until('the pause at the boundary', ({ pause }) => pause !== null);
    expect(paused.options).toMatchObject([{ state: 'closed', closure: 'cap' }]);
    expect(paused.pause).toMatchObject({ reason: 'requested', detail: 'paused at the option boundary' });
    await run.client.intend({ kind: 'resume', by: 'test' });
    await run.open(2);
  });
});

/** The processes of the open session. */
function sessionProcesses(run: FaultRun) {
  const attempt = run.client.state?.options.at(-1)?.attempts.at(-1);
  const dir = new SessionFolder(runFiles(run.runFolder).sessions, {
    kind: 'option',
    number: run.client.state?.options.length ?? 0,
  }).attempt(attempt?.number ?? 0);
  const members = membersOf(treeOfRunner({ dir, nonce: attempt?.nonce ?? '', tier: 'none' }));
  if (members.length === 0) throw new Error('nothing of the session lives');
  return members;
}

/** Their states, as letters (T is stopped). */
const sessionStates = (run: FaultRun): string[] => sessionProcesses(run).map(({ state }) => state);
