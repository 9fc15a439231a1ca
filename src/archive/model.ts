import type { Flag } from '../experiments/model.ts';
import type { Verdict } from '../evaluators/port.ts';
import type { AgentSlot } from '../task/model.ts';

/** Where a candidate was made that came over from an earlier run of the same workspace (decision 6). */
export interface Origin {
  /** The run in which it was accepted; of a chain of runs the very one, not the last before this. */
  readonly run: string;
  /** Name that its author had there. */
  readonly agent: string;
  /** Active runtime of that run at its acceptance, ms. */
  readonly acceptedAt: number;
}

/** The archived files of an accepted experiment. Its place in the archive is its order, from 1. */
export interface Candidate {
  /** The experiment's id. */
  readonly id: string;
  readonly order: number;
  /** This run's agent that wrote it; null = an agent of an earlier run that is none of this run's. */
  readonly author: AgentSlot | null;
  /** Number of its option, in the run that `origin` names if it names one. */
  readonly option: number;
  readonly score: number;
  readonly reported: number | null;
  readonly note: string | null;
  /** Active runtime of this run at its acceptance, ms; 0 where it came over. */
  readonly acceptedAt: number;
  readonly acceptedWall: number;
  readonly snapshot: string;
  readonly contentHash: string;
  readonly files: number;
  readonly bytes: number;
  readonly flags: readonly Flag[];
  /** Hidden offline score; null until graded. Never shown to agents. */
  readonly grade: Grade | null;
  /** Scores of later runs of the evaluator on the same files, in order; they never replace the score. */
  readonly reevaluations?: readonly Reevaluation[];
  /** A person's word that it must not be chosen, such as for a forged result. */
  readonly disqualified?: { readonly reason: string; readonly who: string; readonly wall: number };
  /** Absent for this run's own. */
  readonly origin?: Origin;
}

/** One more run of the evaluator on a candidate's files. */
export interface Reevaluation {
  readonly verdict: Verdict;
  readonly wall: number;
}

/** What a person wants done about a candidate once the run is over. */
export interface Errand {
  readonly kind: 'grade' | 'reevaluate';
  /** Its id. */
  readonly candidate: string;
}

/** What the hidden grader said of a candidate; `grader` is the version that said it: a hash of its command and the files it names. */
export type Grade =
  | { readonly kind: 'graded'; readonly grade: number; readonly wall: number; readonly grader?: string }
  | { readonly kind: 'ungraded'; readonly reason: string; readonly wall: number; readonly grader?: string };
