import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

import { readJson, readSpec, runnerFile, writeAtomically } from './runnerFiles.ts';

/** Output kept when the specification doesn't say: 64 MiB. */
export const defaultOutputBytes = 64 * 1024 * 1024;

/** `output.json`: how the finished output lies in `output.log`. Offsets count the program's own bytes. */
export interface OutputEnd {
  /** All bytes the program wrote. */
  readonly total: number;
  /** Bytes from `droppedFrom` up to `droppedTo` are not kept; equal when nothing was dropped. */
  readonly droppedFrom: number;
  readonly droppedTo: number;
  /** Length of the line in `output.log` that stands for them. */
  readonly markerBytes: number;
  /** Bytes that could not be written because the disk was full. */
  readonly lost: number;
}

/**
 * A program's output on disk, as bytes, bounded: the first half goes to `output.log`; what follows goes to segments of which the
 * last two are kept (`output.tail-<offset>`), and at the end the last half is put behind a line that says what was dropped.
 * A full disk loses output, never the program.
 */
export class OutputLog {
  readonly #folder: string;
  readonly #half: number;
  readonly #started: number;
  #file: number;
  #times: number;
  #total = 0;
  #lost = 0;
  #segments: { readonly path: string; readonly from: number }[] = [];
  #lastStamp = -Infinity;
  #timesBytes = 0;

  constructor(folder: string, given: { readonly bytes?: number; readonly started: number }) {
    this.#folder = folder;
    this.#half = Math.max(1, Math.floor((given.bytes ?? defaultOutputBytes) / 2));
    this.#started = given.started;
    this.#file = openSync(join(folder, runnerFile.output), 'a', 0o600);
    this.#times = openSync(join(folder, runnerFile.times), 'a', 0o600);
  }

  /** Bytes the program has written so far. */
  get total(): number {
    return this.#total;
  }

  /** Bytes that a full disk lost so far. */
  get lost(): number {
    return this.#lost;
  }

  /** Keeps a chunk and the time at which it came. */
  append(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#total >= this.#half && (this.#total - this.#half) % this.#half === 0) this.#nextSegment();
      const part = chunk.subarray(at, at + this.#half - (this.#total % this.#half));
      this.#write(part);
      this.#total += part.length;
      at += part.length;
    }
    this.#stamp();
  }

  #write(part: Buffer): void {
    try {
      for (let at = 0; at < part.length;) at += writeSync(this.#file, part, at);
    } catch {
      this.#lost += part.length; // the disk is full: the program goes on, and the loss is told in exit.json
    }
  }

