import type { Given } from '../base/fact.ts';
import type { RunState } from './model.ts';

/** The active time that a wall-clock end (`until`) leaves, ms; Infinity without one. */
const untilAsActive = (state: RunState, given: Given): number =>
  state.budgets.until === null ? Infinity : given.active + (state.budgets.until - given.wall);

/** The review's reserve [t_rev], ms; a single agent has no review and explores to the end. */
export const reviewReserve = (state: RunState): number =>
  state.terms.policy.mode === 'single' ? 0 : state.budgets.reviewMs;

/** End of the whole run in active runtime [t_total], ms, or what a wall-clock end makes of it. */
export const runEndsAt = (state: RunState, given: Given): number =>
  Math.min(state.budgets.totalMs, untilAsActive(state, given));

/** End of exploration in active runtime [t_s = t_total − t_rev], ms. */
export function explorationEndsAt(state: RunState, given: Given): number {
  const met = state.explorationEnding === 'deadline' ? (state.explorationEndingAt ?? Infinity) : Infinity;
  return Math.min(met, runEndsAt(state, given) - reviewReserve(state));
}

/** Latest active time at which a verdict can still be accepted: t_s, and the grace of `lateRule: submitted` inside half the reserve. */
export function verdictsEndAt(state: RunState, given: Given): number {
  const { lateRule } = state.terms;
  const grace = lateRule.rule === 'submitted' ? Math.min(lateRule.graceMs, reviewReserve(state) / 2) : 0;
  return explorationEndsAt(state, given) + grace;
}

/** End of the review's window in active runtime: t_rev after exploration's end, and never after the run's end. */
export const reviewWindowEndsAt = (state: RunState, given: Given): number =>
  Math.min((state.explorationEndedAt ?? given.active) + state.budgets.reviewMs, runEndsAt(state, given));

/** When the reviewer is ended, so that its result is committed inside the window: 5 % of it earlier, 0.5–15 s. */
export function reviewerEndsAt(state: RunState, given: Given): number {
  const end = reviewWindowEndsAt(state, given);
  const window = Math.max(0, end - (state.explorationEndedAt ?? given.active));
  return end - Math.min(15_000, Math.max(500, window * 0.05));
}

/** Longest polite wait for a reviewer that is ended, ms: half of what is kept between its end and the window's, whatever its adapter would like. */
export const reviewerGrace = (state: RunState, given: Given): number =>
  (reviewWindowEndsAt(state, given) - reviewerEndsAt(state, given)) / 2;

/** Experiments accepted in this run. Candidates that came over from an earlier one count towards no budget. */
export const acceptedInRun = (state: RunState): number => state.archive.length - (state.from?.candidates ?? 0);

/** Accepted experiments that the run's budget [N] still allows; Infinity without one. */
export const experimentsLeft = (state: RunState): number =>
  state.budgets.experiments === null ? Infinity : state.budgets.experiments - acceptedInRun(state);

/** The cap [k] that holds for this run's options; Infinity for natural termination and for a single agent. */
export const capOf = (state: RunState): number =>
  state.terms.policy.mode === 'single' ? Infinity : (state.terms.policy.cap ?? Infinity);
