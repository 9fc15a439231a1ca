import fc from 'fast-check';
import { expect, it } from 'vitest';
import { blindReceiptText } from '../../src/evaluators/blindReceipt.ts';
import { medianScore, medianVerdict } from '../../src/evaluators/median.ts';

it('the median is the middle score, or the mean of the middle two, and never overflows', () => {
  expect(medianScore([3, 1, 2])).toBe(2);
  expect(medianScore([10, 9, 1, 2])).toBe(5.5);
  expect(medianScore([7])).toBe(7);
  expect(medianScore([1.5e308, 1.7e308])).toBe(1.6e308);
  expect(() => medianScore([])).toThrow('no scores');
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(fc.array(finite, { minLength: 1, maxLength: 9 }), (scores) => {
      const median = medianScore(scores);
      expect(median).toBeGreaterThanOrEqual(Math.min(...scores));
      expect(median).toBeLessThanOrEqual(Math.max(...scores));
    }),
  );
});

it('repeated runs give the median, or the first verdict that is no score', () => {
  expect(
    medianVerdict([
      { kind: 'scored', score: 1 },
      { kind: 'scored', score: 5 },
      { kind: 'scored', score: 2 },
    ]),
  ).toEqual({ kind: 'scored', score: 2 });
  expect(medianVerdict([{ kind: 'scored', score: 1 }, { kind: 'timeout', afterMs: 5 }, { kind: 'lost' }])).toEqual({
    kind: 'timeout',
    afterMs: 5,
  });
});

it('a blind receipt has one fixed sentence per code, without numbers', () => {
  expect(blindReceiptText('accepted')).toBe('Accepted.');
  for (const code of ['invalid', 'incorrect', 'timeout', 'evaluator_error', 'cap_reached', 'late'] as const) {
    expect(blindReceiptText(code)).toMatch(/^Not accepted: [^\d]+\.$/u);
  }
});
