import type { Given } from '../base/fact.ts';
import type { Failure } from '../agents/port.ts';
import type { RunFact } from '../run/events.ts';
import type { RunState } from '../run/model.ts';
import { capOf, experimentsLeft } from '../run/schedule.ts';
import { otherAgent, type AgentSlot } from '../task/model.ts';
import { latestAttempt } from './evolve.ts';
import { afterFailure, allOutUntil, countsAsFailure, longestWaitMs, shortestWaitMs } from './failures.ts';
import type { Attempt, AttemptExit, Closure, Option, SessionName } from './model.ts';

/** Longest time between the k-th acceptance and the interrupt when the session never asks for that receipt, ms (domain.md). */
export const receiptWaitMs = 20_000;
/** A session that dies so soon after a thaw gets another attempt, ms (domain.md). */
const afterThawMs = 60_000;
/** An option that ended itself sooner than this without a submission "ended at once", ms. */
const atOnceMs = 10_000;
/** Ends at once in a row that pause the run. */
const endsAtOnceToPause = 4;

/** The agent of the next option: strictly the other one (invariant 11); always the same when there is only one. */
export function nextAgent(state: RunState): AgentSlot {
  const last = state.options.at(-1);
  if (!last) return state.terms.policy.first;
  return state.terms.policy.mode === 'single' ? last.agent : otherAgent(last.agent);
}

/** How an open option stands to its end. */
export type OptionEnd =
  | { readonly kind: 'now'; readonly reason: Closure }
  | { readonly kind: 'at'; readonly active: number }
  | { readonly kind: 'no' };

/** Whether an open option must end, and why: a person's or the clock's word first, then the cap or the budget once its receipt was seen. */
export function optionEnd(state: RunState, option: Option, given: { active: number; lingerMs: number }): OptionEnd {
  switch (state.explorationEnding) {
    case 'stopped':
      return { kind: 'now', reason: 'stopped' };
    case 'deadline':
      return { kind: 'now', reason: 'deadline' };
    case 'budget':
      return { kind: 'now', reason: 'budget' }; // tokens or money; experiments end at a boundary
    case 'requested':
      return { kind: 'now', reason: 'handoff' };
    default:
      break;
  }
  const full = option.accepted.length >= capOf(state) ? 'cap' : experimentsLeft(state) <= 0 ? 'budget' : null;
  if (full === null) return { kind: 'no' };
  const latest = latestAttempt(option);
  if (!latest || latest.state === 'ended') return { kind: 'now', reason: full };
  const lastAccepted = state.archive.at(-1)?.acceptedAt ?? given.active;
  const due =
    option.capSeenAt === null
      ? lastAccepted + receiptWaitMs
      : Math.min(option.capSeenAt + given.lingerMs, lastAccepted + receiptWaitMs);
  return given.active >= due ? { kind: 'now', reason: full } : { kind: 'at', active: due };
}

/** How the option is closed in the books: a used-up cap is always `cap`, whatever ended the session. */
export const closureOf = (state: RunState, option: Option): Closure =>
  option.accepted.length >= capOf(state) ? 'cap' : (option.closure ?? 'natural');

/** Decides what an attempt's end means: a natural end, or a failure with or without another attempt. */
export function decideAttemptEnd(
  state: RunState,
  end: {
    session: SessionName;
    attempt: Attempt;
    option: Option | null;
    exit: AttemptExit | null;
    endedItself: boolean;
    failure: Failure | null;
  },
  given: Given,
): RunFact {
  const { session, attempt, option, exit, endedItself } = end;
  const thawed =
    endedItself &&
    end.failure !== null &&
    state.resumedAt !== null &&
    given.active - state.resumedAt < afterThawMs &&
    attempt.startingAt < state.resumedAt;
  const failure: Failure | null =
    thawed && end.failure ? { reason: 'after_thaw', detail: end.failure.detail } : end.failure;
  const counts = failure !== null && countsAsFailure(failure, given.active - attempt.startingAt);
  const data = { session, attempt: attempt.number, exit, endedItself, failure, counts };
  return { type: 'attempt.ended', data: { ...data, retryAt: retryTime({ state, option, failure, counts }, given) } };
}

