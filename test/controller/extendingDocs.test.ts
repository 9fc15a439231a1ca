import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { codeIn } from '../protocol/codeIn.ts';
import { outputOf, startTestRun } from '../rig/run.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/extending.md'), 'utf8');

it('the agent of docs/extending.md works alone and in turn, and reviews', async () => {
  const script = codeIn(page, 'agent.sh');
  const agent = (name: string) => ({ name, adapter: 'command', command: ['bash', '-c', script] });
  await using run = await startTestRun({
    ...{ A: {}, B: {}, candidate: '98765\n' },
    contract: {
      metric: { name: 'number', direction: 'minimize' },
      agents: { A: agent('shrink'), B: agent('other') },
      policy: { cap: 1 },
      budgets: { total: '5m', review: '60s', experiments: 3 },
    },
  });
  const state = await run.finished(110_000);
  expect(state.archive.map(({ score, author }) => [author, score])).toEqual([
    ['A', 9876],
    ['B', 987],
    ['A', 98],
  ]);
  expect(outputOf(run.runFolder, 'review')).toContain('e3');
  expect(state.review?.outcome).toBe('endorsed');
});
