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

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const;

/** A bar of a share in [0, 1], `columns` wide at 1; a share above 0 is never invisible. */
export function bar(share: number, columns: number): string {
  const units = Math.max(share > 0 ? 1 : 0, Math.round(Math.min(1, Math.max(0, share)) * columns * 8));
  return '█'.repeat(Math.floor(units / 8)) + (eighths[units % 8] ?? '');
}
