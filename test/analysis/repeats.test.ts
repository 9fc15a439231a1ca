import { expect, it } from 'vitest';

import { repeatsOf } from '../../src/analysis/repeats.ts';

const scored = (score: number) => ({ verdict: { kind: 'scored', score }, wall: 0 }) as const;

it('is the mean with its standard error, from the runs that gave a score', () => {
  const lost = { verdict: { kind: 'lost' }, wall: 0 } as const;
  const { mean, error, ...counts } = repeatsOf([scored(52), lost, scored(55), scored(56)]);
  expect(counts).toEqual({ scored: 3, unscored: 1 });
  expect(mean).toBeCloseTo(54.3333, 3);
  expect(error).toBeCloseTo(1.2019, 3); // metrics.md: (52, 55, 56)/75 → 72.4 ± 1.6
  expect(repeatsOf([scored(1)])).toEqual({ scored: 1, unscored: 0, mean: 1, error: null });
  expect(repeatsOf([lost])).toEqual({ scored: 0, unscored: 1, mean: null, error: null });
});
