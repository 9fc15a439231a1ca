import { execFile, spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { chownSync, closeSync, constants, openSync, rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { constants as system } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

import type { ConfinedProgram } from './isolation.ts';
import type { ProcessIdentity, ProgramSpec } from './port.ts';
import { allProcesses, descendants, identify, innerPid } from './processes.ts';
import { parseReaperLine } from './reaper.ts';
import { tool } from './tools.ts';

/** How a program ended. `failed` says why it could not be started at all. */
export interface ProgramEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly failed?: string;
}

/** A program that was spawned. */
export interface ProgramRun {
  /** The process that was spawned: a wrapper, or the program. Undefined when nothing could be spawned; `ended` tells why. */
  readonly root: ProcessIdentity | undefined;
  /** The program itself once it runs; the root where no wrapper tells, or where it has already ended. */
  readonly program: Promise<ProcessIdentity | undefined>;
  /** The program's own end; its children may live on. */
  readonly ended: Promise<ProgramEnd>;
  /** Resolves when no process can write output any more. */
  readonly outputEnded: Promise<void>;
  /** Resolves when the spawned process has ended; where that is the reaper, this comes at once unless the program left something. */
  readonly rootEnded: Promise<void>;
  /** Whether the reaper has ended by itself: nothing that descends from the program lives. */
  isEmpty(): boolean;
  /** Stops listening for output: for when something that survived still holds it open. */
  stopReading(): void;
}

/** What is given to `runProgram`. */
export interface ProgramStart {
  readonly spec: ProgramSpec;
  readonly confined: ConfinedProgram;
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
  readonly umask: number;
  readonly onOutput: (chunk: Buffer) => void;
  /** Made by `makeOutput`. */
  readonly fifo: string;
}

/** Makes the FIFO for a program's output in the runner's folder and gives its path. */
export async function makeOutput(folder: string): Promise<string> {
  const fifo = join(folder, 'output.fifo');
  rmSync(fifo, { force: true });
  await promisify(execFile)(tool('mkfifo'), ['-m', '600', fifo]);
  return fifo;
}

/**
 * Spawns a program in its own session. stdout and stderr are one FIFO, so that their bytes interleave as they were written and
 * /dev/stdout can be opened by name (Node's own pipes are sockets, which can't); stdin is a file or /dev/null.
 */
export function runProgram(start: ProgramStart): ProgramRun {
  const { fifo } = start;
  const uid = start.spec.confinement.tier === 'uid' ? start.spec.confinement.uid : undefined;
  if (uid !== undefined) chownSync(fifo, uid, uid);
  const reading = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  const writing = openSync(fifo, constants.O_WRONLY);
  const input = openInput(start, uid);
  rmSync(fifo);
  const stdio: StdioOptions = [input, writing, writing, ...(start.confined.reaper ? (['pipe'] as const) : [])];
  const [command, ...args] = start.confined.argv;
  const own = process.umask(start.umask);
  const child = spawn(command, args, {
    cwd: start.spec.confinement.tier === 'bubblewrap' ? '/' : start.spec.cwd,
    env: start.env,
    detached: true,
    stdio,
  });
  process.umask(own);
  const root = child.pid === undefined ? undefined : identify(child.pid);
  if (child.pid !== undefined) offerToOomKiller(child.pid);
  closeSync(writing);
  closeSync(input);
  const output = new Socket({ fd: reading, readable: true, writable: false });
  output.on('data', start.onOutput);
  output.on('error', () => undefined); // an end all the same
  return {
    root,
    ...watch(child, { root, reaper: start.confined.reaper }),
    outputEnded: new Promise((resolve) => output.on('close', () => resolve())),
    stopReading: () => output.destroy(),
  };
}

function openInput(start: ProgramStart, uid: number | undefined): number {
  if (start.spec.stdin === undefined) return openSync('/dev/null', 'r');
  const file = join(start.folder, 'stdin');
  writeFileSync(file, start.spec.stdin, { mode: 0o600 });
  if (uid !== undefined) chownSync(file, uid, uid);
  const input = openSync(file, 'r');
  rmSync(file);
  return input;
}

/** The program goes first when memory runs out, so that runner and controller outlive a session that eats it. */
function offerToOomKiller(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '500');
  } catch {
    // it has ended already, or this system has no such file
  }
}

/** Listens to the reaper and to the spawned process, whichever tells first. */
function watch(
  child: ChildProcess,
  given: { readonly root: ProcessIdentity | undefined; readonly reaper: boolean },
): Pick<ProgramRun, 'program' | 'ended' | 'rootEnded' | 'isEmpty'> {
  const program = Promise.withResolvers<ProcessIdentity | undefined>();
  const ended = Promise.withResolvers<ProgramEnd>();
  let begun = false;
  let empty = false;
  let buffered = '';
  const words = child.stdio[3] as Readable | null | undefined;
  words?.on('error', () => undefined);
  words?.on('data', (chunk: Buffer) => {
    const lines = (buffered + chunk.toString('utf8')).split('\n');
    buffered = lines.pop() ?? '';
    for (const line of lines) {
      const said = parseReaperLine(line);
      if (said?.word === 'main') {
        begun = true;
        program.resolve(given.root && findProgram(given.root, said.pid));
      } else if (said?.word === 'exit') ended.resolve({ code: said.code, signal: signalName(said.signal) });
      else if (said?.word === 'failed') ended.resolve({ code: null, signal: null, failed: said.why });
    }
  });
  child.on('error', (cause) => {
    program.resolve(given.root);
    ended.resolve({ code: null, signal: null, failed: cause.message });
  });
  const rootEnded = Promise.withResolvers<void>();
  child.on('exit', (code) => {
    empty = given.reaper && code === 0;
    rootEnded.resolve();
  });
  // 'close' comes after the reaper's last words have been read, and is what is left where there is no reaper
  child.on('close', (code, signal) => {
    program.resolve(given.root);
    const failed =
      given.reaper && !begun
        ? {
            failed: `the wrapper ended (${signal ?? `code ${code}`}) before it started the program; its words are in the output`,
          }
        : {};
    ended.resolve({ code, signal, ...failed });
  });
  if (!given.reaper) program.resolve(given.root);
  return { program: program.promise, ended: ended.promise, rootEnded: rootEnded.promise, isEmpty: () => empty };
}

/** The process below the root that has this pid in its own namespace; the root itself when it has already ended. */
function findProgram(root: ProcessIdentity, pid: number): ProcessIdentity {
  const found = descendants(root, allProcesses()).find((one) => innerPid(one.pid) === pid);
  return found ? { pid: found.pid, start: found.start } : root;
}

const signalName = (number: number | null): string | null =>
  number === null
    ? null
    : (Object.entries(system.signals).find(([, value]) => value === number)?.[0] ?? `SIG${number}`);
