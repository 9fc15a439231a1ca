import type { Given } from '../base/fact.ts';
import { explorationUsage, sumOf } from '../analysis/usage.ts';
import { sayTokens } from '../base/numbers.ts';
import { tokensOf } from '../options/usage.ts';
import type { RunFact } from './events.ts';
import type { RunState } from './model.ts';
import { acceptedInRun } from './schedule.ts';

/** New values of the budgets; absent = as before. Times are totals in active ms, `until` is Unix ms. */
export interface BudgetWish {
  /** Active runtime of the whole run. */
  readonly totalMs?: number;
  /** Active runtime reserved for the final review. */
  readonly reviewMs?: number;
  /** Accepted experiments of the whole run; null = no limit. */
  readonly experiments?: number | null;
  /** Tokens that exploration may use; null = no limit. */
  readonly tokens?: number | null;
  /** US dollars that exploration may cost; null = no limit. */
  readonly cost?: number | null;
  /** Unix ms at which everything must be over; null = none. */
  readonly until?: number | null;
}

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;

/** Decides a change of the budgets. What is spent already can't be taken back, and the review must fit. */
export function decideBudget(
  state: RunState,
  wish: BudgetWish & { readonly by: string },
  given: Given,
): { readonly facts: readonly RunFact[] } | { readonly reason: string; readonly text: string } {
  const no = (reason: string, text: string) => ({ reason, text });
  const { by, totalMs, reviewMs, experiments, until } = wish;
  const tokens = wish.tokens === undefined ? state.budgets.tokens : (wish.tokens ?? undefined);
  const cost = wish.cost === undefined ? state.budgets.cost : (wish.cost ?? undefined);
  const budgets = {
    totalMs: totalMs ?? state.budgets.totalMs,
    reviewMs: reviewMs ?? state.budgets.reviewMs,
    experiments: experiments === undefined ? state.budgets.experiments : experiments,
    ...(tokens === undefined ? {} : { tokens }),
    ...(cost === undefined ? {} : { cost }),
    until: until === undefined ? state.budgets.until : until,
  };
  if (state.phase !== 'exploring' || state.explorationEnding) {
    const onlyEnd = [wish.experiments, wish.reviewMs, wish.tokens, wish.cost].every((each) => each === undefined);
    if (state.phase !== 'reviewing' || !onlyEnd)
      return no(
        'exploration_over',
        'exploration is over: only the end of the review (total, until) can still be moved',
      );
  }
  if (budgets.reviewMs >= budgets.totalMs)
    return no(
      'review_too_long',
      `a total of ${seconds(budgets.totalMs)} leaves no room for the review's ${seconds(budgets.reviewMs)}`,
    );
  if (budgets.totalMs < given.active)
    return no('time_spent', `${Math.round(given.active / 1000)} s are spent already: the total can't be less`);
  if (budgets.until !== null && budgets.until <= given.wall) return no('until_past', 'the end must lie in the future');
  if (budgets.experiments !== null && budgets.experiments < acceptedInRun(state))
    return no(
      'experiments_spent',
      `${acceptedInRun(state)} experiments are accepted already: the budget can't be less`,
    );
  if (tokens !== undefined && tokens <= tokensOf(sumOf(explorationUsage(state))))
    return no(
      'tokens_spent',
      `${sayTokens(tokensOf(sumOf(explorationUsage(state))))} tokens are used already: the budget must be more`,
    );
  return { facts: [{ type: 'budget.changed', data: { budgets, by } }] };
}
