import { sayMoney, sayTokens } from '../base/numbers.ts';
import { oneLine } from '../base/oneLine.ts';
import { count } from '../base/words.ts';
import type { Usage } from '../options/usage.ts';
import type { Budgets } from '../task/model.ts';
import type { Cost } from './usage.ts';

/** Tokens in a phrase: `412 responses · 1.25M in, 84 % of it cached · 48.2k out`. */
export function sayUsage(usage: Usage): string {
  const { responses, uncachedInput, cachedInput, cacheWrite, output } = usage;
  const input = uncachedInput + cachedInput + cacheWrite;
  const cached = cachedInput > 0 ? `, ${Math.round((cachedInput / input) * 100)} % of it cached` : '';
  return `${count(responses, 'response')} · ${sayTokens(input)} in${cached} · ${sayTokens(output)} out`;
}

/** An amount of which a part may have no price: `$3.21`, `$3.21 + —`, and `—` where nothing has one; never 0 for what isn't known. */
export function sayCost({ unpriced }: Pick<Cost, 'unpriced'>, amount: number): string {
  if (unpriced.length === 0) return sayMoney(amount);
  return amount === 0 ? '—' : `${sayMoney(amount)} + —`;
}

/** Billed cost and, where it differs, what it would be without caching: `$3.21 ($9.80 without cache discount)`. */
export function sayCosts(cost: Cost): string {
  const { billed, withoutCache } = cost;
  const without =
    Math.abs(withoutCache - billed) > billed * 0.005 ? ` (${sayMoney(withoutCache)} without cache discount)` : '';
  return sayCost(cost, billed) + (billed === 0 ? '' : without);
}

/** The caps on tokens and money as parts of a list; none where there are none. */
export const sayCaps = ({ tokens, cost }: Pick<Budgets, 'tokens' | 'cost'>): readonly string[] => [
  ...(tokens === undefined ? [] : [`${sayTokens(tokens)} tokens`]),
  ...(cost === undefined ? [] : [sayMoney(cost)]),
];

/** Which models have no price: empty where all have. */
export function sayUnpriced({ unpriced }: Pick<Cost, 'unpriced'>): string {
  if (unpriced.length === 0) return '';
  const names = unpriced.map((model) =>
    model === null ? 'a model that its harness does not name' : oneLine(model, 60),
  );
  return `no price is known for ${names.join(', ')} (hma prices)`;
}
