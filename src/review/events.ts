import type { EndedProcess, ProcessIdentity } from '../machines/port.ts';
import type { AgentSlot } from '../task/model.ts';
import type { Review, ReviewOutcome } from './model.ts';

/** Facts about the final review and the selection of the final candidate. */
export interface ReviewEvents {
  'review.opened': { readonly reviewer: AgentSlot; readonly tokenHash: string };
  /** A ballot was read; `valid: false` changes nothing but the record. */
  'ballot.cast':
    | { readonly valid: true; readonly candidate: string; readonly reason: string }
    | { readonly valid: false; readonly why: string };
  'review.ending': {
    readonly reason: NonNullable<Review['endReason']>;
    readonly descendants: readonly (ProcessIdentity & { readonly command: string })[];
  };
  'review.reaped': {
    readonly ended: readonly EndedProcess[];
    readonly survivors: readonly EndedProcess[];
    readonly ms: number;
  };
  'review.closed': { readonly outcome: ReviewOutcome; readonly detail: string };
  'candidate.selected': {
    readonly candidate: string;
    readonly by: 'reviewer' | 'fallback' | 'person';
    readonly who: string;
    readonly reason: string;
    readonly gradesRevealed: boolean;
  };
  /** A person has deliberately looked at the hidden grades: later selections are marked. */
  'grades.revealed': { readonly who: string };
  /** A person takes the pin away: the run's own selection counts again. */
  'selection.cleared': { readonly who: string; readonly reason: string; readonly gradesRevealed: boolean };
}
