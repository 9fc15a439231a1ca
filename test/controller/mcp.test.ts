import { join } from 'node:path';

import { expect, it } from 'vitest';

import { outputOf, startTestRun } from '../rig/run.ts';

const repository = join(import.meta.dirname, '../..');
const command = [process.execPath, join(repository, 'test/rig/mcpAgent.mjs')];

interface Line {
  readonly tools?: readonly string[];
  readonly tool?: string;
  readonly failed?: boolean;
  readonly refused?: string;
  readonly text?: string;
}

const linesOf = (runFolder: string, session: string): Line[] =>
  outputOf(runFolder, session)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

it('an agent that works through the tools of `hma mcp` alone submits, looks and nominates: the same gate, token and codes', async () => {
  await using run = await startTestRun({
    A: {},
    B: {},
    contract: {
      agents: { A: { name: 'alpha', command }, B: { name: 'beta', command } },
      budgets: { total: '5m', review: '60s', experiments: 2 },
      isolation: { readable: [repository] },
    },
  });
  const state = await run.finished(120_000);
  expect(state.archive.map(({ id, author, score, note }) => ({ id, author, score, note }))).toEqual([
    { id: 'e1', author: 'A', score: 1, note: '--option 1' },
    { id: 'e2', author: 'B', score: 2, note: '--option 2' },
  ]);
  expect(state.review).toMatchObject({ outcome: 'chosen', nomination: { candidate: 'e1' } });

  const first = linesOf(run.runFolder, 'option-1');
  expect(first[0]?.tools).toEqual(['submit', 'result', 'validate', 'status', 'archive']);
  expect(first.slice(1).map(({ tool, failed }) => ({ tool, failed }))).toEqual([
    { tool: 'submit', failed: false },
    { tool: 'status', failed: false },
    { tool: 'result', failed: true },
    { tool: 'archive', failed: false },
  ]);
  expect(first[1]?.text).toMatch(/^e1\n[^]*accepted/);
  expect(first[3]?.text).toContain('unknown');
  expect(first[4]?.text).toBe('1');

  const review = linesOf(run.runFolder, 'review');
  expect(review[0]?.tools).toEqual(['status', 'archive', 'nominate']);
  expect(review.slice(1).map(({ failed }) => failed)).toEqual([false, false, undefined]);
  expect(review[3]?.refused).toContain('submit');
});
