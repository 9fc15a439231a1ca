import type { EndedProcess, ProcessIdentity } from '../machines/port.ts';
import type { Failure } from '../agents/port.ts';
import type { AgentSlot } from '../task/model.ts';
import type { ModelUsage } from './usage.ts';

/** Why an option ended (domain.md, "closure"). Accepted = k is always `cap`; whether it ended itself is recorded apart. */
export type Closure = 'natural' | 'cap' | 'deadline' | 'budget' | 'handoff' | 'stopped' | 'failed' | 'stalled';

/** Which session an attempt belongs to: a numbered option, or the final review. */
export type SessionName = { readonly kind: 'option'; readonly number: number } | { readonly kind: 'review' };

/** What a person said to a running session. */
export interface PersonMessage {
  /** Unique in the run. */
  readonly id: string;
  readonly session: SessionName;
  /** The attempt that ran then. */
  readonly attempt: number;
  readonly text: string;
  /** The person. */
  readonly by: string;
  /** Unix ms. */
  readonly at: number;
}

/** How the program of an attempt ended. */
export interface AttemptExit {
  /** Exit code; null when a signal ended it or nothing is known. */
  readonly code: number | null;
  /** Such as `SIGTERM`; null when it exited. */
  readonly signal: string | null;
  /** `timeout`: the runner's own deadline; `spawn`: it could not be started; `ended`: it was asked to; `lost`: its runner is gone. */
  readonly cause: 'exit' | 'timeout' | 'spawn' | 'ended' | 'lost';
  /** Stamp of the end, CLOCK_MONOTONIC ms of `boot`. */
  readonly mono: number;
  /** The kernel's boot id. */
  readonly boot: string;
}

/**
 * One process of a session.
 *
 *   starting ──started──▶ running ──ended──▶ ended
 *       └──────────────ended (not started)──────▲
 */
export type Attempt = {
  readonly number: number;
  readonly nonce: string;
  /** Active runtime at each stamp, ms. */
  readonly startingAt: number;
} & (
  | { readonly state: 'starting' }
  | {
      readonly state: 'running';
      readonly startedAt: number;
      readonly runner: ProcessIdentity;
      readonly spokeAt: number | null;
      readonly ending: 'stall' | null;
    }
  | {
      readonly state: 'ended';
      readonly startedAt: number | null;
      readonly spokeAt: number | null;
      readonly endedAt: number;
      readonly exit: AttemptExit | null;
      readonly endedItself: boolean;
      readonly failure: Failure | null;
    }
);

/** Stamps of a session's end, active runtime in ms; null = not yet. Wall stamps are in the ledger. */
export interface EndStamps {
  readonly endingAt: number | null;
  /** CLOCK_MONOTONIC ms at which the end was intended: an exit stamped before it was the agent's own. */
  readonly endingMono: number | null;
  /** All its submissions are decided. */
  readonly settledAt: number | null;
  /** All its processes are gone. */
  readonly reapedAt: number | null;
  /** Its temporary files are gone, protected files are whole. */
  readonly cleanAt: number | null;
  readonly closedAt: number | null;
}

/**
 * One agent's turn [o_i].
 *
 *   open ──ending──▶ ending ──(settled, reaped, clean)──▶ closed
 */
export interface Option extends EndStamps {
  readonly number: number;
  readonly agent: AgentSlot;
  readonly state: 'open' | 'ending' | 'closed';
  /** SHA-256 of the token by which submissions are known to be this option's. */
  readonly tokenHash: string;
  readonly openedAt: number;
  readonly attempts: readonly Attempt[];
  /** Ids of its accepted experiments, in order. */
  readonly accepted: readonly string[];
  /** Number of its submissions, whatever became of them. */
  readonly submissions: number;
  readonly closure: Closure | null;
  readonly endedItself: boolean;
  /** The receipt of the last acceptance, which used up cap or budget, has arrived in the session (active ms). */
  readonly capSeenAt: number | null;
  /** Failed attempts that count against the failure policy. */
  readonly failures: number;
  /** Active time before which no other attempt starts; null = none scheduled. */
  readonly retryAt: number | null;
  readonly ended: readonly EndedProcess[];
  readonly survivors: readonly EndedProcess[];
  /** Sums of its responses by model; the responses themselves are in the ledger. */
  readonly usage: readonly ModelUsage[];
}
