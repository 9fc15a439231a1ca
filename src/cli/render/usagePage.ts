import { costOf, explorationUsage, sumOf, usageOfRun, type Prices } from '../../analysis/usage.ts';
import { sayCost, sayCosts, sayUnpriced, sayUsage } from '../../analysis/usageWords.ts';
import { sayMoney, sayTokens } from '../../base/numbers.ts';
import { oneLine } from '../../base/oneLine.ts';
import { tokensOf, type ModelUsage } from '../../options/usage.ts';
import type { RunState } from '../../run/model.ts';
import { sayAgent, type Paper } from './scene.ts';
import { pad, table } from './text.ts';

/** What the run's models used and what that costs, by agent and model; nothing where no harness tells. */
export function usageLines(state: RunState, prices: Prices, { style, columns }: Paper): string[] {
  const { total, models, agents } = usageOfRun(state);
  if (total.responses === 0) return [];
  const cost = costOf(models, prices);
  const label = (name: string): string => `  ${style.dim(pad(name, 10))}`;
  const rows = (['A', 'B'] as const).flatMap((slot) =>
    agents[slot].map((one) => [sayAgent(state, slot, style), modelName(one), ...cellsOf(one, prices)]),
  );
  const head = ['agent', 'model', 'responses', 'input', 'cached', 'output', 'cost', 'uncached'];
  const unpriced = sayUnpriced(cost);
  return [
    '',
    `${label('tokens')}${sayUsage(total)}${capWords(state)}`,
    `${label('cost')}${sayCosts(cost)}${costWords(state, prices)}`,
    ...(unpriced === '' ? [] : [`${' '.repeat(12)}${style.dim(unpriced)}`]),
    ...table({
      rows: [head.map((word) => style.dim(word)), ...rows],
      right: new Set([2, 3, 4, 5, 6, 7]),
      columns,
      indent: '  ',
    }),
  ];
}

const modelName = ({ model }: ModelUsage): string => (model === null ? 'not told' : oneLine(model, 30));

function cellsOf(one: ModelUsage, prices: Prices): string[] {
  const cost = costOf([one], prices);
  return [
    String(one.responses),
    sayTokens(one.uncachedInput + one.cachedInput + one.cacheWrite),
    sayTokens(one.cachedInput),
    sayTokens(one.output),
    sayCost(cost, cost.billed),
    sayCost(cost, cost.withoutCache),
  ];
}

/** How much of a cap on tokens is left. */
function capWords(state: RunState): string {
  const { tokens } = state.budgets;
  if (tokens === undefined) return '';
  return ` · ${sayTokens(tokensOf(sumOf(explorationUsage(state))))} of ${sayTokens(tokens)} for exploration`;
}

function costWords(state: RunState, prices: Prices): string {
  const { cost } = state.budgets;
  return cost === undefined
    ? ''
    : ` · ${sayMoney(costOf(explorationUsage(state), prices).billed)} of ${sayMoney(cost)} for exploration`;
}
