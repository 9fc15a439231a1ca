import type { StampedOf } from '../base/fact.ts';
import { evolveAttempts } from '../options/evolve.ts';
import type { OptionEvents } from '../options/events.ts';
import { addResponses } from '../options/usage.ts';
import type { ReviewEvents } from './events.ts';
import type { Review, Selection } from './model.ts';

type ReviewEvent = Exclude<
  StampedOf<ReviewEvents>,
  { type: 'candidate.selected' | 'selection.cleared' | 'grades.revealed' }
>;
type AttemptEvent = Extract<StampedOf<OptionEvents>, { type: `attempt.${string}` }>;

/** Folds an event into the review; null before it is opened. */
export function evolveReview(review: Review | null, event: ReviewEvent | AttemptEvent): Review | null {
  if (event.type === 'review.opened') return opened(event);
  if (event.type === 'review.closed') {
    const base = review ?? opened(event);
    return { ...base, state: 'closed', outcome: event.data.outcome, closedAt: event.active };
  }
  if (review === null) return null;
  switch (event.type) {
    case 'ballot.cast':
      return event.data.valid
        ? { ...review, nomination: { candidate: event.data.candidate, reason: event.data.reason, at: event.active } }
        : { ...review, invalidBallots: review.invalidBallots + 1, invalidReason: event.data.why };
    case 'review.ending':
      return review.state === 'open'
        ? { ...review, state: 'ending', endReason: event.data.reason, endingAt: event.active, endingMono: event.mono }
        : review;
    case 'review.reaped':
      return event.data.survivors.length === 0
        ? { ...review, survivors: [], reapedAt: event.active, cleanAt: event.active }
        : { ...review, survivors: event.data.survivors };
    case 'attempt.responded':
      return { ...review, usage: addResponses(review.usage, event.data.responses) };
    default:
      return { ...review, attempts: evolveAttempts(review.attempts, event) };
  }
}

function opened(event: Extract<ReviewEvent, { type: 'review.opened' | 'review.closed' }>): Review {
  const data = event.type === 'review.opened' ? event.data : { reviewer: 'A' as const, tokenHash: '' };
  return {
    ...data,
    state: 'open',
    openedAt: event.active,
    attempts: [],
    nomination: null,
    invalidBallots: 0,
    invalidReason: null,
    survivors: [],
    usage: [],
    endReason: null,
    outcome: null,
    endingAt: null,
    endingMono: null,
    reapedAt: null,
    cleanAt: null,
    closedAt: null,
  };
}

/** Adds one decision about the final candidate to the history. */
export function evolveSelections(
  selections: readonly Selection[],
  event: Extract<StampedOf<ReviewEvents>, { type: 'candidate.selected' | 'selection.cleared' }>,
): readonly Selection[] {
  const { who, reason, gradesRevealed } = event.data;
  const stamps = { who, reason, gradesRevealed, wall: event.wall, active: event.active };
  return event.type === 'candidate.selected'
    ? [...selections, { ...stamps, candidate: event.data.candidate, by: event.data.by }]
    : [...selections, { ...stamps, candidate: null, by: 'person' }];
}
