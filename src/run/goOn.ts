import { authorName } from '../archive/origin.ts';
import { otherAgent, type AgentSlot, type Contract } from '../task/model.ts';
import type { RunFact } from './events.ts';
import type { EarlierRun, RunState } from './model.ts';

/** The two agents of a run by slot, as far as their names matter. */
type Named = Readonly<Record<AgentSlot, { readonly name: string }>>;

/** This run's agent of a name; null where neither has it. */
const slotOf = (agents: Named, name: string): AgentSlot | null =>
  agents.A.name === name ? 'A' : agents.B.name === name ? 'B' : null;

/**
 * The agent that begins a run which goes on from another (invariant 11): the one that did not have the last option there. Where that
 * one's agent is none of this run's, or there is only one agent, the contract's first. A run of a chain in which nothing had an option
 * leaves the turn as it was.
 */
export function beginner(earlier: RunState, { agents, policy }: Pick<Contract, 'agents' | 'policy'>): AgentSlot {
  const { options, terms, from } = earlier;
  const last = options.at(-1)?.agent ?? (from === undefined ? null : otherAgent(terms.policy.first));
  const slot = last === null ? null : slotOf(agents, terms.agents[last].name);
  return slot === null || policy.mode === 'single' ? policy.first : otherAgent(slot);
}

/** Highest number of an experiment of a run and of those it goes on from. */
const experimentsUpTo = ({ from, experiments }: RunState): number => (from?.experiments ?? 0) + experiments.length;

/**
 * What a run that goes on from another begins with: what its first event says of that run, and its candidates as facts. Authors keep
 * their place where an agent of their name is in this run; all else stays as it was. `last` is the end of the earlier ledger.
 */
export function carryOver(
  earlier: RunState,
  given: { readonly last: Pick<EarlierRun, 'seq' | 'hash'>; readonly agents: Named },
): { readonly from: EarlierRun; readonly facts: readonly RunFact[] } {
  const { archive, terms } = earlier;
  return {
    from: {
      run: earlier.run,
      ...given.last,
      candidates: archive.length,
      experiments: experimentsUpTo(earlier),
      initial: firstFiles(earlier),
      gradesRevealed: earlier.gradesRevealed,
    },
    facts: archive.map(({ order: _, acceptedAt, origin, ...kept }): RunFact => {
      const agent = authorName({ ...kept, ...(origin && { origin }) }, terms.agents);
      const made = origin ?? { run: earlier.run, agent, acceptedAt };
      return { type: 'candidate.carried', data: { ...kept, author: slotOf(given.agents, agent), origin: made } };
    }),
  };
}

/** Snapshot of the candidate's files at the start of the first run of a chain; null when there were none. */
export const firstFiles = ({ from, initial }: Pick<RunState, 'from' | 'initial'>): string | null =>
  from === undefined ? initial : from.initial;
