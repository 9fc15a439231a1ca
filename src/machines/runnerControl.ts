import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';

import { processClock, type Clock, type Instant } from '../base/clock.ts';
import { refused, ok, type Result } from '../base/result.ts';
import { endTree, type TreeEnd } from './endTree.ts';
import type { EndedProcess, Polite, ProcessIdentity, ProgramSpec, Tier } from './port.ts';
import { describeProcess, identify, isAlive, signalProcess } from './processes.ts';
import { membersOf, type ProcessTree } from './processTree.ts';
import { runnerEnvironment } from './runnerEnvironment.ts';
import type { Standby } from './standby.ts';
import {
  createOnce,
  defaultGraceMs,
  readJson,
  readSpec,
  runnerFile,
  writeAtomically,
  type Heartbeat,
  type ProgramRecord,
  type RunnerClaim,
  type RunnerExit,
} from './runnerFiles.ts';

/** What a runner folder tells about its program. */
export type Observation =
  | { readonly kind: 'not_started' }
  /** A controller gave this start up; nothing was and nothing will be started. */
  | { readonly kind: 'abandoned' }
  | {
      readonly kind: 'running';
      readonly runner: ProcessIdentity;
      readonly program?: ProcessIdentity;
      readonly startedAt: Instant;
      readonly lastHeartbeat?: Heartbeat;
      readonly firstOutputAt?: Instant;
    }
  | {
      readonly kind: 'ended';
      readonly report: RunnerExit;
      readonly runner?: ProcessIdentity;
      readonly program?: ProcessIdentity;
      readonly firstOutputAt?: Instant;
    }
  /** The runner is dead and has told no end (killed, or the machine went down). `alive` lists what is left of its program. */
  | {
      readonly kind: 'lost';
      readonly runner: ProcessIdentity;
      readonly program?: ProcessIdentity;
      readonly alive: readonly EndedProcess[];
      readonly rebooted: boolean;
    };

/** Why a runner could not be spawned: a missing Node or bundle, no process to be had. */
export interface StartRefusal {
  readonly reason: 'cannot_start';
  readonly message: string;
}

/** What `startRunner` needs. `env` is all that the program may see, and nothing else reaches it. */
export interface RunnerStart {
  readonly node: string;
  readonly runnerJs: string;
  /** An existing private folder, used for this start only. */
  readonly dir: string;
  readonly spec: ProgramSpec;
  readonly env: Readonly<Record<string, string>>;
  /** Where a runner may stand by already. */
  readonly standby?: Standby;
}

/**
 * Writes `spec.json` and starts a runner on it: detached, in its own session, with no pipe to this process. The nonce must be on
 * disk (the intent) before. Returns as soon as the process is there; what became of it, `observeRunner` tells.
 */
export async function startRunner(start: RunnerStart): Promise<Result<ProcessIdentity, StartRefusal>> {
  writeAtomically(join(start.dir, runnerFile.spec), JSON.stringify(start.spec));
  const ready = await start.standby?.send({ folder: start.dir, env: runnerEnvironment(start.env) });
  if (ready) return ok(ready);
  const log = openSync(join(start.dir, runnerFile.log), 'a', 0o600);
  try {
    const child = spawn(start.node, [start.runnerJs, start.dir], {
      cwd: start.dir,
      detached: true,
      env: runnerEnvironment(start.env),
      stdio: ['ignore', log, log],
    });
    const failed = await new Promise<Error | undefined>((resolve) => {
      child.once('error', resolve);
      child.once('spawn', () => resolve(undefined));
    });
    child.unref();
    // a runner that has ended already is a zombie of ours, or reaped: its number stands for it, and its files tell the rest
    if (!failed && child.pid !== undefined) return ok(identify(child.pid) ?? { pid: child.pid, start: '0' });
    return refused({
      reason: 'cannot_start',
      message: `the runner could not be started with ${start.node}: ${failed?.message ?? 'no process id'}`,
    });
  } finally {
    closeSync(log);
  }
}

