import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { endTree, type TreeEnd } from '../machines/endTree.ts';
import {
  abandonStart,
  endRunner,
  observeRunner,
  startRunner,
  treeOfRunner,
  watchRunner,
  type Observation,
} from '../machines/runnerControl.ts';
import type { ProcessIdentity, ProgramSpec } from '../machines/port.ts';
import type { Standby } from '../machines/standby.ts';
import { defaultGraceMs, readSpec, runnerFile, type RunnerExit } from '../machines/runnerFiles.ts';
import type { Runtime } from './runtime.ts';

/** How a program under a runner came to its end, as far as the controller can tell. */
export type ProgramEnd =
  | { readonly kind: 'ended'; readonly report: RunnerExit }
  /** The runner vanished; what it had left was ended. */
  | { readonly kind: 'lost'; readonly tree: TreeEnd }
  | { readonly kind: 'not_started'; readonly detail: string };

/** One program to see through, from its start or from wherever it is now. */
export interface Supervision {
  /** The runner's folder; observing it is the only way of knowing. */
  readonly dir: string;
  readonly nonce: string;
  readonly tier: ProgramSpec['confinement']['tier'];
  readonly runtime: Runtime;
  readonly standby?: Standby;
  /** Called only when nothing was started yet; a string says why it can't be. */
  prepare(): Promise<{ readonly spec: ProgramSpec; readonly environment: Readonly<Record<string, string>> } | string>;
  beforeSpawn(): void;
  afterSpawn(): void;
  onStarted?(runner: ProcessIdentity): void;
  onSpoke?(): void;
}

/** Longest time from spawning a runner to its claim, ms; after it the controller claims the start itself and it counts as failed. */
const startWaitMs = 30_000;

/**
 * Starts a program unless it was started before, and resolves when it has ended. Safe to repeat after a crash at any moment: the
 * runner's claim (O_EXCL) lets each start happen once, and what lives is adopted.
 */
export async function supervise(what: Supervision): Promise<ProgramEnd> {
  mkdirSync(what.dir, { recursive: true, mode: 0o700 });
  // A slow runner of a controller that died must not start its program in folders that are being prepared again: it finds no
  // specification and leaves, or it has claimed the start by now and is adopted.
  if (observeRunner(what.dir).kind === 'not_started') rmSync(join(what.dir, runnerFile.spec), { force: true });
  if (observeRunner(what.dir).kind === 'not_started') {
    const prepared = await what.prepare();
    if (typeof prepared === 'string') {
      abandonStart(what.dir, what.nonce);
      return { kind: 'not_started', detail: prepared };
    }
    what.beforeSpawn();
    const started = await startRunner({
      node: what.runtime.node,
      runnerJs: what.runtime.runner,
      dir: what.dir,
      spec: prepared.spec,
      env: prepared.environment,
      ...(what.standby && { standby: what.standby }),
    });
    if (!started.ok) {
      abandonStart(what.dir, what.nonce);
      return { kind: 'not_started', detail: started.refusal.message };
    }
    what.afterSpawn();
  }
  return await untilEnded(what);
}

/** Follows a runner's folder to the program's end. */
function untilEnded(what: Supervision): Promise<ProgramEnd> {
  const { promise, resolve, reject } = Promise.withResolvers<ProgramEnd>();
  const told = { started: false, spoke: false };
  let giveUp: NodeJS.Timeout | undefined;
  const look = (seen: Observation): void => {
    tell(what, seen, told);
    if (seen.kind !== 'not_started') clearTimeout(giveUp);
    endOf(what, seen).then((end) => {
      if (end) resolve(end);
    }, reject);
  };
  giveUp = setTimeout(() => {
    if (abandonStart(what.dir, what.nonce) === 'abandoned')
      resolve({ kind: 'not_started', detail: `the runner did not come up within ${startWaitMs / 1000} s` });
  }, startWaitMs);
  const watcher = watchRunner(what.dir, (seen) => {
    try {
      look(seen);
    } catch (error) {
      reject(error);
    }
  });
  return promise.finally(() => {
    clearTimeout(giveUp);
    watcher[Symbol.dispose]();
  });
}

function tell(what: Supervision, seen: Observation, told: { started: boolean; spoke: boolean }): void {
  if (seen.kind !== 'running' && seen.kind !== 'ended') return;
  if (seen.runner && seen.program && !told.started) {
    told.started = true;
    what.onStarted?.(seen.runner);
  }
  // A quick program's output may be seen before it is itself: what it said is told when its start was.
  if (seen.firstOutputAt && told.started && !told.spoke) {
    told.spoke = true;
    what.onSpoke?.();
  }
}

async function endOf(what: Supervision, seen: Observation): Promise<ProgramEnd | null> {
  switch (seen.kind) {
    case 'running':
    case 'not_started':
      return null;
    case 'ended':
      return { kind: 'ended', report: seen.report };
    case 'abandoned':
      return { kind: 'not_started', detail: 'its start was given up' };
    case 'lost':
      return { kind: 'lost', tree: await endLost(what) };
  }
}

/** What a lost runner left: a harness that was to be asked politely still is, for it may have words to write; anything else ends at once. */
function endLost(what: Supervision): Promise<TreeEnd> {
  const spec = readSpec(what.dir);
  const graceMs = spec?.polite ? (spec.graceMs ?? defaultGraceMs) : 0;
  return endTree({ tree: treeOfRunner(what), graceMs, ...(spec?.polite && { polite: spec.polite }) });
}

/**
 * Ends a program and everything it started; safe to repeat. A start that has not happened yet never will. What its runner had
 * ended already is in the list too.
 */
export async function endProgram(what: {
  readonly dir: string;
  readonly nonce: string;
  readonly tier: ProgramSpec['confinement']['tier'];
  readonly graceMs: number;
}): Promise<TreeEnd> {
  mkdirSync(what.dir, { recursive: true, mode: 0o700 });
  const before = observeRunner(what.dir);
  const told = before.kind === 'ended' ? before.report.leftovers : [];
  const tree = await endRunner(what);
  return { ...tree, ended: [...told, ...tree.ended] };
}
