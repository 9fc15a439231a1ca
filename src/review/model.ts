import type { EndedProcess } from '../machines/port.ts';
import type { AgentSlot } from '../task/model.ts';
import type { Attempt, EndStamps } from '../options/model.ts';
import type { ModelUsage } from '../options/usage.ts';

/** How a final review came out, in one honest word (domain.md). */
export type ReviewOutcome = 'chosen' | 'endorsed' | 'silent' | 'crashed' | 'late' | 'invalid' | 'skipped';

/** The reviewer's valid nomination; the last valid one stands. */
export interface Nomination {
  readonly candidate: string;
  readonly reason: string;
  readonly at: number;
}

/**
 * The final review: a session, not an option.
 *
 *   open ──ending──▶ ending ──(reaped, ballot read once more)──▶ closed
 */
export interface Review extends Omit<EndStamps, 'settledAt'> {
  readonly reviewer: AgentSlot;
  readonly state: 'open' | 'ending' | 'closed';
  readonly tokenHash: string;
  readonly openedAt: number;
  readonly attempts: readonly Attempt[];
  readonly nomination: Nomination | null;
  /** Ballots that were not valid, and why the last one was not. */
  readonly invalidBallots: number;
  readonly invalidReason: string | null;
  /** What could not be ended; a person must. */
  readonly survivors: readonly EndedProcess[];
  /** Sums of its responses by model. */
  readonly usage: readonly ModelUsage[];
  readonly endReason: 'natural' | 'deadline' | 'stopped' | 'failed' | null;
  readonly outcome: ReviewOutcome | null;
}

/** One decision about the final candidate [Ê]. Nothing is rewritten: the history is the list. */
export interface Selection {
  readonly candidate: string | null;
  readonly by: 'reviewer' | 'fallback' | 'person';
  readonly who: string;
  readonly reason: string;
  readonly wall: number;
  readonly active: number;
  /** Whether hidden grades had been revealed to people before it. */
  readonly gradesRevealed: boolean;
}
