import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { medalPositions, medalThresholds, medianOf, standingOf } from '../../src/task/medals.ts';
import {
  anchoredLinearQuality,
  anchoredLogQuality,
  compareScores,
  isBetter,
  leaderboardQuality,
  positionOf,
  quality,
  relativeQuality,
} from '../../src/task/quality.ts';

const up = { direction: 'maximize', noise: 0 } as const;
const down = { direction: 'minimize', noise: 0 } as const;

describe('leaderboard quality', () => {
  it.each([
    [1, 1],
    [11, 0.983896940418679],
    [622, 0],
  ])('puts position %i of 621 at %f', (position, expected) => {
    expect(leaderboardQuality(position, 621)).toBeCloseTo(expected, 12);
  });

  it('has no value for an empty board or a position that is none', () => {
    expect([
      leaderboardQuality(1, 0),
      leaderboardQuality(0, 5),
      leaderboardQuality(1.5, 5),
      leaderboardQuality(Number.NaN, 5),
    ]).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('counts the entries strictly better, in either direction', () => {
    expect([
      positionOf(up, 3, [5, 3, 3, 1]),
      positionOf(down, 3, [5, 3, 3, 1]),
      positionOf(up, Number.NaN, [1]),
    ]).toEqual([2, 2, undefined]);
    expect(quality(up, 3, { scale: 'leaderboard', entries: [5, 3, 3, 1] })).toBe(0.75);
  });
});

describe('anchored quality', () => {
  it.each([
    [0.35, 0.5],
    [1.0, 0.2945],
    [4.5, 0],
    [0.02722, 1],
  ])('puts radix sort at %f s to %f on the log scale', (score, expected) => {
    expect(anchoredLogQuality(score, { baseline: 4.5, reference: 0.35 })).toBeCloseTo(expected, 4);
  });

  it('gives the same for higher-is-better with inverted ratios', () => {
    expect(anchoredLogQuality(1 / 1.0, { baseline: 1 / 4.5, reference: 1 / 0.35 })).toBeCloseTo(0.2945, 4);
  });

  it('is 0 at the baseline, 1 at the reference, and clipped, on the linear scale', () => {
    const anchors = { baseline: 4.5, reference: 0.35 };
    expect([4.5, 0.35, 9, 0.1].map((score) => anchoredLinearQuality(score, anchors))).toEqual([0, 1, 0, 1]);
    expect(anchoredLinearQuality(2.425, anchors)).toBeCloseTo(0.5, 12);
  });

  it('has no value without a scale', () => {
    expect([
      anchoredLinearQuality(1, { baseline: 2, reference: 2 }),
      anchoredLinearQuality(Number.NaN, { baseline: 1, reference: 2 }),
      anchoredLogQuality(0, { baseline: 4, reference: 1 }),
      anchoredLogQuality(1, { baseline: -4, reference: 1 }),
      anchoredLogQuality(Number.POSITIVE_INFINITY, { baseline: 4, reference: 1 }),
      anchoredLogQuality(1, { baseline: 4, reference: 4 }),
    ]).toEqual([undefined, undefined, undefined, undefined, undefined, undefined]);
  });
});

describe('relative quality', () => {
  it('spans the scores of the run, better is higher', () => {
    expect([
      relativeQuality(up, 3, [1, 3, 5]),
      relativeQuality(down, 1, [1, 3, 5]),
      relativeQuality(down, 5, [1, 3, 5]),
    ]).toEqual([0.5, 1, 0]);
  });

  it('has no value for one score, none, or one that is not finite', () => {
    expect([relativeQuality(up, 1, [1]), relativeQuality(up, 1, []), relativeQuality(up, Number.NaN, [1, 2])]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('better', () => {
  it('needs more than the noise', () => {
    const noisy = { direction: 'maximize', noise: 0.1 } as const;
    expect([
      isBetter(noisy, 0.3, 0.2),
      isBetter(noisy, 0.31, 0.2),
      isBetter(noisy, 0.1, 0.2),
      isBetter({ ...noisy, direction: 'minimize' }, 0.05, 0.2),
    ]).toEqual([false, true, false, true]);
  });

  it('takes 0.1 + 0.2 against 0.2 with noise 0.1 as no improvement, although its subtraction rounds up', () => {
    expect(0.1 + 0.2 - 0.2 > 0.1).toBe(true);
    expect(isBetter({ direction: 'maximize', noise: 0.1 }, 0.1 + 0.2, 0.2)).toBe(false);
  });

  it('takes any finite score over none and over one that is not finite, never the other way', () => {
    expect([
      isBetter(up, -5, undefined),
      isBetter(down, 5, Number.NaN),
      isBetter(up, Number.POSITIVE_INFINITY, 1),
      isBetter(up, Number.NaN, undefined),
    ]).toEqual([true, true, false, false]);
  });

  it('is never mutual, and agrees with the order', () => {
    fc.assert(
      fc.property(
        fc.double(),
        fc.double(),
        fc.double({ min: 0, max: 10, noNaN: true }),
        fc.constantFrom('maximize' as const, 'minimize' as const),
        (a, b, noise, direction) => {
          const metric = { direction, noise };
          if (isBetter(metric, a, b)) {
            expect(isBetter(metric, b, a)).toBe(false);
            expect(compareScores(metric, a, b)).toBe(-1);
          }
          expect(compareScores(metric, a, b)).toBe(0 - compareScores(metric, b, a));
        },
      ),
    );
  });
});

describe('medals', () => {
  it.each([
    [621, { gold: 11, silver: 50, bronze: 100 }],
    [99, { gold: 9, silver: 19, bronze: 39 }],
    [100, { gold: 10, silver: 20, bronze: 40 }],
    [249, { gold: 10, silver: 49, bronze: 99 }],
    [250, { gold: 10, silver: 50, bronze: 100 }],
    [999, { gold: 11, silver: 50, bronze: 100 }],
    [1000, { gold: 12, silver: 50, bronze: 100 }],
    [3000, { gold: 16, silver: 150, bronze: 300 }],
    [3, { gold: 1, silver: 1, bronze: 1 }],
  ])('lie at these positions among %i teams', (teams, expected) => {
    expect(medalPositions(teams)).toEqual(expected);
  });

  it('have no positions without teams', () => {
    expect([medalPositions(0), medalPositions(-1), medalPositions(2.5), medalThresholds(up, [])]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('are earned at their thresholds, inclusive', () => {
    const board = Array.from({ length: 621 }, (_, index) => 621 - index);
    expect(medalThresholds(up, board)).toEqual({ gold: 611, silver: 572, bronze: 522 });
    expect([611, 610, 572, 571, 522, 521].map((score) => standingOf(up, score, board).medal)).toEqual([
      'gold',
      'silver',
      'silver',
      'bronze',
      'bronze',
      null,
    ]);
    expect(medalThresholds(down, board)).toEqual({ gold: 11, silver: 50, bronze: 100 });
  });

  it('need strictly more than the median for Med+', () => {
    expect([
      standingOf(up, 3, [1, 3, 5]).aboveMedian,
      standingOf(up, 3.1, [1, 3, 5]).aboveMedian,
      standingOf(down, 2.9, [1, 3, 5]).aboveMedian,
    ]).toEqual([false, true, true]);
  });

  it('are not earned by a score that is not finite', () => {
    expect(standingOf(up, Number.POSITIVE_INFINITY, [1, 2, 3])).toEqual({ medal: null, aboveMedian: false });
    expect(standingOf(down, Number.NaN, [1, 2, 3])).toEqual({ medal: null, aboveMedian: false });
  });

  it('take the mean of the middle two as an even median', () => {
    expect([medianOf([4, 1, 3, 2]), medianOf([]), medianOf([Number.NaN])]).toEqual([2.5, undefined, undefined]);
  });
});
