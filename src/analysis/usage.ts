import { byModel, noUsage, plusUsage, type ModelUsage, type Usage } from '../options/usage.ts';
import type { RunState } from '../run/model.ts';
import type { AgentSlot } from '../task/model.ts';

/** What one model costs, USD per million tokens. */
export interface ModelPrice {
  /** Input that came from no cache. */
  readonly input: number;
  /** Input that was read from the provider's cache. */
  readonly cachedInput: number;
  /** Input that was written into it; absent = billed as uncached input. */
  readonly cacheWrite?: number;
  /** Output, reasoning included. */
  readonly output: number;
  /** Day on which it was looked up (YYYY-MM-DD), and where it stands. */
  readonly asOf: string;
  readonly source: string;
}

/** Prices by the model's name as harnesses report it. */
export type Prices = Readonly<Record<string, ModelPrice>>;

/** What a usage costs, USD. */
export interface Cost {
  /** As the provider bills it: cached input at its own price. */
  readonly billed: number;
  /** The same with every input token at the price of uncached input: what it would cost without caching. */
  readonly withoutCache: number;
  /** Models with tokens but no price, which are in neither sum; null = a harness that does not tell its model. */
  readonly unpriced: readonly (string | null)[];
}

/**
 * The price of a model by its reported name: the name itself, else without what providers put around it (a maker's prefix, a context
 * variant in brackets, the date of the snapshot). Never a guess by likeness; undefined = not known.
 */
export function priceOf(model: string | null, prices: Prices): ModelPrice | undefined {
  if (model === null) return undefined;
  const name = model.toLowerCase();
  const bare = name.replace(/^.*\//, '').replace(/\[[^\]]*\]$/, '');
  for (const candidate of [name, bare, bare.replace(/[-@](\d{8}|\d{4}-\d{2}-\d{2})$/, '')])
    if (Object.hasOwn(prices, candidate)) return prices[candidate];
  return undefined;
}

/** What usages cost. Empty usages cost 0; what has no price is named, not counted. */
export function costOf(usages: readonly ModelUsage[], prices: Prices): Cost {
  let [billed, withoutCache] = [0, 0];
  const unpriced = new Set<string | null>();
  for (const { model, uncachedInput, cachedInput, cacheWrite, output } of usages) {
    const input = uncachedInput + cachedInput + cacheWrite;
    if (input + output === 0) continue;
    const price = priceOf(model, prices);
    if (!price) {
      unpriced.add(model);
      continue;
    }
    const out = output * price.output;
    billed +=
      uncachedInput * price.input +
      cachedInput * price.cachedInput +
      cacheWrite * (price.cacheWrite ?? price.input) +
      out;
    withoutCache += input * price.input + out;
  }
  return { billed: billed / 1e6, withoutCache: withoutCache / 1e6, unpriced: [...unpriced] };
}

/** What a run used, the final review included. */
export interface RunUsage {
  readonly total: Usage;
  readonly models: readonly ModelUsage[];
  /** By agent and its models; a review counts for its reviewer. */
  readonly agents: Readonly<Record<AgentSlot, readonly ModelUsage[]>>;
  /** The part of it that the final review used. */
  readonly review: readonly ModelUsage[];
}

/** Sums over models: one usage. */
export const sumOf = (usages: readonly ModelUsage[]): Usage => usages.reduce<Usage>(plusUsage, noUsage);

/** Sums a run's usage by agent and by model. A run whose harnesses tell nothing gives zeros: see `responses`. */
export function usageOfRun({ options, review }: Pick<RunState, 'options' | 'review'>): RunUsage {
  const of = (slot: AgentSlot): readonly ModelUsage[] =>
    byModel([
      ...options.filter(({ agent }) => agent === slot).flatMap(({ usage }) => usage),
      ...(review?.reviewer === slot ? review.usage : []),
    ]);
  const agents = { A: of('A'), B: of('B') };
  const models = byModel([...agents.A, ...agents.B]);
  return { total: sumOf(models), models, agents, review: review?.usage ?? [] };
}

/** What exploration used, which is what `budgets.tokens` and `budgets.cost` bound. */
export const explorationUsage = ({ options }: Pick<RunState, 'options'>): readonly ModelUsage[] =>
  byModel(options.flatMap(({ usage }) => usage));
