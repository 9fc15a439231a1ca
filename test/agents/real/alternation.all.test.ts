import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { readEndpoint } from '../../../src/controller/launch.ts';
import { nominates, startAgentsRun, submitCommand } from '../../rig/agentsRun.ts';
import { eventually } from '../../rig/faultRun.ts';
import { brief, expectLeft, expectSumsEqual, livingOf, notesOf, pairs, thinking, told, untidy } from './pairs.ts';

describe('real agents alternate on and on', () => {
  it.each(pairs)('%s and %s: after a cap, and after a natural end', async (first, second) => {
    await using run = await startAgentsRun({
      A: { adapter: first, script: untidy('e3') },
      B: { adapter: second, script: brief('e3') },
      contract: { policy: { cap: 2 }, budgets: { total: '10m', review: '2m', experiments: 5 } },
    });
    const state = await run.finished(170_000);
    expect(told(state), run.log()).toEqual([
      { agent: 'A', closure: 'cap', accepted: ['e1', 'e2'], endedItself: false },
      { agent: 'B', closure: 'natural', accepted: ['e3'], endedItself: true },
      { agent: 'A', closure: 'cap', accepted: ['e4', 'e5'], endedItself: false },
    ]);
    expect(state.review).toMatchObject({ reviewer: 'B', outcome: 'chosen' });
    expect(notesOf(run)).toBe('before\nafter\n'.repeat(2));
    for (const option of [state.options[0], state.options[2]]) expectLeft(option, 'sleep 86411');
    expect(state.options.flatMap(({ survivors }) => survivors)).toEqual([]);
    expect(livingOf(run)).toEqual([]);
    expectSumsEqual(run);
  });

  it('goes on with the same session when its controller is killed in the middle of a tool', async () => {
    await using run = await startAgentsRun({
      A: {
        adapter: 'claude-code',
        script: {
          steps: [
            { shell: `echo ready > ready.txt; while [ ! -e go.txt ]; do sleep 0.1; done; ${submitCommand(1)}` },
            thinking,
          ],
          review: nominates('e1'),
        },
      },
      B: { adapter: 'codex', script: [{ shell: submitCommand(1) }, thinking] },
      contract: { policy: { cap: 1 }, budgets: { total: '10m', review: '2m', experiments: 2 } },
    });
    const [ready, go] = ['ready.txt', 'go.txt'].map((name) => join(run.folders.workspace, name)) as [string, string];
    await eventually('the tool to run', () => existsSync(ready));
    const killed = readEndpoint(run.runFolder)?.pid ?? 0;
    process.kill(killed, 'SIGKILL');
    writeFileSync(go, '');
    const state = await run.finished(150_000);
    expect(readEndpoint(run.runFolder)?.pid).not.toBe(killed);
    expect(told(state), run.log()).toEqual([
      { agent: 'A', closure: 'cap', accepted: ['e1'], endedItself: false },
      { agent: 'B', closure: 'cap', accepted: ['e2'], endedItself: false },
    ]);
    expect(state.options.map(({ attempts }) => attempts.length)).toEqual([1, 1]);
    expect(state.review).toMatchObject({ reviewer: 'A', outcome: 'chosen' });
    expect(livingOf(run)).toEqual([]);
    expectSumsEqual(run);
  });
});
