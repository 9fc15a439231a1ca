import { isUndecided } from '../../experiments/model.ts';
import type { RunState } from '../../run/model.ts';
import { capOf, explorationEndsAt, reviewWindowEndsAt } from '../../run/schedule.ts';
import type { Given } from '../../base/fact.ts';
import { count, sayWord } from '../../base/words.ts';
import { sayAgent, type Paper } from './scene.ts';
import { sayLength } from '../../base/numbers.ts';
import { fit } from './text.ts';

/** The one line at the bottom of a terminal: phase, session, accepted against the cap, what is being judged, time left. */
export function statusLine(state: RunState, given: Given, paper: Paper): string {
  const { style, columns } = paper;
  const parts = [style.bold(sayPhase(state)), ...whose(state, paper), ...counts(state), timeLeft(state, given)].filter(
    (part) => part !== '',
  );
  return fit(parts.join(style.dim(' · ')), columns);
}

/** Where the run stands, in a word or two. */
export function sayPhase(state: RunState): string {
  if (state.phase === 'finished') return 'finished';
  if (state.pause) return `paused (${sayWord(state.pause.reason)})`;
  return state.phase === 'concluding' ? 'grading' : state.phase;
}

function whose(state: RunState, { style }: Paper): string[] {
  if (state.phase === 'reviewing' && state.review && state.review.state !== 'closed')
    return [`${sayAgent(state, state.review.reviewer, style)} reviews`];
  const option = state.options.at(-1);
  if (state.phase !== 'exploring' || !option) return [];
  const doing = option.state === 'open' ? '' : ' (handing over)';
  const waits =
    option.state === 'open' && option.attempts.at(-1)?.state === 'ended' ? ' (waits for another attempt)' : '';
  return [`option ${option.number} ${sayAgent(state, option.agent, style)}${doing}${waits}`];
}

function counts(state: RunState): string[] {
  if (state.phase !== 'exploring') return [];
  const option = state.options.at(-1);
  const cap = capOf(state);
  const pending = state.experiments.filter(isUndecided).length;
  return [
    option && option.state !== 'closed'
      ? `${option.accepted.length}${Number.isFinite(cap) ? `/${cap}` : ''} accepted`
      : '',
    state.budgets.experiments === null ? '' : `${state.archive.length}/${state.budgets.experiments} in all`,
    pending > 0 ? `${count(pending, 'experiment')} being judged` : '',
  ];
}

function timeLeft(state: RunState, given: Given): string {
  if (state.phase === 'exploring')
    return `${sayLength(Math.max(0, explorationEndsAt(state, given) - given.active))} left`;
  return state.phase === 'reviewing'
    ? `${sayLength(Math.max(0, reviewWindowEndsAt(state, given) - given.active))} of the review left`
    : '';
}
