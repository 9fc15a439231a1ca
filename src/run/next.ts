import type { Given } from '../base/fact.ts';
import type { Failure } from '../agents/port.ts';
import { record, standing } from '../archive/order.ts';
import { isUndecided } from '../experiments/model.ts';
import { barrenInARow, nextAgent, nextStart, optionEnd } from '../options/decide.ts';
import { costOf, explorationUsage, sumOf, type Prices } from '../analysis/usage.ts';
import { latestAttempt } from '../options/evolve.ts';
import { tokensOf } from '../options/usage.ts';
import { afterFailure, afterLast } from '../options/failures.ts';
import type { Closure, Option, SessionName } from '../options/model.ts';
import { decideOutcome, decideSelection, nextReviewStep, reviewerOf, skipReason } from '../review/decide.ts';
import type { Review } from '../review/model.ts';
import { finalCandidate, ownSelection } from '../review/selection.ts';
import type { AgentSlot } from '../task/model.ts';
import type { RunFact } from './events.ts';
import type { PauseReason, RunState } from './model.ts';
import { experimentsLeft, explorationEndsAt, reviewerEndsAt } from './schedule.ts';

/** The next thing to do about sessions. `record` is a decision; the others touch the world and are safe to repeat. */
export type Step =
  | { readonly do: 'record'; readonly facts: readonly RunFact[] }
  | { readonly do: 'openOption'; readonly agent: AgentSlot }
  | { readonly do: 'openReview'; readonly reviewer: AgentSlot }
  | { readonly do: 'startAttempt'; readonly session: SessionName }
  | { readonly do: 'watchAttempt'; readonly session: SessionName; readonly wakeAt: number | null }
  | { readonly do: 'endOption'; readonly option: number; readonly reason: Closure }
  | { readonly do: 'endReview'; readonly reason: NonNullable<Review['endReason']> }
  | { readonly do: 'reap'; readonly session: SessionName }
  | { readonly do: 'clean'; readonly option: number }
  | { readonly do: 'closeOption'; readonly option: number }
  | { readonly do: 'grade'; readonly id: string }
  | { readonly do: 'reevaluate'; readonly id: string }
  | { readonly do: 'wait'; readonly wakeAt: number | null; readonly why: string };

/** What the adapter of the running session needs; the linger is the time from the k-th receipt to the interrupt, ms. */
export interface NextOptions {
  readonly lingerMs: number;
  /** What models cost, for `budgets.cost`; nothing has a price when absent. */
  readonly prices?: Prices;
}

const wait = (why: string, wakeAt: number | null = null): Step => ({ do: 'wait', wakeAt, why });
const recordFacts = (...facts: RunFact[]): Step => ({ do: 'record', facts });

/**
 * Algorithm 1 as a function: what a run in this state does next at this moment. The controller carries the step out, appends
 * what happened, and asks again; after a crash it asks the same question of the replayed state.
 */
export function nextStep(state: RunState, given: Given, options: NextOptions): Step {
  if (state.pause?.until !== undefined && given.wall >= state.pause.until)
    return recordFacts({ type: 'run.resumed', data: { by: 'hma' } });
  switch (state.phase) {
    case 'exploring':
      return nextInExploration(state, given, options);
    case 'reviewing':
      return nextInReview(state, given);
    case 'concluding':
      return nextInConclusion(state);
    case 'finished':
      return nextErrand(state);
  }
}

const pausedAtBoundary: RunFact = {
  type: 'run.paused',
  data: { reason: 'requested', detail: 'paused at the option boundary', by: 'person' },
};

function nextInExploration(state: RunState, given: Given, options: NextOptions): Step {
  const ending = explorationMustEnd(state, given, options.prices ?? {});
  if (ending) return recordFacts(ending);
  const option = state.options.at(-1);
  if (option?.state === 'open') return nextInOption(state, option, { ...given, ...options });
  if (option?.state === 'ending') return nextInEnding(state, option);
  if (state.explorationEnding)
    return recordFacts({ type: 'exploration.ended', data: { reason: state.explorationEnding } });
  if (state.pause) return wait('paused');
  if (state.pauseAfter) return recordFacts(pausedAtBoundary);
  const start = nextStart(state, given);
  if (start.kind === 'pause') return recordFacts(pausedByFailure(start));
  if (start.active > given.active)
    return wait(
      'slowed down: sessions end without doing anything',
      Math.min(start.active, explorationEndsAt(state, given)),
    );
  return { do: 'openOption', agent: nextAgent(state) };
}

function explorationMustEnd(state: RunState, given: Given, prices: Prices): RunFact | null {
  if (state.explorationEnding) return null;
  const because = (reason: 'deadline' | 'budget' | 'barren'): RunFact => ({
    type: 'exploration.ending',
    data: { reason, by: 'hma' },
  });
  if (given.active >= explorationEndsAt(state, given)) return because('deadline');
  const between = state.options.at(-1)?.state !== 'open' && state.options.at(-1)?.state !== 'ending';
  if (between && experimentsLeft(state) <= 0) return because('budget');
  if (!state.pause && isUsedUp(state, prices)) return because('budget');
  const { stopAfterBarren } = state.terms;
  if (between && stopAfterBarren !== null && barrenInARow(state) >= stopAfterBarren) return because('barren');
  return null;
}

/** Whether exploration has used what it may of tokens or money. What its harnesses have not told yet is not known here. */
function isUsedUp(state: RunState, prices: Prices): boolean {
  const { tokens = Infinity, cost = Infinity } = state.budgets;
  if (tokens === Infinity && cost === Infinity) return false;
  const used = explorationUsage(state);
  return tokensOf(sumOf(used)) >= tokens || costOf(used, prices).billed >= cost;
}

