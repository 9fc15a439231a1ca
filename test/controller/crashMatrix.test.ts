import { beforeAll, describe, expect, it } from 'vitest';

import { controllerCrashPoints, crashAt, type CrashPoint } from '../../src/controller/crashPoints.ts';
import { killEverywhere, pointsOfStart, referenceOf, type Reference, type Scenario } from '../rig/crashMatrix.ts';
import { wholeAlternation } from '../rig/crashScenario.ts';

/*
 * The crash matrix of the controller: killed with SIGKILL at every named point, for every event that is appended there, it is brought
 * back by its keeper and the ledger becomes what it would have been (invariant 1). By default many kills share a run; with
 * HMA_LONG=1 every occurrence of every point is killed in a run of its own (about 500 runs, 2 h).
 */
const long = process.env['HMA_LONG'] === '1';
const alternation: Scenario = { task: wholeAlternation, cap: 2 };
/** Passed only in other scenarios: by large files, by a person's intents, when the run is over. */
const elsewhere: readonly CrashPoint[] = ['snapshot.large', 'reply.intent', 'lease.released'];

const nameOf = (point: string): string => point.split('@')[0] ?? '';
const distinct = (trace: readonly string[]): string[] => [...new Set(trace)];

/** Every occurrence of every point, as `point#n`; what a start passes is counted within the start. */
function occurrences(trace: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return trace.map((point) => {
    seen.set(point, (seen.get(point) ?? 0) + 1);
    return `${point}#${seen.get(point)}`;
  });
}

describe('a controller that is killed', () => {
  let reference: Reference;
  beforeAll(async () => {
    reference = await referenceOf(alternation);
  }, 120_000);

  it('passes every listed point, and none that is not listed', () => {
    const passed = new Set(reference.trace.map(nameOf));
    expect(controllerCrashPoints.filter((point) => !passed.has(point) && !elsewhere.includes(point))).toEqual([]);
    expect(() => crashAt('nobody.knows' as CrashPoint)).toThrow('is not in the list');
  });

  it('leaves the ledger of an undisturbed run, wherever it dies', async () => {
    const points = long ? occurrences(reference.trace) : distinct(reference.trace);
    const report = await killEverywhere({ scenario: alternation, reference, points, atRestart: [...pointsOfStart(reference.trace)].filter((point) => !point.startsWith('snapshot.')), perRun: long ? 1 : 12, lanes: 3 });
    console.log(`crash matrix: ${points.length} points, ${report.kills} kills in ${report.runs} runs`);
    expect(report.wrong).toEqual([]);
  }, long ? 12 * 3_600_000 : 600_000);
});
