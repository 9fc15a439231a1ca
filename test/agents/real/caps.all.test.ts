import { describe, expect, it } from 'vitest';

import { startAgentsRun } from '../../rig/agentsRun.ts';
import { expectSumsEqual, livingOf, pairs, submitsThenThinks, told } from './pairs.ts';

const caps = [1, 3, 5];

describe('caps of real agents', () => {
  it.each(pairs.flatMap(([first, second]) => caps.map((cap) => [first, second, cap] as const)))(
    '%s and %s: exactly %i candidates in each option',
    async (first, second, cap) => {
      const ids = (from: number): string[] => Array.from({ length: cap }, (_, index) => `e${from + index}`);
      const script = { steps: submitsThenThinks(cap), review: [{ text: 'I choose none.' }] };
      await using run = await startAgentsRun({
        A: { adapter: first, script },
        B: { adapter: second, script },
        contract: { policy: { cap }, budgets: { total: '10m', review: '2m', experiments: 2 * cap } },
      });
      const state = await run.finished(170_000);
      expect(told(state), run.log()).toEqual([
        { agent: 'A', closure: 'cap', accepted: ids(1), endedItself: false },
        { agent: 'B', closure: 'cap', accepted: ids(cap + 1), endedItself: false },
      ]);
      expect(state.review).toMatchObject({ reviewer: 'A', outcome: 'silent' });
      expect(livingOf(run)).toEqual([]);
      expectSumsEqual(run);
    },
  );
});
