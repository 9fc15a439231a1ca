import { explorationUsage, sumOf } from '../analysis/usage.ts';
import { sayMoney, sayTokens } from '../base/numbers.ts';
import { tokensOf } from '../options/usage.ts';
import type { Given } from '../base/fact.ts';
import { decideBudget, type BudgetWish } from '../run/budget.ts';
import type { RunState } from '../run/model.ts';
import { parseDateTime, parseDuration, parseTokens, sayDuration } from '../task/quantities.ts';

/** One of the budgets that a person may change. */
export type BudgetField = 'totalMs' | 'reviewMs' | 'experiments' | 'tokens' | 'cost' | 'until';

/** A budget, its value now, and how to write a new one. */
export interface BudgetEntry {
  readonly field: BudgetField;
  readonly label: string;
  /** The value now, in words. */
  readonly now: string;
  /** The value now as it would be typed. */
  readonly typed: string;
  readonly prompt: string;
}

/** The budgets that can still be changed. In the review only its end can be moved. */
export function budgetEntries(state: RunState): readonly BudgetEntry[] {
  const { budgets, phase, archive, terms } = state;
  const { totalMs, reviewMs, experiments, tokens, cost, until } = budgets;
  const used = `${archive.length} accepted so far`;
  const usedTokens = `${sayTokens(tokensOf(sumOf(explorationUsage(state))))} used so far`;
  const all: readonly BudgetEntry[] = [
    {
      field: 'totalMs',
      label: 'Total Time',
      now: sayDuration(totalMs),
      typed: typeDuration(totalMs),
      prompt: 'Active runtime of the whole run, such as 6h or 1h30m',
    },
    ...(terms.policy.mode === 'single'
      ? []
      : [
          {
            field: 'reviewMs',
            label: 'Time for the Final Review',
            now: sayDuration(reviewMs),
            typed: typeDuration(reviewMs),
            prompt: 'Reserved for the final review, such as 15m',
          } as const,
        ]),
    {
      field: 'experiments',
      label: 'Experiments',
      now: `${experiments === null ? 'no limit' : experiments}, ${used}`,
      typed: experiments === null ? 'none' : String(experiments),
      prompt: `Most accepted experiments of the run, or none for no limit; ${used}`,
    },
    {
      field: 'tokens',
      label: 'Tokens',
      now: `${tokens === undefined ? 'no limit' : sayTokens(tokens)}, ${usedTokens}`,
      typed: tokens === undefined ? 'none' : String(tokens),
      prompt: `Most tokens of exploration, such as 5M, or none for no limit; ${usedTokens}`,
    },
    {
      field: 'cost',
      label: 'Cost',
      now: cost === undefined ? 'no limit' : sayMoney(cost),
      typed: cost === undefined ? 'none' : String(cost),
      prompt: 'Most US dollars that exploration may cost, such as 20, or none for no limit',
    },
    {
      field: 'until',
      label: 'End by the Clock',
      now: until === null ? 'none' : new Date(until).toLocaleString(),
      typed: until === null ? 'none' : typeDateTime(until),
      prompt: 'When everything must be over, such as 2026-12-01 18:00 (local time), or none',
    },
  ];
  return phase === 'exploring' ? all : all.filter(({ field }) => field === 'totalMs' || field === 'until');
}

/** A duration as people type it: `1h30m`. */
function typeDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ];
  return (
    parts
      .filter(([amount]) => amount > 0)
      .map(([amount, unit]) => `${amount}${unit}`)
      .join('') || '0s'
  );
}

function typeDateTime(wall: number): string {
  const at = new Date(wall);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Reads a new value for a budget: the wish, or why it can't be, in words. The controller judges it once more. */
export function readBudget(
  state: RunState,
  typed: { readonly field: BudgetField; readonly text: string },
  given: Given,
): { readonly wish: BudgetWish } | { readonly why: string } {
  const wish = wishOf(typed.field, typed.text.trim());
  if (typeof wish === 'string') return { why: wish };
  const decided = decideBudget(state, { ...wish, by: '' }, given);
  return 'facts' in decided ? { wish } : { why: `${decided.text[0]?.toUpperCase() ?? ''}${decided.text.slice(1)}.` };
}

function wishOf(field: BudgetField, text: string): BudgetWish | string {
  const none = text === 'none';
  switch (field) {
    case 'totalMs':
    case 'reviewMs': {
      const ms = parseDuration(text);
      return ms === undefined ? 'Write a duration, such as 90m, 6h or 1h30m.' : { [field]: ms };
    }
    case 'experiments':
      if (none) return { experiments: null };
      return /^[1-9]\d{0,6}$/.test(text) ? { experiments: Number(text) } : 'Write a whole number from 1, or none.';
    case 'tokens': {
      const tokens = none ? null : parseTokens(text);
      return tokens === undefined || tokens === 0
        ? 'Write a number of tokens, such as 5M or 200k, or none.'
        : { tokens };
    }
    case 'cost': {
      const cost = none ? null : Number(text.replace(/^\$/, ''));
      return cost !== null && !(cost > 0 && Number.isFinite(cost))
        ? 'Write an amount in US dollars, such as 20, or none.'
        : { cost };
    }
    case 'until': {
      const until = none ? null : parseDateTime(text);
      return until === undefined ? 'Write a date and time, such as 2026-12-01 18:00, or none.' : { until };
    }
  }
}
