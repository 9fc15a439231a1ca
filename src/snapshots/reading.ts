import { hash } from 'node:crypto';
import { closeSync, fstatSync, readSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { errorCode } from '../base/files.ts';
import { pathBytes } from './bytePaths.ts';
import type { ContentStore } from './contentStore.ts';
import { blobId } from './fastImport.ts';
import {
  childPath,
  openFile,
  readLink,
  splitPath,
  statChild,
  walksByHandle,
  type Folder,
  type FolderCursor,
} from './folders.ts';
import { Changed, readingError } from './refusals.ts';
import type { Content, Remembered } from './statCache.ts';
import { sameStamp, stampOf, type Node } from './walk.ts';

/** Files above this many bytes go to the content store instead of into git. */
export const LARGE_BYTES = 8 * 1024 * 1024;

/** A write in the kernel's present clock tick (up to 10 ms) may leave a file's times as they are, so we first let the tick pass. */
const TICK_MILLISECONDS = 20;

/** A file or link as read; `data` for what git has to store. */
export interface Reading extends Remembered {
  readonly data?: Buffer;
}

/** The content record of bytes that go into git. */
export const contentOf = (data: Buffer): Content => ({
  bytes: data.length,
  sha256: hash('sha256', data, 'hex'),
  blob: blobId(data),
  large: false,
});

/** The blob that stands in git's tree for a file of the content store. */
export const largePointer = (sha256: string, bytes: number): Buffer =>
  Buffer.from(`hma large file\nsha256 ${sha256}\nbytes ${bytes}\n`);

/** Reads a link's target. Throws `Changed` when it is no longer the one that was surveyed. */
export function readLinkNode(cursor: FolderCursor, node: Node): Reading {
  const { folder, name } = splitPath(node.path);
  try {
    const readAt = Date.now();
    const parent = cursor.enter(folder);
    const data = readLink(parent, pathBytes(name));
    if (!sameStamp(stampOf(statChild(parent, pathBytes(name))), node.stamp)) throw new Changed(node.path);
    return { stamp: node.stamp, content: contentOf(data), readAt, data };
  } catch (error) {
    if (error instanceof Changed) throw error;
    throw errorCode(error) === 'EINVAL' ? new Changed(node.path, error) : readingError(error, node.path);
  }
}

/**
 * Reads a surveyed file, or copies it to the content store when it is large. Throws `Changed` when its stamp is not the surveyed one
 * before and after, `Refusal` when it can't be read, the system's error when the store can't write.
 */
export async function readFileNode(
  cursor: FolderCursor,
  node: Node,
  large: { store: ContentStore; above: number },
): Promise<Reading> {
  const { folder, name } = splitPath(node.path);
  const { fd, source } = openSurveyed(cursor, node.path, { folder, name });
  try {
    const unchanged = (): boolean => sameStamp(stampOf(fstatSync(fd, { bigint: true })), node.stamp);
    await letTickPass(node);
    const readAt = Date.now();
    if (!unchanged()) throw new Changed(node.path);
    if (node.stamp.bytes > large.above) {
      const stored = await large.store.add(source, unchanged);
      if (stored === undefined || stored.bytes !== node.stamp.bytes) throw new Changed(node.path);
      const pointer = largePointer(stored.sha256, stored.bytes);
      return { stamp: node.stamp, content: { ...stored, blob: blobId(pointer), large: true }, readAt, data: pointer };
    }
    const data = readWhole(fd, node);
    if (data.length !== node.stamp.bytes || !unchanged()) throw new Changed(node.path);
    return { stamp: node.stamp, content: contentOf(data), readAt, data };
  } finally {
    closeSync(fd);
  }
}

function openSurveyed(
  cursor: FolderCursor,
  path: string,
  parts: { folder: string; name: string },
): { fd: number; source: string } {
  try {
    const parent: Folder = cursor.enter(parts.folder);
    const fd = openFile(parent, pathBytes(parts.name));
    return { fd, source: walksByHandle ? `/proc/self/fd/${fd}` : childPath(parent, pathBytes(parts.name)).toString() };
  } catch (error) {
    throw readingError(error, path);
  }
}

async function letTickPass(node: Node): Promise<void> {
  const age = Date.now() - Number(node.stamp.ctimeNs) / 1e6;
  if (age >= 0 && age < TICK_MILLISECONDS) await setTimeout(TICK_MILLISECONDS);
}

function readWhole(fd: number, node: Node): Buffer {
  try {
    // one byte more than expected, so that a file that grew is seen
    const buffer = Buffer.allocUnsafe(node.stamp.bytes + 1);
    let length = 0;
    for (;;) {
      const count = readSync(fd, buffer, length, buffer.length - length, length);
      if (count === 0) return buffer.subarray(0, length);
      length += count;
      if (length === buffer.length) return buffer;
    }
  } catch (error) {
    throw readingError(error, node.path);
  }
}
