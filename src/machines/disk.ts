import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';

import { errorCode } from '../base/files.ts';
import { syncFolder } from './runnerFiles.ts';

/** Size of the ballast: room enough to write a pause, its reasons and the ends of what runs. */
export const ballastBytes = 32 * 1024 * 1024;
/** Free inodes below which none count as left: a folder or two is made with them, no more. */
const fewFiles = 16;

/** What is used up: bytes, inodes, or what a quota allows this user (which the file system itself doesn't show). */
export type Fullness = 'space' | 'files' | 'quota';

/** A file system as an ordinary user may use it. `files` counts inodes; null where they aren't counted (btrfs). */
export interface FileSystem {
  readonly device: number;
  readonly free: number;
  readonly total: number;
  readonly files: { readonly free: number; readonly total: number } | null;
}

/** The file system of a path. Throws when the path doesn't exist. */
export function fileSystemOf(path: string): FileSystem {
  const { bavail, blocks, bsize, ffree, files } = statfsSync(path);
  const inodes = files > 0 ? { free: ffree, total: files } : null;
  return { device: statSync(path).dev, free: bavail * bsize, total: blocks * bsize, files: inodes };
}

/** Bytes an ordinary user may still write on the file system of a path. Throws when the path doesn't exist. */
export const freeBytes = (path: string): number => fileSystemOf(path).free;

/** The highest folder above a path, or the path itself, that lies on the same file system: where it is mounted. */
export function mountOf(path: string): string {
  let at = resolve(path);
  const { dev } = statSync(at);
  for (let above = dirname(at); above !== at && statSync(above).dev === dev; above = dirname(at)) at = above;
  return at;
}

/** What an error, or one that caused it, says of the room where `path` lies; null when it speaks of something else. */
export function fullnessOf(error: unknown, path: string): Fullness | null {
  if (!(error instanceof Error)) return null;
  const code = errorCode(error);
  if (code === 'EDQUOT' || /Disk quota exceeded/i.test(error.message)) return 'quota';
  if (code !== 'ENOSPC' && !/No space left on device|Out of diskspace/i.test(error.message))
    return fullnessOf(error.cause, path);
  const { files } = fileSystemOf(path);
  return files && files.free < fewFiles ? 'files' : 'space';
}

/** Writes so many bytes that no file system stores as nothing, and syncs them. Null when it did; else what is used up, and no file is left. */
function fill(path: string, bytes: number): Fullness | null {
  try {
    rmSync(path, { force: true });
    const file = openSync(path, 'wx', 0o600); // an agent's link in its place leads nowhere
    try {
      const block = Buffer.alloc(Math.min(bytes, 1024 * 1024), 0xa5); // not zeros: some file systems keep no room for those
      for (let written = 0; written < bytes;)
        written += writeSync(file, block, 0, Math.min(block.length, bytes - written));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return null;
  } catch (cause) {
    rmSync(path, { force: true });
    const full = fullnessOf(cause, dirname(path));
    if (full === null) throw cause;
    return full;
  }
}

/** Tries whether so many bytes can be written in a folder: the only way to know a quota. Null when they can; else what is used up. */
export function tryRoom(dir: string, bytes: number): Fullness | null {
  const path = join(dir, 'room.tmp');
  const full = fill(path, bytes);
  rmSync(path, { force: true });
  return full;
}

const ballastFile = (dir: string): string => join(dir, 'ballast');

/**
 * Makes sure that the ballast lies in a folder, really written so that it holds its room. Null when it does; else what is used up (nothing
 * is left half done). Not tried where it would take more than half of what is free: what others write meanwhile must not fail for it.
 */
export function ensureBallast(dir: string): Fullness | null {
  const path = ballastFile(dir);
  if (ballastIn(dir) === ballastBytes) return null;
  if (freeBytes(dir) < 2 * ballastBytes) return 'space';
  const full = fill(`${path}.tmp`, ballastBytes);
  if (full !== null) return full;
  renameSync(`${path}.tmp`, path);
  syncFolder(dir);
  return null;
}

/** Frees the ballast's room. True when there was one. */
export function releaseBallast(dir: string): boolean {
  const had = existsSync(ballastFile(dir));
  for (const path of [ballastFile(dir), `${ballastFile(dir)}.tmp`]) rmSync(path, { force: true });
  return had;
}

/** Bytes of the ballast in a folder; 0 where there is none. */
export const ballastIn = (dir: string): number => statSync(ballastFile(dir), { throwIfNoEntry: false })?.size ?? 0;
