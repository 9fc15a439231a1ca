import { oneLine } from '../base/oneLine.ts';
import { count, sayWord } from '../base/words.ts';
import type { EarlierRun } from '../run/model.ts';

const endWords: Readonly<Record<string, string>> = {
  deadline: 'its time is used up',
  budget: 'the experiments are used up',
  barren: 'too many sessions in a row without an accepted experiment',
  requested: 'asked for the review',
  stopped: 'stopped the run',
};

/** Why exploration, or the run, ended: a clause for people. `by`: the person who wanted it, where one did. */
export function sayEnd(reason: string, by: string | undefined): string {
  const words = endWords[reason] ?? sayWord(reason);
  return reason === 'requested' || reason === 'stopped' ? `${oneLine(by ?? 'a person', 40)} ${words}` : words;
}

/** `goes on from run 20261130-181123-ab12: 12 candidates came over`. */
export const sayEarlier = ({ run, candidates }: Pick<EarlierRun, 'run' | 'candidates'>): string =>
  `goes on from run ${run}: ${candidates === 0 ? 'no candidate' : count(candidates, 'candidate')} came over`;
