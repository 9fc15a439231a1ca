import type { EndedProcess, ProcessIdentity } from '../machines/port.ts';
import type { AgentSlot } from '../task/model.ts';
import type { Review, ReviewOutcome } from './model.ts';

/** Facts about the final review and the selection of the final candidate. */
export interface ReviewEvents {
  /** The final review begins; its first attempt starts after this. */
  'review.opened': {
    /** The agent that did not write the standing candidate. */
    readonly reviewer: AgentSlot;
    /** SHA-256 of the review's token, hex. */
    readonly tokenHash: string;
  };
  /** A ballot was read; `valid: false` changes nothing but the record. */
  'ballot.cast':
    | {
        readonly valid: true;
        /** The nominated candidate's id. */
        readonly candidate: string;
        /** In the reviewer's words. */
        readonly reason: string;
      }
    | {
        readonly valid: false;
        /** What is wrong with it. */
        readonly why: string;
      };
  /** Write-ahead intent: nothing of the review's session was signalled before this was on disk. */
  'review.ending': {
    /** `natural`: the reviewer ended by itself. */
    readonly reason: NonNullable<Review['endReason']>;
    /** The session's processes at that moment. */
    readonly descendants: readonly (ProcessIdentity & { readonly command: string })[];
  };
  /** All its processes are gone, as far as they could be ended. */
  'review.reaped': {
    /** What outlived the harness's program and was ended for it. */
    readonly ended: readonly EndedProcess[];
    /** What could not be ended. */
    readonly survivors: readonly EndedProcess[];
    /** How long the ending took, ms. */
    readonly ms: number;
  };
  /** The review is over; the selection follows. */
  'review.closed': {
    readonly outcome: ReviewOutcome;
    /** In words. */
    readonly detail: string;
  };
  /** A candidate is the final one from here on, unless a person's earlier selection stands. */
  'candidate.selected': {
    /** Its id. */
    readonly candidate: string;
    /** A person's selection is a pin: no other replaces it. */
    readonly by: 'reviewer' | 'fallback' | 'person';
    /** The person's or the agent's name; `hma` for the fallback. */
    readonly who: string;
    /** In words. */
    readonly reason: string;
    /** Whether hidden grades had been revealed to people before it. */
    readonly gradesRevealed: boolean;
  };
  /** A person has deliberately looked at the hidden grades: later selections are marked. */
  'grades.revealed': {
    /** The person. */
    readonly who: string;
  };
  /** A person takes the pin away: the run's own selection counts again. */
  'selection.cleared': {
    /** The person. */
    readonly who: string;
    /** In the person's words. */
    readonly reason: string;
    /** Whether hidden grades had been revealed to people before it. */
    readonly gradesRevealed: boolean;
  };
}
