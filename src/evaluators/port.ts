/**
 * What one evaluator run said. Only `scored` can lead to acceptance. `no_result` (crashed, wrote nothing or nonsense) leads to a
 * control run; `lost` means that the runner vanished and the run must be repeated once.
 */
export type Verdict =
  | { readonly kind: 'scored'; readonly score: number }
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'incorrect'; readonly reason: string; readonly score?: number }
  | { readonly kind: 'non_finite'; readonly text: string }
  | { readonly kind: 'timeout'; readonly afterMs: number }
  | { readonly kind: 'no_result'; readonly detail: string }
  | { readonly kind: 'lost' };
