import type { Candidate } from '../archive/model.ts';
import type { RunState } from '../run/model.ts';
import { isBetter } from '../task/quality.ts';
import { repeatsOf, type Repeats } from './repeats.ts';

type Scored = Pick<RunState, 'archive' | 'terms'>;

/**
 * The number that people may see of a candidate: its score; in blind tasks, whose scores are kept back, what its author reported. Null
 * where that is no finite number, or nothing was reported.
 */
export function shownScore(
  { terms }: Pick<RunState, 'terms'>,
  candidate: Pick<Candidate, 'score' | 'reported'>,
): number | null {
  const value = terms.feedback === 'blind' ? candidate.reported : candidate.score;
  return value !== null && Number.isFinite(value) ? value : null;
}

/** A candidate's hidden grade as people may see it: only once one of them has revealed the grades, which is on record. */
export function shownGrade(
  { gradesRevealed }: Pick<RunState, 'gradesRevealed'>,
  { grade }: Pick<Candidate, 'grade'>,
): number | 'hidden' | 'failed' | null {
  if (grade === null) return null;
  if (grade.kind === 'ungraded') return 'failed';
  return gradesRevealed ? grade.grade : 'hidden';
}

/** The later runs of the evaluator on a candidate, as people may see them: in blind tasks only with the grades. */
export function shownRepeats(
  { terms, gradesRevealed }: Pick<RunState, 'terms' | 'gradesRevealed'>,
  { reevaluations }: Pick<Candidate, 'reevaluations'>,
): Repeats | null {
  if (!reevaluations || (terms.feedback === 'blind' && !gradesRevealed)) return null;
  return repeatsOf(reevaluations);
}

/** Which candidates were a new record when they came, by the shown scores, and which one holds it now. */
export interface Records {
  readonly setters: ReadonlySet<string>;
  readonly holder: string | null;
}

/** Goes through the archive once. Improvements within the metric's noise are none, and disqualified candidates set no record. */
export function recordsOf(state: Scored): Records {
  const setters = new Set<string>();
  let holder: string | null = null;
  let best: number | undefined;
  for (const candidate of state.archive) {
    const value = shownScore(state, candidate);
    if (candidate.disqualified || value === null || !isBetter(state.terms.metric, value, best)) continue;
    best = value;
    holder = candidate.id;
    setters.add(candidate.id);
  }
  return { setters, holder };
}
