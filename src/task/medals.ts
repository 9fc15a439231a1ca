import type { Metric } from './model.ts';
import { compareScores } from './quality.ts';

/** The medals of a competition, best first. */
export type Medal = 'gold' | 'silver' | 'bronze';

/** The last positions that earn each medal. */
export type MedalPositions = Readonly<Record<Medal, number>>;

/**
 * Last positions of each medal by the number of teams n (Kaggle's rules as MLE-bench applies them): n < 100: top 10/20/40 %;
 * 100–249: top 10 / 20 % / 40 %; 250–999: 10 + 0.2 % of n / top 50 / top 100; ≥ 1000: 10 + 0.2 % of n / 5 % / 10 %. Positions are
 * truncated, at least 1. Undefined for no teams. 621 teams: 11, 50, 100. Source: metrics.md, Quality.
 */
export function medalPositions(teams: number): MedalPositions | undefined {
  if (!Number.isInteger(teams) || teams < 1) return undefined;
  // whole numbers until the division, so that 0.2 % of 1000 is 2 and not 1.999…
  const share = (perMille: number): number => Math.max(1, Math.floor((teams * perMille) / 1000));
  const gold = 10 + Math.floor((teams * 2) / 1000);
  if (teams < 100) return { gold: share(100), silver: share(200), bronze: share(400) };
  if (teams < 250) return { gold: 10, silver: share(200), bronze: share(400) };
  if (teams < 1000) return { gold, silver: 50, bronze: 100 };
  return { gold, silver: share(50), bronze: share(100) };
}

/** The scores that earn each medal on a leaderboard: those at the last positions. Undefined for an empty board. */
export function medalThresholds(
  metric: Pick<Metric, 'direction'>,
  leaderboard: readonly number[],
): Readonly<Record<Medal, number>> | undefined {
  const sorted = leaderboard.filter(Number.isFinite).toSorted((a, b) => compareScores(metric, a, b));
  const positions = medalPositions(leaderboard.length);
  if (!positions || sorted.length === 0) return undefined;
  const at = (position: number): number => sorted[Math.min(position, sorted.length) - 1]!;
  return { gold: at(positions.gold), silver: at(positions.silver), bronze: at(positions.bronze) };
}

/** What a score earns on a leaderboard. */
export interface Standing {
  /** The best medal; null for none. Thresholds are inclusive. */
  readonly medal: Medal | null;
  /** Strictly better than the leaderboard's median ("Med+"). */
  readonly aboveMedian: boolean;
}

/** Medal and median of a score among a leaderboard's. A score that isn't finite, or an empty board, earns nothing. */
export function standingOf(metric: Pick<Metric, 'direction'>, score: number, leaderboard: readonly number[]): Standing {
  const thresholds = medalThresholds(metric, leaderboard);
  if (!thresholds || !Number.isFinite(score)) return { medal: null, aboveMedian: false };
  const medal =
    (['gold', 'silver', 'bronze'] as const).find((name) => compareScores(metric, score, thresholds[name]) <= 0) ?? null;
  return { medal, aboveMedian: compareScores(metric, score, medianOf(leaderboard)!) < 0 };
}

/** The median of the finite values (mean of the middle two for an even number); undefined for none. */
export function medianOf(values: readonly number[]): number | undefined {
  const sorted = values.filter(Number.isFinite).toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length === 0) return undefined;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
