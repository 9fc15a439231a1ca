import type { Verdict } from '../evaluators/port.ts';
import type { AgentSlot } from '../task/model.ts';

/** Why an experiment was rejected. Only acceptance counts towards caps and budgets (domain.md). */
export type RejectionCode =
  | 'invalid'
  | 'incorrect'
  | 'duplicate'
  | 'timeout'
  | 'non_finite'
  | 'late'
  | 'cap_reached'
  | 'budget_reached'
  | 'evaluator_error'
  | 'tampered'
  | 'unstable'
  | 'too_large'
  | 'paused'
  | 'cancelled'
  | 'in_review'
  | 'not_your_turn';

/** A remark on a candidate that stays with it. */
export type Flag = 'out_of_range';

/** One run of the evaluator for an experiment; `control` runs judge the evaluator itself on files known to work. */
export interface Evaluation {
  readonly nonce: string;
  readonly kind: 'evaluate' | 'control';
  readonly startedAt: number;
  /** null while it runs. */
  readonly verdict: Verdict | null;
  readonly endedAt: number | null;
}

/** The captured files of a submission. */
export interface CapturedFiles {
  /** A commit of the run's private repository, 40 hex digits. */
  readonly snapshot: string;
  /** SHA-256 over paths, modes and contents, hex: equal iff the files are. */
  readonly contentHash: string;
  /** How many. */
  readonly files: number;
  /** Their sizes' sum. */
  readonly bytes: number;
}

/**
 * One submission by an agent.
 *
 *   queued ──▶ evaluating ──▶ accepted
 *      └───────────┴────────▶ rejected
 */
export type Experiment = {
  /** `e1`, `e2` …; an accepted experiment's candidate has the same id. */
  readonly id: string;
  readonly option: number;
  readonly agent: AgentSlot;
  readonly attempt: number;
  readonly note: string | null;
  /** What the agent says its own validation gave (`--score`). */
  readonly reported: number | null;
  readonly submittedAt: number;
  readonly submittedWall: number;
  /** null when the capture itself was refused. */
  readonly captured: CapturedFiles | null;
  /** The session's name for the call: the same call sent again gets this experiment's id. */
  readonly request?: string;
  readonly evaluations: readonly Evaluation[];
} & (
  | { readonly state: 'queued' | 'evaluating' }
  | {
      readonly state: 'accepted';
      readonly score: number;
      readonly decidedAt: number;
      readonly decidedWall: number;
      readonly flags: readonly Flag[];
    }
  | {
      readonly state: 'rejected';
      readonly code: RejectionCode;
      readonly reason: string;
      readonly score: number | null;
      readonly decidedAt: number;
      readonly decidedWall: number;
    }
);

/** An experiment whose place in the order of decisions is still open. */
export const isUndecided = (experiment: Experiment): boolean =>
  experiment.state === 'queued' || experiment.state === 'evaluating';
