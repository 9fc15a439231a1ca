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
import { join } from 'node:path';

import { syncFolder } from './runnerFiles.ts';

/** Size of the ballast: room enough to write a pause, its reasons and the ends of what runs. */
export const ballastBytes = 32 * 1024 * 1024;

/** Bytes an ordinary user may still write on the file system of a path. Throws when the path doesn't exist. */
export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

const ballastFile = (dir: string): string => join(dir, 'ballast');

/** Makes sure that the ballast lies in a folder, really written so that it holds its room. False when there is no room for it (nothing is left half done). */
export function ensureBallast(dir: string): boolean {
  const path = ballastFile(dir);
  if (existsSync(path) && statSync(path).size === ballastBytes) return true;
  const temporary = `${path}.tmp`;
  try {
    const file = openSync(temporary, 'w', 0o600);
    try {
      const block = Buffer.alloc(1024 * 1024, 0xa5); // not zeros: some file systems keep no room for those
      for (let written = 0; written < ballastBytes;)
        written += writeSync(file, block, 0, Math.min(block.length, ballastBytes - written));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
    syncFolder(dir);
    return true;
  } catch (cause) {
    rmSync(temporary, { force: true });
    if (['ENOSPC', 'EDQUOT'].includes((cause as NodeJS.ErrnoException).code ?? '')) return false;
    throw cause;
  }
}

/** Frees the ballast's room. True when there was one. */
export function releaseBallast(dir: string): boolean {
  const had = existsSync(ballastFile(dir));
  rmSync(ballastFile(dir), { force: true });
  return had;
}
