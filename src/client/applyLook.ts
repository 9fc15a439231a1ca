import { createHash } from 'node:crypto';
import { createReadStream, lstatSync, readlinkSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';

import type { SnapshotEntry } from '../snapshots/port.ts';

/** A file's kind and the SHA-256 of its content (of the target's text for a link); undefined where nothing is. */
export async function lookAtFile(path: string): Promise<Pick<SnapshotEntry, 'kind' | 'sha256'> | undefined> {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const hash = createHash('sha256');
  if (stats.isSymbolicLink())
    return { kind: 'link', sha256: hash.update(readlinkSync(path, { encoding: 'buffer' })).digest('hex') };
  await pipeline(createReadStream(path), hash);
  return { kind: (stats.mode & 0o100) === 0 ? 'file' : 'executable', sha256: hash.digest('hex') };
}
