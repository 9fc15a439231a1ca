import type { Reevaluation } from '../archive/model.ts';
import { sayScore } from '../base/numbers.ts';
import { count } from '../base/words.ts';
import { repeatsOf, type Repeats } from './repeats.ts';

/** `0.4123 ± 0.0021`; `—` for what is not known. */
export const sayMean = ({ mean, error }: Pick<Repeats, 'mean' | 'error'>): string =>
  mean === null ? '—' : `${sayScore(mean)} ± ${error === null ? '—' : sayScore(error)}`;

/** `0.4123 ± 0.0021 over 5 more runs`. */
export function sayRepeats(reevaluations: readonly Reevaluation[]): string {
  const repeats = repeatsOf(reevaluations);
  const { scored, unscored } = repeats;
  return `${sayMean(repeats)} over ${count(scored, 'more run')}${unscored === 0 ? '' : `, and ${unscored} without a score`}`;
}
