import { closeSync, fdatasyncSync, fsyncSync, ftruncateSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';

import { createFileAtomic, errorCode, writeFully } from '../base/files.ts';
import { ok, refused, type Result } from '../base/result.ts';
import type { LedgerCrashPoint } from './crashPoints.ts';
import { asEventLine, headerLine, parseObject, sealLine, type Seal } from './format.ts';
import { sayProblem, type LedgerEvent, type LedgerProblem, type NewEvent } from './port.ts';
import { readLedger, segmentName } from './readLedger.ts';

/** The disk (or quota) is full. The ledger is as before the call, and a later append may succeed. */
export class LedgerFull extends Error {
  override readonly name = 'LedgerFull';
}

/** Another owner has a higher fence. What was just written may or may not be in the ledger; nothing of it may be told. The process must end. */
export class FenceLost extends Error {
  override readonly name = 'FenceLost';
}

/** The disk failed in a way that leaves the end of the ledger unknown: only a fresh start, which reads it again, may go on. */
export class LedgerUnwritable extends Error {
  override readonly name = 'LedgerUnwritable';
}

/** Why a ledger can't be opened for writing. */
export type LedgerRefusal =
  | { readonly reason: 'broken'; readonly problems: readonly LedgerProblem[] }
  | { readonly reason: 'fence_used'; readonly fence: number; readonly newest: number }
  | { readonly reason: 'unwritable'; readonly path: string; readonly code: string; readonly detail: string };

/** A refusal in words: what, where, what to do. */
export function describeLedgerRefusal(refusal: LedgerRefusal): string {
  switch (refusal.reason) {
    case 'broken': {
      const places = refusal.problems.filter((problem) => problem.fatal).map(sayProblem);
      const newer = refusal.problems.some((problem) => problem.reason === 'newer_version');
      const remedy = newer
        ? 'Continue this run with the newer HMA.'
        : 'What lies before it can still be read with `hma log`; restore the file from a backup to continue the run.';
      return `The run's ledger can't be continued: ${places.join('; ')}. ${remedy}`;
    }
    case 'fence_used':
      return `The run's ledger already has a segment of owner ${refusal.newest}, so owner ${refusal.fence} can't write it. Start the run again with \`hma resume\`.`;
    case 'unwritable':
      return `The run's ledger can't be written at ${refusal.path}: ${refusal.detail}. Make room or correct the permissions, then \`hma resume\`.`;
  }
}

/** What `openLedger` needs. */
export interface LedgerOptions {
  /** The run's state folder. */
  readonly dir: string;
  /** The owner's fence, higher than that of every owner before. */
  readonly fence: number;
  /** Whether the fence is still this owner's, read from the disk at each call. */
  readonly confirmFence: () => boolean;
  /** Called at each named place; a test ends the process there. */
  readonly crashPoint?: (name: LedgerCrashPoint) => void;
}

/** The writing end of a run's ledger: one per owner. */
export interface Ledger {
  /** Seq of the last event on disk. */
  readonly lastSeq: number;
  /**
   * Appends all the events or none, and returns them as a replay will, once they are synced and the fence was still ours.
   * Throws `LedgerFull`, `FenceLost` or `LedgerUnwritable`; a `TypeError` for an event that couldn't be read back.
   */
  append(events: readonly NewEvent[]): LedgerEvent[];
  close(): void;
}

/** An opened ledger and what had happened before. */
export interface OpenedLedger {
  readonly ledger: Ledger;
  readonly events: LedgerEvent[];
  /** Only torn tails; each was copied to a file beside its segment. */
  readonly problems: readonly LedgerProblem[];
  /** Files that hold what was set aside. */
  readonly setAside: readonly string[];
}

/**
 * Replays a run's ledger and begins this owner's segment, sealing the one before at the length that was read: what an owner that
 * was replaced still writes to its own segment isn't the ledger's any more. Older segments are never changed.
 */
export function openLedger(options: LedgerOptions): Result<OpenedLedger, LedgerRefusal> {
  const { dir, fence } = options;
  const crashPoint = options.crashPoint ?? (() => {});
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const { events, problems, last, newestFence, torn } = readLedger(dir);
    if (problems.some((problem) => problem.fatal)) return refused({ reason: 'broken', problems });
    if (newestFence >= fence) return refused({ reason: 'fence_used', fence, newest: newestFence });
    const setAside = torn === undefined ? [] : [setTornAside(dir, torn)];
    crashPoint('ledger.tornSetAside');
    const { line, hash } = headerLine(fence, last);
    const path = join(dir, segmentName(fence));
    if (!createFileAtomic(path, `${line}\n`)) return refused({ reason: 'fence_used', fence, newest: fence });
    crashPoint('ledger.segmentCreated');
    const end = { fence, bytes: Buffer.byteLength(line) + 1, hash, lastSeq: last?.lastSeq ?? 0 };
    return ok({
      ledger: new SegmentWriter(openSync(path, 'r+'), end, { ...options, crashPoint }),
      events,
      problems,
      setAside,
    });
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    return refused({ reason: 'unwritable', path: dir, code, detail: String(error) });
  }
}