function retryTime(
  end: { state: RunState; option: Option | null; failure: Failure | null; counts: boolean },
  given: Given,
): number | null {
  const { state, option, failure, counts } = end;
  if (!option || option.state !== 'open' || option.accepted.length >= capOf(state)) return null;
  const { waitMs } = state.terms.failures;
  if (failure === null) {
    // The paper's single-agent baseline is asked again when it ends itself; never in a hot loop.
    return state.terms.policy.mode === 'single'
      ? given.active + Math.min(longestWaitMs, Math.max(shortestWaitMs, waitMs) * quickAttempts(option, given.active))
      : null;
  }
  const failed = option.failures + (counts ? 1 : 0);
  const after = afterFailure(state, { option, failure, failed, endedAt: given.active }, given);
  return after.next === 'retry' ? after.at : null;
}

/** Attempts in a row, this one included, that ended within seconds. */
function quickAttempts(option: Option, active: number): number {
  let count = 0;
  for (const attempt of option.attempts.toReversed()) {
    const endedAt = attempt.state === 'ended' ? attempt.endedAt : active;
    if (endedAt - attempt.startingAt >= atOnceMs) break;
    count++;
  }
  return count;
}

/** When the next option may start: at once, later (options that end at once or fail are slowed down), or not before a person says so. */
export type NextStart =
  | { readonly kind: 'at'; readonly active: number }
  | {
      readonly kind: 'pause';
      readonly reason: 'agents_end_at_once' | 'usage_limit';
      readonly detail: string;
      /** Unix ms at which it is over by itself; null = when a person says so. */
      readonly until: number | null;
    };

/** Slows down options that follow each other in seconds; pauses when they never do anything, or when no agent may be used. */
export function nextStart(state: RunState, given: Pick<Given, 'wall'>): NextStart {
  const closed = state.options.filter((option) => option.state === 'closed');
  const last = closed.at(-1);
  if (!last?.closedAt) return { kind: 'at', active: 0 };
  const sincePerson = state.resumedAt !== null && state.resumedAt >= last.closedAt;
  const reset = sincePerson ? null : allOutUntil(state, given.wall);
  if (reset !== null)
    return {
      kind: 'pause',
      reason: 'usage_limit',
      detail: 'the usage limit of every agent of the run is reached',
      until: reset,
    };
  const trailing = closed.length - 1 - closed.findLastIndex((option) => !endedAtOnce(option) && !failedIdle(option));
  if (trailing < 2 || sincePerson) return { kind: 'at', active: last.closedAt };
  const atOnce = closed.length - 1 - closed.findLastIndex((option) => !endedAtOnce(option));
  if (atOnce >= endsAtOnceToPause) {
    return {
      kind: 'pause',
      reason: 'agents_end_at_once',
      until: null,
      detail: `the last ${atOnce} sessions ended within seconds without submitting anything; look at their output (hma log), then resume`,
    };
  }
  return {
    kind: 'at',
    active:
      last.closedAt +
      Math.min(longestWaitMs, Math.max(shortestWaitMs, state.terms.failures.waitMs) * 2 ** (trailing - 2)),
  };
}

const endedAtOnce = (option: Option): boolean =>
  option.endedItself &&
  option.submissions === 0 &&
  option.closedAt !== null &&
  option.closedAt - option.openedAt < atOnceMs;
const failedIdle = (option: Option): boolean =>
  (option.closure === 'failed' || option.closure === 'stalled') && option.accepted.length === 0;

/** Options in a row, latest first, that closed without an accepted experiment ("barren"). */
export const barrenInARow = (state: RunState): number => {
  const closed = state.options.filter((option) => option.state === 'closed');
  return closed.length - 1 - closed.findLastIndex((option) => option.accepted.length > 0);
};