function nextInOption(state: RunState, option: Option, given: Given & NextOptions): Step {
  const session: SessionName = { kind: 'option', number: option.number };
  const end = optionEnd(state, option, given);
  if (end.kind === 'now') return { do: 'endOption', option: option.number, reason: end.reason };
  const latest = latestAttempt(option);
  const deadline = explorationEndsAt(state, given);
  if (!latest) return state.pause ? wait('paused') : { do: 'startAttempt', session };
  if (latest.state !== 'ended')
    return {
      do: 'watchAttempt',
      session,
      wakeAt: state.pause ? null : end.kind === 'at' ? Math.min(end.active, deadline) : deadline,
    };
  if (option.retryAt !== null) {
    if (state.pause) return wait('paused');
    return given.active >= option.retryAt
      ? { do: 'startAttempt', session }
      : wait('waiting before another attempt', Math.min(option.retryAt, deadline));
  }
  if (latest.failure === null) return { do: 'endOption', option: option.number, reason: 'natural' };
  return nextAfterFailure(state, option, { failure: latest.failure, endedAt: latest.endedAt, given });
}

/** A failed attempt after which none was granted: the option ends, or the run pauses. */
function nextAfterFailure(
  state: RunState,
  option: Option,
  end: { readonly failure: Failure; readonly endedAt: number; readonly given: Given },
): Step {
  const { failure, endedAt, given } = end;
  // decided already, and not again while the wall clock alone goes on
  if (state.pause?.reason === 'usage_limit') return wait('paused');
  const asked = afterFailure(state, { option, failure, failed: option.failures, endedAt }, given);
  const after = asked.next === 'retry' ? afterLast(state, option, failure) : asked;
  if (after.next !== 'pause')
    return { do: 'endOption', option: option.number, reason: failure.reason === 'stall' ? 'stalled' : 'failed' };
  return state.pause ? wait('paused') : recordFacts(pausedByFailure(after));
}

const pausedByFailure = (pause: { reason: PauseReason; detail: string; until: number | null }): RunFact => ({
  type: 'run.paused',
  data: {
    reason: pause.reason,
    detail: pause.detail,
    by: 'hma',
    ...(pause.until === null ? {} : { until: pause.until }),
  },
});

function nextInEnding(state: RunState, option: Option): Step {
  if (option.reapedAt === null) {
    if (option.survivors.length > 0 && state.pause) return wait('processes survive; a person must end them');
    return { do: 'reap', session: { kind: 'option', number: option.number } };
  }
  if (option.settledAt === null) {
    const open = state.experiments.some((e) => e.option === option.number && isUndecided(e));
    return open ? wait('settling') : recordFacts({ type: 'option.settled', data: { option: option.number } });
  }
  if (option.cleanAt === null) return { do: 'clean', option: option.number };
  return { do: 'closeOption', option: option.number };
}

function nextInReview(state: RunState, given: Given): Step {
  const { review } = state;
  if (!review) {
    const skip = skipReason(state);
    if (skip) return recordFacts({ type: 'review.closed', data: { outcome: 'skipped', detail: skip } });
    if (given.active >= reviewerEndsAt(state, given))
      return recordFacts({ type: 'review.closed', data: { outcome: 'late', detail: 'no time was left for it' } });
    if (state.pause) return wait('paused');
    return state.pauseAfter ? recordFacts(pausedAtBoundary) : { do: 'openReview', reviewer: reviewerOf(state) };
  }
  switch (review.state) {
    case 'open': {
      const step = nextReviewStep(state, review, given);
      const wakeAt = state.pause ? null : reviewerEndsAt(state, given);
      if (step.do === 'start') return { do: 'startAttempt', session: { kind: 'review' } };
      if (step.do === 'watch') return { do: 'watchAttempt', session: { kind: 'review' }, wakeAt };
      return step.do === 'end' ? { do: 'endReview', reason: step.reason } : wait('paused', wakeAt);
    }
    case 'ending':
      if (review.reapedAt === null) {
        if (review.survivors.length > 0 && state.pause) return wait('processes survive; a person must end them');
        return { do: 'reap', session: { kind: 'review' } };
      }
      return recordFacts({ type: 'review.closed', data: decideOutcome(state, review) });
    case 'closed': {
      const selected = decideSelection(state);
      return recordFacts(selected ?? { type: 'run.finished', data: { reason: 'no candidate' } });
    }
  }
}

function nextInConclusion(state: RunState): Step {
  if (state.terms.grades && state.explorationEnding !== 'stopped') {
    const ungraded = toBeGraded(state).find((candidate) => candidate.grade === null);
    if (ungraded) return { do: 'grade', id: ungraded.id };
  }
  return recordFacts({ type: 'run.finished', data: { reason: state.explorationEnding ?? 'deadline' } });
}

/** After the end a person can have candidates graded or evaluated once more, one after the other. */
function nextErrand(state: RunState): Step {
  const [errand] = state.errands;
  if (!errand) return wait('finished');
  return { do: errand.kind, id: errand.candidate };
}

/** Candidates graded at the end by default: the final one, the run's own selection, the standing one and the record. */
function toBeGraded(state: RunState) {
  const ids = new Set([
    ownSelection(state.selections)?.candidate,
    finalCandidate({ ...state, ...state.terms })?.candidate,
    standing(state.archive)?.id,
    record(state.archive, state.terms.metric)?.id,
  ]);
  return state.archive.filter((candidate) => ids.has(candidate.id));
}