  /** `output.log` holds the first half; each further segment is one half long, so that the last two hold the last half. */
  #nextSegment(): void {
    const path = join(this.#folder, `output.tail-${this.#total}`);
    try {
      const next = openSync(path, 'a', 0o600);
      closeSync(this.#file);
      this.#file = next;
      this.#segments.push({ path, from: this.#total });
    } catch {
      return; // no room for a new file: the segment before grows instead of being replaced, and writes to it fail for themselves
    }
    while (this.#segments.length > 2) unlinkSync((this.#segments.shift() as { path: string }).path);
  }

  /** One line at most every 100 ms; once a second beyond 4 MiB of lines. */
  #stamp(): void {
    const now = performance.now();
    if (now - this.#lastStamp < (this.#timesBytes < 4 * 1024 * 1024 ? 100 : 1000)) return;
    this.#lastStamp = now;
    try {
      this.#timesBytes += writeSync(this.#times, `[${Math.round(now - this.#started)},${this.#total}]\n`);
    } catch {
      // the disk is full: a replay will jump here
    }
  }

  /** Puts the kept end behind the kept beginning, writes `output.json` and removes the segments. */
  close(): OutputEnd {
    this.#lastStamp = -Infinity;
    this.#stamp();
    closeSync(this.#file);
    closeSync(this.#times);
    const keepFrom = Math.max(Math.min(this.#half, this.#total), this.#total - this.#half);
    const dropped = Math.max(0, keepFrom - this.#half);
    const marker = dropped > 0 ? Buffer.from(`\n[hma: ${dropped} bytes of output dropped here]\n`) : Buffer.alloc(0);
    const end: OutputEnd = {
      total: this.#total,
      droppedFrom: keepFrom - dropped,
      droppedTo: keepFrom,
      markerBytes: marker.length,
      lost: this.#lost,
    };
    if (this.#segments.length === 0) {
      this.#seal(end);
      return end;
    }
    this.#file = openSync(join(this.#folder, runnerFile.output), 'a', 0o600);
    const headBytes = fstatSync(this.#file).size;
    const lostBefore = this.#lost;
    this.#write(marker);
    for (const segment of this.#segments)
      this.#write(readFileSync(segment.path).subarray(Math.max(0, keepFrom - segment.from)));
    const whole = this.#lost === lostBefore && this.#seal(end);
    // on a full disk the segments stay as they are, and are read as they were while the program ran
    if (whole) for (const segment of this.#segments) unlinkSync(segment.path);
    else ftruncateSync(this.#file, headBytes);
    closeSync(this.#file);
    return end;
  }

  /** Writes `output.json`; false when the disk has no room even for that. */
  #seal(end: OutputEnd): boolean {
    try {
      writeAtomically(join(this.#folder, runnerFile.outputEnd), JSON.stringify(end));
      return true;
    } catch {
      return false;
    }
  }
}

/** A piece of a program's output. */
export interface OutputPiece {
  readonly bytes: Buffer;
  /** Offset of the first byte returned; later than asked for when bytes in between were dropped. */
  readonly from: number;
  /** Where to go on. */
  readonly next: number;
  /** Whether the output is complete and `next` is its end. */
  readonly ended: boolean;
}

/** Reads output of a running or ended program from a byte offset, at most `most` bytes: for terminals, also while it grows and is bounded. */
export function readOutput(folder: string, from: number, most = 256 * 1024): OutputPiece {
  const end = readJson<OutputEnd>(join(folder, runnerFile.outputEnd));
  const stretches = end ? finished(folder, end) : growing(folder);
  // on a full disk there may be an end report and no `output.json`
  const length = end?.total ?? (existsSync(join(folder, runnerFile.exit)) ? (stretches.at(-1)?.to ?? 0) : Infinity);
  for (const one of stretches) {
    if (from >= one.to) continue;
    const start = Math.max(from, one.from);
    const bytes = readPiece(one.path, start - one.from + one.skip, Math.min(most, one.to - start));
    if (bytes.length === 0) continue;
    const next = start + bytes.length;
    return { bytes, from: start, next, ended: next >= length };
  }
  return { bytes: Buffer.alloc(0), from, next: from, ended: from >= length };
}

/** Bytes of output so far, from the files alone. */
export function outputLength(folder: string): number {
  const end = readJson<OutputEnd>(join(folder, runnerFile.outputEnd));
  return end ? end.total : (growing(folder).at(-1)?.to ?? 0);
}

/** A stretch of the output [from, to) that lies in a file behind `skip` bytes. */
interface Stretch {
  readonly path: string;
  readonly from: number;
  readonly to: number;
  readonly skip: number;
}

function finished(folder: string, end: OutputEnd): Stretch[] {
  const path = join(folder, runnerFile.output);
  const head = { path, from: 0, to: end.droppedFrom, skip: 0 };
  const kept = end.total - end.droppedTo;
  // counted from the file's end: a full disk may have cut the beginning short
  return kept <= 0
    ? [head]
    : [head, { path, from: end.droppedTo, to: end.total, skip: Math.max(0, sizeOf(path) - kept) }];
}

function growing(folder: string): Stretch[] {
  const half = Math.max(1, Math.floor((readSpec(folder)?.outputBytes ?? defaultOutputBytes) / 2));
  const path = join(folder, runnerFile.output);
  const stretches: Stretch[] = [{ path, from: 0, to: Math.min(half, sizeOf(path)), skip: 0 }];
  const tails = names(folder).flatMap((name) => (name.startsWith('output.tail-') ? [Number(name.slice(12))] : []));
  for (const from of tails.sort((a, b) => a - b)) {
    const tail = join(folder, `output.tail-${from}`);
    stretches.push({ path: tail, from, to: from + sizeOf(tail), skip: 0 });
  }
  return stretches;
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}

function readPiece(path: string, at: number, most: number): Buffer {
  try {
    const file = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(Math.min(most, Math.max(0, fstatSync(file).size - at)));
      return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, at));
    } finally {
      closeSync(file);
    }
  } catch {
    return Buffer.alloc(0); // the segment was dropped while we looked: the next call sees the newer ones
  }
}
