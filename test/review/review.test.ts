import { expect, it } from 'vitest';

import {
  decideBallot,
  decideOutcome,
  decideSelection,
  nextReviewStep,
  reviewerOf,
  skipReason,
} from '../../src/review/decide.ts';
import { fallbackCandidate, finalCandidate } from '../../src/review/selection.ts';
import type { Failure } from '../../src/agents/port.ts';
import type { RunFact } from '../../src/run/events.ts';
import { nextStep } from '../../src/run/next.ts';
import type { RunState, Terms } from '../../src/run/model.ts';
import { afterOn, at, turn } from '../laws/aState.ts';
import { aTerms } from '../laws/scenario.ts';

const session = { kind: 'review' } as const;
const explored = [
  100_000,
  ...turn(1, { candidates: [1, 2] }),
  ...turn(2, { candidates: [3] }),
  { type: 'exploration.ended', data: { reason: 'deadline' } } as RunFact,
] as const;
const open: RunFact = { type: 'review.opened', data: { reviewer: 'A', tokenHash: 't' } };
const tries = (attempt: number, failure: Failure | null | 'runs' = null): RunFact[] => [
  { type: 'attempt.starting', data: { session, attempt, nonce: `r${attempt}`, promptHash: 'p' } },
  ...(failure === 'runs'
    ? []
    : [
        {
          type: 'attempt.ended',
          data: { session, attempt, exit: null, endedItself: true, failure, retryAt: null, counts: failure !== null },
        } as RunFact,
      ]),
];
const ballot = (candidate: string, reason = 'the steadiest'): RunFact => ({
  type: 'ballot.cast',
  data: { valid: true, candidate, reason },
});
const spoiled: RunFact = { type: 'ballot.cast', data: { valid: false, why: 'there is no candidate "e9"' } };
const ending = (reason: 'natural' | 'deadline' | 'stopped' | 'failed'): RunFact => ({
  type: 'review.ending',
  data: { reason, descendants: [] },
});
const reviewed = (...facts: RunFact[]) => afterOn({}, explored, [100_100, open, ...facts]);
const step = (state: RunState, active: number) => state.review && nextReviewStep(state, state.review, at(active));
const crash: Failure = { reason: 'crash', detail: 'exit code 1' };

it('the reviewer is the agent that did not write the standing candidate, not the one whose turn it is', () => {
  expect(reviewerOf(afterOn({}, explored))).toBe('A');
  expect(reviewerOf(afterOn({}, [1, ...turn(1, { candidates: [1, 2] }), ...turn(2)]))).toBe('B');
});

it('it is skipped without at least two candidates, with a single agent and after a stop', () => {
  const single = { policy: { mode: 'single', cap: null, first: 'A', tellCap: false } } as const;
  expect(skipReason(afterOn({}, explored))).toBeNull();
  expect(skipReason(afterOn({}))).toBe('there is no candidate');
  expect(skipReason(afterOn({}, [1, ...turn(1, { candidates: [1] })]))).toBe('there is only one candidate');
  expect(skipReason(afterOn({ terms: single }, [1, ...turn(1, { candidates: [1, 2] })]))).toBe(
    'a single agent has no reviewer',
  );
  expect(skipReason(afterOn({}, explored, [1, { type: 'run.stopping', data: { by: 'mina' } }]))).toBe(
    'the run was stopped',
  );
});

it('a ballot names a candidate and says why; everything else is invalid, in words', () => {
  const state = afterOn({}, explored);
  const cast = (candidate: unknown, reason: unknown) => decideBallot(state, { candidate, reason }).data;
  expect(cast('e1', '  it is small ')).toStrictEqual({ valid: true, candidate: 'e1', reason: 'it is small' });
  expect(cast('e9', 'x')).toStrictEqual({ valid: false, why: 'there is no candidate "e9"; hma archive lists them' });
  expect(cast(3, 'x')).toStrictEqual({ valid: false, why: '`candidate` must be the id of a candidate, such as "e3"' });
  const noReason = { valid: false, why: '`reason` must say in words why this candidate' };
  expect([cast('e1', '  '), cast('e1', null)]).toStrictEqual([noReason, noReason]);
});

it('a silent or crashed reviewer is asked once more if at least a third of the window is left', () => {
  expect(step(reviewed(), 100_200)).toStrictEqual({ do: 'start' });
  expect(step(reviewed(...tries(1, 'runs')), 100_200)).toStrictEqual({ do: 'watch' });
  expect([140_000, 140_001].map((active) => step(reviewed(...tries(1)), active))).toStrictEqual([
    { do: 'start' },
    { do: 'end', reason: 'natural' },
  ]);
  expect([140_000, 140_001].map((active) => step(reviewed(...tries(1, crash)), active))).toStrictEqual([
    { do: 'start' },
    { do: 'end', reason: 'failed' },
  ]);
  expect(step(reviewed(...tries(1), ...tries(2, crash)), 110_000)).toStrictEqual({ do: 'end', reason: 'failed' });
  expect(step(reviewed(...tries(1, crash), ballot('e1')), 110_000)).toStrictEqual({ do: 'end', reason: 'failed' });
});

it('one that died of the thaw was not asked: it is started at once, and once more if it then crashes', () => {
  const thawed: Failure = { reason: 'after_thaw', detail: 'exit code 1' };
  expect(step(reviewed(...tries(1, thawed)), 150_000)).toStrictEqual({ do: 'start' });
  expect(step(reviewed(...tries(1, thawed), ...tries(2, crash)), 120_000)).toStrictEqual({ do: 'start' });
  expect(step(reviewed(...tries(1, thawed), ...tries(2, crash), ...tries(3, crash)), 120_000)).toStrictEqual({
    do: 'end',
    reason: 'failed',
  });
});

