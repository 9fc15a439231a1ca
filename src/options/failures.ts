import type { Given } from '../base/fact.ts';
import type { Failure, FailureReason } from '../agents/port.ts';
import type { PauseReason, RunState } from '../run/model.ts';
import { sayWord } from '../base/words.ts';
import { explorationEndsAt } from '../run/schedule.ts';
import { otherAgent, type AgentSlot, type UsageLimitPolicy } from '../task/model.ts';
import type { Option } from './model.ts';

/** Longest wait between failing attempts or options, ms. */
export const longestWaitMs = 15 * 60_000;
/** Shortest wait where waiting is the point, ms: `failures.wait: 0` makes no hot loop. */
export const shortestWaitMs = 1000;
/** An attempt that worked for so long before it met a usage limit has not failed for nothing: it uses up none of the policy's attempts, ms. */
const workedMs = 10 * 60_000;

/** What follows a failed attempt. `at` is active ms; `until` is Unix ms at which the run goes on by itself, null = when a person says so. */
export type AfterFailure =
  | { readonly next: 'retry'; readonly at: number }
  | { readonly next: 'handover' }
  | {
      readonly next: 'pause';
      readonly reason: Extract<PauseReason, 'agent_failed' | 'usage_limit'>;
      readonly detail: string;
      readonly until: number | null;
    };

/** One failure of an open option. `failed` counts those of the option that use up attempts, this one included; `endedAt` is active ms. */
export interface FailedAttempt {
  readonly option: Option;
  readonly failure: Failure;
  readonly failed: number;
  readonly endedAt: number;
}

/** Whether a failure uses up one of the attempts that the policy grants. */
export const countsAsFailure = (failure: Failure, ranMs: number): boolean =>
  failure.reason !== 'after_thaw' && !(failure.reason === 'usage_limit' && ranMs >= workedMs);

/** No attempt helps before a person does something: the login and the model's name stay as they are. */
const hopeless: ReadonlySet<FailureReason> = new Set(['login_expired', 'model_not_found']);

/** Whether asking the same agent again at once, as the review does, is pointless. */
export const isPointlessAtOnce = (reason: FailureReason): boolean => hopeless.has(reason) || reason === 'usage_limit';

/**
 * The failure policy, reason by reason; pure, and the same answer whenever it is asked for one failure.
 *
 *   usage limit                   by `failures.usageLimit`; never a wait beyond the end of exploration; both agents out: pause until
 *                                 the earliest reset, and go on by itself
 *   login expired, unknown model  the other agent, or a pause with words; both: pause
 *   context overflow              another attempt at once, which begins with a fresh context
 *   overloaded, network           another attempt after growing waits, a told Retry-After at least
 *   all others                    another attempt after growing waits
 *
 * Each only as often as `failures.attempts` says; then `failures.then`.
 */
export function afterFailure(state: RunState, failed: FailedAttempt, given: Given): AfterFailure {
  const { failure, option, endedAt } = failed;
  if (failure.reason === 'after_thaw') return { next: 'retry', at: endedAt };
  if (failure.reason === 'usage_limit') return afterUsageLimit(state, failed, given);
  if (hopeless.has(failure.reason)) return afterHopeless(state, option, failure);
  if (failed.failed >= state.terms.failures.attempts) return afterLast(state, option, failure);
  if (failure.reason === 'context_overflow') return { next: 'retry', at: endedAt };
  const told = failure.resetAt === undefined ? 0 : endedAt + Math.max(0, failure.resetAt - given.wall);
  return { next: 'retry', at: Math.max(endedAt + waitOf(state, failed), told) };
}

/** What follows when no further attempt is granted. */
export function afterLast(state: RunState, option: Option, failure: Failure): AfterFailure {
  const mustPause = state.terms.failures.then === 'pause' || state.terms.policy.mode === 'single';
  if (!mustPause) return { next: 'handover' };
  return { next: 'pause', reason: 'agent_failed', detail: sayFailure(state, option, failure), until: null };
}

/** The growing wait before the next attempt, ms. */
function waitOf(state: RunState, { failure, failed }: FailedAttempt): number {
  const wait = Math.min(longestWaitMs, state.terms.failures.waitMs * 2 ** Math.max(0, failed - 1));
  const waits = ['overloaded', 'network', 'usage_limit'].includes(failure.reason);
  return waits ? Math.max(shortestWaitMs, wait) : wait;
}