/** Gives a start up: creates `runner.json` itself, so that a runner that comes late exits without starting anything; `started` when one was faster. */
export function abandonStart(dir: string, nonce: string, clock: Clock = processClock()): 'abandoned' | 'started' {
  const claim: RunnerClaim = { nonce, abandoned: true, ...clock.now() };
  const file = join(dir, runnerFile.runner);
  if (createOnce(file, JSON.stringify(claim))) return 'abandoned';
  return readJson<RunnerClaim>(file)?.abandoned === true ? 'abandoned' : 'started';
}

/** Reads a runner folder. The clock's boot decides whether a process of then can still live. */
export function observeRunner(dir: string, clock: Clock = processClock()): Observation {
  const before = endOf(dir);
  if (before) return before;
  const claim = readJson<RunnerClaim>(join(dir, runnerFile.runner));
  // without hard links the claim exists for an instant before it is whole: not started, as far as can be told
  if (!claim) return { kind: 'not_started' };
  if (claim.abandoned) return { kind: 'abandoned' };
  const record = readJson<ProgramRecord>(join(dir, runnerFile.program));
  const { runner } = claim;
  const found = { runner, ...(record && { program: record.program }) };
  const boot = { then: claim.boot, now: clock.now().boot };
  if (isAlive(runner, boot)) {
    const lastHeartbeat = readJson<Heartbeat>(join(dir, runnerFile.heartbeat));
    return {
      kind: 'running',
      ...found,
      startedAt: instantOf(claim),
      ...(lastHeartbeat && { lastHeartbeat }),
      ...firstOutput(dir),
    };
  }
  // it may have told its end between the two looks
  const after = endOf(dir);
  if (after) return after;
  const rebooted = boot.then !== boot.now;
  const spec = readSpec(dir);
  const tree = rebooted || !spec ? undefined : treeOfRunner({ dir, nonce: spec.nonce, tier: spec.confinement.tier });
  return { kind: 'lost', ...found, alive: tree ? membersOf(tree).map(describeProcess) : [], rebooted };
}

function endOf(dir: string): Observation | undefined {
  const report = readJson<RunnerExit>(join(dir, runnerFile.exit));
  if (!report) return undefined;
  const claim = readJson<RunnerClaim>(join(dir, runnerFile.runner));
  const record = readJson<ProgramRecord>(join(dir, runnerFile.program));
  return {
    kind: 'ended',
    report,
    ...(claim && !claim.abandoned && { runner: claim.runner }),
    ...(record && { program: record.program }),
    ...firstOutput(dir),
  };
}

function firstOutput(dir: string): { readonly firstOutputAt?: Instant } {
  const at = readJson<Instant>(join(dir, runnerFile.firstOutput));
  return at ? { firstOutputAt: at } : {};
}

const instantOf = ({ wall, mono, boot }: Instant): Instant => ({ wall, mono, boot });

/**
 * The process tree of a runner folder, for freezing, watching and ending it: what `program.json` says, or, when the runner died
 * before it wrote that, what can be found by the nonce and by the uid of `spec.json`. The runner is spared.
 * Identities of an earlier boot are harmless: nothing has them any more.
 */
export function treeOfRunner(given: {
  readonly dir: string;
  readonly nonce: string;
  readonly tier: Tier;
}): ProcessTree {
  const record = readJson<ProgramRecord>(join(given.dir, runnerFile.program));
  const claim = readJson<RunnerClaim>(join(given.dir, runnerFile.runner));
  const spare = claim && !claim.abandoned ? [claim.runner] : [];
  if (record?.nonce === given.nonce) return { ...record.tree, program: record.program, spare };
  const uid = readSpec(given.dir)?.confinement.uid;
  return { tier: given.tier, nonce: given.nonce, supervisors: [], spare, ...(uid !== undefined && { uid }) };
}

/** What `endRunner` needs. */
export interface RunnerEnding {
  readonly dir: string;
  readonly nonce: string;
  readonly tier: Tier;
  /** Time between the polite signal and the hard end where there is no runner to see to it, milliseconds; a living runner goes by its specification. */
  readonly graceMs: number;
  /** Tier `uid`, for a runner that left no readable specification. */
  readonly uid?: number;
}

