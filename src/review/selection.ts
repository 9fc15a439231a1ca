import { record, standing } from '../archive/order.ts';
import type { Candidate } from '../archive/model.ts';
import type { Metric } from '../task/model.ts';
import type { Selection } from './model.ts';

/** What the final candidate is now, and whose word that is. */
export interface FinalCandidate {
  readonly candidate: string;
  readonly by: 'person' | 'reviewer' | 'fallback';
  readonly reason: string;
}

/** A person's pin, if one holds: it holds until the person clears it, whatever the review says later. */
export function pin(selections: readonly Selection[]): Selection | null {
  const last = selections.findLast((selection) => selection.by === 'person');
  return last && last.candidate !== null ? last : null;
}

/** The run's own selection: by the reviewer or by fallback, a person's word aside. */
export const ownSelection = (selections: readonly Selection[]): Selection | null =>
  selections.findLast((s) => s.by !== 'person') ?? null;

/** What the fallback would select: the standing candidate, or the record where the task says so and scores are visible. */
export function fallbackCandidate(given: {
  archive: readonly Candidate[];
  metric: Metric;
  fallback: 'standing' | 'record';
  feedback: 'score' | 'blind';
}): Candidate | undefined {
  return given.fallback === 'record' && given.feedback === 'score'
    ? record(given.archive, given.metric)
    : standing(given.archive);
}

/**
 * The final candidate [Ê] at this moment (invariant 7: it exists once a candidate exists): a person's pin, else the run's own
 * selection, else what the fallback would select now. A disqualified candidate is never it. Undefined only while there is no other.
 */
export function finalCandidate(given: {
  selections: readonly Selection[];
  archive: readonly Candidate[];
  metric: Metric;
  fallback: 'standing' | 'record';
  feedback: 'score' | 'blind';
}): FinalCandidate | undefined {
  const holds = (id: string): boolean =>
    given.archive.find((candidate) => candidate.id === id)?.disqualified === undefined;
  const pinned = pin(given.selections);
  if (pinned?.candidate && holds(pinned.candidate))
    return { candidate: pinned.candidate, by: 'person', reason: pinned.reason };
  const own = ownSelection(given.selections);
  if (own?.candidate && holds(own.candidate)) return { candidate: own.candidate, by: own.by, reason: own.reason };
  const fallback = fallbackCandidate(given);
  return fallback && { candidate: fallback.id, by: 'fallback', reason: `${given.fallback} candidate` };
}
