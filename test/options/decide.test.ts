import { expect, it } from 'vitest';

import type { Failure } from '../../src/agents/port.ts';
import { decideAttemptEnd, nextStart, optionEnd, receiptWaitMs } from '../../src/options/decide.ts';
import { latestAttempt } from '../../src/options/evolve.ts';
import type { Terms, RunState } from '../../src/run/model.ts';
import { nextStep } from '../../src/run/next.ts';
import { accepted, after, afterOn, at, opened, started, starting, submitted, turn } from '../laws/aState.ts';

const running = (terms: Partial<Terms> = {}) => afterOn({ terms }, [0, opened(1), starting(1), started(1)]);
const crash: Failure = { reason: 'crash', detail: 'exit code 1' };
const single = { policy: { mode: 'single', cap: null, first: 'A', tellCap: false } } as const;

/** The end of the running attempt at a moment. */
function ends(state: RunState, failure: Failure | null, active: number, endedItself = true) {
  const option = state.options.at(-1) ?? null;
  const attempt = option && latestAttempt(option);
  if (!attempt) throw new Error('no attempt runs');
  return decideAttemptEnd(
    state,
    { session: { kind: 'option', number: 1 }, attempt, option, exit: null, endedItself, failure },
    at(active),
  );
}
function data(fact: ReturnType<typeof ends>) {
  if (fact.type !== 'attempt.ended') throw new Error(`not an end: ${fact.type}`);
  return { reason: fact.data.failure?.reason, counts: fact.data.counts, retryAt: fact.data.retryAt };
}

it('a crash is not a natural end: waits double, and the last attempt is the last', () => {
  const failures = { attempts: 3, waitMs: 30_000, then: 'handover' } as const;
  const first = running({ failures });
  expect(data(ends(first, crash, 5_000))).toStrictEqual({ reason: 'crash', counts: true, retryAt: 35_000 });
  const second = afterOn(
    { terms: { failures } },
    [0, opened(1), starting(1), started(1)],
    [5_000, ends(first, crash, 5_000)],
    [35_000, starting(1, 2)],
  );
  expect(data(ends(second, crash, 36_000))).toStrictEqual({ reason: 'crash', counts: true, retryAt: 96_000 });
  const third = afterOn(
    { terms: { failures } },
    [0, opened(1), starting(1), started(1)],
    [5_000, ends(first, crash, 5_000)],
    [35_000, starting(1, 2)],
    [36_000, ends(second, crash, 36_000)],
    [96_000, starting(1, 3)],
  );
  expect(data(ends(third, crash, 97_000))).toStrictEqual({ reason: 'crash', counts: true, retryAt: null });
});

it('a usage limit is waited for until it is lifted, never less than the wait', () => {
  const limit = (resetIn: number): Failure => ({
    reason: 'usage_limit',
    detail: 'limit',
    resetAt: at(5_000).wall + resetIn,
  });
  expect(
    [limit(60_000), limit(1_000), limit(-9_000)].map((failure) => data(ends(running(), failure, 5_000))),
  ).toStrictEqual([65_000, 10_000, 10_000].map((retryAt) => ({ reason: 'usage_limit', counts: true, retryAt })));
});

const paused = { type: 'run.paused', data: { reason: 'requested', detail: '', by: 'mina' } } as const;
const resumed = { type: 'run.resumed', data: { by: 'mina' } } as const;
const thawed = after([0, opened(1), starting(1), started(1)], [5_000, paused], [5_000.5, resumed]);

it('a session that dies within a minute of the thaw gets another attempt at once, which isn’t counted', () => {
  expect(data(ends(thawed, crash, 65_000))).toStrictEqual({ reason: 'after_thaw', counts: false, retryAt: 65_000 });
  expect(data(ends(thawed, crash, 65_000.5))).toStrictEqual({ reason: 'crash', counts: true, retryAt: 70_000.5 });
  expect(data(ends(thawed, null, 6_000))).toStrictEqual({ reason: undefined, counts: false, retryAt: null });
  expect(data(ends(thawed, { reason: 'stall', detail: '' }, 6_000, false))).toStrictEqual({
    reason: 'stall',
    counts: true,
    retryAt: 11_000,
  });
});

it('one that was started after the thaw died of something else', () => {
  const later = after([0, opened(1)], [5_000, paused], [5_000.5, resumed], [6_000, starting(1)]);
  expect(data(ends(later, crash, 7_000))).toStrictEqual({ reason: 'crash', counts: true, retryAt: 12_000 });
});

it('an agent whose cap is used up, or whose option is ending, gets no other attempt', () => {
  const full = after([0, opened(1), starting(1), submitted(1, 1), accepted(1, 1), submitted(2, 1), accepted(2, 1)]);
  const ending = after([
    0,
    opened(1),
    starting(1),
    { type: 'option.ending', data: { option: 1, reason: 'handoff', descendants: [] } },
  ]);
  expect([full, ending].map((state) => data(ends(state, crash, 9_000)).retryAt)).toStrictEqual([null, null]);
});

it('a single agent that ends itself is asked again: at once when it worked, later and later when it did nothing', () => {
  expect(data(ends(running(single), null, 10_000)).retryAt).toBe(10_000);
  expect(data(ends(running(single), null, 9_000)).retryAt).toBe(14_000);
  expect(
    data(ends(running({ ...single, failures: { attempts: 1, waitMs: 0, then: 'handover' } }), null, 9_000)).retryAt,
  ).toBe(10_000);
});

