import { expect, test } from 'vitest';

import type { Response } from '../../src/agents/port.ts';
import type { Prices } from '../../src/analysis/usage.ts';
import { eventLines } from '../../src/cli/render/events.ts';
import { statusPage } from '../../src/cli/render/pages.ts';
import { plainStyle } from '../../src/cli/render/style.ts';
import { widthOf } from '../../src/cli/render/text.ts';
import { statusOutput } from '../../src/cli/schemas.ts';
import { statusReport } from '../../src/cli/statusReport.ts';
import { evolveRun } from '../../src/run/evolve.ts';
import type { RunState } from '../../src/run/model.ts';
import { runRows, runScene } from '../../src/window/runRows.ts';
import { runTooltip } from '../../src/window/runRowsTooltips.ts';
import type { TreeRow } from '../../src/window/treeRow.ts';
import { history, opened, openedWall, optionFacts as f, stateOf, type At } from './history.ts';

const prices: Prices = {
  opus: { input: 5, cachedInput: 0.5, cacheWrite: 6.25, output: 25, asOf: '2026-11-30', source: 'the test' },
};
const response = (id: string, over: Partial<Response>): Response => ({
  ...{ id, at: 1, model: 'opus', uncachedInput: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 },
  ...{ toolCalls: 0, ...over },
});
const responded = (at: number, number: number, ...responses: Response[]): At => [
  at,
  { type: 'attempt.responded', data: { session: { kind: 'option', number }, attempt: 1, responses } },
];

const events = history(
  [0, opened({ budgets: { tokens: 5_000_000, cost: 20 } })],
  f.open(0, 1, 'A'),
  f.starting(0, 1),
  f.started(0, 1),
  responded(5000, 1, response('a', { uncachedInput: 200_000, cachedInput: 800_000, output: 40_000 })),
  f.ended(9000, 1),
  f.ending(9000, 1, 'natural'),
  f.reaped(9000, 1),
  [9000, { type: 'option.settled', data: { option: 1 } }],
  [9000, { type: 'option.clean', data: { option: 1, restored: [] } }],
  [
    9000,
    { type: 'option.closed', data: { option: 1, closure: 'natural', endedItself: true, workspaceSnapshot: null } },
  ],
  f.open(9100, 2, 'B'),
  f.starting(9100, 2),
  f.started(9100, 2),
  responded(9500, 2, response('b', { model: 'unheard', uncachedInput: 1200, output: 300 })),
);
const state = stateOf(events);
const given = { wall: openedWall, mono: 0, boot: '', active: 20_000 };

test('the status page shows tokens and cost by agent and model, what is left of the caps, and — for what has no price', () => {
  const page = (columns: number): string[] =>
    statusPage(state, given, { runFolder: '/r', live: true, prices, paper: { style: plainStyle, columns } });
  const lines = page(120);
  // 0.2 · 5 + 0.8 · 0.5 + 0.04 · 25 = 2.4, and without cache 1 · 5 + 1
  const from = lines.findIndex((line) => line.trimStart().startsWith('tokens'));
  expect(lines.slice(from, from + 6).map((line) => line.trimEnd())).toEqual([
    '  tokens    2 responses · 1.00M in, 80 % of it cached · 40.3k out · 1.04M of 5.00M for exploration',
    '  cost      $2.40 + — ($6.00 without cache discount) · $2.40 of $20.00 for exploration',
    '            no price is known for unheard (hma prices)',
    '  agent  model    responses  input  cached  output   cost  uncached',
    '  A ada  opus             1  1.00M    800k   40.0k  $2.40     $6.00',
    '  B bob  unheard          1  1.20k       0     300      —         —',
  ]);
  expect(lines[1]).toMatch(/ · 1\.04M\/5\.00M tokens · /);
  for (const columns of [20, 40, 80])
    expect(page(columns).filter((line) => widthOf(line) > columns && !line.startsWith('  workspace '))).toEqual([]);
});

test('a run whose harnesses tell nothing shows no tokens, and certainly not 0', () => {
  const silent = stateOf(events.filter(({ type }) => type !== 'attempt.responded'));
  const page = statusPage(silent, given, {
    ...{ runFolder: '/r', live: true, prices, paper: { style: plainStyle, columns: 100 } },
  }).join('\n');
  expect(page).not.toMatch(/cost|\$0|tokens /);
});

test('as JSON: sums, cost by model, null where no price is known', () => {
  const place = { run: state.run, folder: '/r', home: '/h', workspace: '/w' };
  const view = { place, state, live: true, lastActive: 20_000, problems: [] };
  const { usage, budgets, options } = statusOutput.parse(statusReport(view, given, prices));
  expect(budgets).toMatchObject({ tokens: 5_000_000, cost: 20 });
  expect(usage.total).toMatchObject({ responses: 2, uncachedInput: 201_200, output: 40_300 });
  expect(usage.total.cost).toEqual({ billed: 2.4, withoutCache: 6, unpriced: ['unheard'] });
  expect(usage.agents.B.cost).toEqual({ billed: null, withoutCache: null, unpriced: ['unheard'] });
  expect(usage.models.map(({ model }) => model)).toEqual(['opus', 'unheard']);
  expect(options.map((option) => option.usage.responses)).toEqual([1, 1]);
});

test('the caps are told as the run opens and as they change', () => {
  const lines = (over: At): string => {
    const all = history([0, opened({ budgets: { tokens: 5_000_000, cost: 20 } })], over);
    let before: RunState | null = null;
    return all
      .flatMap((event) => {
        const now: RunState | null = evolveRun(before, event);
        const told = now ? eventLines({ before, event, after: now }, { style: plainStyle, columns: 200 }) : [];
        before = now;
        return told;
      })
      .join('\n');
  };
  const { tokens, ...budgets } = state.budgets;
  const text = lines([1000, { type: 'budget.changed', data: { budgets: { ...budgets, cost: 7.5 }, by: 'mina' } }]);
  expect(tokens).toBe(5_000_000);
  expect(text).toMatch(/· 5\.00M tokens · \$20\.00 ·/);
  expect(text).toMatch(/budgets are now .*any number of experiments, \$7\.50$/);
});

test('the tree shows the tokens of an ended option, and the tooltips tokens, cost and model, live', () => {
  const scene = runScene(state, given, prices);
  const [run] = runRows({ run: state.run, scene }, []);
  const rows = run?.children.filter(({ id }) => id.includes('/option-')) ?? [];
  expect(rows[0]?.description).toMatch(/^0\/2 · own end · 9 s · 1\.04M tokens$/);
  expect(rows[1]?.description).not.toContain('tokens');
  expect(run?.children.find(({ id }) => id.endsWith('/usage'))?.description).toBe(
    '$2.40 + — · 1.04M tokens · ada $2.40 · bob —',
  );
  const tooltip = (id: string): string => runTooltip(scene, { id } as TreeRow);
  expect(tooltip(`${state.run}/option-1`)).toContain('**Model** opus');
  expect(tooltip(`${state.run}/option-1`)).toContain('2\\.40 \\(');
  expect(tooltip(`${state.run}/option-2`)).toMatch(/\*\*Tokens\*\* 1 response · 1\\?\.20k in · 300 out/);
  expect(tooltip(`${state.run}/option-2`)).toMatch(/\*\*Cost\*\* —; no price is known for unheard/);
  expect(tooltip(state.run)).toContain(String.raw`**bob** —, 1\.50k tokens`);
  expect(tooltip(state.run)).toMatch(/\*\*Budget\*\* .*5\\?\.00M tokens for exploration/);
});
