import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { readEndpoint } from '../../../src/controller/launch.ts';
import { startAgentsRun, submitCommand, type HarnessName } from '../../rig/agentsRun.ts';
import { eventually } from '../../rig/faultRun.ts';
import { outputOf } from '../../rig/run.ts';
import { thinking } from './pairs.ts';

it.each<[HarnessName, HarnessName]>([
  ['claude-code', 'codex'],
  ['codex', 'claude-code'],
])(
  'a person’s message reaches %s while it works, also when the controller dies right after, and is on record',
  async (adapter, other) => {
    await using run = await startAgentsRun({
      A: {
        adapter,
        script: [
          { shell: `echo ready > ready.txt; while [ ! -e go.txt ]; do sleep 0.1; done; ${submitCommand(1)}` },
          { shell: 'echo another step' },
          thinking,
        ],
      },
      B: { adapter: other, script: [thinking] },
      contract: { policy: { cap: 5 }, budgets: { total: '10m', review: '1m', experiments: 9 } },
    });
    const [ready, go] = ['ready.txt', 'go.txt'].map((name) => join(run.folders.workspace, name)) as [string, string];
    await eventually('the tool to run', () => existsSync(ready));
    const text = 'Look at the seventh row first.';
    expect(await run.client.intend({ kind: 'message', text, by: 'kim' })).toMatchObject({ done: true });
    process.kill(readEndpoint(run.runFolder)?.pid ?? 0, 'SIGKILL');
    writeFileSync(go, '');
    await run.server.until(
      'a request with the message',
      (requests) =>
        requests.some(({ script, side, body }) => script === 'A' && !side && JSON.stringify(body).includes(text)),
      90_000,
    );
    await eventually('the message to be handed over', () =>
      outputOf(run.runFolder, 'option-1').includes('hma.delivered'),
    );
    const state = await run.client.until('the controller to be back', ({ controller }) => controller.starts === 2);
    expect(state.messages).toMatchObject([{ text, by: 'kim', session: { kind: 'option', number: 1 }, attempt: 1 }]);
    expect(outputOf(run.runFolder, 'option-1').split('hma.delivered').length).toBe(2);
  },
  240_000,
);
