import type { Attempt } from '../options/model.ts';
import type { RunState } from '../run/model.ts';
import type { AgentSlot } from '../task/model.ts';
import { startOf } from './handoffs.ts';

/**
 * Where the active runtime went, ms. `sessions` + `start` + `between` + `unusedReview` + `unusedExploration` + `ahead` = `budget`,
 * exactly, as long as the run keeps inside its budget. `paused` is wall time beside it: pauses stop the clock.
 */
export interface TimeShares {
  readonly budget: number;
  /** Time in which a session of this agent ran; the review counts for its reviewer (metrics.md, Audits). */
  readonly sessions: Readonly<Record<AgentSlot, number>>;
  /** Before the first session. */
  readonly start: number;
  /** Between sessions: handoffs, waits before another attempt, the way into the review. */
  readonly between: number;
  /** The review's window after its session. */
  readonly unusedReview: number;
  /** What was left of exploration when it ended early: the experiments were used up, or a person said so. */
  readonly unusedExploration: number;
  /** Not yet spent. */
  readonly ahead: number;
  readonly paused: number;
}

interface Interval {
  readonly agent: AgentSlot;
  readonly from: number;
  readonly to: number;
}

/**
 * Splits a run's budget by what it was used for; `given.active` is the active runtime now, ms (for a finished run: at its end),
 * `given.wall` Unix ms. Never negative; attempts that never started count for nothing. Source: metrics.md, Audits, "Time".
 */
export function timeShares(state: RunState, given: { readonly active: number; readonly wall: number }): TimeShares {
  const budget = state.budgets.totalMs;
  const now = Math.min(budget, state.finished?.active ?? given.active);
  const clip = (at: number): number => Math.max(0, Math.min(now, at));
  const sessions: Record<AgentSlot, number> = { A: 0, B: 0 };
  const intervals = intervalsOf(state, now).map(({ agent, from, to }) => ({
    agent,
    from: clip(from),
    to: clip(Math.max(from, to)),
  }));
  const reviewOver = state.finished !== null || state.review?.state === 'closed';
  const explored = state.explorationEndedAt === null ? null : clip(state.explorationEndedAt);
  const window = state.terms.policy.mode === 'single' ? 0 : state.budgets.reviewMs;

  // A walk along the clock: what lies before `at` is accounted for.
  let at = 0;
  let start = 0;
  let between = 0;
  for (const [index, { agent, from, to }] of intervals.entries()) {
    const gap = Math.max(0, from - at);
    if (index === 0) start += gap;
    else between += gap;
    sessions[agent] += Math.max(0, to - Math.max(at, from));
    at = Math.max(at, to);
  }
  const waitedUntil = reviewOver && explored !== null ? Math.max(at, explored) : now;
  if (intervals.length === 0) start += Math.max(0, waitedUntil - at);
  else between += Math.max(0, waitedUntil - at);
  at = Math.max(at, waitedUntil);

  const windowEnd = explored === null ? budget : Math.min(budget, explored + window);
  const unusedReview = reviewOver ? Math.max(0, windowEnd - at) : 0;
  const unusedExploration =
    explored === null ? (state.finished ? budget - at : 0) : Math.max(0, budget - Math.max(windowEnd, at));
  const ahead = budget - at - unusedReview - unusedExploration;
  const paused =
    state.pausedMs + (state.pause && !state.finished ? Math.max(0, given.wall - state.pause.sinceWall) : 0);
  return { budget, sessions, start, between, unusedReview, unusedExploration, ahead, paused };
}

function intervalsOf(state: RunState, now: number): Interval[] {
  const of = (agent: AgentSlot, attempts: readonly Attempt[]): Interval[] =>
    attempts.flatMap((attempt) => {
      const from = startOf(attempt);
      return from === null ? [] : [{ agent, from, to: attempt.state === 'ended' ? attempt.endedAt : now }];
    });
  const explored = state.options.flatMap((option) => of(option.agent, option.attempts));
  return [...explored, ...(state.review ? of(state.review.reviewer, state.review.attempts) : [])].toSorted(
    (a, b) => a.from - b.from,
  );
}
