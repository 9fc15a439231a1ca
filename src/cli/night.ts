import { sayLength } from '../base/numbers.ts';
import { count } from '../base/words.ts';
import type { PreflightItem } from '../client/preflight.ts';
import type { DryRun } from '../controller/dryRun.ts';
import type { Contract } from '../task/model.ts';

/** The answer of `hma check`: whether a night would work. */
export interface Night {
  readonly night: 'works' | 'might' | 'fails';
  /** In words: the last line. */
  readonly words: string;
}

/** Items are told by name up to so many. */
const mostNamed = 3;

/** What all that was found comes to. Each item has its remedy beside it. */
export function nightOf(items: readonly PreflightItem[]): Night {
  const bad = items.filter(({ state }) => state === 'bad');
  const doubtful = items.filter(({ state }) => state === 'warning');
  if (bad.length > 0) return { night: 'fails', words: `A night would not work: ${named(bad)}.` };
  if (doubtful.length > 0) return { night: 'might', words: `A night might work: ${named(doubtful)}.` };
  return { night: 'works', words: 'A night would work.' };
}

function named(items: readonly PreflightItem[]): string {
  const some = items.slice(0, mostNamed).map(({ what }) => what);
  const more = items.length > mostNamed ? '; …' : '';
  return `${count(items.length, 'thing')} (${some.join('; ')}${more})`;
}

/** How an evaluation's time stands to the budgets. `ms`: one run of the evaluator. */
export function budgetItem({ budgets, evaluate, policy }: Contract, run: DryRun): readonly PreflightItem[] {
  if (run.kind !== 'ran' || run.verdict.kind === 'lost' || run.verdict.kind === 'no_result') return [];
  const one = run.ms * evaluate.repeats;
  const exploration = budgets.totalMs - budgets.reviewMs;
  const wanted = budgets.experiments ?? policy.cap ?? 1;
  const whose = budgets.experiments === null ? (policy.cap === null ? 'one experiment' : "a session's") : 'all';
  const needed = one * wanted;
  const what = `at ${sayLength(one)} an evaluation, ${whose === 'one experiment' ? whose : `${whose} ${count(wanted, 'experiment')}`} need${wanted === 1 ? 's' : ''} at least ${sayLength(needed)} of evaluation`;
  const rest = `Exploration has ${sayLength(exploration)}, room for ${Math.floor(exploration / Math.max(1, one))} at most.`;
  const item = { topic: 'evaluator' as const, detail: rest };
  if (one > exploration)
    return [
      {
        ...item,
        state: 'bad',
        code: 'evaluations_do_not_fit',
        what: `not one evaluation of ${sayLength(one)} fits into the exploration`,
        fix: 'Raise budgets.total, or evaluate less.',
      },
    ];
  // what is left is the agents' own time
  if (needed > exploration / 2)
    return [
      {
        ...item,
        state: 'warning',
        code: 'evaluations_take_long',
        what,
        fix: 'Raise budgets.total, ask for fewer experiments, or evaluate less.',
      },
    ];
  return [{ ...item, state: 'good', code: null, what, fix: null }];
}
