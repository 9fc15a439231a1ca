import type { Verdict } from '../evaluators/port.ts';
import type { Errand, Grade } from './model.ts';

/** Facts about candidates after their acceptance. */
export interface ArchiveEvents {
  /** Write-ahead intent of a grader's start. */
  'grading.starting': { readonly id: string; readonly nonce: string };
  'candidate.graded': {
    readonly id: string;
    readonly nonce: string;
    readonly result:
      | Omit<Extract<Grade, { kind: 'graded' }>, 'wall'>
      | Omit<Extract<Grade, { kind: 'ungraded' }>, 'wall'>;
  };
  /** A person wants candidates graded or evaluated once more; done one after the other. */
  'errands.wanted': { readonly errands: readonly Errand[]; readonly by: string };
  /** Write-ahead intent of another run of the evaluator. */
  'reevaluation.starting': { readonly id: string; readonly nonce: string };
  'candidate.reevaluated': { readonly id: string; readonly nonce: string; readonly verdict: Verdict };
  'candidate.disqualified': { readonly id: string; readonly reason: string; readonly who: string };
  /** A disqualification is taken back. */
  'candidate.requalified': { readonly id: string; readonly reason: string; readonly who: string };
}
