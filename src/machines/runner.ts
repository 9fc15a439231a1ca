import {
  appendFileSync,
  closeSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { processClock } from '../base/clock.ts';
import { crashAt } from './crashPoints.ts';
import { endTree, leftoverGraceMs, type TreeEnd } from './endTree.ts';
import { confine, type ConfinedProgram } from './isolation.ts';
import { countOomKills, oomSince } from './outOfMemory.ts';
import { OutputLog } from './outputLog.ts';
import type { ExitReport, ProgramSpec } from './port.ts';
import { identify } from './processes.ts';
import { wrappersOf, type ProcessTree } from './processTree.ts';
import { makeOutput, runProgram, type ProgramEnd, type ProgramRun } from './programRun.ts';
import {
  createOnce,
  defaultGraceMs,
  readSpec,
  runnerFile,
  syncFolder,
  writeAtomically,
  type ProgramRecord,
  type RunnerExit,
} from './runnerFiles.ts';
import { programEnvironment } from './runnerEnvironment.ts';
import { standbyWord, type RunnerOrder } from './standby.ts';

/*
 * The runner: a small process around one program, which outlives the controller that started it.
 *
 *   (stand by for an order ──stdin closes──▶ exit)
 *        │
 *   claim runner.json ──taken──▶ exit: the controller gave up on this start
 *        │
 *   prepare ──fails──▶ exit.json (cause spawn)
 *        │
 *   spawn ▶ program.json ▶ running ──program ends──▶ exit
 *                             │ ├────deadline──────▶ timeout ─┐
 *                             │ └────SIGTERM───────▶ ended ───┤
 *                             ▼                               ▼
 *                      end what is left of the tree ▶ close output ▶ exit.json
 */

const clock = processClock();
/** What the program's files are created with; the runner's own are private. */
const programUmask = process.umask(0o077);
const heartbeatMs = 5000;
/** How long a program's end may precede that of its reaper when nothing is left, ms; then the tree is looked for. */
const emptyWithinMs = 20;
/** Room set aside at the start, so that the end can be told on a full disk. */
const exitRoom = 64 * 1024;

/** Resolves at the first SIGTERM or SIGINT: somebody wants the program ended. */
const asked = new Promise<'ended'>((resolve) => {
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => resolve('ended'));
});
process.on('SIGHUP', () => undefined);

/** Runs the program of a runner folder to the end of its whole tree. */
async function main(folder: string): Promise<void> {
  const spec = readSpec(folder);
  const runner = identify(process.pid);
  if (!spec || !runner) throw new Error(`${join(folder, runnerFile.spec)} is missing or not a program's specification`);
  if (!createOnce(join(folder, runnerFile.runner), JSON.stringify({ nonce: spec.nonce, runner, ...clock.now() })))
    return;
  crashAt('runner.created');
  const fifo = makeOutput(folder);
  fifo.catch(() => undefined); // told where it is waited for
  const exitFile = reserveExit(folder);
  const log = new OutputLog(folder, {
    started: performance.now(),
    ...(spec.outputBytes !== undefined && { bytes: spec.outputBytes }),
  });
  const stopHeart = startHeart(folder, log);
  const confined = await confine({ ...spec, scratch: folder });
  crashAt('runner.prepared');
  const report = confined.ok
    ? await runToEnd({ folder, spec, log, fifo, confined: confined.value })
    : notStarted(spec, confined.refusal.message);
  if (confined.ok && report.survivors.length === 0)
    await confined.value.cleanup().catch((cause: Error) => remark(folder, `clean-up: ${cause.message}`));
  const output = log.close();
  crashAt('runner.outputClosed');
  await writeExit(folder, exitFile, { ...report, outputBytes: output.total, outputLost: output.lost });
  crashAt('runner.exitWritten');
  stopHeart();
}

/** What is being run. */
interface Job {
  readonly folder: string;
  readonly spec: ProgramSpec;
  readonly log: OutputLog;
  readonly fifo: Promise<string>;
  readonly confined: ConfinedProgram;
}