function setTornAside(dir: string, torn: { fence: number; bytes: Buffer }): string {
  for (let n = 1; ; n += 1) {
    const path = join(dir, `ledger-${torn.fence}.torn-${n}`);
    if (createFileAtomic(path, torn.bytes)) return path;
  }
}

type Batch = { readonly bytes: Buffer; readonly events: LedgerEvent[]; readonly hash: string };

/** open ── FenceLost, LedgerUnwritable, close() ──▶ shut (every later append throws the same). LedgerFull leaves it open. */
class SegmentWriter implements Ledger {
  readonly #fd: number;
  readonly #options: Required<LedgerOptions>;
  #end: Seal;
  #shut: Error | undefined;

  constructor(fd: number, end: Seal, options: Required<LedgerOptions>) {
    this.#fd = fd;
    this.#end = end;
    this.#options = options;
  }

  get lastSeq(): number {
    return this.#end.lastSeq;
  }

  append(events: readonly NewEvent[]): LedgerEvent[] {
    if (this.#shut !== undefined) throw this.#shut;
    if (events.length === 0) return [];
    const { crashPoint, confirmFence, fence } = this.#options;
    const batch = encodeBatch(events, this.#end);
    crashPoint('ledger.beforeWrite');
    this.#orRollBack(() => writeFully(this.#fd, batch.bytes, this.#end.bytes));
    crashPoint('ledger.written');
    this.#orRollBack(() => fdatasyncSync(this.#fd));
    crashPoint('ledger.synced');
    if (!confirmFence())
      throw this.#shutWith(
        new FenceLost(
          `Owner ${fence} of this run was replaced by another one; this controller ends without telling what it last wrote.`,
        ),
      );
    crashPoint('ledger.confirmed');
    this.#end = {
      fence,
      bytes: this.#end.bytes + batch.bytes.length,
      hash: batch.hash,
      lastSeq: this.#end.lastSeq + events.length,
    };
    return batch.events;
  }

  close(): void {
    if (this.#shut === undefined) this.#shutWith(new Error('the ledger is closed'));
  }

  /** After a failed write the file must end where it did before, or the next batch would follow half of this one. */
  #orRollBack(write: () => void): void {
    try {
      write();
    } catch (cause) {
      const segment = join(this.#options.dir, segmentName(this.#options.fence));
      const full = ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(errorCode(cause) ?? '');
      try {
        ftruncateSync(this.#fd, this.#end.bytes);
        fsyncSync(this.#fd);
      } catch (second) {
        const both = new AggregateError([cause, second]);
        throw this.#shutWith(
          new LedgerUnwritable(
            `The ledger ${segment} can't be written, nor its last line taken back: ${String(second)}`,
            { cause: both },
          ),
        );
      }
      if (full)
        throw new LedgerFull(`The disk is full: the ledger ${segment} can't grow. Make room, then \`hma resume\`.`, {
          cause,
        });
      throw this.#shutWith(new LedgerUnwritable(`The ledger ${segment} can't be written: ${String(cause)}`, { cause }));
    }
  }

  #shutWith<E extends Error>(error: E): E {
    this.#shut = error;
    closeSync(this.#fd);
    return error;
  }
}

function encodeBatch(news: readonly NewEvent[], after: Seal): Batch {
  let { hash, lastSeq: seq } = after;
  const end = seq + news.length;
  const lines: string[] = [];
  const events = news.map(({ v, wall, mono, active, type, data }) => {
    seq += 1;
    const sealed = sealLine({ seq, end, v, wall, mono, active, type, data }, hash);
    const readBack = asEventLine(parseObject(sealed.line) ?? {});
    if (readBack === undefined)
      throw new TypeError(`not an event that can be remembered: ${sealed.line.slice(0, 500)}`);
    hash = sealed.hash;
    lines.push(`${sealed.line}\n`);
    return readBack.event;
  });
  return { bytes: Buffer.from(lines.join('')), events, hash };
}
