import type { StampedOf } from '../base/fact.ts';
import type { OptionEvents } from './events.ts';
import type { Attempt, EndStamps, Option } from './model.ts';
import { addResponses } from './usage.ts';

/** Stamps of a session that has not begun to end. */
export const notEnding: EndStamps = {
  endingAt: null,
  endingMono: null,
  settledAt: null,
  reapedAt: null,
  cleanAt: null,
  closedAt: null,
};

type AttemptEvent = Extract<StampedOf<OptionEvents>, { type: `attempt.${string}` }>;

/** Folds one attempt event into a session's attempts; unknown attempts are left alone. */
export function evolveAttempts(attempts: readonly Attempt[], event: AttemptEvent): readonly Attempt[] {
  if (event.type === 'attempt.starting') {
    const { attempt: number, nonce } = event.data;
    return [...attempts, { number, nonce, startingAt: event.active, state: 'starting' }];
  }
  return attempts.map((attempt) => (attempt.number === event.data.attempt ? evolveAttempt(attempt, event) : attempt));
}

function evolveAttempt(attempt: Attempt, event: Exclude<AttemptEvent, { type: 'attempt.starting' }>): Attempt {
  const { number, nonce, startingAt } = attempt;
  switch (event.type) {
    case 'attempt.started':
      return attempt.state === 'starting'
        ? {
            number,
            nonce,
            startingAt,
            state: 'running',
            startedAt: event.active,
            runner: event.data.runner,
            spokeAt: null,
            ending: null,
          }
        : attempt;
    case 'attempt.spoke':
      return attempt.state === 'running' && attempt.spokeAt === null ? { ...attempt, spokeAt: event.active } : attempt;
    case 'attempt.ending':
      return attempt.state === 'running' ? { ...attempt, ending: event.data.reason } : attempt;
    case 'attempt.ended': {
      if (attempt.state === 'ended') return attempt;
      const { exit, endedItself, failure } = event.data;
      const startedAt = attempt.state === 'running' ? attempt.startedAt : null;
      const spokeAt = attempt.state === 'running' ? attempt.spokeAt : null;
      return {
        number,
        nonce,
        startingAt,
        state: 'ended',
        startedAt,
        spokeAt,
        endedAt: event.active,
        exit,
        endedItself,
        failure,
      };
    }
    default:
      return attempt; // what is said to a session, and what it used, is kept elsewhere
  }
}

/** Folds an event into the list of options. Total: events of other nouns and of unknown options change nothing. */
export function evolveOptions(options: readonly Option[], event: StampedOf<OptionEvents>): readonly Option[] {
  if (event.type === 'option.opened') {
    const { option: number, agent, tokenHash } = event.data;
    return [...options, openedOption({ number, agent, tokenHash, openedAt: event.active })];
  }
  const number =
    'session' in event.data
      ? event.data.session.kind === 'option'
        ? event.data.session.number
        : null
      : event.data.option;
  return options.map((option) => (option.number === number ? evolveOption(option, event) : option));
}

function openedOption(given: Pick<Option, 'number' | 'agent' | 'tokenHash' | 'openedAt'>): Option {
  return {
    ...given,
    ...notEnding,
    state: 'open',
    attempts: [],
    accepted: [],
    submissions: 0,
    closure: null,
    endedItself: false,
    capSeenAt: null,
    failures: 0,
    retryAt: null,
    ended: [],
    survivors: [],
    usage: [],
  };
}

function evolveOption(option: Option, event: Exclude<StampedOf<OptionEvents>, { type: 'option.opened' }>): Option {
  switch (event.type) {
    case 'option.ending':
      return option.state === 'open'
        ? {
            ...option,
            state: 'ending',
            closure: event.data.reason,
            endingAt: event.active,
            endingMono: event.mono,
            retryAt: null,
          }
        : option;
    case 'option.settled':
      return { ...option, settledAt: event.active };
    case 'option.reaped': {
      const survivors = event.data.survivors;
      return {
        ...option,
        ended: [...option.ended, ...event.data.ended],
        survivors,
        reapedAt: survivors.length === 0 ? event.active : null,
      };
    }
    case 'option.clean':
      return { ...option, cleanAt: event.active };
    case 'option.closed':
      return {
        ...option,
        state: 'closed',
        closure: event.data.closure,
        endedItself: event.data.endedItself,
        closedAt: event.active,
      };
    case 'option.capSeen':
      return { ...option, capSeenAt: option.capSeenAt ?? event.active };
    case 'attempt.responded':
      return { ...option, usage: addResponses(option.usage, event.data.responses) };
    case 'attempt.ended':
      return {
        ...option,
        attempts: evolveAttempts(option.attempts, event),
        retryAt: event.data.retryAt,
        failures: option.failures + (event.data.failure && event.data.counts ? 1 : 0),
      };
    default:
      return { ...option, attempts: evolveAttempts(option.attempts, event) };
  }
}

/** The attempt that matters now: the latest one, if any. */
export const latestAttempt = (session: { readonly attempts: readonly Attempt[] }): Attempt | undefined =>
  session.attempts.at(-1);
