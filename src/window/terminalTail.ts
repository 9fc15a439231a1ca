import { existsSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';

import { attemptFolderOf } from '../ledger/places.ts';
import { outputLength, readOutput } from '../machines/outputLog.ts';
import { runnerFile } from '../machines/runnerFiles.ts';
import {
  closingLine,
  earlierLine,
  gapLine,
  openingLine,
  OutputText,
  saidText,
  type SessionView,
  type TerminalText,
} from './terminalScript.ts';

/** How often an output is looked at beside its watcher, ms: watchers miss changes on network file systems. */
const lookMs = 1000;
/** Output read in one go, bytes; in between the window gets to do other things. */
const pieceBytes = 128 * 1024;
/** Of a long output only this much of the end is replayed, bytes: a terminal keeps no more lines than its scrollback. */
const replayBytes = 8 * 1024 * 1024;

/** What a tail needs. */
export interface TailGiven {
  readonly runFolder: string;
  readonly session: SessionView;
  /** The bytes as they are, although they could be put into words. */
  readonly raw?: boolean;
  readonly write: (text: string) => void;
  /** Called once, when the session is over and all of its output was written. */
  readonly onEnd: () => void;
}

/**
 * Shows a session's recorded output from its first attempt on and follows it live. It reads files only: whatever becomes of it, the session
 * doesn't notice.
 */
export class SessionTail {
  readonly #given: TailGiven;
  #session: SessionView;
  #attempt = 0;
  #at = 0;
  #text: TerminalText = new OutputText();
  #flushed = false;
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout;
  #queued = false;
  #over = false;

  constructor(given: TailGiven) {
    this.#given = given;
    this.#session = given.session;
    this.#timer = setInterval(() => this.#look(), lookMs);
    this.#look();
  }

  /** The session as it is now: further attempts, its end. */
  update(session: SessionView): void {
    this.#session = session;
    this.#look();
  }

  /** One look is done at a time, and at most one more is waiting. */
  #look(): void {
    if (this.#queued || this.#over) return;
    this.#queued = true;
    setImmediate(() => {
      this.#queued = false;
      if (!this.#over && this.#step()) this.#look();
    });
  }

  /** Writes what is next; true when there may be more at once. */
  #step(): boolean {
    const { attempts, ended } = this.#session;
    const now = attempts[this.#attempt - 1];
    if (!now) return attempts.length > this.#attempt ? this.#begin() : ended !== null && this.#finish(ended);
    const folder = this.#folder(now.number);
    if (this.#watcher === undefined) this.#watch(folder);
    // looked at first: what is written before the end is then surely read below
    const exited = existsSync(join(folder, runnerFile.exit)) || now.state === 'ended';
    const piece = readOutput(folder, this.#at, pieceBytes);
    if (piece.from > this.#at) {
      this.#text.gap();
      this.#given.write(gapLine(piece.from - this.#at));
    }
    this.#at = piece.next;
    if (piece.bytes.length > 0) {
      this.#given.write(this.#text.take(piece.bytes));
      return true;
    }
    if (!piece.ended && !exited) return false;
    if (!this.#flushed) this.#given.write(this.#text.end());
    this.#flushed = true;
    if (attempts.length > this.#attempt) return this.#begin();
    return ended !== null && this.#finish(ended);
  }

  #folder(attempt: number): string {
    return attemptFolderOf(this.#given.runFolder, this.#session.name, attempt);
  }

  #begin(): boolean {
    const next = this.#session.attempts[this.#attempt];
    if (!next) return false;
    this.#unwatch();
    this.#attempt += 1;
    this.#given.write(openingLine(this.#session, next.number));
    this.#at = Math.max(0, outputLength(this.#folder(next.number)) - replayBytes);
    const { say } = this.#session;
    this.#text = say && !this.#given.raw ? saidText(say, this.#at > 0) : new OutputText();
    this.#flushed = false;
    if (this.#at > 0) this.#given.write(earlierLine(this.#at));
    return true;
  }

  #finish(ended: string): boolean {
    this.#over = true;
    this.#given.write(closingLine(ended));
    this.dispose();
    this.#given.onEnd();
    return false;
  }

  #watch(folder: string): void {
    if (!existsSync(folder)) return; // the slow look comes again
    this.#watcher = watch(folder, () => this.#look());
    this.#watcher.on('error', () => this.#unwatch());
  }

  #unwatch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  dispose(): void {
    this.#over = true;
    clearInterval(this.#timer);
    this.#unwatch();
  }
}
