import { existsSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { readManifest } from './manifest.ts';
import { readObjects } from './objects.ts';
import { raw, repositoryAt } from './repository.ts';

/** What a collection freed, or with `dryRun` would. */
export interface Collected {
  /** Snapshots that are kept no more. */
  readonly snapshots: number;
  /** Bytes of the store before and after; after a dry run an estimate that counts large files only. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/**
 * Removes from a store every snapshot that is not to be kept, with what only it holds. Only while nobody writes to the store: the
 * run is over. Refs go first, then git's objects, then large files that no kept list names; killed in between, it is called again.
 * What is kept is read before anything is removed, and a snapshot that can't be read stops the collection.
 */
export async function collectSnapshots(
  dir: string,
  given: { readonly keep: ReadonlySet<string>; readonly dryRun: boolean; readonly path?: string },
): Promise<Collected> {
  if (!existsSync(join(dir, 'repo.git', 'HEAD'))) return { snapshots: 0, bytesBefore: 0, bytesAfter: 0 };
  const repository = repositoryAt(dir, given.path ?? process.env['PATH'] ?? '/usr/bin:/bin');
  const named = new Set<string>();
  for await (const { id, content } of readObjects(
    repository,
    [...given.keep].map((each) => `${each}:manifest`),
  )) {
    if (content === undefined)
      throw new Error(`The list of a snapshot (${id}) in ${dir} can't be read; nothing was removed.`);
    for (const entry of readManifest(content).entries) if (entry.large) named.add(entry.sha256);
  }
  const bytesBefore = await bytesBelow(dir);
  const listed = await raw(repository, 'for-each-ref', '--format=%(objectname) %(refname)', 'refs/hma/');
  const refs = listed.split('\n').flatMap((line) => {
    const [id = '', name = ''] = line.split(' ');
    return id === '' || given.keep.has(id) ? [] : [{ id, name }];
  });
  const large = join(dir, 'large');
  const orphans = (existsSync(large) ? await readdir(large) : []).filter((name) => !named.has(name));
  const snapshots = new Set(refs.map(({ id }) => id)).size;
  if (given.dryRun) {
    const sizes = await Promise.all(orphans.map(async (name) => (await stat(join(large, name))).size));
    return { snapshots, bytesBefore, bytesAfter: bytesBefore - sizes.reduce((sum, size) => sum + size, 0) };
  }
  for (const { name } of refs) await raw(repository, 'update-ref', '-d', name);
  await raw(repository, 'repack', '-a', '-d', '-q', '--no-write-bitmap-index');
  await raw(repository, 'prune', '--expire=now');
  for (const name of orphans) await rm(join(large, name), { force: true });
  await rm(join(dir, 'cache'), { recursive: true, force: true }); // it may promise objects that are gone
  return { snapshots, bytesBefore, bytesAfter: await bytesBelow(dir) };
}

/** Bytes of all files below a folder; 0 where there is none. */
export async function bytesBelow(folder: string): Promise<number> {
  if (!existsSync(folder)) return 0;
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  let bytes = 0;
  for (const entry of entries)
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name)).catch(() => ({ size: 0 }))).size;
  return bytes;
}
