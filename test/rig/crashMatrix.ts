import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

import { brokenLaws } from './crashLaws.ts';
import { startCrashRun, untilNothingRuns, type CrashRun, type History } from './crashRun.ts';
import type { ScriptedTask } from './crashScenario.ts';

/** One scenario of the matrix: what is run, and what a person does meanwhile. */
export interface Scenario {
  readonly task: ScriptedTask;
  readonly cap: number;
  /** Resolves when the person has nothing more to do. */
  readonly person?: (run: CrashRun) => Promise<void>;
  /** Puts another build into the state folder before the run starts. */
  readonly prepare?: (home: string) => void;
}

/** What an undisturbed run did and which points it passed, in order. */
export interface Reference {
  readonly history: History;
  readonly trace: readonly string[];
}

/** Longest time for one run of the matrix with all its kills, ms. */
const runMs = 240_000;

/** Runs a scenario with a plan of kills to its end and to the end of all its processes. */
export async function play(
  scenario: Scenario,
  plan: { readonly kills: readonly string[]; readonly later?: readonly string[] },
) {
  await using run = await startCrashRun({
    task: scenario.task,
    plan: plan.kills,
    ...(scenario.prepare ? { prepare: scenario.prepare } : {}),
  });
  const later = plan.later ?? [];
  // points of the start are passed by each controller: those for a restart are added when something has died, with progress in between
  let added = 0;
  const adding = setInterval(() => {
    if (added >= later.length || run.done().length < 1 + 4 * added) return;
    appendFileSync(join(run.folders.root, 'plan'), `${later[added++]}\n`);
  }, 50);
  try {
    await scenario.person?.(run);
    await run.finished(runMs);
    run.client[Symbol.dispose]();
    await untilNothingRuns(run.folders.root);
    const broken = await brokenLaws({ runFolder: run.runFolder, seenState: run.client.state, cap: scenario.cap });
    return { history: run.history(), trace: run.trace(), done: run.done(), broken };
  } catch (error) {
    throw new Error(
      `with kills at ${[...plan.kills, ...later].join(', ')} (done: ${run.done().join(', ')}): ${String(error)}\n${run.log().slice(-4000)}`,
      { cause: error },
    );
  } finally {
    clearInterval(adding);
  }
}

/** The scenario as it is when nothing dies. */
export async function referenceOf(scenario: Scenario): Promise<Reference> {
  const { history, trace, broken } = await play(scenario, { kills: [] });
  if (broken.length > 0) throw new Error(`the undisturbed run: ${broken.join('; ')}`);
  return { history, trace };
}

/** The points that each start passes: they can be killed at once per run, or the keeper gives up as it should. */
export const pointsOfStart = (trace: readonly string[]): ReadonlySet<string> =>
  new Set(trace.slice(0, trace.indexOf('endpoint.written') + 1));

/** Points after which an event is on disk, so that its occurrence is used up. */
const afterWrite = /^ledger\.(written|synced|confirmed)@/;

