import { shownRepeats } from '../analysis/shownScores.ts';
import { gradersOf } from '../analysis/graders.ts';
import { repeatsOf } from '../analysis/repeats.ts';
import { sayRepeats } from '../analysis/repeatsWords.ts';
import { sayScore } from '../base/numbers.ts';
import { count } from '../base/words.ts';
import { finalCandidate } from '../review/selection.ts';
import type { RunState } from '../run/model.ts';
import { evaluationLength, sayCostOfRuns } from './candidateStory.ts';
import type { Confirmation } from './controlsWords.ts';
import type { Wish } from './room.ts';

/** What is asked, said and wished about candidates after the end of a run. Pure. */

/** As often as the controller takes it. */
const mostTimes = 1000;

/** How often the evaluator runs again, as a person wrote it; else why not. */
export function readTimes(text: string): { readonly times: number } | { readonly why: string } {
  const times = Number(text.trim());
  return /^\d+$/.test(text.trim()) && times >= 1 && times <= mostTimes
    ? { times }
    : { why: `A whole number from 1 to ${mostTimes}.` };
}

/** Names of a few candidates; the number of more. */
const named = (ids: readonly string[]): string => (ids.length <= 4 ? ids.join(', ') : count(ids.length, 'candidate'));

/** What re-evaluating costs and what it changes. */
export function reevaluationPrompt({ experiments }: RunState, ids: readonly string[]): string {
  const [only, another] = ids;
  const cost =
    only === undefined || another !== undefined
      ? 'each takes as long as the evaluator'
      : sayCostOfRuns(evaluationLength(experiments, only), 5);
  return `How many more runs of the evaluator? Five: ${cost}. The score stays; mean ± standard error stand beside it.`;
}

/** What grading costs; `again` = grades are there already. */
export function gradeConfirmation(
  state: RunState,
  ids: readonly string[],
  again: boolean,
): Confirmation & { readonly wish: Wish } {
  const hidden = state.gradesRevealed ? '' : ' Grades stay hidden until somebody reveals them.';
  const twice = again ? ' The earlier grades stay in the ledger.' : '';
  return {
    message: `${again ? 'Grade again' : 'Grade'} ${named(ids)}?`,
    detail: `The hidden grader runs ${ids.length === 1 ? 'once' : `${ids.length} times, one after the other`}; nothing else of the run changes.${twice}${hidden}`,
    button: again ? 'Grade Again' : 'Grade',
    wish: { kind: 'grade', candidates: ids, again },
  };
}

/** Everything that has no grade; all again where everything has one, or grades of several graders don't compare. Null without a candidate. */
export function gradeAll(state: RunState): ReturnType<typeof gradeConfirmation> | null {
  if (state.archive.length === 0) return null;
  const left = state.archive.filter(({ grade }) => grade?.kind !== 'graded').map(({ id }) => id);
  const several = gradersOf(state.archive).length > 1;
  // named one by one they could be thousands of words of a command
  const wish = { kind: 'grade', candidates: [], again: several || left.length === 0 } as const;
  if (!wish.again) return { ...gradeConfirmation(state, left, false), wish };
  const all = gradeConfirmation(
    state,
    state.archive.map(({ id }) => id),
    true,
  );
  const why = several
    ? 'There are grades of several graders'
    : `All ${count(state.archive.length, 'candidate')} have a grade`;
  return { ...all, wish, message: `${why}. Grade all again?` };
}

/** What a disqualification does to this candidate. */
export function disqualifyPrompt(state: RunState, ids: readonly string[]): string {
  const final = finalCandidate({ ...state.terms, ...state })?.candidate;
  const next =
    final !== undefined && ids.includes(final) ? ` ${final} is the final candidate: another takes its place.` : '';
  return `Why must it not be chosen? The reason stays on record; this can be taken back.${next}`;
}

/** What came of errands, in a sentence or two. `before`: the state when they were asked for. */
export function sayDone(state: RunState, before: RunState, wish: Wish): string {
  if (wish.kind === 'reevaluate') {
    const candidate = state.archive.find(({ id }) => id === wish.candidate);
    const runs = candidate?.reevaluations ?? [];
    if (!candidate || runs.length === 0) return '';
    if (!shownRepeats(state, candidate))
      return `${candidate.id} was evaluated again. What came of it is kept back with the grades until somebody reveals them.`;
    const { scored } = repeatsOf(runs);
    const score = scored === 0 ? '' : `; its score stays ${sayScore(candidate.score)}`;
    return `${candidate.id}: ${sayRepeats(runs)}${score}.`;
  }
  if (wish.kind !== 'grade') return '';
  const was = new Map(before.archive.map(({ id, grade }) => [id, grade]));
  const fresh = state.archive.filter(({ id, grade }) => grade !== null && grade.wall !== was.get(id)?.wall);
  const failed = fresh.filter(({ grade }) => grade?.kind === 'ungraded').length;
  const [only] = fresh;
  const grade = state.gradesRevealed && fresh.length === 1 && only?.grade?.kind === 'graded' ? only.grade.grade : null;
  const graded =
    grade === null ? `${count(fresh.length - failed, 'candidate')} graded` : `${only?.id}: grade ${sayScore(grade)}`;
  const several =
    gradersOf(state.archive).length > 1
      ? ' The run has grades of several versions of the grader, which don’t compare.'
      : '';
  return `${graded}${failed === 0 ? '' : `, ${failed} without a grade: the grader failed`}.${several}`;
}
