import type { Verdict } from '../evaluators/port.ts';
import type { Candidate, Errand, Grade, Origin } from './model.ts';

/** Facts about candidates besides their acceptance. */
export interface ArchiveEvents {
  /**
   * A candidate came over from the run that this one goes on from, with all that was known of it. In the batch of `run.opened`, one a
   * candidate, in the order of that run's archive.
   */
  'candidate.carried': Omit<Candidate, 'order' | 'acceptedAt' | 'origin'> & {
    /** Where it was made. */
    readonly origin: Origin;
  };
  /** Write-ahead intent of a grader's start. */
  'grading.starting': {
    /** The candidate. */
    readonly id: string;
    /** Names this start of the grader; its processes carry it as HMA_NONCE. */
    readonly nonce: string;
  };
  /** The hidden grader has ended; a later one of the same candidate replaces its grade. */
  'candidate.graded': {
    /** The candidate. */
    readonly id: string;
    /** Of the `grading.starting` that it answers. */
    readonly nonce: string;
    /** The grade, or why there is none. */
    readonly result:
      | Omit<Extract<Grade, { kind: 'graded' }>, 'wall'>
      | Omit<Extract<Grade, { kind: 'ungraded' }>, 'wall'>;
  };
  /** A person wants candidates graded or evaluated once more; done one after the other. */
  'errands.wanted': {
    /** Appended to those that still wait. */
    readonly errands: readonly Errand[];
    /** The person. */
    readonly by: string;
  };
  /** Write-ahead intent of another run of the evaluator. */
  'reevaluation.starting': {
    /** The candidate. */
    readonly id: string;
    /** Names this start of the evaluator. */
    readonly nonce: string;
  };
  /** Another run of the evaluator has ended; the candidate's score stays what it was. */
  'candidate.reevaluated': {
    /** The candidate. */
    readonly id: string;
    /** Of the `reevaluation.starting` that it answers. */
    readonly nonce: string;
    readonly verdict: Verdict;
  };
  /** A person forbids that a candidate be chosen. */
  'candidate.disqualified': {
    /** The candidate. */
    readonly id: string;
    /** In the person's words. */
    readonly reason: string;
    /** The person. */
    readonly who: string;
  };
  /** A disqualification is taken back. */
  'candidate.requalified': {
    /** The candidate. */
    readonly id: string;
    /** In the person's words. */
    readonly reason: string;
    /** The person. */
    readonly who: string;
  };
}
