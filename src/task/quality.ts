import type { Metric } from './model.ts';

/** The part of a metric that ordering needs. */
export type Order = Pick<Metric, 'direction' | 'noise'>;

/**
 * Orders two scores: negative when `a` is better, positive when `b` is, 0 when equal; noise plays no part, so it is a total order.
 * A score that isn't finite is worse than any that is, and equal to another such.
 */
export function compareScores(metric: Pick<Metric, 'direction'>, a: number, b: number): number {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return Number(Number.isFinite(b)) - Number(Number.isFinite(a));
  if (a === b) return 0;
  return a < b === (metric.direction === 'minimize') ? -1 : 1;
}

/**
 * Whether score `a` improves on score `b`: it is better by more than the metric's noise (metrics.md, Quality: *improved*, *record*
 * and *dip* need more than it). Any finite score improves on none (`undefined`) and on one that isn't finite; one that isn't
 * finite improves on nothing.
 */
export function isBetter(metric: Order, a: number, b: number | undefined): boolean {
  if (!Number.isFinite(a)) return false;
  if (b === undefined || !Number.isFinite(b)) return true;
  return compareScores(metric, a, b) < 0 && exceeds(Math.abs(a - b), metric.noise, Math.max(Math.abs(a), Math.abs(b)));
}

/** `difference > noise`, where a surplus that is only rounding of the subtraction (0.3 − 0.2 against 0.1) is none. */
function exceeds(difference: number, noise: number, magnitude: number): boolean {
  return difference > noise && (noise === 0 || difference - noise > 4 * Number.EPSILON * magnitude);
}

const clip = (value: number): number => Math.min(1, Math.max(0, value));

/** 1 + the entries strictly better than `score`; undefined for a score that isn't finite. Entries that aren't finite count as worse. */
export function positionOf(
  metric: Pick<Metric, 'direction'>,
  score: number,
  entries: readonly number[],
): number | undefined {
  if (!Number.isFinite(score)) return undefined;
  return 1 + entries.filter((entry) => compareScores(metric, entry, score) < 0).length;
}

/**
 * Quality by leaderboard: `1 − (position − 1) / size`, in [0, 1]; a position beyond the last is 0. Undefined for an empty board or a
 * position that is no whole number from 1. Source: metrics.md, Quality.
 */
export function leaderboardQuality(position: number, size: number): number | undefined {
  if (!Number.isInteger(position) || position < 1 || !Number.isInteger(size) || size < 1) return undefined;
  return clip(1 - (position - 1) / size);
}

/** The two anchors of a scale, in the unit of the score: the score before any work, and a good one. */
export interface Anchors {
  readonly baseline: number;
  readonly reference: number;
}

/**
 * Linear quality between anchors: `clip((s − b)/(r − b), 0, 1)`; baseline ↦ 0, reference ↦ 1, for either direction. Undefined when
 * anything isn't finite or the anchors are equal. Source: metrics.md, Quality.
 */
export function anchoredLinearQuality(score: number, { baseline, reference }: Anchors): number | undefined {
  if (![score, baseline, reference].every(Number.isFinite) || baseline === reference) return undefined;
  return clip((score - baseline) / (reference - baseline));
}

/**
 * Logarithmic quality between anchors, for positive scores: `clip(½·ln(b/s)/ln(b/r), 0, 1)`; baseline ↦ 0, reference ↦ 0.5, 1 needs
 * the squared speed-up. For higher-is-better both ratios are inverted, which gives the same value. Undefined when anything isn't
 * finite and positive, or the anchors are equal. Source: metrics.md, Quality (AutoLab).
 */
export function anchoredLogQuality(score: number, { baseline, reference }: Anchors): number | undefined {
  if (![score, baseline, reference].every((value) => Number.isFinite(value) && value > 0) || baseline === reference)
    return undefined;
  return clip((0.5 * Math.log(baseline / score)) / Math.log(baseline / reference));
}

/**
 * Min–max quality over a run's own scores, in [0, 1], for display only: it rescales history with each new score, so it never enters
 * C1–C3, retention, planning or comparisons across runs. Undefined for a score that isn't finite, for no finite scores, and where
 * all are equal. Source: metrics.md, Quality.
 */
export function relativeQuality(
  metric: Pick<Metric, 'direction'>,
  score: number,
  scores: readonly number[],
): number | undefined {
  const finite = scores.filter(Number.isFinite);
  if (!Number.isFinite(score) || finite.length === 0) return undefined;
  const least = finite.reduce((a, b) => Math.min(a, b));
  const most = finite.reduce((a, b) => Math.max(a, b));
  if (least === most) return undefined;
  const share = clip((score - least) / (most - least));
  return metric.direction === 'maximize' ? share : 1 - share;
}

/** How a score becomes a quality. */
export type QualityScale =
  | { readonly scale: 'leaderboard'; readonly entries: readonly number[] }
  | ({ readonly scale: 'anchored-linear' | 'anchored-log' } & Anchors)
  | { readonly scale: 'relative'; readonly scores: readonly number[] };

/** The quality [q] of a score on a scale, in [0, 1], higher is better; undefined where the scale has no value for it. */
export function quality(metric: Pick<Metric, 'direction'>, score: number, scale: QualityScale): number | undefined {
  switch (scale.scale) {
    case 'leaderboard': {
      const position = positionOf(metric, score, scale.entries);
      return position === undefined ? undefined : leaderboardQuality(position, scale.entries.length);
    }
    case 'anchored-linear':
      return anchoredLinearQuality(score, scale);
    case 'anchored-log':
      return anchoredLogQuality(score, scale);
    case 'relative':
      return relativeQuality(metric, score, scale.scores);
  }
}
