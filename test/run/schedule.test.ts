import { expect, it } from 'vitest';

import {
  capOf,
  experimentsLeft,
  explorationEndsAt,
  reviewerEndsAt,
  reviewWindowEndsAt,
  runEndsAt,
  verdictsEndAt,
} from '../../src/run/schedule.ts';
import { accepted, after, afterOn, at, opened, submitted, wall0 } from '../laws/aState.ts';

it('exploration ends at t_total − t_rev; a single agent explores to the end', () => {
  expect(explorationEndsAt(after(), at(0))).toBe(540_000);
  expect(
    explorationEndsAt(afterOn({ terms: { policy: { mode: 'single', cap: 5, first: 'A', tellCap: false } } }), at(0)),
  ).toBe(600_000);
});

it('`until` ends the run at its wall time, and the review fits before it', () => {
  const state = afterOn({ budgets: { until: wall0 + 300_000 } });
  expect([runEndsAt(state, at(0)), explorationEndsAt(state, at(100_000))]).toStrictEqual([300_000, 240_000]);
  // 100 s of pause are lost: the end comes nearer in active time
  expect(explorationEndsAt(state, at(100_000, { wall: wall0 + 200_000 }))).toBe(140_000);
  expect(runEndsAt(afterOn({ budgets: { until: wall0 + 900_000 } }), at(0))).toBe(600_000);
});

it('a deadline that was met stays met when the wall clock steps back', () => {
  const state = afterOn({ budgets: { until: wall0 + 300_000 } }, [
    240_000,
    { type: 'exploration.ending', data: { reason: 'deadline', by: 'hma' } },
  ]);
  const stepped = at(250_000, { wall: wall0 - 86_400_000 });
  expect([explorationEndsAt(state, stepped), verdictsEndAt(state, stepped)]).toStrictEqual([240_000, 240_000]);
});

it('the grace of `lateRule: submitted` lies in half of the review’s reserve', () => {
  const grace = (graceMs: number) =>
    verdictsEndAt(afterOn({ terms: { lateRule: { rule: 'submitted', graceMs } } }), at(0));
  expect([verdictsEndAt(after(), at(0)), grace(10_000), grace(50_000)]).toStrictEqual([540_000, 550_000, 570_000]);
});

it('the review’s window is t_rev after exploration’s end, never after the run’s end; the reviewer is ended a little earlier', () => {
  const ended = (active: number) => after([active, { type: 'exploration.ended', data: { reason: 'deadline' } }]);
  expect([100_000, 570_000].map((active) => reviewWindowEndsAt(ended(active), at(active)))).toStrictEqual([
    160_000, 600_000,
  ]);
  expect([100_000, 570_000, 595_000].map((active) => reviewerEndsAt(ended(active), at(active)))).toStrictEqual([
    157_000, 598_500, 599_500,
  ]);
  const long = afterOn({ budgets: { totalMs: 21_600_000, reviewMs: 900_000 } }, [
    20_700_000,
    { type: 'exploration.ended', data: { reason: 'deadline' } },
  ]);
  expect(reviewerEndsAt(long, at(20_700_000))).toBe(21_585_000);
});

it('no cap for natural termination and for a single agent; N less the accepted ones', () => {
  const cap = (mode: 'alternate' | 'single', value: number | null) =>
    capOf(afterOn({ terms: { policy: { mode, cap: value, first: 'A', tellCap: false } } }));
  expect([cap('alternate', 5), cap('alternate', null), cap('single', 5)]).toStrictEqual([5, Infinity, Infinity]);
  expect(experimentsLeft(after())).toBe(Infinity);
  expect(
    experimentsLeft(
      afterOn({ budgets: { experiments: 3 } }, [1, opened(1), submitted(1, 1), submitted(2, 1), accepted(1, 1)]),
    ),
  ).toBe(2);
});