function afterUsageLimit(state: RunState, failed: FailedAttempt, given: Given): AfterFailure {
  const { option, failure, endedAt } = failed;
  const policy = usageLimitPolicy(state);
  const pause = (until: number | null): AfterFailure => ({
    next: 'pause',
    reason: 'usage_limit',
    detail: sayFailure(state, option, failure),
    until,
  });
  if (policy.then === 'pause') return pause(null);
  if (failed.failed >= state.terms.failures.attempts) return afterLast(state, option, failure);
  const single = state.terms.policy.mode === 'single';
  const reset = failure.resetAt === undefined ? null : failure.resetAt;
  const soonest = endedAt + waitOf(state, failed);
  const resetActive = reset === null ? 0 : given.active + (reset - given.wall);
  // a reset that has passed, or is nearer than the wait, is no reason to stop the clock
  const later = reset !== null && resetActive > soonest;
  const other = single ? null : outUntil(state, otherAgent(option.agent), given.wall);
  if (other !== null && later) return reset > other ? { next: 'handover' } : pause(reset);
  if (policy.then === 'handover' && !single && other === null) return { next: 'handover' };
  const at = Math.max(soonest, resetActive);
  if (at >= explorationEndsAt(state, given) && !single) return { next: 'handover' };
  const late = at >= explorationEndsAt(state, given);
  return later && (policy.pauseClock || late) ? pause(reset) : { next: 'retry', at };
}

/** A login that has expired expires for the other agent's turns too: without a person it goes on only where the other agent can work. */
function afterHopeless(state: RunState, option: Option, failure: Failure): AfterFailure {
  const last = afterLast(state, option, failure);
  if (last.next !== 'handover' || !isHopeless(state, otherAgent(option.agent))) return last;
  return { next: 'pause', reason: 'agent_failed', detail: sayFailure(state, option, failure), until: null };
}

/** What `failures.usageLimit` says; ledgers from before it existed say nothing. */
const usageLimitPolicy = (state: RunState): UsageLimitPolicy =>
  state.terms.failures.usageLimit ?? { then: 'wait', pauseClock: false };

/** How an agent's latest attempt in an option ended; null = it had none, or it has not ended. */
function latestFailure(state: RunState, agent: AgentSlot): { failure: Failure; endedAt: number } | null {
  const attempt = state.options
    .findLast((option) => option.agent === agent && option.attempts.length > 0)
    ?.attempts.at(-1);
  return attempt?.state === 'ended' && attempt.failure ? { failure: attempt.failure, endedAt: attempt.endedAt } : null;
}

/** Unix ms until which an agent's usage limit lasts, as its latest attempt told; null = it is not known to be out. */
export function outUntil(state: RunState, agent: AgentSlot, wall: number): number | null {
  const failure = latestFailure(state, agent)?.failure;
  if (failure?.reason !== 'usage_limit' || failure.resetAt === undefined || failure.resetAt <= wall) return null;
  return failure.resetAt;
}

function isHopeless(state: RunState, agent: AgentSlot): boolean {
  const latest = latestFailure(state, agent);
  if (!latest || !hopeless.has(latest.failure.reason)) return false;
  return state.resumedAt === null || latest.endedAt > state.resumedAt;
}

/** The earliest reset, Unix ms, while no agent of the run can work; null = one can. */
export function allOutUntil(state: RunState, wall: number): number | null {
  const { mode, first } = state.terms.policy;
  const agents: readonly AgentSlot[] = mode === 'single' ? [first] : ['A', 'B'];
  const resets = agents.map((agent) => outUntil(state, agent, wall));
  const known = resets.filter((reset) => reset !== null);
  return known.length === resets.length ? Math.min(...known) : null;
}

/** A failure in words for a person, with what to do where only a person can do something. */
function sayFailure(state: RunState, option: Option, failure: Failure): string {
  const { name, adapter } = state.terms.agents[option.agent];
  const said = `${name}: ${sayWord(failure.reason)} (${failure.detail.replace(/[.\s]+$/, '')})`;
  if (failure.reason === 'login_expired') return `${said}; sign in again with hma login ${adapter}, or renew the key`;
  if (failure.reason === 'model_not_found')
    return `${said}; the model is never changed silently: choose another in hma.yaml`;
  return said;
}
