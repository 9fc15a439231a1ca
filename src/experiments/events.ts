import type { Verdict } from '../evaluators/port.ts';
import type { AgentSlot } from '../task/model.ts';
import type { CapturedFiles, Flag, RejectionCode } from './model.ts';

/** Facts about submissions and their evaluation. */
export interface ExperimentEvents {
  /** Its files are wholly on disk; nobody was told its id before this was. */
  'experiment.submitted': {
    readonly id: string;
    readonly option: number;
    readonly agent: AgentSlot;
    readonly attempt: number;
    readonly note: string | null;
    readonly reported: number | null;
    readonly captured: CapturedFiles | null;
    /** The session's name for the call that brought it, if it gave one. */
    readonly request?: string;
  };
  /** Write-ahead intent of an evaluator's start. */
  'evaluation.starting': { readonly id: string; readonly nonce: string; readonly kind: 'evaluate' | 'control' };
  'evaluation.ended': {
    readonly id: string;
    readonly nonce: string;
    readonly verdict: Verdict;
    /** The verdict's own stamp, active ms. */ readonly at: number;
  };
  /** The commit: counts once, towards the option's cap and the run's budget. `verdictAt` is the verdict's stamp, active ms. */
  'experiment.accepted': {
    readonly id: string;
    readonly option: number;
    readonly score: number;
    readonly verdictAt: number;
    readonly flags: readonly Flag[];
  };
  'experiment.rejected': {
    readonly id: string;
    readonly option: number;
    readonly code: RejectionCode;
    readonly reason: string;
    readonly score: number | null;
  };
  /** A call that the gate turned away before anything was captured; recorded at most 20 times an option. */
  'submission.refused': { readonly option: number | null; readonly code: RejectionCode };
  /** A session had its candidate checked by the task's validator; nothing is counted. */
  'validation.ended': {
    readonly option: number;
    readonly contentHash: string;
    readonly outcome: 'valid' | 'invalid' | 'broken';
  };
}
