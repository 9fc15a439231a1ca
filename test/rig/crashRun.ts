import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { startRun } from '../../src/controller/launch.ts';
import type { LedgerEvent } from '../../src/ledger/port.ts';
import type { RunEvent } from '../../src/run/events.ts';
import { layOutScripts, type ScriptedTask } from './crashScenario.ts';
import { eventsOf, followRun, processesOf, type TestRun } from './run.ts';
import { testFolders } from './task.ts';

/** How a run for the crash matrix is started. */
export interface CrashRunWish {
  readonly task: ScriptedTask;
  /** `point[@detail][#n]`: each kills the controller once. */
  readonly plan?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Changes the state folder before the run starts: another build of the controller, a wrapper around Node. */
  readonly prepare?: (home: string) => void;
}

/** A run that is killed by a plan. */
export interface CrashRun extends TestRun {
  /** What of the plan has killed so far. */
  done(): string[];
  /** Every crash point that was passed so far, by any controller of the run. */
  trace(): string[];
  /** Everything that happened, as it would be without the kills. */
  history(): History;
}

/** Starts a run of scripts with a plan of kills and the trace on. */
export async function startCrashRun(wish: CrashRunWish): Promise<CrashRun> {
  const folders = testFolders();
  const [plan, trace] = [join(folders.root, 'plan'), join(folders.root, 'trace')];
  writeFileSync(plan, `${(wish.plan ?? []).join('\n')}\n`);
  const contract = await layOutScripts(folders, wish.task);
  wish.prepare?.(folders.home);
  const env = { ...process.env, HMA_CRASH_PLAN: plan, HMA_CRASH_TRACE: trace, ...wish.env };
  const started = await startRun({ workspace: folders.workspace, contract, home: folders.home, env });
  if (!started.ok) {
    folders[Symbol.dispose]();
    throw new Error(`${started.refusal.reason}: ${started.refusal.text}`);
  }
  const run = followRun(folders, started.value);
  const lines = (file: string): string[] =>
    existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  return {
    ...run,
    done: () => lines(`${plan}.done`),
    trace: () => lines(trace),
    history: () => historyOf(eventsOf(run.runFolder), folders.root),
  };
}

/** Waits until everything of a finished run has left by itself; says what hasn't. */
export async function untilNothingRuns(root: string, ms = 20_000): Promise<void> {
  const until = performance.now() + ms;
  for (;;) {
    const left = processesOf(root);
    if (left.length === 0) return;
    if (performance.now() > until) throw new Error(`still running ${ms} ms after the run: ${JSON.stringify(left)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** A ledger without what no two runs share: times, process ids, random names, hashes of what holds them. */
export interface History {
  /** Whole events in their order; observations of a process that race with what it does are apart. */
  readonly events: readonly string[];
  /** `attempt.started` and `attempt.spoke`: what was seen of a process, told when it is seen. */
  readonly seen: readonly string[];
}

/** Masks a ledger for comparison with another run's. `controller.started` is the kill itself and `run.measured` comes by the machine's pace: both are left out. */
export function historyOf(events: readonly LedgerEvent[], root: string): History {
  const all = (events as readonly RunEvent[]).filter(
    ({ type }) => type !== 'controller.started' && type !== 'run.measured',
  );
  const text = (event: RunEvent): string => `${event.type} ${JSON.stringify(masked(event)).replaceAll(root, '<root>')}`;
  const isSeen = ({ type }: RunEvent): boolean => type === 'attempt.started' || type === 'attempt.spoke';
  return { events: all.filter((event) => !isSeen(event)).map(text), seen: all.filter(isSeen).map(text) };
}

const commands = (list: readonly { readonly command: string }[]): string[] =>
  list.map(({ command }) => command).toSorted();

const without = (data: object, ...names: string[]): object =>
  Object.fromEntries(Object.entries(data).filter(([name]) => !names.includes(name)));

/** An event's data without what differs from run to run. */
function masked(event: RunEvent): object {
  switch (event.type) {
    case 'run.opened':
      return without(event.data, 'run', 'contractHash');
    case 'option.opened':
    case 'review.opened':
      return without(event.data, 'tokenHash');
    case 'option.ending':
    case 'review.ending':
      return without(event.data, 'descendants'); // process ids, of whatever lived at that instant
    case 'option.reaped':
    case 'review.reaped':
      return { ...without(event.data, 'ms'), ended: commands(event.data.ended) };
    case 'option.closed':
      return { ...event.data, workspaceSnapshot: event.data.workspaceSnapshot === null ? null : 'taken' };
    case 'attempt.starting':
      return without(event.data, 'nonce', 'promptHash');
    case 'attempt.started':
    case 'attempt.spoke':
      return { session: event.data.session, attempt: event.data.attempt };
    case 'attempt.ended': {
      const { exit, retryAt } = event.data;
      return {
        ...without(event.data, 'retryAt'),
        exit: exit && without(exit, 'mono', 'boot'),
        retry: retryAt !== null,
      };
    }
    case 'experiment.submitted':
      return without(event.data, 'request');
    case 'evaluation.starting':
    case 'grading.starting':
    case 'candidate.graded':
      return without(event.data, 'nonce');
    case 'evaluation.ended':
      return without(event.data, 'nonce', 'at');
    case 'experiment.accepted':
      return without(event.data, 'verdictAt');
    default:
      return event.data;
  }
}
