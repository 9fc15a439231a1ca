import type { AgentSlot } from '../task/model.ts';
import type { Candidate } from './model.ts';

/** The name of a candidate's author: this run's agent, or what the agent was called in the run that the candidate came from. */
export const authorName = (
  { author, origin }: Pick<Candidate, 'author' | 'origin'>,
  agents: Readonly<Record<AgentSlot, { readonly name: string }>>,
): string => (author === null ? (origin?.agent ?? 'an agent of an earlier run') : agents[author].name);

/** `option 3`, or `option 3 of run 20261130-181123-ab12` for a candidate that came over. */
export const sayOption = ({ option, origin }: Pick<Candidate, 'option' | 'origin'>): string =>
  `option ${option}${origin === undefined ? '' : ` of run ${origin.run}`}`;
