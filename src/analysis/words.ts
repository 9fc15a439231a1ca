/** Why exploration, or the run, ended: a clause for people. Keys are `ExplorationEnd`s; others have no words of their own. */
export const explorationEndWords: Readonly<Record<string, string>> = {
  deadline: 'its time is used up',
  budget: 'the experiments are used up',
  barren: 'too many sessions in a row without an accepted experiment',
  requested: 'a person asked for the review',
  stopped: 'a person stopped the run',
};
