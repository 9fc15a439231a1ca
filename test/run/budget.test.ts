import { expect, it } from 'vitest';

import { decideBudget, type BudgetWish } from '../../src/run/budget.ts';
import type { RunState } from '../../src/run/model.ts';
import { after, at, turn, wall0 } from '../laws/aState.ts';

const wish = (state: RunState, one: BudgetWish, active = 100_000) => {
  const decided = decideBudget(state, { ...one, by: 'mina' }, at(active));
  return 'reason' in decided ? decided.reason : decided.facts;
};
const running = after([1, ...turn(1, { candidates: [1, 2] })]);
const budgets = { totalMs: 600_000, reviewMs: 60_000, experiments: null, until: null };

it('changes what is wished and keeps the rest', () => {
  expect(wish(running, { totalMs: 700_000, experiments: 2 })).toStrictEqual([
    { type: 'budget.changed', data: { budgets: { ...budgets, totalMs: 700_000, experiments: 2 }, by: 'mina' } },
  ]);
  expect(wish(running, { until: wall0 + 400_000 })).toStrictEqual([
    { type: 'budget.changed', data: { budgets: { ...budgets, until: wall0 + 400_000 }, by: 'mina' } },
  ]);
});

it('what is spent can’t be taken back, and the review must fit', () => {
  expect(wish(running, { totalMs: 99_999 })).toBe('time_spent');
  expect(wish(running, { experiments: 1 })).toBe('experiments_spent');
  expect(wish(running, { tokens: 5, cost: 2 })).toStrictEqual([
    { type: 'budget.changed', data: { budgets: { ...budgets, tokens: 5, cost: 2 }, by: 'mina' } },
  ]);
  expect(wish({ ...running, budgets: { ...budgets, tokens: 5, cost: 2 } }, { tokens: null, cost: null })).toStrictEqual(
    [{ type: 'budget.changed', data: { budgets, by: 'mina' } }],
  );
  const counts = {
    responses: 1,
    uncachedInput: 3,
    cachedInput: 2,
    cacheWrite: 0,
    output: 1,
    reasoning: 0,
    toolCalls: 0,
  };
  const used = { ...running, options: running.options.map((one) => ({ ...one, usage: [{ model: 'm', ...counts }] })) };
  expect(wish(used, { tokens: 6 })).toBe('tokens_spent');
  expect(wish(running, { until: wall0 + 100_000 })).toBe('until_past');
  expect(wish(running, { reviewMs: 600_000 })).toBe('review_too_long');
});

it('after exploration only the end can be moved, and only while the review is on', () => {
  const ending = after([1, ...turn(1)], [2, { type: 'exploration.ending', data: { reason: 'deadline', by: 'hma' } }]);
  const reviewing = after([1, ...turn(1)], [2, { type: 'exploration.ended', data: { reason: 'deadline' } }]);
  expect(wish(ending, { totalMs: 700_000 })).toBe('exploration_over');
  expect(wish(reviewing, { experiments: 9 })).toBe('exploration_over');
  expect(wish(reviewing, { reviewMs: 9_000 })).toBe('exploration_over');
  expect(wish(reviewing, { totalMs: 700_000 })).toStrictEqual([
    { type: 'budget.changed', data: { budgets: { ...budgets, totalMs: 700_000 }, by: 'mina' } },
  ]);
});
