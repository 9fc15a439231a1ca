import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { finalCandidate, ownSelection } from '../../src/review/selection.ts';
import { beginner } from '../../src/run/goOn.ts';
import { scenario, type Scenario } from './scenario.ts';
import { simulate, type Trace } from './simulation.ts';
import { ofType, walk } from './traces.ts';

/** Pairs of runs, the second of which goes on from the first as `startRun` lets it. */
const pairs = fc
  .sample(fc.tuple(scenario, scenario), { seed: Number(process.env['HMA_SEED'] ?? 20_261_201), numRuns: 200 })
  .map(([one, two]): { readonly first: Trace; readonly second: Trace } => {
    const first = simulate(one);
    const policy = {
      ...two.terms.policy,
      first: beginner(first.state, { agents: agentsOf(two), policy: two.terms.policy }),
    };
    return { first, second: simulate({ ...two, terms: { ...two.terms, policy }, earlier: first.state }) };
  });

function agentsOf({ terms }: Scenario) {
  const choice = (slot: 'A' | 'B') => ({ ...terms.agents[slot], prompt: 'file' as const, environment: [] });
  return { A: choice('A'), B: choice('B') };
}

describe('two runs of a chain', () => {
  it('the second holds all laws that the world can see: a replay is the run, one session at a time, no answer changes', () => {
    for (const { second } of pairs) expect([second.breaches, second.ended === 'endless']).toEqual([[], false]);
    expect(
      pairs.filter(
        ({ first, second }) =>
          first.state.archive.length > 1 && second.state.archive.length > first.state.archive.length,
      ).length,
    ).toBeGreaterThan(30);
  });

  it('no id is used twice', () => {
    for (const { first, second } of pairs) {
      const ids = [...first.state.experiments, ...second.state.experiments].map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    }
  });

  it('the second spends no more than its own budget, and its cap as if it were alone', () => {
    for (const { first, second } of pairs)
      walk(second, (event, before, after) => {
        if (event.type !== 'experiment.accepted') return;
        const own = after.archive.length - first.state.archive.length;
        expect(own).toBeLessThanOrEqual(before.budgets.experiments ?? Infinity);
        expect(own).toBe(after.options.flatMap(({ accepted }) => accepted).length);
      });
  });

  it('what came over stays first, under its ids, whatever happens', () => {
    for (const { first, second } of pairs)
      walk(second, (_, before, after) => {
        if (before.controller.starts === 0) return; // still within the first batch
        const came = first.state.archive.map(({ id, score, contentHash }) => ({ id, score, contentHash }));
        expect(after.archive.slice(0, came.length)).toMatchObject(came);
      });
  });

  it('there is a final candidate from the first moment on, and at the end one of the run’s own choice (invariant 7)', () => {
    for (const { first, second } of pairs.filter(({ first: { state } }) => state.archive.length > 0)) {
      walk(second, (_, before) => {
        if (before.controller.starts > 0) expect(finalCandidate({ ...before, ...before.terms })).toBeDefined();
      });
      if (second.ended === 'finished') expect(ownSelection(second.state.selections)?.candidate).toBeDefined();
      expect(ofType(second.events, 'candidate.carried')).toHaveLength(first.state.archive.length);
    }
  });

  it('the first option is not the agent’s that had the last one (invariant 11)', () => {
    let met = 0;
    for (const { first, second } of pairs) {
      const [last, next] = [first.state.options.at(-1), second.state.options[0]];
      if (!last || !next || second.state.terms.policy.mode === 'single') continue;
      met += 1;
      expect(next.agent).not.toBe(last.agent);
    }
    expect(met).toBeGreaterThan(50);
  });
});
