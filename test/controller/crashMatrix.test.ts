import { beforeAll, describe, expect, it } from 'vitest';

import { controllerCrashPoints, crashAt, type CrashPoint } from '../../src/controller/crashPoints.ts';
import { withPerson } from '../rig/crashPerson.ts';
import { delayRunners } from '../rig/crashBuild.ts';
import { killEverywhere, pointsOfStart, referenceOf, type Reference, type Scenario } from '../rig/crashMatrix.ts';
import { wholeAlternation } from '../rig/crashScenario.ts';

/*
 * The crash matrix of the controller: killed with SIGKILL at every named point, for every event that is appended there, it is brought
 * back by its keeper and the ledger becomes what it would have been (invariant 1). By default many kills share a run; with
 * HMA_LONG=1 every occurrence of every point is killed in a run of its own (about 500 runs, 2 h).
 */
const long = process.env['HMA_LONG'] === '1';
/** A bound for a machine that is very busy; 2 to 5 minutes is usual for all of it. */
const longest = long ? 12 * 3_600_000 : 1_200_000;
const alternation: Scenario = { task: wholeAlternation, cap: 2 };
/** Passed only where a run goes on from another; killed in goOn.test.ts. */
const whenGoingOn = controllerCrashPoints.filter((point) => point.startsWith('snapshot.adopt.'));
/** Passed only where a person acts and candidates are large. */
const elsewhere: readonly CrashPoint[] = ['snapshot.large', 'reply.intent'];

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
    const apart: readonly CrashPoint[] = [...elsewhere, ...whenGoingOn];
    expect(controllerCrashPoints.filter((point) => !passed.has(point) && !apart.includes(point))).toEqual([]);
    expect(() => crashAt('nobody.knows' as CrashPoint)).toThrow('is not in the list');
  });

  it(
    'leaves the ledger of an undisturbed run, wherever it dies',
    async () => {
      const points = long ? occurrences(reference.trace) : distinct(reference.trace);
      const report = await killEverywhere({
        scenario: alternation,
        reference,
        points,
        atRestart: [...pointsOfStart(reference.trace)].filter((point) => !point.startsWith('snapshot.')),
        perRun: long ? 1 : 12,
        lanes: 3,
      });
      console.log(
        `crash matrix: ${points.length} points, ${report.kills} kills in ${report.runs} runs, ${report.wrong.length} wrong`,
      );
      expect(report.wrong).toEqual([]);
    },
    longest,
  );

  it(
    'does what a person wished once, wherever it dies',
    async () => {
      const personal = await referenceOf(withPerson);
      expect(elsewhere.filter((point) => !personal.trace.map(nameOf).includes(point))).toEqual([]);
      const points = long
        ? occurrences(personal.trace)
        : distinct(personal.trace).filter((point) => !reference.trace.includes(point));
      const report = await killEverywhere({
        scenario: withPerson,
        reference: personal,
        points,
        perRun: long ? 1 : 10,
        lanes: 3,
      });
      console.log(
        `crash matrix with a person: ${points.length} points, ${report.kills} kills in ${report.runs} runs, ${report.wrong.length} wrong`,
      );
      expect(report.wrong).toEqual([]);
    },
    longest,
  );

  it(
    'starts nothing twice when the runner that it spawned comes late',
    async () => {
      const late: Scenario = { ...alternation, prepare: delayRunners };
      const points = ['attempt.spawned@option', 'evaluation.spawned', 'attempt.spawned@review', 'grading.spawned'];
      const report = await killEverywhere({ scenario: late, reference, points, perRun: points.length, lanes: 1 });
      expect(report.wrong).toEqual([]);
      expect(report.kills).toBe(points.length);
    },
    longest,
  );
});
