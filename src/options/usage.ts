import type { Response } from '../agents/port.ts';

/** Tokens by kind as providers tell them, summed over responses: input split without overlap, output with its reasoning. */
export interface Usage {
  readonly responses: number;
  readonly uncachedInput: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
  /** Reasoning included. */
  readonly output: number;
  readonly reasoning: number;
  readonly toolCalls: number;
}

/** What one model used; null = the harness does not tell its model. */
export interface ModelUsage extends Usage {
  readonly model: string | null;
}

/** Nothing used. */
export const noUsage: Usage = {
  responses: 0,
  uncachedInput: 0,
  cachedInput: 0,
  cacheWrite: 0,
  output: 0,
  reasoning: 0,
  toolCalls: 0,
};

/** The sum of two usages. */
export const plusUsage = (one: Usage, other: Usage): Usage => ({
  responses: one.responses + other.responses,
  uncachedInput: one.uncachedInput + other.uncachedInput,
  cachedInput: one.cachedInput + other.cachedInput,
  cacheWrite: one.cacheWrite + other.cacheWrite,
  output: one.output + other.output,
  reasoning: one.reasoning + other.reasoning,
  toolCalls: one.toolCalls + other.toolCalls,
});

/** Sums usages by model, in the order in which the models first appear. */
export function byModel(usages: readonly ModelUsage[]): readonly ModelUsage[] {
  const sums = new Map<string | null, Usage>();
  for (const { model, ...usage } of usages) sums.set(model, plusUsage(sums.get(model) ?? noUsage, usage));
  return [...sums].map(([model, usage]) => ({ model, ...usage }));
}

/** Adds responses to the sums of a session. */
export const addResponses = (usage: readonly ModelUsage[], responses: readonly Response[]): readonly ModelUsage[] =>
  byModel([...usage, ...responses.map((response) => ({ ...usageOf(response), model: response.model }))]);

const usageOf = ({ uncachedInput, cachedInput, cacheWrite, output, reasoning, toolCalls }: Response): Usage => ({
  ...{ responses: 1, uncachedInput, cachedInput, cacheWrite, output, reasoning, toolCalls },
});

/** All tokens of a usage, input of every kind and output: what `budgets.tokens` counts. */
export const tokensOf = ({ uncachedInput, cachedInput, cacheWrite, output }: Usage): number =>
  uncachedInput + cachedInput + cacheWrite + output;
