import type { Metric } from '../../task/model.ts';

const steps = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/**
 * The latest scores as bars, higher is better whatever the metric's direction, between the worst and the best shown; the middle
 * where all are equal. Empty without scores.
 */
export function sparkline(metric: Pick<Metric, 'direction'>, scores: readonly number[], most = 16): string {
  const shown = scores.slice(-most);
  const finite = shown.filter(Number.isFinite);
  const least = Math.min(...finite);
  const range = Math.max(...finite) - least;
  const height = (score: number): number => {
    if (!Number.isFinite(score)) return 0;
    if (range === 0) return 3;
    const share = (score - least) / range;
    return Math.round((metric.direction === 'maximize' ? share : 1 - share) * (steps.length - 1));
  };
  return shown.map((score) => steps[height(score)]).join('');
}

/** One part of a stacked bar: how much, and the character it is drawn with. */
export interface BarPart {
  readonly amount: number;
  readonly fill: string;
  readonly colour: (text: string) => string;
}

/**
 * A bar of `cells` characters, divided by amount (largest remainders, so that the cells add up exactly); a part above 0 gets at least
 * one. Empty where nothing is above 0.
 */
export function stackedBar(parts: readonly BarPart[], cells: number): string {
  const shown = parts.filter(({ amount }) => amount > 0);
  const whole = shown.reduce((sum, { amount }) => sum + amount, 0);
  if (shown.length === 0 || cells < shown.length) return '';
  const free = cells - shown.length; // one cell each is given away first
  const exact = shown.map(({ amount }) => (amount / whole) * free);
  const widths = exact.map((width) => 1 + Math.floor(width));
  const byRemainder = exact
    .map((width, index) => ({ index, remainder: width - Math.floor(width) }))
    .toSorted((a, b) => b.remainder - a.remainder || a.index - b.index);
  const missing = cells - widths.reduce((sum, width) => sum + width, 0);
  for (const { index } of byRemainder.slice(0, missing)) widths[index] = (widths[index] ?? 0) + 1;
  return shown.map(({ fill, colour }, index) => colour(fill.repeat(widths[index] ?? 0))).join('');
}