async function runToEnd(job: Job): Promise<RunnerExit> {
  const { folder, spec, log } = job;
  const before = countOomKills();
  const env = programEnvironment(process.env, { ...job.confined.env, HMA_NONCE: spec.nonce });
  const deadline = startDeadline(spec.timeoutMs);
  const onOutput = (chunk: Buffer): void => {
    if (log.total === 0) noteFirstOutput(folder);
    log.append(chunk);
  };
  let run: ProgramRun;
  try {
    const { confined } = job;
    run = runProgram({ spec, confined, env, folder, umask: programUmask, onOutput, fifo: await job.fifo });
  } catch (cause) {
    return notStarted(spec, (cause as Error).message);
  }
  crashAt('runner.spawned');
  const tree = await Promise.race([
    recordProgram(job, run),
    Promise.race([asked, deadline.passed]).then(() => undefined),
  ]);
  crashAt('runner.programWritten');
  const cause = await Promise.race([run.ended.then(() => 'exit' as const), asked, deadline.passed]);
  const at = clock.now();
  deadline.clear();
  if (cause === 'exit') await Promise.race([run.rootEnded, wait(emptyWithinMs, undefined, { ref: false })]);
  crashAt('runner.ended');
  const end = await endWhole({ tree: tree ?? treeOf(spec, run), spec, run, polite: cause !== 'exit' });
  const result = await settle(run, end);
  crashAt('runner.reaped');
  return {
    nonce: spec.nonce,
    ...reportOf(result, cause),
    outOfMemory: cause === 'exit' && wasKilled(result) && oomSince(before),
    ...at,
    outputBytes: log.total,
    outputLost: log.lost,
    leftovers: end.ended,
    survivors: end.survivors,
    reapMs: end.ms,
  };
}

/** The program's end is known once its tree is gone; a survivor's may never be. Output is read to its end. */
async function settle(run: ProgramRun, end: TreeEnd): Promise<ProgramEnd> {
  const unknown: ProgramEnd = { code: null, signal: null };
  const result = await Promise.race([run.ended, wait(end.survivors.length > 0 ? 500 : 5000, unknown, { ref: false })]);
  await Promise.race([run.outputEnded, wait(1000, undefined, { ref: false })]);
  run.stopReading();
  return result;
}

const wasKilled = (end: ProgramEnd): boolean => end.signal === 'SIGKILL' || end.code === 137;

function reportOf(
  end: ProgramEnd,
  cause: 'exit' | 'timeout' | 'ended',
): Pick<ExitReport, 'code' | 'signal' | 'cause' | 'error'> {
  const { code, signal, failed } = end;
  return failed !== undefined && cause === 'exit'
    ? { code, signal, cause: 'spawn', error: failed }
    : { code, signal, cause };
}

/** Ends the tree; the program itself, if it was ended too, is not counted among what it left. */
async function endWhole(given: {
  readonly tree: ProcessTree;
  readonly spec: ProgramSpec;
  readonly run: ProgramRun;
  readonly polite: boolean;
}): Promise<TreeEnd> {
  const { tree, spec, run } = given;
  const grace = spec.graceMs ?? defaultGraceMs;
  const program = tree.program?.pid;
  return endTree({
    tree,
    graceMs: given.polite ? grace : Math.min(grace, leftoverGraceMs),
    ...(spec.polite && { polite: spec.polite }),
    isEmpty: () => run.isEmpty(),
    isOwn: ({ pid, pgid }) => pid === program || (spec.groupIsOwn === true && pgid === program),
  });
}

/** Writes `program.json` once the program runs. */
async function recordProgram(job: Job, run: ProgramRun): Promise<ProcessTree | undefined> {
  const program = await run.program;
  if (!program || !run.root) return undefined;
  const tree: ProcessTree = {
    ...treeOf(job.spec, run),
    supervisors: job.confined.reaper ? wrappersOf(run.root, job.spec.confinement.tier) : [],
  };
  const record: ProgramRecord = { nonce: job.spec.nonce, program, tree, ...clock.now() };
  try {
    writeAtomically(join(job.folder, runnerFile.program), JSON.stringify(record));
  } catch (cause) {
    remark(job.folder, `program.json: ${(cause as Error).message}`); // a full disk: the program is still found by its marker
  }
  return { ...tree, program };
}

