import type { Verdict } from './port.ts';

/** The median of at least one finite score; of an even number, the mean of the middle two. */
export function medianScore(scores: readonly number[]): number {
  const sorted = scores.toSorted((a, b) => a - b);
  const upper = sorted[sorted.length >> 1];
  if (upper === undefined) throw new Error('the median of no scores was asked for');
  if (sorted.length % 2 === 1) return upper;
  const lower = sorted[(sorted.length >> 1) - 1] ?? upper;
  const sum = lower + upper;
  // the sum of two large scores may overflow, their halves don't
  return Number.isFinite(sum) ? sum / 2 : lower / 2 + upper / 2;
}

/** The verdict of repeated runs of one evaluation: the first that is no score, else the median of the scores. */
export function medianVerdict(verdicts: readonly Verdict[]): Verdict {
  const scores: number[] = [];
  for (const verdict of verdicts) {
    if (verdict.kind !== 'scored') return verdict;
    scores.push(verdict.score);
  }
  return { kind: 'scored', score: medianScore(scores) };
}
