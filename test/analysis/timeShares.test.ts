import fc from 'fast-check';
import { expect, test } from 'vitest';

import { timeShares, type TimeShares } from '../../src/analysis/timeShares.ts';
import { history, opened, openedWall, optionFacts as f, stateOf, wholeRun, type At } from '../cli/history.ts';

const given = (active: number, wall = openedWall + active) => ({ active, wall });
const sum = ({ sessions, start, between, unusedReview, unusedExploration, ahead }: TimeShares): number =>
  sessions.A + sessions.B + start + between + unusedReview + unusedExploration + ahead;

test('a whole run, by hand', () => {
  // A: 2 000–21 050 and 41 600–51 100; B: 21 410–41 000 and the review 52 000–62 000.
  // Exploration ended at 51 500, so the window is 51 500–111 500, and 600 000 − 111 500 was never explored.
  expect(timeShares(stateOf(history(...wholeRun())), given(999_999))).toEqual({
    budget: 600_000,
    sessions: { A: 19_050 + 9500, B: 19_590 + 10_000 },
    start: 2000,
    between: 21_410 - 21_050 + (41_600 - 41_000) + (52_000 - 51_100),
    unusedReview: 111_500 - 62_000,
    unusedExploration: 600_000 - 111_500,
    ahead: 0,
    paused: 0,
  });
});

test('in the middle of a session: what is to come is ahead', () => {
  const shares = timeShares(
    stateOf(history([0, opened()], f.open(1000, 1, 'A'), f.starting(1000, 1), f.started(3000, 1))),
    given(10_000),
  );
  expect(shares).toEqual({
    budget: 600_000,
    sessions: { A: 7000, B: 0 },
    start: 3000,
    between: 0,
    unusedReview: 0,
    unusedExploration: 0,
    ahead: 590_000,
    paused: 0,
  });
});

test('waits between attempts are between sessions; before anything started all is start', () => {
  const facts: At[] = [
    [0, opened()],
    f.open(1000, 1, 'A'),
    f.starting(1000, 1),
    f.started(2000, 1),
    f.ended(5000, 1, { failure: { reason: 'crash', detail: 'exit 1' }, retryAt: 8000, counts: true }),
    f.starting(8000, 1, 2),
    f.started(8500, 1, 2),
  ];
  expect(timeShares(stateOf(history(...facts)), given(10_000))).toMatchObject({
    sessions: { A: 3000 + 1500, B: 0 },
    start: 2000,
    between: 3500,
  });
  expect(timeShares(stateOf(history([0, opened()])), given(700))).toMatchObject({ start: 700, ahead: 599_300 });
});

test('a skipped review leaves its whole window unused', () => {
  const facts: At[] = [
    [0, opened()],
    f.open(0, 1, 'A'),
    f.starting(0, 1),
    f.started(0, 1),
    f.ended(540_000, 1, { endedItself: false }),
    f.ending(540_000, 1, 'deadline'),
    f.closed(540_000, 1, 'deadline'),
    [540_000, { type: 'exploration.ended', data: { reason: 'deadline' } }],
    [540_000, { type: 'review.closed', data: { outcome: 'skipped', detail: 'there is only one candidate' } }],
  ];
  expect(timeShares(stateOf(history(...facts)), given(541_000))).toEqual({
    budget: 600_000,
    sessions: { A: 540_000, B: 0 },
    start: 0,
    between: 0,
    unusedReview: 60_000,
    unusedExploration: 0,
    ahead: 0,
    paused: 0,
  });
});

test('pauses are wall time beside the budget, the present one included', () => {
  const facts: At[] = [
    [0, opened()],
    [1000, { type: 'run.paused', data: { reason: 'requested', detail: 'lunch', by: 'eve' } }],
    [1000, { type: 'run.resumed', data: { by: 'eve' } }, 5000],
    [2000, { type: 'run.paused', data: { reason: 'requested', detail: 'tea', by: 'eve' } }, 5000],
  ];
  const state = stateOf(history(...facts));
  expect(timeShares(state, given(2000, openedWall + 2000 + 5000 + 300))).toMatchObject({
    start: 2000,
    ahead: 598_000,
    paused: 5300,
  });
});

test('nothing is lost or counted twice, whatever the moments (a law)', () => {
  const moments = fc
    .array(fc.nat(700_000), { minLength: 8, maxLength: 8 })
    .map((values) => values.toSorted((a, b) => a - b));
  const stages = fc.integer({ min: 1, max: 9 });
  fc.assert(
    fc.property(moments, stages, fc.nat(700_000), (m, until, now) => {
      const [a = 0, b = 0, c = 0, d = 0, e = 0, g = 0, h = 0, i = 0] = m;
      const facts: At[] = [
        [0, opened()],
        f.open(a, 1, 'A'),
        f.starting(a, 1),
        f.started(b, 1),
        f.ended(c, 1),
        f.ending(c, 1, 'natural'),
        f.closed(d, 1, 'natural'),
        [e, { type: 'exploration.ended', data: { reason: 'requested' } }],
        [e, { type: 'review.opened', data: { reviewer: 'B', tokenHash: 'r' } }],
        [
          g,
          { type: 'attempt.starting', data: { session: { kind: 'review' }, attempt: 1, nonce: 'r', promptHash: '' } },
        ],
        [
          g,
          {
            type: 'attempt.started',
            data: { session: { kind: 'review' }, attempt: 1, runner: { pid: 1, start: '1' } },
          },
        ],
        [
          h,
          {
            type: 'attempt.ended',
            data: {
              session: { kind: 'review' },
              attempt: 1,
              exit: null,
              endedItself: true,
              failure: null,
              retryAt: null,
              counts: false,
            },
          },
        ],
        [i, { type: 'review.closed', data: { outcome: 'silent', detail: '' } }],
      ];
      const events = history(...facts.slice(0, until + 4));
      const shares = timeShares(stateOf(events), given(Math.max(now, events.at(-1)?.active ?? 0)));
      expect(sum(shares)).toBeCloseTo(shares.budget, 6);
      for (const value of [
        shares.sessions.A,
        shares.sessions.B,
        shares.start,
        shares.between,
        shares.unusedReview,
        shares.unusedExploration,
        shares.ahead,
      ])
        expect(value).toBeGreaterThanOrEqual(-1e-6);
    }),
  );
});
