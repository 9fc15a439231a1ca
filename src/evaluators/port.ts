/**
 * What one evaluator run said. Only `scored` can lead to acceptance. `no_result` (crashed, wrote nothing or nonsense) leads to a
 * control run; `lost` means that the runner vanished and the run must be repeated once.
 */
export type Verdict =
  | {
      readonly kind: 'scored';
      /** In the metric's unit. */
      readonly score: number;
    }
  | {
      readonly kind: 'invalid';
      /** What is wrong in form, in the evaluator's words. */
      readonly reason: string;
    }
  | {
      readonly kind: 'incorrect';
      /** What a correctness check found, in the evaluator's words. */
      readonly reason: string;
      /** The score that was told besides; it counts for nothing. */
      readonly score?: number;
    }
  | {
      readonly kind: 'non_finite';
      /** The score as it was written. */
      readonly text: string;
    }
  | {
      readonly kind: 'timeout';
      /** The limit that was reached, ms. */
      readonly afterMs: number;
    }
  | {
      readonly kind: 'no_result';
      /** What was found instead of a result. */
      readonly detail: string;
    }
  | { readonly kind: 'lost' };
