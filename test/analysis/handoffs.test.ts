import { expect, test } from 'vitest';

import { handoffs, handoffTimes } from '../../src/analysis/handoffs.ts';
import { quantile } from '../../src/analysis/quantile.ts';
import { history, opened, optionFacts, stateOf, wholeRun } from '../cli/history.ts';

test('every boundary with its stages, by hand', () => {
  expect(handoffs(stateOf(history(...wholeRun())))).toEqual([
    // ended by the intent at 21 000: its process ended later
    {
      from: 1,
      to: 2,
      endedAt: 21_000,
      settledAt: 21_100,
      reapedAt: 21_200,
      cleanAt: 21_300,
      spawnedAt: 21_410,
      spokeAt: 21_500,
      ms: 410,
      toFirstOutputMs: 500,
      processesEnded: 2,
    },
    // ended itself at 41 000, before the intent
    {
      from: 2,
      to: 3,
      endedAt: 41_000,
      settledAt: 41_100,
      reapedAt: 41_150,
      cleanAt: 41_200,
      spawnedAt: 41_600,
      spokeAt: 41_900,
      ms: 600,
      toFirstOutputMs: 900,
      processesEnded: 0,
    },
    {
      from: 3,
      to: 'review',
      endedAt: 51_000,
      settledAt: 51_100,
      reapedAt: 51_200,
      cleanAt: 51_300,
      spawnedAt: 52_000,
      spokeAt: null,
      ms: 1000,
      toFirstOutputMs: null,
      processesEnded: 1,
    },
  ]);
});

test('quantiles are over the boundaries between options only', () => {
  const times = handoffTimes(handoffs(stateOf(history(...wholeRun()))));
  expect(times).toEqual({ count: 2, p50: 505, p95: 590.5, firstOutputP50: 700, firstOutputP95: 880 });
});

test('no boundary is undefined, not zero', () => {
  const state = stateOf(history([0, opened()], optionFacts.open(10, 1, 'A')));
  expect(handoffs(state)).toEqual([]);
  expect(handoffTimes([])).toEqual({
    count: 0,
    p50: undefined,
    p95: undefined,
    firstOutputP50: undefined,
    firstOutputP95: undefined,
  });
});

test('a successor that has not started leaves its stages open', () => {
  const f = optionFacts;
  const state = stateOf(
    history(
      [0, opened()],
      f.open(10, 1, 'A'),
      f.starting(10, 1),
      f.started(20, 1),
      f.ended(100, 1),
      f.ending(110, 1, 'natural'),
      f.closed(150, 1, 'natural', true),
      f.open(160, 2, 'B'),
      f.starting(170, 2),
    ),
  );
  expect(handoffs(state)).toEqual([
    {
      from: 1,
      to: 2,
      endedAt: 100,
      settledAt: null,
      reapedAt: null,
      cleanAt: null,
      spawnedAt: null,
      spokeAt: null,
      ms: null,
      toFirstOutputMs: null,
      processesEnded: 0,
    },
  ]);
});

test('quantiles as R and NumPy compute them (type 7)', () => {
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
  expect(quantile([1, 2, 3, 4, 5], 0.95)).toBeCloseTo(4.8, 12);
  expect(quantile([7], 0.95)).toBe(7);
  expect(quantile([], 0.5)).toBeUndefined();
});
