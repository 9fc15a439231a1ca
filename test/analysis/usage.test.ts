import { expect, test } from 'vitest';

import type { Response } from '../../src/agents/port.ts';
import { costOf, priceOf, sumOf, usageOfRun, type Prices } from '../../src/analysis/usage.ts';
import { sayCost, sayCosts, sayUnpriced, sayUsage } from '../../src/analysis/usageWords.ts';
import { sayMoney, sayTokens } from '../../src/base/numbers.ts';
import { addResponses, tokensOf, type ModelUsage } from '../../src/options/usage.ts';
import { after, opened, started, starting } from '../laws/aState.ts';

const looked = { asOf: '2026-11-30', source: 'the test' };
const prices: Prices = {
  'claude-opus-5': { input: 5, cachedInput: 0.5, cacheWrite: 6.25, output: 25, ...looked },
  'gpt-5': { input: 1.25, cachedInput: 0.125, output: 10, ...looked },
};

const response = (id: string, over: Partial<Response> = {}): Response => ({
  ...{ id, at: 1, model: 'claude-opus-5', uncachedInput: 1000, cachedInput: 2000, cacheWrite: 300 },
  ...{ output: 40, reasoning: 7, toolCalls: 1, ...over },
});
const usage = (over: Partial<ModelUsage>): ModelUsage => ({
  ...{ model: 'gpt-5', responses: 1, uncachedInput: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 },
  ...{ toolCalls: 0, ...over },
});

test('responses are summed by model, each kind of token for itself', () => {
  const sums = addResponses([], [response('1'), response('2', { model: 'gpt-5' }), response('3', { output: 2 })]);
  expect(sums).toEqual([
    {
      ...{ model: 'claude-opus-5', responses: 2, uncachedInput: 2000, cachedInput: 4000, cacheWrite: 600 },
      ...{ output: 42, reasoning: 14, toolCalls: 2 },
    },
    {
      ...{ model: 'gpt-5', responses: 1, uncachedInput: 1000, cachedInput: 2000, cacheWrite: 300 },
      ...{ output: 40, reasoning: 7, toolCalls: 1 },
    },
  ]);
  // reasoning is part of output, and not counted again
  expect(tokensOf(sumOf(sums))).toBe(2000 + 4000 + 600 + 42 + 1000 + 2000 + 300 + 40);
});

test('billed cost and cost without cache discount, by hand', () => {
  const million = usage({ model: 'claude-opus-5', uncachedInput: 1e6, cachedInput: 2e6, cacheWrite: 1e6, output: 1e5 });
  // 5 + 2 · 0.5 + 6.25 + 2.5, and 4 · 5 + 2.5
  expect(costOf([million], prices)).toEqual({ billed: 14.75, withoutCache: 22.5, unpriced: [] });
  // without a price of its own a cache write is uncached input: 1.25 · 2
  expect(costOf([usage({ uncachedInput: 1e6, cacheWrite: 1e6 })], prices).billed).toBe(2.5);
});

test('what has no price is named and never 0; what used no tokens needs none', () => {
  const unknown = usage({ model: 'unheard', output: 5 });
  const nameless = usage({ model: null, output: 5 });
  const cost = costOf([unknown, nameless, usage({ model: 'idle' }), usage({ output: 1e6 })], prices);
  expect(cost).toEqual({ billed: 10, withoutCache: 10, unpriced: ['unheard', null] });
  expect(sayCost(cost, cost.billed)).toBe('$10.00 + —');
  expect(sayCosts(costOf([unknown], prices))).toBe('—');
  expect(sayUnpriced(cost)).toBe('no price is known for unheard, a model that its harness does not name (hma prices)');
  expect(costOf([], prices)).toEqual({ billed: 0, withoutCache: 0, unpriced: [] });
});

test('a price is found by the name without its dressing, and never by likeness', () => {
  const found = (model: string | null): number | undefined => priceOf(model, prices)?.input;
  for (const name of ['gpt-5', 'GPT-5', 'openai/gpt-5', 'gpt-5-2026-08-07', 'openrouter/openai/gpt-5@20260807'])
    expect([name, found(name)]).toEqual([name, 1.25]);
  expect(found('claude-opus-5[1m]')).toBe(5);
  expect(found('claude-opus-5-20261101')).toBe(5);
  for (const name of ['gpt-5-mini', 'gpt-5.4', 'claude-opus', 'constructor', '', null])
    expect(found(name)).toBeUndefined();
});

test('a run’s usage by agent and model; a review counts for its reviewer', () => {
  const responded = (session: { kind: 'option'; number: number } | { kind: 'review' }, ...responses: Response[]) =>
    ({ type: 'attempt.responded', data: { session, attempt: 1, responses } }) as const;
  const state = after(
    [1, opened(1), starting(1), started(1), responded({ kind: 'option', number: 1 }, response('a'), response('b'))],
    [
      2,
      opened(2),
      starting(2),
      started(2),
      responded({ kind: 'option', number: 2 }, response('c', { model: 'gpt-5' })),
    ],
    [
      3,
      { type: 'review.opened', data: { reviewer: 'A', tokenHash: 't' } },
      responded({ kind: 'review' }, response('d')),
    ],
    [4, responded({ kind: 'option', number: 99 }, response('nobody'))],
  );
  const run = usageOfRun(state);
  expect(run.total.responses).toBe(4);
  expect(run.agents.A.map(({ model, responses }) => [model, responses])).toEqual([['claude-opus-5', 3]]);
  expect(run.agents.B.map(({ model, responses }) => [model, responses])).toEqual([['gpt-5', 1]]);
  expect(sumOf(run.review).responses).toBe(1);
  expect(state.options.map(({ usage: used }) => sumOf(used).responses)).toEqual([2, 1]);
});

test('words', () => {
  expect([0, 812, 999, 1000, 12_345, 999_499, 999_500, 4_560_000, 1.2e9].map(sayTokens)).toEqual([
    ...['0', '812', '999', '1.00k', '12.3k', '999k', '1.00M', '4.56M', '1.20B'],
  ]);
  expect([0, 0.00424, 0.42, 1.234, 999.99, 12_345].map(sayMoney)).toEqual([
    ...['$0', '$0.0042', '$0.42', '$1.23', '$999.99', '$12,345'],
  ]);
  expect(sayUsage(usage({ uncachedInput: 2000, cachedInput: 8000, output: 4200 }))).toBe(
    '1 response · 10.0k in, 80 % of it cached · 4.20k out',
  );
  expect(sayCosts({ billed: 3.21, withoutCache: 9.8, unpriced: [] })).toBe('$3.21 ($9.80 without cache discount)');
});
