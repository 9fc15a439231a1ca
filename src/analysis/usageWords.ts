import { sayMoney, sayTokens } from '../base/numbers.ts';
import { oneLine } from '../base/oneLine.ts';
import { count } from '../base/words.ts';
import type { Usage } from '../options/usage.ts';
import { tokensOf } from '../options/usage.ts';
import type { RunState } from '../run/model.ts';
import type { AgentSlot, Budgets } from '../task/model.ts';
import { costOf, sumOf, usageOfRun, type Cost, type Prices } from './usage.ts';

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

/** What an agent used, in words. */
export interface AgentUsage {
  readonly agent: AgentSlot;
  readonly name: string;
  readonly tokens: string;
  /** As it is billed. */
  readonly cost: string;
}

/** What each agent used, the review with its reviewer; `—` for one whose harness doesn't tell. Empty where none does. */
export function sayAgentsUsage(
  state: Pick<RunState, 'options' | 'review' | 'terms'>,
  prices: Prices,
): readonly AgentUsage[] {
  const { total, agents } = usageOfRun(state);
  if (total.responses === 0) return [];
  const slots = state.terms.policy.mode === 'single' ? [state.terms.policy.first] : (['A', 'B'] as const);
  return slots.map((agent) => {
    const [own, name] = [agents[agent], oneLine(state.terms.agents[agent].name, 40)];
    const cost = costOf(own, prices);
    return own.length === 0
      ? { agent, name, tokens: '—', cost: '—' }
      : { agent, name, tokens: sayTokens(tokensOf(sumOf(own))), cost: sayCost(cost, cost.billed) };
  });
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
