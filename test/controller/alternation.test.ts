import { describe, expect, it } from 'vitest';

import { finalCandidate } from '../../src/review/selection.ts';
import { startRun } from '../../src/controller/launch.ts';
import { outputOf, startTestRun } from '../rig/run.ts';
import { layOutTask } from '../rig/task.ts';

describe('an alternation', () => {
  it('runs Algorithm 1: caps, handoffs, review by the other agent, selection', async () => {
    await using run = await startTestRun({
      A: {
        1: [{ submit: 1 }, { submit: 2 }, { hold: true }],
        3: [{ submit: 5 }, { exit: 0 }],
        review: [{ nominate: 'e3' }],
      },
      B: { 2: [{ submit: 3 }, { submit: 4 }, { hold: true }], 4: [{ exit: 0 }], review: [{ nominate: 'e3' }] },
      contract: { budgets: { total: '5m', review: '30s', experiments: 5 } },
    });
    const state = await run.finished();
    expect(state.options.map(({ agent, closure, accepted }) => ({ agent, closure, accepted }))).toEqual([
      { agent: 'A', closure: 'cap', accepted: ['e1', 'e2'] },
      { agent: 'B', closure: 'cap', accepted: ['e3', 'e4'] },
      { agent: 'A', closure: 'budget', accepted: ['e5'] },
    ]);
    expect(state.archive.map(({ id, author, score }) => ({ id, author, score }))).toEqual([
      { id: 'e1', author: 'A', score: 1 },
      { id: 'e2', author: 'A', score: 2 },
      { id: 'e3', author: 'B', score: 3 },
      { id: 'e4', author: 'B', score: 4 },
      { id: 'e5', author: 'A', score: 5 },
    ]);
    expect(state.review).toMatchObject({ reviewer: 'B', outcome: 'chosen', nomination: { candidate: 'e3' } });
    expect(finalCandidate({ ...state, ...state.terms })).toEqual({
      candidate: 'e3',
      by: 'reviewer',
      reason: 'the plan says so',
    });
    expect(outputOf(run.runFolder, 'option-1')).toContain('"outcome":"accepted"');
  });

  it('is over when it is over: the next run in the same folder starts at once, although its controller stays a moment', async () => {
    const wish = {
      A: { 1: [{ submit: 1 }], review: [{ nominate: 'e1' }] },
      B: { 2: [{ submit: 2 }] },
      contract: { budgets: { total: '5m', review: '30s', experiments: 2 } },
    };
    await using run = await startTestRun(wish);
    await run.finished();
    run.client[Symbol.dispose]();
    const contract = await layOutTask(run.folders, wish);
    const { workspace, home } = run.folders;
    expect(await startRun({ workspace, contract, home, env: process.env })).toMatchObject({ ok: true });
  });
});
