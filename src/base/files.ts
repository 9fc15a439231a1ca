import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants as fileConstants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { constants } from 'node:os';
import { dirname } from 'node:path';

import { ok, refused, type Result } from './result.ts';

/** The code of a system error (`ENOENT`, `ENOSPC` …), or undefined for anything else. A quota's, which Node's libuv doesn't know by name, is `EDQUOT`. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return undefined;
  const isQuota = error.code === 'UNKNOWN' && 'errno' in error && error.errno === -constants.errno.EDQUOT;
  return isQuota ? 'EDQUOT' : error.code;
}

/** Writes all the bytes at a place in the file, however many writes the kernel makes of it. Throws the system's error. */
export function writeFully(fd: number, bytes: Uint8Array, position: number): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done, position + done);
}

/** Makes the names in a folder durable: without it a rename or a new file may be forgotten at a power loss. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } catch (error) {
    // some network and FUSE file systems can't sync folders; there is nothing more that we could do on them
    if (!['EINVAL', 'ENOTSUP', 'EBADF'].includes(errorCode(error) ?? '')) throw error;
  } finally {
    closeSync(fd);
  }
}

/** Writes a complete, synced file under a name of its own beside `path`, and returns that name. */
function writeBeside(path: string, data: string | Uint8Array, mode: number): string {
  const temporary = `${path}.${process.pid}-${randomBytes(6).toString('hex')}.tmp`;
  const fd = openSync(temporary, 'wx', mode);
  try {
    fchmodSync(fd, mode); // the umask must not decide who reads
    writeFully(fd, typeof data === 'string' ? Buffer.from(data) : data, 0);
    fsyncSync(fd);
  } catch (error) {
    closeSync(fd);
    unlinkSync(temporary);
    throw error;
  }
  closeSync(fd);
  return temporary;
}

/**
 * Replaces a file as a whole: a reader sees the old content or the new, also after a power loss (temp + fsync + rename + fsync of the folder).
 * `mode` defaults to 0600. Throws the system's error; the old file is then untouched.
 */
export function writeFileAtomic(path: string, data: string | Uint8Array, mode = 0o600): void {
  const temporary = writeBeside(path, data, mode);
  try {
    renameSync(temporary, path);
  } catch (error) {
    unlinkSync(temporary);
    throw error;
  }
  syncFolder(dirname(path));
}

/**
 * Creates a file with its whole content at once, or not at all: false when the name is taken already. Of any number of processes that
 * try the same name exactly one gets true (link(2) never replaces), and none ever sees the file half written.
 */
export function createFileAtomic(path: string, data: string | Uint8Array, mode = 0o600): boolean {
  const temporary = writeBeside(path, data, mode);
  try {
    linkSync(temporary, path);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    unlinkSync(temporary);
  }
  syncFolder(dirname(path));
  return true;
}

/** Writes a value as indented JSON, atomically. */
export function writeJsonAtomic(path: string, value: unknown, mode = 0o600): void {
  writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`, mode);
}

/** Why a JSON file gave no value. */
export interface ReadRefusal {
  readonly reason: 'missing' | 'unreadable' | 'unparsable';
  readonly path: string;
  readonly detail: string;
}

/** How to read a file in a folder that others write: `followLinks: false` makes a symbolic link unreadable. */
export interface ReadOptions {
  readonly followLinks?: boolean;
}

const largestText = 64 * 1024 * 1024;

/**
 * A regular file's text, at most 64 MiB. A FIFO or a device that somebody put in its place doesn't make the reader hang, nor an endless
 * file fill its memory. Throws the system's error, or an Error that says what it is instead.
 */
export function readTextFile(path: string, { followLinks = true }: ReadOptions = {}): string {
  const fd = openSync(
    path,
    fileConstants.O_RDONLY | fileConstants.O_NONBLOCK | (followLinks ? 0 : fileConstants.O_NOFOLLOW),
  );
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
    if (stats.size > largestText) throw new Error(`${path} has ${stats.size} bytes, more than ${largestText}`);
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

/**
 * Reads a JSON file. The value is unknown: whoever reads validates. `followLinks: false` for a file in a folder that others write:
 * a symbolic link there is `unreadable`.
 */
export function readJson(path: string, options: ReadOptions = {}): Result<unknown, ReadRefusal> {
  let text: string;
  try {
    text = readTextFile(path, options);
  } catch (error) {
    const missing = ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '');
    return refused({ reason: missing ? 'missing' : 'unreadable', path, detail: String(error) });
  }
  try {
    return ok(JSON.parse(text) as unknown);
  } catch (error) {
    return refused({ reason: 'unparsable', path, detail: String(error) });
  }
}