it('after the last attempt: hand over, or pause with the reason; a single agent always pauses', () => {
  const last = (terms: Partial<Terms>, failure = crash) =>
    nextStep(
      afterOn(
        { terms: { failures: { attempts: 1, waitMs: 1, then: 'handover' }, ...terms } },
        [0, opened(1), starting(1)],
        [1, ends(running({ failures: { attempts: 1, waitMs: 1, then: 'handover' } }), failure, 1)],
      ),
      at(2),
      { lingerMs: 0 },
    );
  const pause = {
    do: 'record',
    facts: [{ type: 'run.paused', data: { reason: 'agent_failed', detail: 'ada: crash (exit code 1)', by: 'hma' } }],
  };
  expect(last({})).toStrictEqual({ do: 'endOption', option: 1, reason: 'failed' });
  expect(last({}, { reason: 'stall', detail: '' })).toStrictEqual({ do: 'endOption', option: 1, reason: 'stalled' });
  expect(last({ failures: { attempts: 1, waitMs: 1, then: 'pause' } })).toStrictEqual(pause);
  expect(last(single)).toStrictEqual(pause);
});

it('a person’s resume grants new attempts, the first at once', () => {
  const failed = ends(running({ failures: { attempts: 1, waitMs: 1, then: 'pause' } }), crash, 1);
  const state = afterOn(
    { terms: { failures: { attempts: 1, waitMs: 1, then: 'pause' } } },
    [0, opened(1), starting(1)],
    [1, failed],
    [2, paused],
    [2, resumed],
  );
  expect({ failures: state.options[0]?.failures, retryAt: state.options[0]?.retryAt }).toStrictEqual({
    failures: 0,
    retryAt: 2,
  });
  expect(nextStep(state, at(3), { lingerMs: 0 })).toStrictEqual({
    do: 'startAttempt',
    session: { kind: 'option', number: 1 },
  });
});

const filled = [
  [0, opened(1), starting(1), started(1)],
  [1_000, submitted(1, 1), accepted(1, 1), submitted(2, 1)],
  [9_000, accepted(2, 1)],
] as const;
const ending = (state: RunState, active: number, lingerMs = 500) => {
  const option = state.options.at(-1);
  return option && optionEnd(state, option, { active, lingerMs });
};

it('the session is interrupted when it has seen the k-th receipt, at the latest 20 s after the commit', () => {
  expect(receiptWaitMs).toBe(20_000);
  expect(ending(after(...filled), 9_001)).toStrictEqual({ kind: 'at', active: 29_000 });
  expect(ending(after(...filled), 29_000)).toStrictEqual({ kind: 'now', reason: 'cap' });
  const seen = after(...filled, [10_000, { type: 'option.capSeen', data: { option: 1 } }]);
  expect(ending(seen, 10_001)).toStrictEqual({ kind: 'at', active: 10_500 });
  expect(ending(seen, 10_500)).toStrictEqual({ kind: 'now', reason: 'cap' });
});

it('a receipt seen before the budget was raised is not the last one', () => {
  const budgets = { totalMs: 600_000, reviewMs: 60_000, experiments: 2, until: null };
  const state = afterOn(
    { budgets: { experiments: 1 } },
    [0, opened(1), starting(1), submitted(1, 1), accepted(1, 1)],
    [1_000, { type: 'option.capSeen', data: { option: 1 } }, { type: 'budget.changed', data: { budgets, by: 'mina' } }],
    [40_000, submitted(2, 1), accepted(2, 1)],
  );
  expect(ending(state, 40_001)).toStrictEqual({ kind: 'at', active: 60_000 });
});

it('a person’s and the clock’s word come first', () => {
  const because = (reason: 'deadline' | 'requested' | 'barren') =>
    ending(after(...filled, [9_100, { type: 'exploration.ending', data: { reason, by: 'x' } }]), 9_101);
  expect(because('deadline')).toStrictEqual({ kind: 'now', reason: 'deadline' });
  expect(because('requested')).toStrictEqual({ kind: 'now', reason: 'handoff' });
  expect(ending(after(...filled, [9_100, { type: 'run.stopping', data: { by: 'mina' } }]), 9_101)).toStrictEqual({
    kind: 'now',
    reason: 'stopped',
  });
});

it('two sessions that end in seconds without an experiment slow the run down, four pause it, and a person’s resume starts it', () => {
  const ended = (count: number) =>
    Array.from({ length: count }, (_, index) => [1_000 * (index + 1), ...turn(index + 1)] as const);
  expect([0, 1, 2, 3].map((count) => nextStart(after(...ended(count)), at(9_999)))).toStrictEqual(
    [0, 1_000, 7_000, 13_000].map((active) => ({ kind: 'at', active })),
  );
  expect(nextStart(after(...ended(4)), at(9_999))).toStrictEqual({
    kind: 'pause',
    reason: 'agents_end_at_once',
    until: null,
    detail:
      'the last 4 sessions ended within seconds without submitting anything; look at their output (hma log), then resume',
  });
  expect(nextStart(after(...ended(4), [4_001, paused], [4_001, resumed]), at(9_999))).toStrictEqual({
    kind: 'at',
    active: 4_000,
  });
  expect(nextStart(after(...ended(3), [4_000, ...turn(4, { candidates: [1] })]), at(9_999))).toStrictEqual({
    kind: 'at',
    active: 4_000,
  });
});

it('options that fail without a candidate slow down too, whatever they submitted and even with `wait: 0`', () => {
  const rejected = {
    type: 'experiment.rejected',
    data: { id: 'e1', option: 2, code: 'duplicate', reason: '', score: null },
  } as const;
  const second = turn(2, { closure: 'failed' });
  const state = afterOn(
    { terms: { failures: { attempts: 1, waitMs: 0, then: 'handover' } } },
    [1_000, ...turn(1, { closure: 'failed' })],
    [2_000, ...second.slice(0, 3), submitted(1, 2), rejected, ...second.slice(3)],
  );
  expect(nextStart(state, at(9_999))).toStrictEqual({ kind: 'at', active: 3_000 });
});
