import { sayTokens } from '../../base/numbers.ts';
import type { Response, SaidLine } from '../port.ts';

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

/** A response told by such a line as words; every other line as it is. */
export function say(line: string): readonly SaidLine[] {
  const response = line.startsWith('{') && line.includes(lineType) ? reportedResponse(parsed(line), 0) : null;
  if (!response) return [{ kind: 'text', text: line }];
  const input = response.uncachedInput + response.cachedInput + response.cacheWrite;
  const model = response.model === null ? '' : `${response.model}: `;
  return [{ kind: 'usage', text: `${model}${sayTokens(input)} tokens in, ${sayTokens(response.output)} out` }];
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return null; // torn, or a text that looks like one
  }
}
