import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { harnessNames, startAgentsRun, submitCommand, type AgentsRun, type HarnessName } from '../../rig/agentsRun.ts';
import { eventually } from '../../rig/faultRun.ts';
import type { ModelRequest, Step } from '../../rig/modelServer.ts';
import { expectSumsEqual, livingOf, told } from './pairs.ts';

/** What a session may be doing when it is ended: the step it is at, and how the test sees that it is. */
const moments: readonly { what: string; step: Step; readonly reached: (run: AgentsRun) => Promise<unknown> }[] = [
  {
    what: 'waits for the model',
    step: { fault: { kind: 'hang', when: 'before' } },
    reached: ({ server }) => server.until('the second request', (all) => all.some(({ turn }) => turn === 1)),
  },
  {
    what: 'reads a stream that stands still',
    step: { fault: { kind: 'hang', when: 'within' } },
    reached: ({ server }) => server.until('the second request', (all) => all.some(({ turn }) => turn === 1)),
  },
  {
    what: 'runs a tool',
    step: { shell: 'touch running.txt; sleep 86412' },
    reached: (run) => eventually('the tool to run', () => existsSync(join(run.folders.workspace, 'running.txt'))),
  },
  {
    what: 'runs a tool that ignores signals',
    step: { shell: `trap '' TERM INT HUP; touch running.txt; while :; do sleep 1; done` },
    reached: (run) => eventually('the tool to run', () => existsSync(join(run.folders.workspace, 'running.txt'))),
  },
];

/** OpenCode tells a response's tokens once the tools that it called have ended: one whose tool never does stays untold. */
const untold = ({ server }: AgentsRun, name: HarnessName): ModelRequest | undefined => {
  const last = server.requests.findLast(({ script, side }) => script === 'A' && !side);
  return name === 'opencode' && last?.call ? last : undefined;
};

describe('a person hands over while a real agent', () => {
  it.each(moments.flatMap(({ what, step, reached }) => harnessNames.map((name) => ({ what, name, step, reached }))))(
    '$what: $name',
    async ({ name, step, reached }) => {
      await using run = await startAgentsRun({
        A: { adapter: name, script: [{ shell: submitCommand(1) }, step] },
        B: { adapter: name === 'codex' ? 'claude-code' : 'codex', script: [{ text: 'Nothing to do.' }] },
        contract: { policy: { cap: 5 }, budgets: { total: '10m', review: '1m', experiments: 9 }, stopAfterBarren: 1 },
      });
      await reached(run);
      const asked = performance.now();
      await run.client.intend({ kind: 'handoff', by: 'the test' });
      const after = await run.client.until('the handoff', ({ options }) => options[0]?.state === 'closed', 60_000);
      const seconds = (performance.now() - asked) / 1000;
      expect(after.options[0], run.log()).toMatchObject({ closure: 'handoff', accepted: ['e1'], survivors: [] });
      expect(seconds).toBeLessThan(25);
      const state = await run.finished(120_000);
      expect(told(state)[0]).toMatchObject({ closure: 'handoff', endedItself: false });
      expect(livingOf(run)).toEqual([]);
      expectSumsEqual(run, untold(run, name));
    },
  );

  it.each(harnessNames)('has used up its cap in a command that does not end: %s', async (name) => {
    await using run = await startAgentsRun({
      A: { adapter: name, script: [{ shell: `${submitCommand(1)}; sleep 86413` }] },
      B: { adapter: name === 'codex' ? 'claude-code' : 'codex', script: [{ text: 'Nothing to do.' }] },
      contract: { policy: { cap: 1 }, budgets: { total: '10m', review: '1m', experiments: 9 }, stopAfterBarren: 1 },
    });
    const state = await run.finished(150_000);
    expect(told(state)[0], run.log()).toEqual({ agent: 'A', closure: 'cap', accepted: ['e1'], endedItself: false });
    expect(state.options[0]?.survivors).toEqual([]);
    expect(livingOf(run)).toEqual([]);
    expectSumsEqual(run, untold(run, name));
  });
});
