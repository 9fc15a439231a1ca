import type { Grade } from './model.ts';

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
}
