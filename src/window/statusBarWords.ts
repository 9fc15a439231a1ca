import type { Given } from '../base/fact.ts';
import { oneLine } from '../base/oneLine.ts';
import { count } from '../base/words.ts';
import { isUndecided } from '../experiments/model.ts';
import type { RunState } from '../run/model.ts';
import { capOf } from '../run/schedule.ts';
import type { Presence } from './runModel.ts';
import {
  agentName,
  joined,
  needsPerson,
  presenceWords,
  sayElapsed,
  sayPhase,
  sayWinner,
  timeLeft,
} from './runWords.ts';

/** What the status bar's one item says. */
export interface StatusWords {
  /** Short; `$(icon)` in front. */
  readonly text: string;
  /** The same in whole words. */
  readonly spoken: string;
  /** A person is needed: the item is drawn in the warning colour. */
  readonly warns: boolean;
}

/** Phase, option, agent, accepted/cap, time left. The icon turns only while something is being decided. Null without a run. */
export function statusWords(
  state: RunState | null,
  given: { readonly given: Given; readonly presence: Presence; readonly why: string },
): StatusWords | null {
  const { presence } = given;
  if (presence === 'none') return null;
  if (state === null) return { text: '$(beaker) HMA: starting', spoken: 'HMA: the run is starting', warns: false };
  const warns = needsPerson(state, presence);
  const name = oneLine(state.terms.name, 40);
  if (presence === 'lost')
    return { text: '$(warning) HMA: no controller', spoken: `HMA, ${name}. ${presenceWords(state, given)}`, warns };
  if (state.phase === 'finished') return finishedWords(state, name);
  const away = presence === 'away' ? 'controller away' : '';
  const session = sessionOf(state);
  const left = timeLeft(state, given.given);
  const remaining = left === null ? '' : `${sayElapsed(left, true)} left`;
  const phase = state.pause || state.phase !== 'exploring' ? sayPhase(state) : '';
  const judged = state.experiments.filter(isUndecided).length;
  return {
    text: `$(${iconOf(state, { judged, warns })}) ${joined(phase, session.short, session.accepted, remaining, away)}`,
    spoken: `HMA, ${name}: ${[sayPhase(state), session.long, session.accepted && `${session.accepted} accepted`, judged > 0 && `${count(judged, 'experiment')} being evaluated`, remaining, away].filter(Boolean).join(', ')}. Choose what can be done now.`,
    warns,
  };
}

function iconOf(state: RunState, given: { readonly judged: number; readonly warns: boolean }): string {
  if (given.warns) return 'warning';
  if (state.pause) return 'debug-pause';
  if (given.judged > 0 || state.grading) return 'loading~spin';
  return state.phase === 'exploring' ? 'beaker' : 'law';
}

function sessionOf(state: RunState): { short: string; long: string; accepted: string } {
  if (state.phase === 'reviewing' && state.review && state.review.state !== 'closed') {
    const reviewer = agentName(state, state.review.reviewer);
    return { short: reviewer, long: `reviewer ${reviewer}`, accepted: '' };
  }
  const option = state.options.at(-1);
  if (state.phase !== 'exploring' || !option) return { short: '', long: '', accepted: '' };
  const agent = agentName(state, option.agent);
  if (option.state !== 'open') return { short: 'handoff', long: `handoff after option ${option.number}`, accepted: '' };
  const cap = capOf(state);
  const accepted = `${option.accepted.length}${Number.isFinite(cap) ? `/${cap}` : ''}`;
  return {
    short: `option ${option.number} ${oneLine(agent, 20)}`,
    long: `option ${option.number}, ${agent}`,
    accepted,
  };
}

function finishedWords(state: RunState, name: string): StatusWords {
  const winner = sayWinner(state);
  const words = state.archive.length === 0 ? winner : `final ${winner}`;
  return { text: `$(check-all) HMA: ${words}`, spoken: `HMA, ${name}: the run is over, ${words}`, warns: false };
}
