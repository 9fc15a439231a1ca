import { explorationUsage, sumOf } from '../../analysis/usage.ts';
import { sayMoment } from '../../base/moment.ts';
import { isUndecided } from '../../experiments/model.ts';
import type { Option } from '../../options/model.ts';
import { tokensOf } from '../../options/usage.ts';
import type { RunState } from '../../run/model.ts';
import { acceptedInRun, capOf, explorationEndsAt, reviewWindowEndsAt } from '../../run/schedule.ts';
import type { Given } from '../../base/fact.ts';
import { count, sayWord } from '../../base/words.ts';
import { sayAgent, type Paper } from './scene.ts';
import { sayLength, sayTokens } from '../../base/numbers.ts';
import { fit, widthOf } from './text.ts';

/**
 * The one line at the bottom of a terminal: phase, session, accepted against the cap, what is being judged, tokens, time left. Where it
 * is too long, tokens and then what is being judged are left out before anything is cut.
 */
export function statusLine(state: RunState, given: Given, paper: Paper): string {
  const { style, columns } = paper;
  const [exploring, tokens, judged] = [state.phase === 'exploring', tokenCount(state), beingJudged(state)];
  const line = (...beside: readonly string[]): string =>
    [
      style.bold(sayPhase(state)),
      ...whose(state, given, paper),
      ...(exploring ? [...counts(state), ...beside] : []),
      timeLeft(state, given),
    ]
      .filter((part) => part !== '')
      .join(style.dim(' · '));
  const lines = [line(judged, tokens), line(judged), line()];
  return fit(lines.find((one) => widthOf(one) <= columns) ?? line(), columns);
}

/** Where the run stands, in a word or two. */
export function sayPhase(state: RunState): string {
  if (state.phase === 'finished') return 'finished';
  if (state.pause) return `paused (${sayWord(state.pause.reason)})`;
  return state.phase === 'concluding' ? 'grading' : state.phase;
}

function whose(state: RunState, given: Given, { style }: Paper): string[] {
  if (state.phase === 'reviewing' && state.review && state.review.state !== 'closed')
    return [`${sayAgent(state, state.review.reviewer, style)} reviews`];
  const option = state.options.at(-1);
  if (state.phase !== 'exploring' || !option) return [];
  const doing = option.state === 'open' ? '' : ' (handing over)';
  const latest = option.attempts.at(-1);
  const waits = option.state === 'open' && latest?.state === 'ended' ? ` (${sayWait(option, given)})` : '';
  return [`option ${option.number} ${sayAgent(state, option.agent, style)}${doing}${waits}`];
}

/** What an open option without a running session waits for. */
function sayWait(option: Option, given: Given): string {
  const latest = option.attempts.at(-1);
  const failure = latest?.state === 'ended' ? latest.failure : null;
  if (failure === null || option.retryAt === null || option.retryAt <= given.active) return 'waits for another attempt';
  const at = sayMoment(given.wall + option.retryAt - given.active, given.wall);
  return `${sayWord(failure.reason)}: another attempt at ${at}`;
}

function counts(state: RunState): string[] {
  const option = state.options.at(-1);
  const cap = capOf(state);
  return [
    option && option.state !== 'closed'
      ? `${option.accepted.length}${Number.isFinite(cap) ? `/${cap}` : ''} accepted`
      : '',
    state.budgets.experiments === null ? '' : `${acceptedInRun(state)}/${state.budgets.experiments} in all`,
  ];
}

function beingJudged(state: RunState): string {
  const pending = state.experiments.filter(isUndecided).length;
  return pending > 0 ? `${count(pending, 'experiment')} being judged` : '';
}

/** Tokens of exploration so far, against their cap; empty where no harness has told any. */
function tokenCount(state: RunState): string {
  const used = tokensOf(sumOf(explorationUsage(state)));
  const { tokens } = state.budgets;
  return used === 0 ? '' : `${sayTokens(used)}${tokens === undefined ? '' : `/${sayTokens(tokens)}`} tokens`;
}

function timeLeft(state: RunState, given: Given): string {
  if (state.phase === 'exploring')
    return `${sayLength(Math.max(0, explorationEndsAt(state, given) - given.active))} left`;
  return state.phase === 'reviewing'
    ? `${sayLength(Math.max(0, reviewWindowEndsAt(state, given) - given.active))} of the review left`
    : '';
}
