import type { Given } from '../base/fact.ts';
import { standing } from '../archive/order.ts';
import type { RunFact } from '../run/events.ts';
import type { RunState } from '../run/model.ts';
import { reviewerEndsAt, reviewWindowEndsAt } from '../run/schedule.ts';
import { latestAttempt } from '../options/evolve.ts';
import { isPointlessAtOnce } from '../options/failures.ts';
import { otherAgent, type AgentSlot } from '../task/model.ts';
import type { Review, ReviewOutcome } from './model.ts';
import { fallbackCandidate } from './selection.ts';

/** Times a silent or crashed reviewer is started in all. */
const reviewAttempts = 2;

/**
 * The reviewer: the agent that did not write the standing candidate, not "the one whose turn it is" (Algorithm 1). Where neither wrote
 * it, the one that did not work last.
 */
export function reviewerOf(state: RunState): AgentSlot {
  const author = standing(state.archive)?.author;
  return otherAgent(author ?? state.options.at(-1)?.agent ?? state.terms.policy.first);
}

/** Why there is no review; null = there is one. */
export function skipReason(state: RunState): string | null {
  if (state.explorationEnding === 'stopped') return 'the run was stopped';
  if (state.terms.policy.mode === 'single') return 'a single agent has no reviewer';
  if (state.archive.length < 2)
    return state.archive.length === 0 ? 'there is no candidate' : 'there is only one candidate';
  return null;
}

/** Judges a ballot; a candidate that isn't in the archive makes it invalid, with words for the reviewer. */
export function decideBallot(
  state: RunState,
  ballot: { candidate: unknown; reason: unknown },
): Extract<RunFact, { type: 'ballot.cast' }> {
  const invalid = (why: string): Extract<RunFact, { type: 'ballot.cast' }> => ({
    type: 'ballot.cast',
    data: { valid: false, why },
  });
  const { candidate, reason } = ballot;
  if (typeof candidate !== 'string') return invalid('`candidate` must be the id of a candidate, such as "e3"');
  const named = state.archive.find(({ id }) => id === candidate);
  if (!named) return invalid(`there is no candidate ${JSON.stringify(candidate.slice(0, 40))}; hma archive lists them`);
  if (named.disqualified) return invalid(`${named.id} is disqualified: ${named.disqualified.reason.slice(0, 400)}`);
  if (typeof reason !== 'string' || reason.trim() === '')
    return invalid('`reason` must say in words why this candidate');
  return { type: 'ballot.cast', data: { valid: true, candidate, reason: reason.trim().slice(0, 4000) } };
}

/** What the review lane has to do about an open review. */
export type ReviewStep =
  | { readonly do: 'start' }
  | { readonly do: 'watch' }
  | { readonly do: 'end'; readonly reason: NonNullable<Review['endReason']> }
  | { readonly do: 'hold' };

/** Decides about an open review: ends it at its window, asks a silent or crashed reviewer once more if a third of the window is left. */
export function nextReviewStep(state: RunState, review: Review, given: Given): ReviewStep {
  if (state.explorationEnding === 'stopped') return { do: 'end', reason: 'stopped' };
  if (given.active >= reviewerEndsAt(state, given)) return { do: 'end', reason: 'deadline' };
  const latest = latestAttempt(review);
  if (!latest) return { do: state.pause ? 'hold' : 'start' };
  if (latest.state !== 'ended') return { do: 'watch' };
  const end = { do: 'end', reason: latest.failure ? 'failed' : 'natural' } as const;
  if (review.nomination) return end;
  const thawed = latest.failure?.reason === 'after_thaw';
  const window = reviewWindowEndsAt(state, given) - (state.explorationEndedAt ?? 0);
  const left = reviewWindowEndsAt(state, given) - given.active;
  const asked = review.attempts.filter(
    (attempt) => attempt.state !== 'ended' || attempt.failure?.reason !== 'after_thaw',
  ).length;
  const pointless = latest.failure !== null && isPointlessAtOnce(latest.failure.reason);
  const again = thawed || (!pointless && asked < reviewAttempts && left * 3 >= window);
  return again ? { do: state.pause ? 'hold' : 'start' } : end;
}

/** The outcome in one honest word, once the reviewer is gone and the ballot was read for the last time. */
export function decideOutcome(state: RunState, review: Review): { outcome: ReviewOutcome; detail: string } {
  if (review.nomination) {
    const endorsed = review.nomination.candidate === standing(state.archive)?.id;
    return { outcome: endorsed ? 'endorsed' : 'chosen', detail: review.nomination.reason };
  }
  if (review.endReason === 'stopped') return { outcome: 'skipped', detail: 'the run was stopped' };
  if (review.invalidBallots > 0) return { outcome: 'invalid', detail: review.invalidReason ?? 'no valid ballot' };
  if (review.endReason === 'deadline') return { outcome: 'late', detail: 'the window closed without a nomination' };
  const failure = latestAttempt(review);
  if (failure?.state === 'ended' && failure.failure) return { outcome: 'crashed', detail: failure.failure.detail };
  return { outcome: 'silent', detail: 'the reviewer ended without a nomination' };
}

/** The run's own selection after the review: the nomination, else the fallback. Null while the archive is empty. */
export function decideSelection(state: RunState): Extract<RunFact, { type: 'candidate.selected' }> | null {
  const nomination = state.review?.nomination;
  const base = { gradesRevealed: state.gradesRevealed };
  if (nomination && state.review) {
    const who = state.terms.agents[state.review.reviewer].name;
    return {
      type: 'candidate.selected',
      data: { ...base, candidate: nomination.candidate, by: 'reviewer', who, reason: nomination.reason },
    };
  }
  const fallback = fallbackCandidate({ ...state.terms, archive: state.archive });
  if (!fallback) return null;
  const reason = `${state.terms.fallback} candidate (review ${state.review?.outcome ?? 'skipped'})`;
  return { type: 'candidate.selected', data: { ...base, candidate: fallback.id, by: 'fallback', who: 'hma', reason } };
}
