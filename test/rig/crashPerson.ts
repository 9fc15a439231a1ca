import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';

import type { Intent } from '../../src/protocol/client.ts';
import type { RunState } from '../../src/run/model.ts';
import type { RunClient } from './client.ts';
import type { Scenario } from './crashMatrix.ts';

/** Longest wait for one step of the person's, ms. */
const stepMs = 120_000;
const by = 'a person';

/** Wishes something until it is so: a controller that died may have heard it or not, and its successor's state tells. */
async function wish(client: RunClient, intent: Intent, holds: (state: RunState) => boolean): Promise<void> {
  for (;;) {
    const before = await client.until('a state', () => true, stepMs);
    if (holds(before)) return;
    try {
      const reply = await client.intend(intent);
      if (!reply.done) throw new TypeError(`${intent.kind}: ${reply.text}`);
      await client.until(`${intent.kind} to be true`, holds, stepMs);
      return;
    } catch (error) {
      if (error instanceof TypeError) throw error;
      // the answer was lost with the controller: the next one tells what came of the wish
      await client.until(
        'another controller',
        (state) => holds(state) || state.controller.starts > before.controller.starts,
        stepMs,
      );
    }
  }
}

const accepted = (id: string) => (state: RunState) => state.archive.some((candidate) => candidate.id === id);
const last = <Item>(list: readonly Item[]): Item | undefined => list.at(-1);

/** A run in which a person does everything that a person can, and in which candidates have a large file. */
export const withPerson: Scenario = {
  cap: 3,
  task: {
    A: {
      '1.1': 'head -c 9000000 /dev/zero > "$HMA_WORKSPACE/model.bin"; submit 1; hold',
      review: 'hma nominate e1 --reason "the plan says so"; : > "$HMA_WORKSPACE/held"; hold',
    },
    B: { '2.1': 'submit 2; hold' },
    contract: {
      candidate: ['candidate.txt', 'model.bin'],
      policy: { cap: 3 },
      budgets: { total: '40m', review: '10m' },
    },
  },
  async person({ client, folders }) {
    const paused = (state: RunState): boolean => state.pause !== null;
    const running = (state: RunState): boolean => state.pause === null;
    await client.until('e1', accepted('e1'), stepMs);
    await wish(client, { kind: 'pause', after: false, by }, paused);
    await wish(client, { kind: 'resume', by }, running);
    await wish(client, { kind: 'pause', after: true, by }, (state) => state.pauseAfter || paused(state));
    await wish(client, { kind: 'handoff', by }, (state) => state.options[0]?.state !== 'open');
    await client.until('the pause at the boundary', paused, stepMs);
    await wish(client, { kind: 'resume', by }, running);
    await client.until('e2', accepted('e2'), stepMs);
    await wish(client, { kind: 'budget', experiments: 9, by }, (state) => state.budgets.experiments === 9);
    await wish(
      client,
      { kind: 'select', candidate: 'e1', reason: 'I like it', by },
      (state) => last(state.selections)?.candidate === 'e1',
    );
    await wish(client, { kind: 'review', by }, (state) => state.explorationEnding !== null);
    await client.until('the nomination', (state) => state.review?.nomination?.candidate === 'e1', stepMs);
    // what lives of the reviewer when it is ended must not depend on who is faster
    await vi.waitUntil(() => existsSync(join(folders.workspace, 'held')), { timeout: stepMs, interval: 100 });
    await wish(
      client,
      { kind: 'clearSelection', reason: 'the reviewer knows better', by },
      (state) => state.selections.length === 2,
    );
    await wish(client, { kind: 'stop', by }, (state) => state.explorationEnding === 'stopped');
  },
};
