import type { Response } from '../port.ts';

/**
 * The line by which any program can tell what a model call used, one JSON object per response on its output:
 * `{"type":"hma.response","id":"r1","model":"m","uncachedInput":1000,"output":40}`. Counts that are absent are 0; `at` (Unix ms) is
 * the time at which it was read where it is absent.
 */
const lineType = 'hma.response';

/** The response in one parsed line, read at `now`; null for any other line. */
export function reportedResponse(value: unknown, now: number): Response | null {
  if (typeof value !== 'object' || value === null) return null;
  const line = value as Readonly<Record<string, unknown>>;
  if (line['type'] !== lineType || typeof line['id'] !== 'string') return null;
  const count = (name: string): number => (typeof line[name] === 'number' ? line[name] : 0);
  return {
    id: line['id'],
    at: typeof line['at'] === 'number' ? line['at'] : now,
    model: typeof line['model'] === 'string' ? line['model'] : null,
    uncachedInput: count('uncachedInput'),
    cachedInput: count('cachedInput'),
    cacheWrite: count('cacheWrite'),
    output: count('output'),
    reasoning: count('reasoning'),
    toolCalls: count('toolCalls'),
  };
}
