import type { Response } from '../../src/agents/port.ts';
import type { Sent } from '../rig/modelServer.ts';

/** The sums of responses, comparable with what a model server sent. */
export function sumOf(responses: readonly Response[]): Sent {
  const sum = (count: (one: Response) => number): number => responses.reduce((total, one) => total + count(one), 0);
  return {
    responses: responses.length,
    uncachedInput: sum((one) => one.uncachedInput),
    cachedInput: sum((one) => one.cachedInput),
    cacheWrite: sum((one) => one.cacheWrite),
    output: sum((one) => one.output),
    reasoning: sum((one) => one.reasoning),
  };
}
