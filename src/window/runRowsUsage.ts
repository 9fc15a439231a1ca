import { costOf, usageOfRun } from '../analysis/usage.ts';
import { sayAgentsUsage, sayCost } from '../analysis/usageWords.ts';
import { sayTokens } from '../base/numbers.ts';
import { tokensOf } from '../options/usage.ts';
import type { RunScene } from './runRows.ts';
import { joined } from './runWords.ts';
import { row, type TreeRow } from './treeRow.ts';

/** What the models of both agents used, and what that costs; null where no harness tells. */
export function usageRow({ state, prices }: RunScene): TreeRow | null {
  const agents = sayAgentsUsage(state, prices);
  if (agents.length === 0) return null;
  const { models, total } = usageOfRun(state);
  const cost = costOf(models, prices);
  const [tokens, billed] = [sayTokens(tokensOf(total)), sayCost(cost, cost.billed)];
  const parts = agents.map((one) => `${one.name} ${one.cost}`);
  return row({
    ...{ id: `${state.run}/usage`, label: 'Cost', description: joined(billed, `${tokens} tokens`, ...parts) },
    spoken: `Cost ${billed}, ${tokens} tokens; ${agents.map((one) => `${one.name} ${one.cost}, ${one.tokens} tokens`).join('; ')}`,
    ...{ icon: { id: 'credit-card' }, context: 'usage' },
  });
}