/** Chooses kills for one run out of what is left: far apart, not more for an event than it occurs, one of the start. */
export function choose(
  left: readonly string[],
  given: { readonly trace: readonly string[]; readonly most: number },
): string[] {
  const start = pointsOfStart(given.trace);
  const often = (point: string): number => given.trace.filter((one) => one === point).length;
  const used = new Map<string, number>();
  const chosen: string[] = [];
  const stride = Math.max(1, Math.floor(left.length / given.most));
  const order = [...left.keys()].toSorted((a, b) => (a % stride) - (b % stride) || a - b);
  for (const at of order) {
    const point = left[at] ?? '';
    if (chosen.length >= given.most) break;
    const place = point.replace(/#\d+$/, '');
    const key = start.has(place) ? 'start' : place.replace(afterWrite, '');
    const allowed = start.has(place) ? 1 : often(place);
    if ((used.get(key) ?? 0) >= allowed) continue;
    used.set(key, (used.get(key) ?? 0) + 1);
    chosen.push(point);
  }
  return chosen;
}

/**
 * What two histories may rightly differ in after these kills; everything else must be equal.
 * - `submission.refused` and `validation.ended` record calls that change nothing. When the controller dies between the record and the
 *   answer, the session rightly calls again, and that call is recorded too.
 * - `option.capSeen` is a notification without an answer: when the controller dies as it comes in, nobody sends it again. The option
 *   is then ended by the other rule, 20 s after the commit (domain.md), and nothing else changes.
 */
export function comparable(history: History, kills: readonly string[]): History {
  const repeated = ['submission.refused', 'validation.ended'].filter((type) =>
    kills.some((kill) => kill.replace(/#\d+$/, '').replace(afterWrite, '') === type),
  );
  const lost = kills.some((kill) => kill.startsWith('ledger.beforeWrite@option.capSeen'));
  const events = history.events.filter((event, index, all) => {
    if (lost && event.startsWith('option.capSeen ')) return false;
    return !(repeated.some((type) => event.startsWith(`${type} `)) && all[index - 1] === event);
  });
  return { events, seen: history.seen };
}

/** What the matrix did. */
export interface MatrixReport {
  readonly runs: number;
  readonly kills: number;
  /** What went wrong, in words with the kills that brought it about. */
  readonly wrong: readonly string[];
}

/** Kills the controller at every point, several in one run, several runs at once, until each has killed. */
export async function killEverywhere(given: {
  scenario: Scenario;
  reference: Reference;
  points: readonly string[];
  atRestart?: readonly string[];
  perRun: number;
  lanes: number;
}): Promise<MatrixReport> {
  const { scenario, reference, perRun, lanes } = given;
  let left = [...given.points];
  const later = [...(given.atRestart ?? [])].toReversed();
  const tries = new Map<string, number>();
  const report = { runs: 0, kills: 0, wrong: [] as string[] };
  const take = (): { kills: string[]; later: string[] } => {
    const chosen = choose(left, { trace: reference.trace, most: perRun });
    left = left.filter((point) => !chosen.includes(point));
    // a restart needs something that died before
    const kills =
      chosen.length === 0 && later.length > 0 ? [given.points[Math.floor(given.points.length / 2)] ?? ''] : chosen;
    return { kills, later: later.splice(0, kills.length >= 8 ? 2 : Math.min(1, kills.length)) };
  };
  const lane = async (): Promise<void> => {
    for (let plan = take(); plan.kills.length > 0; plan = take()) {
      report.runs += 1;
      let played: Awaited<ReturnType<typeof play>>;
      try {
        played = await play(scenario, plan);
      } catch (error) {
        report.wrong.push(String(error));
        continue;
      }
      report.kills += played.done.length;
      const words = [...played.broken, ...differences(reference.history, played.history, played.done)];
      if (words.length > 0) report.wrong.push(`killed at ${played.done.join(', ')}:\n  ${words.join('\n  ')}`);
      for (const point of [...plan.kills, ...plan.later].filter((one) => !played.done.includes(one))) {
        tries.set(point, (tries.get(point) ?? 0) + 1);
        if ((tries.get(point) ?? 0) >= 3) report.wrong.push(`${point} was not passed in three runs`);
        else if (plan.later.includes(point)) later.push(point);
        else left.push(point);
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  if (later.length > 0) report.wrong.push(`no run was left to kill a restart at ${later.join(', ')}`);
  return report;
}

/** The first places at which a history is not the reference. */
export function differences(reference: History, history: History, kills: readonly string[]): string[] {
  const [wanted, got] = [comparable(reference, kills), comparable(history, kills)];
  const words: string[] = [];
  for (const part of ['events', 'seen'] as const) {
    const at = wanted[part].findIndex((event, index) => event !== got[part][index]);
    if (at >= 0 || wanted[part].length !== got[part].length) {
      const from = at < 0 ? wanted[part].length : at;
      words.push(
        `${part} differ at ${from}: wanted ${wanted[part].slice(from, from + 2).join(' | ')}, got ${got[part].slice(from, from + 3).join(' | ')}`,
      );
    }
  }
  return words;
}
