import type { Attempt, Option } from '../options/model.ts';
import type { Review } from '../review/model.ts';
import type { RunState } from '../run/model.ts';
import { experimentsLeft } from '../run/schedule.ts';
import { quantile } from './quantile.ts';

/**
 * One boundary between sessions: stamps in active runtime, ms; null = not reached. `ended` is the moment from which the predecessor
 * was no longer at work: its own end, or the intent to end it, whichever was first.
 */
export interface Handoff {
  readonly from: number;
  /** The next option's number; `review` is no option boundary and not part of the quantiles. */
  readonly to: number | 'review';
  readonly endedAt: number;
  readonly settledAt: number | null;
  readonly reapedAt: number | null;
  readonly cleanAt: number | null;
  readonly spawnedAt: number | null;
  readonly spokeAt: number | null;
  /** From the end to the successor's start, ms; null while it has not started. */
  readonly ms: number | null;
  /** From the end to the successor's first output, ms; null while there was none. */
  readonly toFirstOutputMs: number | null;
  /** Processes of the predecessor that were ended at the boundary. */
  readonly processesEnded: number;
}

/** How long handoffs took, ms; undefined without any. */
export interface HandoffTimes {
  readonly count: number;
  readonly p50: number | undefined;
  readonly p95: number | undefined;
  readonly firstOutputP50: number | undefined;
  readonly firstOutputP95: number | undefined;
}

type Followed = Pick<RunState, 'options' | 'review'>;

/**
 * Every boundary of a run in order, the one before the final review last. Empty while there is only one session. Source: metrics.md,
 * Audits ("timing of each boundary").
 */
export function handoffs(state: Followed): readonly Handoff[] {
  const rows: Handoff[] = [];
  for (const [index, option] of state.options.entries()) {
    const successor = state.options[index + 1];
    if (successor) rows.push(boundary(option, successor.number, successor));
  }
  const last = state.options.at(-1);
  if (last && state.review && state.review.attempts.length > 0) rows.push(boundary(last, 'review', state.review));
  return rows;
}

/**
 * The boundary that is being crossed now: the last session is ending or over and its successor has no session yet. Null while a session
 * is at work, and where none follows (the run was stopped, a single agent has no reviewer, the review is skipped).
 */
export function presentHandoff(state: RunState): Handoff | null {
  const last = state.options.at(-1);
  if (!last || last.state === 'open' || state.explorationEnding === 'stopped') return null;
  if (state.phase !== 'exploring' && state.phase !== 'reviewing') return null;
  if (state.review && (state.review.state === 'closed' || state.review.attempts.length > 0)) return null;
  const explores = state.explorationEnding === null && experimentsLeft(state) > 0;
  if (explores) return boundary(last, last.number + 1, notYet);
  return state.terms.policy.mode === 'single' ? null : boundary(last, 'review', notYet);
}

const notYet = { attempts: [] };

/** Quantiles over the boundaries between options whose successor has started. Undefined (not 0) without any. */
export function handoffTimes(rows: readonly Handoff[]): HandoffTimes {
  const between = rows.filter((row) => row.to !== 'review');
  const times = between.flatMap((row) => row.ms ?? []);
  const outputs = between.flatMap((row) => row.toFirstOutputMs ?? []);
  return {
    count: times.length,
    p50: quantile(times, 0.5),
    p95: quantile(times, 0.95),
    firstOutputP50: quantile(outputs, 0.5),
    firstOutputP95: quantile(outputs, 0.95),
  };
}

function boundary(option: Option, to: Handoff['to'], successor: Pick<Option | Review, 'attempts'>): Handoff {
  const endedAt = endOf(option);
  const first = successor.attempts[0];
  const spawnedAt = first ? startOf(first) : null;
  const spokeAt =
    successor.attempts.map((attempt) => ('spokeAt' in attempt ? attempt.spokeAt : null)).find((at) => at !== null) ??
    null;
  const since = (at: number | null): number | null => (at === null ? null : Math.max(0, at - endedAt));
  const { settledAt, reapedAt, cleanAt } = option;
  return {
    from: option.number,
    to,
    endedAt,
    settledAt,
    reapedAt,
    cleanAt,
    spawnedAt,
    spokeAt,
    ms: since(spawnedAt),
    toFirstOutputMs: since(spokeAt),
    processesEnded: option.ended.length,
  };
}

/** When an attempt's program was started, active ms; null when it never was. */
export const startOf = (attempt: Attempt): number | null => (attempt.state === 'starting' ? null : attempt.startedAt);

function endOf(option: Option): number {
  const last = option.attempts.at(-1);
  const ends = [option.endingAt, option.closedAt, last?.state === 'ended' ? last.endedAt : null].filter(
    (at) => at !== null,
  );
  return ends.length > 0 ? Math.min(...ends) : option.openedAt;
}
