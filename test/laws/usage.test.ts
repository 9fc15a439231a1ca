import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { costOf, explorationUsage, sumOf, usageOfRun } from '../../src/analysis/usage.ts';
import { tokensOf } from '../../src/options/usage.ts';
import type { RunState } from '../../src/run/model.ts';
import { talkative } from './scenario.ts';
import { prices, simulate } from './simulation.ts';
import { counts, ofType, walk } from './traces.ts';

const seed = Number(process.env['HMA_SEED'] ?? 20_261_130) + 9;
const traces = fc.sample(talkative, { seed, numRuns: 300 }).map(simulate);

/** Whether a cap on tokens or money is reached. */
function isUsedUp(state: RunState): boolean {
  const used = explorationUsage(state);
  const { tokens = Infinity, cost = Infinity } = state.budgets;
  return tokensOf(sumOf(used)) >= tokens || costOf(used, prices).billed >= cost;
}

describe('what models used', () => {
  it('is the sum of what the ledger tells, by session, by agent and by model, and of each response once', () => {
    for (const { state, events } of traces) {
      const responses = ofType(events, 'attempt.responded').flatMap(({ data }) => data.responses);
      expect(new Set(responses.map(({ id }) => id)).size).toBe(responses.length);
      const told = responses.reduce((sum, { uncachedInput }) => sum + uncachedInput, 0);
      const { total, agents, models } = usageOfRun(state);
      expect(total).toMatchObject({ responses: responses.length, uncachedInput: told, toolCalls: responses.length });
      expect(sumOf(agents.A).responses + sumOf(agents.B).responses).toBe(responses.length);
      expect(models.map(({ model }) => model)).toStrictEqual(responses.length === 0 ? [] : ['m']);
      expect(sumOf(state.options.flatMap(({ usage }) => usage)).responses).toBe(responses.length);
    }
    expect(traces.filter(({ state }) => usageOfRun(state).total.responses > 20).length).toBeGreaterThan(60);
  });

  it('ends exploration when a cap is reached, in the middle of a session, as `budget`; no session opens after it', () => {
    for (const trace of traces) {
      walk(trace, (event, before) => {
        if (event.type === 'option.opened') expect(isUsedUp(before)).toBe(false);
        if (event.type === 'option.ending' && before.explorationEnding === 'budget' && event.data.reason !== 'natural')
          expect(event.data.reason).toBe('budget');
        if (event.type === 'exploration.ending' && event.data.reason === 'budget')
          expect(isUsedUp(before) || before.archive.length >= (before.budgets.experiments ?? Infinity)).toBe(true);
      });
      expect(trace.ended).toBe('finished');
      expect(trace.breaches).toStrictEqual([]);
    }
    const closures = counts(traces.flatMap(({ state }) => state.options.map(({ closure }) => closure ?? 'open')));
    expect(closures['budget']).toBeGreaterThan(50);
  });

  it('a run that ended so has its review like any other', () => {
    const ended = traces.filter(
      ({ state }) =>
        state.explorationEnding === 'budget' && state.archive.length >= 2 && state.terms.policy.mode === 'alternate',
    );
    const outcomes = counts(ended.map(({ state }) => state.review?.outcome ?? 'none'));
    expect(ended.length).toBeGreaterThan(15);
    expect((outcomes['chosen'] ?? 0) + (outcomes['endorsed'] ?? 0)).toBeGreaterThan(3);
    for (const { state } of ended) expect(state.selections.length).toBeGreaterThan(0);
  });
});
