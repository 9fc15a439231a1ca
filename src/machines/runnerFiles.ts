import { closeSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { Instant } from '../base/clock.ts';
import type { EndedProcess, ExitReport, ProcessIdentity, ProgramSpec } from './port.ts';
import type { ProcessTree } from './processTree.ts';

/** The files of a runner's folder. Only the runner writes them, but for `spec.json` and an abandoned start's `runner.json`. */
export const runnerFile = {
  spec: 'spec.json',
  /** Created once and never changed: who owns this start. */
  runner: 'runner.json',
  program: 'program.json',
  heartbeat: 'heartbeat',
  /** Written at the first byte of output. */
  firstOutput: 'first-output.json',
  output: 'output.log',
  /** Lines `[milliseconds since the start, byte offset]`: at that time the output was that long. */
  times: 'output.times.jsonl',
  /** Written when the output is complete: its true length and the part that was dropped. */
  outputEnd: 'output.json',
  exit: 'exit.json',
  /** What the runner itself had to say on stderr; empty when all is well. */
  log: 'runner.log',
} as const;

/** Time from the polite signal to the hard end when the specification doesn't say, milliseconds. */
export const defaultGraceMs = 5000;

/** `runner.json`: the claim on a start, by the runner or by a controller that gave up on it. */
export type RunnerClaim =
  | ({ readonly nonce: string; readonly runner: ProcessIdentity; readonly abandoned?: false } & Instant)
  | ({ readonly nonce: string; readonly abandoned: true } & Instant);

/** `program.json`: what the runner started. */
export interface ProgramRecord extends Instant {
  readonly nonce: string;
  /** The program itself (not a wrapper); its pid is the machine's, not the inner namespace's. */
  readonly program: ProcessIdentity;
  readonly tree: ProcessTree;
}

/** `heartbeat`, rewritten in place every five seconds, so that it goes on when the disk is full. */
export interface Heartbeat extends Instant {
  readonly outputBytes: number;
}

/** `exit.json`: the port's report and what this implementation adds. */
export interface RunnerExit extends ExitReport {
  /** Processes of the tree that were still there when the program had ended, or that were ended with it. */
  readonly leftovers: readonly EndedProcess[];
  /** Processes that a SIGKILL did not end: the next session must not start. */
  readonly survivors: readonly EndedProcess[];
  /** Output that could not be kept because the disk was full, bytes. */
  readonly outputLost: number;
  /** Milliseconds from the program's end to an empty tree. */
  readonly reapMs: number;
}

/** Reads a JSON file; undefined when it is missing or not (yet) whole. */
export function readJson<Value>(path: string): Value | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof value === 'object' && value !== null ? (value as Value) : undefined;
  } catch {
    return undefined;
  }
}

/** Writes a file so that a reader sees all of it or nothing: temporary file, fsync, rename, fsync of the folder. */
export function writeAtomically(path: string, text: string): void {
  const temporary = `${path}.tmp`;
  writeDurably(temporary, text);
  renameSync(temporary, path);
  syncFolder(dirname(path));
}

/** Creates a file whole and only if it doesn't exist (by a hard link; by O_EXCL on file systems without them). False when it exists. */
export function createOnce(path: string, text: string): boolean {
  const temporary = `${path}.${process.pid}.tmp`;
  writeDurably(temporary, text);
  try {
    linkSync(temporary, path);
    return true;
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'EEXIST') return false;
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS' && code !== 'EMLINK') throw cause;
    return createExclusively(path, text);
  } finally {
    unlinkSync(temporary);
    syncFolder(dirname(path));
  }
}

function createExclusively(path: string, text: string): boolean {
  try {
    writeDurably(path, text, 'wx');
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw cause;
  }
}

function writeDurably(path: string, text: string, flag = 'w'): void {
  const file = openSync(path, flag, 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Makes a rename or creation in a folder durable; file systems that refuse to sync folders are left to their own order. */
export function syncFolder(folder: string): void {
  try {
    const handle = openSync(folder, 'r');
    try {
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  } catch {
    // not all file systems can; the data itself has been synced
  }
}

/** Reads a runner's specification. Undefined when it is missing or lacks what a start needs. */
export function readSpec(folder: string): ProgramSpec | undefined {
  const spec = readJson<Partial<ProgramSpec>>(join(folder, runnerFile.spec));
  const whole =
    typeof spec?.nonce === 'string' &&
    Array.isArray(spec.argv) &&
    typeof spec.argv[0] === 'string' &&
    typeof spec.cwd === 'string' &&
    typeof spec.confinement?.tier === 'string';
  return whole ? (spec as ProgramSpec) : undefined;
}
