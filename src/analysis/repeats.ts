import type { Reevaluation } from '../archive/model.ts';

/** What more runs of the evaluator gave. */
export interface Repeats {
  /** Runs that gave a finite score, and those that gave none. */
  readonly scored: number;
  readonly unscored: number;
  /** Arithmetic mean of the scores, in the metric's unit; null without any. */
  readonly mean: number | null;
  /** Standard error of that mean, sample standard deviation (n − 1) / √n; null with fewer than two. */
  readonly error: number | null;
}

/** Mean and standard error over re-evaluations alone; the score of the archive is never among them. Source: metrics.md, "Suites and comparisons". */
export function repeatsOf(reevaluations: readonly Reevaluation[]): Repeats {
  const scores = reevaluations.flatMap(({ verdict }) =>
    verdict.kind === 'scored' && Number.isFinite(verdict.score) ? [verdict.score] : [],
  );
  const n = scores.length;
  const mean = n === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / n;
  const error =
    mean === null || n < 2
      ? null
      : Math.sqrt(scores.reduce((sum, score) => sum + (score - mean) ** 2, 0) / (n - 1) / n);
  return { scored: n, unscored: reevaluations.length - n, mean, error };
}