it('the reviewer is ended so early that the result is committed inside the window', () => {
  expect([156_999, 157_000].map((active) => step(reviewed(...tries(1, 'runs')), active))).toStrictEqual([
    { do: 'watch' },
    { do: 'end', reason: 'deadline' },
  ]);
  expect(nextStep(afterOn({}, explored), at(157_000), { lingerMs: 0 })).toStrictEqual({
    do: 'record',
    facts: [{ type: 'review.closed', data: { outcome: 'late', detail: 'no time was left for it' } }],
  });
});

it('the outcome is one honest word', () => {
  const word = (...facts: RunFact[]) => {
    const state = reviewed(...facts);
    return state.review && decideOutcome(state, state.review);
  };
  expect(word(ballot('e3'), ballot('e1'), spoiled, ending('natural'))).toStrictEqual({
    outcome: 'chosen',
    detail: 'the steadiest',
  });
  expect(word(ballot('e1'), ballot('e3'), ending('deadline'))).toStrictEqual({
    outcome: 'endorsed',
    detail: 'the steadiest',
  });
  expect(word(...tries(1), ending('natural'))).toStrictEqual({
    outcome: 'silent',
    detail: 'the reviewer ended without a nomination',
  });
  expect(word(...tries(1, crash), ending('failed'))).toStrictEqual({ outcome: 'crashed', detail: 'exit code 1' });
  expect(word(...tries(1, 'runs'), ending('deadline'))).toStrictEqual({
    outcome: 'late',
    detail: 'the window closed without a nomination',
  });
  expect(word(...tries(1), spoiled, ending('natural'))).toStrictEqual({
    outcome: 'invalid',
    detail: 'there is no candidate "e9"',
  });
  expect(word(...tries(1, 'runs'), ending('stopped'))).toStrictEqual({
    outcome: 'skipped',
    detail: 'the run was stopped',
  });
});

it('the ballot is read once more after the reviewer is gone', () => {
  expect(reviewed(...tries(1), ending('natural'), ballot('e1')).review?.nomination).toStrictEqual({
    candidate: 'e1',
    reason: 'the steadiest',
    at: 100_100,
  });
});

it('what survives a reviewer waits for a person', () => {
  const survivor = { pid: 7, command: 'nohup train', ageMs: 9 };
  const reaped: RunFact = { type: 'review.reaped', data: { ended: [], survivors: [survivor], ms: 1 } };
  const paused: RunFact = { type: 'run.paused', data: { reason: 'survivors', detail: '', by: 'hma' } };
  const stuck = reviewed(...tries(1), ending('natural'), reaped, paused);
  expect(stuck.review?.survivors).toStrictEqual([survivor]);
  expect(nextStep(stuck, at(100_200), { lingerMs: 0 })).toStrictEqual({
    do: 'wait',
    wakeAt: null,
    why: 'processes survive; a person must end them',
  });
  const resumed = reviewed(...tries(1), ending('natural'), reaped, paused, {
    type: 'run.resumed',
    data: { by: 'mina' },
  });
  expect(nextStep(resumed, at(100_200), { lingerMs: 0 })).toStrictEqual({ do: 'reap', session });
});

const of = (terms: Partial<Terms>, ...facts: RunFact[]) =>
  afterOn({ terms }, [100_000, ...turn(1, { candidates: [9] }), ...turn(2, { candidates: [3] }), ...facts]);

it('the fallback is the standing candidate, or the record where scores are visible', () => {
  const falls = (terms: Partial<Terms>) => fallbackCandidate({ ...aTerms(terms), archive: of(terms).archive })?.id;
  expect([falls({}), falls({ fallback: 'record' }), falls({ fallback: 'record', feedback: 'blind' })]).toStrictEqual([
    'e3',
    'e9',
    'e3',
  ]);
  expect(decideSelection(of({ fallback: 'record' }))).toStrictEqual({
    type: 'candidate.selected',
    data: {
      candidate: 'e9',
      by: 'fallback',
      who: 'hma',
      reason: 'record candidate (review skipped)',
      gradesRevealed: false,
    },
  });
  expect(decideSelection(reviewed(ballot('e1')))).toStrictEqual({
    type: 'candidate.selected',
    data: { candidate: 'e1', by: 'reviewer', who: 'ada', reason: 'the steadiest', gradesRevealed: false },
  });
  expect(decideSelection(afterOn({}))).toBeNull();
});

it('a person’s selection is a pin until it is cleared; the review is recorded beside it', () => {
  const chosen = (by: 'person' | 'reviewer', candidate: string): RunFact => ({
    type: 'candidate.selected',
    data: { candidate, by, who: 'x', reason: `by ${by}`, gradesRevealed: false },
  });
  const final = (...facts: RunFact[]) => finalCandidate({ ...of({}, ...facts), ...aTerms() });
  expect(final()).toStrictEqual({ candidate: 'e3', by: 'fallback', reason: 'standing candidate' });
  expect(final(chosen('person', 'e9'), chosen('reviewer', 'e3'))).toStrictEqual({
    candidate: 'e9',
    by: 'person',
    reason: 'by person',
  });
  expect(
    final(chosen('person', 'e9'), chosen('reviewer', 'e3'), {
      type: 'selection.cleared',
      data: { who: 'x', reason: 'y', gradesRevealed: false },
    }),
  ).toStrictEqual({ candidate: 'e3', by: 'reviewer', reason: 'by reviewer' });
});