/** How much longer than its grace a runner may take to end its tree before it is done without it, milliseconds. */
const runnerPatienceMs = 30_000;

/**
 * Ends everything that a start brought about, whatever state it is in: a living runner is asked and ends its own tree (its report says
 * `ended`); of a dead one the tree is ended from here; a start that has not happened is given up. Idempotent: an ended one is looked
 * through once more. The intent must be on disk before.
 */
export async function endRunner(ending: RunnerEnding): Promise<TreeEnd> {
  const began = performance.now();
  const { dir, nonce } = ending;
  if (observeRunner(dir).kind === 'not_started') abandonStart(dir, nonce);
  const seen = observeRunner(dir);
  if (seen.kind === 'abandoned') return { ended: [], survivors: [], ms: 0 };
  const report = seen.kind === 'running' ? await askRunner({ ...ending, runner: seen.runner }) : undefined;
  const left = treeOfRunner(ending);
  const tree = left.uid === undefined && ending.uid !== undefined ? { ...left, uid: ending.uid } : left;
  const rest = await endTree({ tree, graceMs: report ? 0 : ending.graceMs, ...politeOf(dir) });
  const ended = [...(report?.leftovers ?? []), ...rest.ended];
  return { ended, survivors: rest.survivors, ms: Math.round(performance.now() - began) };
}

/** How the program of a runner's folder is asked to end, as its specification says. */
function politeOf(dir: string): { readonly polite?: Polite } {
  const polite = readSpec(dir)?.polite;
  return polite ? { polite } : {};
}

/** Asks a runner to end its tree and waits for its report; one that doesn't answer is killed. */
async function askRunner(given: RunnerEnding & { readonly runner: ProcessIdentity }): Promise<RunnerExit | undefined> {
  const grace = readSpec(given.dir)?.graceMs ?? defaultGraceMs;
  signalProcess(given.runner, 'SIGTERM');
  const { promise, resolve } = Promise.withResolvers<RunnerExit | undefined>();
  const watching = watchRunner(given.dir, (now) => {
    if (now.kind === 'ended') resolve(now.report);
    else if (now.kind === 'lost') resolve(undefined);
  });
  const timer = setTimeout(() => resolve(undefined), grace + runnerPatienceMs);
  const report = await promise;
  clearTimeout(timer);
  watching[Symbol.dispose]();
  if (!report) signalProcess(given.runner, 'SIGKILL');
  return report;
}

/** How often a folder is looked at although no change was told: network file systems tell none, and a dead runner tells nothing. */
const pollMs = 2000;
const tellingFiles: ReadonlySet<string> = new Set([
  runnerFile.runner,
  runnerFile.program,
  runnerFile.firstOutput,
  runnerFile.exit,
]);

/**
 * Watches a runner folder and calls back with each new observation, the first one included (asynchronously). Heartbeats and output
 * are no news. Stops by itself after `ended`, `abandoned` or `lost`.
 */
export function watchRunner(
  dir: string,
  onChange: (now: Observation) => void,
  clock: Clock = processClock(),
): Disposable {
  let last = '';
  let watcher: FSWatcher | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const stop = (): void => {
    stopped = true;
    watcher?.close();
    clearInterval(timer);
  };
  const look = (): void => {
    if (stopped) return;
    const now = observeRunner(dir, clock);
    const news = JSON.stringify({ ...now, lastHeartbeat: undefined });
    if (news === last) return;
    last = news;
    if (now.kind === 'ended' || now.kind === 'abandoned' || now.kind === 'lost') stop();
    onChange(now);
  };
  if (existsSync(dir)) {
    watcher = watch(dir, (_event, name) => void ((name === null || tellingFiles.has(name)) && look()));
    watcher.on('error', () => watcher?.close()); // the folder is gone or the limit of watches is reached: the poll goes on
  }
  timer = setInterval(look, pollMs);
  queueMicrotask(look);
  return { [Symbol.dispose]: stop };
}
