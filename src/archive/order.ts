import { isBetter } from '../task/quality.ts';
import type { Metric } from '../task/model.ts';
import type { Candidate } from './model.ts';

/** The standing candidate [E_-1]: the latest one that is not disqualified; undefined while there is none. */
export const standing = (archive: readonly Candidate[]): Candidate | undefined =>
  archive.findLast(({ disqualified }) => disqualified === undefined);

/** The record: the best score so far, the earliest of equals, disqualified ones left out. Differences within the metric's noise are no improvement. */
export function record(archive: readonly Candidate[], metric: Metric): Candidate | undefined {
  let best: Candidate | undefined;
  for (const candidate of archive)
    if (candidate.disqualified === undefined && (!best || isBetter(metric, candidate.score, best.score)))
      best = candidate;
  return best;
}
