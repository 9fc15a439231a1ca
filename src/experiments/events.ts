import type { Verdict } from '../evaluators/port.ts';
import type { AgentSlot } from '../task/model.ts';
import type { CapturedFiles, Flag, RejectionCode } from './model.ts';

/** Facts about submissions and their evaluation. */
export interface ExperimentEvents {
  /** Its files are wholly on disk; nobody was told its id before this was. */
  'experiment.submitted': {
    /** `e1`, `e2` … in the order of submission. */
    readonly id: string;
    /** Number of the option that submitted it: its author. */
    readonly option: number;
    readonly agent: AgentSlot;
    /** Number of the option's attempt, from 1. */
    readonly attempt: number;
    /** The agent's note, at most 4,000 characters. */
    readonly note: string | null;
    /** The score that the agent's own validation gave, in the metric's unit. */
    readonly reported: number | null;
    /** Its files; null when they were refused before they were kept. */
    readonly captured: CapturedFiles | null;
    /** The session's name for the call that brought it, if it gave one. */
    readonly request?: string;
  };
  /** Write-ahead intent of an evaluator's start. */
  'evaluation.starting': {
    /** The experiment. */
    readonly id: string;
    /** Names this start of the evaluator; its processes carry it as HMA_NONCE. */
    readonly nonce: string;
    /** `control`: on files that are known to work, to tell whether the evaluator itself is broken. */
    readonly kind: 'evaluate' | 'control';
  };
  /** An evaluator has ended and its verdict was read. */
  'evaluation.ended': {
    /** The experiment. */
    readonly id: string;
    /** Of the `evaluation.starting` that it answers. */
    readonly nonce: string;
    readonly verdict: Verdict;
    /** The verdict's own stamp, active ms. */
    readonly at: number;
  };
  /** The commit: counts once, towards the option's cap and the run's budget. From here on the experiment is a candidate of the same id. */
  'experiment.accepted': {
    readonly id: string;
    /** Number of the option that submitted it. */
    readonly option: number;
    /** In the metric's unit; the median where the contract repeats evaluations. */
    readonly score: number;
    /** The verdict's stamp, active ms. */
    readonly verdictAt: number;
    /** Remarks that stay with the candidate. */
    readonly flags: readonly Flag[];
  };
  /** The experiment counts towards nothing. */
  'experiment.rejected': {
    readonly id: string;
    /** Number of the option that submitted it. */
    readonly option: number;
    readonly code: RejectionCode;
    /** In words, for the agent; of a blind task it is never told. */
    readonly reason: string;
    /** In the metric's unit, where it was evaluated; null where it was not. */
    readonly score: number | null;
  };
  /** A call that the gate turned away before anything was captured; recorded at most 20 times an option. */
  'submission.refused': {
    /** Number of the option; null where the token is no option's. */
    readonly option: number | null;
    readonly code: RejectionCode;
  };
  /** A session had its candidate checked by the task's validator; nothing is counted. */
  'validation.ended': {
    /** Number of the option. */
    readonly option: number;
    /** SHA-256 over the files that were checked, as in `captured`. */
    readonly contentHash: string;
    /** `broken`: the validator itself failed. */
    readonly outcome: 'valid' | 'invalid' | 'broken';
  };
}