function treeOf(spec: ProgramSpec, run: ProgramRun): ProcessTree {
  const { tier, uid } = spec.confinement;
  const self = identify(process.pid);
  return {
    tier,
    nonce: spec.nonce,
    ...(run.root && { root: run.root }),
    supervisors: [],
    spare: self ? [self] : [],
    ...(uid !== undefined && { uid }),
  };
}

const notStarted = (spec: ProgramSpec, error: string): RunnerExit => ({
  ...{ nonce: spec.nonce, code: null, signal: null, cause: 'spawn', error, outOfMemory: false, ...clock.now() },
  ...{ outputBytes: 0, outputLost: 0, leftovers: [], survivors: [], reapMs: 0 },
});

/** A deadline on the monotonic clock; longer ones than a timer can hold are waited for in pieces. */
function startDeadline(timeoutMs: number | undefined): { readonly passed: Promise<'timeout'>; clear(): void } {
  const { promise, resolve } = Promise.withResolvers<'timeout'>();
  const due = performance.now() + (timeoutMs ?? Infinity);
  let timer: NodeJS.Timeout | undefined;
  const arm = (): void => {
    const left = due - performance.now();
    if (left <= 0) resolve('timeout');
    else timer = setTimeout(arm, Math.min(left, 2 ** 30));
  };
  if (timeoutMs !== undefined) arm();
  return { passed: promise, clear: () => clearTimeout(timer) };
}

function startHeart(folder: string, log: OutputLog): () => void {
  const file = openSync(join(folder, runnerFile.heartbeat), 'w', 0o600);
  const beat = (): void => {
    try {
      // one length for ever and written in place: needs no room on a full disk
      writeSync(
        file,
        JSON.stringify({ ...clock.now(), outputBytes: log.total })
          .padEnd(255)
          .concat('\n'),
        0,
      );
    } catch {
      // missed beats are what the controller sees of a dead disk
    }
  };
  beat();
  const timer = setInterval(beat, heartbeatMs);
  return () => {
    clearInterval(timer);
    closeSync(file);
  };
}

function noteFirstOutput(folder: string): void {
  try {
    writeAtomically(join(folder, runnerFile.firstOutput), JSON.stringify(clock.now()));
  } catch {
    // the disk is full; the handoff's timing lacks one stamp
  }
}

/** Sets room aside for the end report. */
function reserveExit(folder: string): number {
  const file = openSync(join(folder, `${runnerFile.exit}.tmp`), 'w', 0o600);
  writeFileSync(file, ' '.repeat(exitRoom));
  fsyncSync(file);
  return file;
}

/** Writes the end report into the room set aside and gives it its name. Tries until the disk lets it: nobody else knows how the program ended. */
async function writeExit(folder: string, file: number, report: RunnerExit): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(report));
  for (;;) {
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at, bytes.length - at, at);
      ftruncateSync(file, bytes.length);
      fsyncSync(file);
      renameSync(join(folder, `${runnerFile.exit}.tmp`), join(folder, runnerFile.exit));
      syncFolder(folder);
      return closeSync(file);
    } catch (cause) {
      remark(folder, `exit.json: ${(cause as Error).message}`);
      await wait(1000);
    }
  }
}

/** What the runner itself has to say. */
function remark(folder: string, text: string): void {
  try {
    appendFileSync(join(folder, runnerFile.log), `${text}\n`, { mode: 0o600 });
  } catch {
    process.stderr.write(`${text}\n`); // no folder, or a full disk
  }
}

/** Stands by until stdin ends, and gives the folder that it was told; undefined when it is not needed, or its controller died in mid-word. */
async function standBy(): Promise<string | undefined> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk as string;
  try {
    const { folder, env } = JSON.parse(text) as RunnerOrder;
    process.chdir(folder);
    Object.assign(process.env, env);
    return folder;
  } catch {
    return undefined;
  }
}

const word = process.argv[2] ?? '';
const folder = word === standbyWord ? await standBy() : word;
if (folder !== undefined)
  await main(folder).catch((cause: Error) => {
    remark(folder, cause.stack ?? cause.message);
    process.exitCode = 1;
  });
