import * as fc from 'fast-check';

import type { LedgerEvent } from '../../src/ledger/port.ts';
import type { RunEvent } from '../../src/run/events.ts';
import { evolveRun } from '../../src/run/evolve.ts';
import type { RunState } from '../../src/run/model.ts';
import { scenario } from './scenario.ts';
import { simulate, type Trace } from './simulation.ts';

/** Simulated runs of each file of laws; more with HMA_RUNS, others with HMA_SEED. */
const numRuns = Number(process.env['HMA_RUNS'] ?? 600);
const base = Number(process.env['HMA_SEED'] ?? 20_261_130);

/** The simulated runs of one file of laws; made once. A broken law is shown on the smallest scenario that breaks it. */
export function simulated(salt: number): {
  readonly traces: readonly Trace[];
  readonly hold: (law: (trace: Trace) => void) => void;
} {
  const seed = base + salt;
  const traces = fc.sample(scenario, { seed, numRuns }).map(simulate);
  return {
    traces,
    hold(law) {
      for (const trace of traces) {
        try {
          law(trace);
        } catch (error) {
          fc.assert(
            fc.property(scenario, (one) => law(simulate(one))),
            { seed, numRuns },
          );
          throw error;
        }
      }
    },
  };
}

/** Goes through a run event by event, with the state before and after each. */
export function walk(
  trace: Pick<Trace, 'events'>,
  look: (event: RunEvent, before: RunState, after: RunState) => void,
): void {
  let before: RunState | null = null;
  for (const event of trace.events) {
    const after: RunState | null = evolveRun(before, event);
    if (before && after) look(event as RunEvent, before, after);
    before = after;
  }
}

/** The events of one type, in order. */
export function ofType<Type extends RunEvent['type']>(
  events: readonly LedgerEvent[],
  type: Type,
): readonly Extract<RunEvent, { type: Type }>[] {
  return (events as readonly RunEvent[]).filter(
    (event): event is Extract<RunEvent, { type: Type }> => event.type === type,
  );
}

/** How often each word was said over all runs: laws that never met their case say nothing. */
export function counts(words: Iterable<string>): Record<string, number> {
  const all: Record<string, number> = {};
  for (const word of words) all[word] = (all[word] ?? 0) + 1;
  return all;
}
