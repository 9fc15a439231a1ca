import { graderOf, sayGrader } from '../analysis/graders.ts';
import { shownGrade } from '../analysis/shownScores.ts';
import type { Candidate } from '../archive/model.ts';
import { sayLength, sayScore } from '../base/numbers.ts';
import { oneLine } from '../base/oneLine.ts';
import { count } from '../base/words.ts';
import type { Experiment } from '../experiments/model.ts';
import type { RunState } from '../run/model.ts';

/** What a person had done about candidates after the end, in the same words wherever the window tells it. Pure. */

/** What is still to be done about candidates, by id: the first in line is at work, the others wait. */
export function errandWords({ errands }: Pick<RunState, 'errands'>): ReadonlyMap<string, string> {
  const words = new Map<string, string>();
  const [first] = errands;
  for (const [id, own] of Map.groupBy(errands, ({ candidate }) => candidate)) {
    const again = own.filter(({ kind }) => kind === 'reevaluate').length;
    const atWork = first?.candidate === id ? first.kind : null;
    const parts = [
      again > 0 &&
        (atWork === 'reevaluate' ? `evaluating again, ${again} to go` : `waits for ${count(again, 'more run')}`),
      own.length > again && (atWork === 'grade' ? 'being graded' : 'waits to be graded'),
    ];
    words.set(id, parts.filter(Boolean).join(', '));
  }
  return words;
}

/** All errands in a sentence; empty without any. */
export function sayErrands({ errands }: Pick<RunState, 'errands'>): string {
  const [first] = errands;
  if (!first) return '';
  const what = first.kind === 'grade' ? 'is being graded' : 'is being evaluated again';
  return `${first.candidate} ${what}; ${count(errands.length, 'run')} left.`;
}

/** A candidate's grade in words, with its grader where the run has grades of several; empty without one. */
export function sayGrade(
  state: Pick<RunState, 'gradesRevealed'>,
  candidate: Pick<Candidate, 'grade'>,
  several: boolean,
): string {
  const grade = shownGrade(state, candidate);
  if (grade === null) return '';
  if (typeof grade === 'string')
    return grade === 'hidden' ? 'hidden until a person reveals grades' : 'the grader failed';
  return several ? `${sayScore(grade)} by ${sayGrader(graderOf(candidate))}` : sayScore(grade);
}

/** Whether the run has something that only revealing shows: grades, and in blind tasks the scores. */
export const isHiding = ({ terms, gradesRevealed }: Pick<RunState, 'terms' | 'gradesRevealed'>): boolean =>
  !gradesRevealed && (terms.grades || terms.feedback === 'blind');

/** Who disqualified it, and why. */
export const sayDisqualified = ({ reason, who }: NonNullable<Candidate['disqualified']>): string =>
  `by ${oneLine(who, 40)}: ${oneLine(reason, 400)}`;

/** How long the evaluator took on a candidate's own evaluation, ms; null where that is not known (it came over from an earlier run). */
export function evaluationLength(experiments: readonly Experiment[], id: string): number | null {
  const run = experiments.find((one) => one.id === id)?.evaluations.findLast(({ endedAt }) => endedAt !== null);
  return run?.endedAt == null ? null : run.endedAt - run.startedAt;
}

/** What more runs of an evaluator will take, in a clause: from how long one took. */
export const sayCostOfRuns = (ms: number | null, times: number): string =>
  ms === null ? 'each takes as long as the evaluator' : `about ${sayLength(ms * times)}, as one took ${sayLength(ms)}`;
