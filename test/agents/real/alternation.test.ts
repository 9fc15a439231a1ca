import { describe, expect, it } from 'vitest';

import { finalCandidate } from '../../../src/review/selection.ts';
import { keyOfAgent, startAgentsRun } from '../../rig/agentsRun.ts';
import { brief, expectLeft, expectOwnKeys, expectSumsEqual, livingOf, notesOf, pairs, told, untidy } from './pairs.ts';

describe('real agents alternate', () => {
  it.each(pairs)(
    '%s and %s: natural end, cap, what is left behind, review by the other one, and every token',
    async (first, second) => {
      await using run = await startAgentsRun({
        A: { adapter: first, script: brief('e2') },
        B: { adapter: second, script: untidy('e2') },
        contract: { policy: { cap: 2 }, budgets: { total: '10m', review: '2m', experiments: 3 } },
      });
      const state = await run.finished(150_000);
      expect(told(state), run.log()).toEqual([
        { agent: 'A', closure: 'natural', accepted: ['e1'], endedItself: true },
        { agent: 'B', closure: 'cap', accepted: ['e2', 'e3'], endedItself: false },
      ]);
      expect(state.review).toMatchObject({ reviewer: 'A', outcome: 'chosen' });
      expect(finalCandidate({ ...state, ...state.terms })).toMatchObject({ candidate: 'e2', by: 'reviewer' });
      // The command around the k-th submission ran to its end, the job left behind did not.
      expect(notesOf(run)).toBe('before\nafter\n');
      expectLeft(state.options[1], 'sleep 86411');
      expect(livingOf(run)).toEqual([]);
      expectOwnKeys(run, keyOfAgent);
      expectSumsEqual(run);
    },
  );
});
