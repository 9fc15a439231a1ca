import type { Flag } from '../experiments/model.ts';
import type { Verdict } from '../evaluators/port.ts';
import type { AgentSlot } from '../task/model.ts';

/** The archived files of an accepted experiment. Its place in the archive is its order, from 1. */
export interface Candidate {
  /** The experiment's id. */
  readonly id: string;
  readonly order: number;
  readonly author: AgentSlot;
  readonly option: number;
  readonly score: number;
  readonly reported: number | null;
  readonly note: string | null;
  /** Active runtime of its acceptance, ms. */
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
