import type { Records } from '../analysis/shownScores.ts';
import { shownScore } from '../analysis/shownScores.ts';
import type { Candidate } from '../archive/model.ts';
import { standing } from '../archive/order.ts';
import { authorName } from '../archive/origin.ts';
import type { Given } from '../base/fact.ts';
import { sayMoment } from '../base/moment.ts';
import { sayLength, sayScore } from '../base/numbers.ts';
import { oneLine } from '../base/oneLine.ts';
import { sayWord } from '../base/words.ts';
import { finalCandidate } from '../review/selection.ts';
import type { RunState } from '../run/model.ts';
import { explorationEndsAt, reviewWindowEndsAt } from '../run/schedule.ts';
import type { AgentSlot } from '../task/model.ts';
import type { Presence } from './runModel.ts';

/** Phrases about a run that several places of the window say in the same words. Pure. */

/** Parts of a description, the empty ones left out. */
export const joined = (...parts: readonly (string | null | false | undefined)[]): string =>
  parts.filter(Boolean).join(' · ');

/** An agent's name as it fits into a row. */
export const agentName = (state: Pick<RunState, 'terms'>, slot: AgentSlot): string =>
  oneLine(state.terms.agents[slot].name, 40);

/** A time that runs: whole seconds up to ten minutes, then minutes. `coarse` changes once a minute after the first. */
export function sayElapsed(ms: number, coarse = false): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (!coarse && minutes < 10) return `${minutes} min ${String(seconds % 60).padStart(2, '0')} s`;
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** A candidate's shown number: `0.3`; in blind tasks `reported 0.3`, or that nothing was reported. */
export function sayShown(state: Pick<RunState, 'terms'>, candidate: Pick<Candidate, 'score' | 'reported'>): string {
  const value = shownScore(state, candidate);
  if (state.terms.feedback !== 'blind') return value === null ? 'no score' : sayScore(value);
  return value === null ? 'nothing reported' : `reported ${sayScore(value)}`;
}

/** What a candidate is at this moment, as words, the weightiest first. */
export type CandidateMark = 'disqualified' | 'final' | 'nominated' | 'record' | 'standing';

/** Marks of the few candidates that have any. `final` only once somebody or the fallback has decided. */
export function candidateMarks(state: RunState, records: Records): ReadonlyMap<string, readonly CandidateMark[]> {
  const marks = new Map<string, CandidateMark[]>();
  const mark = (id: string | null | undefined, word: CandidateMark): void => {
    if (id != null) marks.set(id, [...(marks.get(id) ?? []), word]);
  };
  for (const { id, disqualified } of state.archive) if (disqualified) mark(id, 'disqualified');
  if (state.selections.length > 0) mark(finalCandidate({ ...state.terms, ...state })?.candidate, 'final');
  mark(state.review?.nomination?.candidate, 'nominated');
  mark(records.holder, 'record');
  mark(standing(state.archive)?.id, 'standing');
  return marks;
}

/** Where the run stands, in a word or two. */
export function sayPhase(state: RunState): string {
  if (state.phase === 'finished') return 'finished';
  if (state.pause?.until !== undefined)
    return `paused until ${sayMoment(state.pause.until, state.pause.sinceWall)}: ${sayWord(state.pause.reason)}`;
  if (state.pause) return state.pause.reason === 'requested' ? 'paused' : `paused: ${sayWord(state.pause.reason)}`;
  return state.phase === 'concluding' ? (state.grading ? 'grading' : 'concluding') : state.phase;
}

/** What a run that is over came to: `e8 0.117319 by beta`; empty before its end. */
export function sayWinner(state: RunState): string {
  if (state.phase !== 'finished') return '';
  const id = finalCandidate({ ...state.terms, ...state })?.candidate;
  const candidate = state.archive.find((one) => one.id === id);
  if (!candidate) return 'no candidate';
  return `${candidate.id} ${sayShown(state, candidate)} by ${oneLine(authorName(candidate, state.terms.agents), 30)}`;
}

/** Time left in the phase, ms; null where nothing is measured. */
export function timeLeft(state: RunState, given: Given): number | null {
  if (state.phase === 'exploring') return Math.max(0, explorationEndsAt(state, given) - given.active);
  return state.phase === 'reviewing' ? Math.max(0, reviewWindowEndsAt(state, given) - given.active) : null;
}

/** Whether a person must do something before the run can go on; a pause that a person asked for is no such thing. */
export function needsPerson(state: RunState | null, presence: Presence): boolean {
  if (state === null || state.phase === 'finished') return false;
  return (
    presence === 'lost' ||
    (state.pause !== null && state.pause.reason !== 'requested' && state.pause.until === undefined)
  );
}

/** The adapter of an agent whose latest attempt was not let in; null while each is, or hasn't said. */
export function expiredLogin({
  options,
  review,
  terms,
}: Pick<RunState, 'options' | 'review' | 'terms'>): string | null {
  const expired = (['A', 'B'] as const).find((slot) => {
    const own = [...options.filter(({ agent }) => agent === slot), ...(review?.reviewer === slot ? [review] : [])];
    const latest = own.findLast(({ attempts }) => attempts.length > 0)?.attempts.at(-1);
    return latest?.state === 'ended' && latest.failure?.reason === 'login_expired';
  });
  return expired === undefined ? null : terms.agents[expired].adapter;
}

/** How the window's run is, where that isn't plain from the tree: what happened and what to do. Empty when all is well. */
export function presenceWords(
  state: RunState | null,
  given: { readonly presence: Presence; readonly why: string },
): string {
  const { presence, why } = given;
  if (presence === 'none' || presence === 'over' || state?.phase === 'finished') return '';
  if (presence === 'lost')
    return `No controller looks after this run any more${why === '' ? '' : ` (${oneLine(why, 300)})`}. Nothing is lost. Resume brings it back; the reason is in the controller’s log.`;
  if (presence === 'away')
    return 'The controller is away and is expected back by itself. Agents and evaluations go on meanwhile; what is shown is from before.';
  if (presence === 'connecting' && state === null) return 'The run is starting.';
  if (!state?.pause) return '';
  if (state.pause.reason === 'requested')
    return `Paused by ${oneLine(state.pause.by, 40)}. The clock stands and the session is frozen until somebody chooses Resume.`;
  if (state.pause.until !== undefined)
    return `Paused: ${oneLine(state.pause.detail, 400)}. The clock stands; the run goes on by itself at ${sayMoment(state.pause.until, state.pause.sinceWall)}, or when somebody chooses Resume.`;
  return `Paused: ${oneLine(state.pause.detail, 400)}. When that is put right, choose Resume.`;
}

/** Lengths for handoffs: hundredths below ten seconds, as people compare them. */
export const sayGap = (ms: number | null): string => (ms === null ? '—' : sayLength(ms));
