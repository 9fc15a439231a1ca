import { dirname, join } from 'node:path';

import type { ContentStore } from './contentStore.ts';
import type { SnapshotCrashPoint } from './crashPoints.ts';
import { readManifest } from './manifest.ts';
import { readObjects } from './objects.ts';
import { Refusal } from './refusals.ts';
import { feed, getRefs, stream, syncUpTo, type Repository } from './repository.ts';

/** A snapshot of another store, and the ref that keeps it alive in this one. */
export interface Adopted {
  readonly id: string;
  readonly ref: string;
}

/** A store's two halves. */
interface Halves {
  readonly repository: Repository;
  readonly large: ContentStore;
}

/**
 * Takes snapshots over from another store, which is only read and may be removed afterwards. Large files first (hard links where the file
 * system allows, since neither store ever writes into one), then git's objects in one pack of nothing but what these snapshots need,
 * then the refs: a snapshot that has its ref is wholly here, so a killed adoption is called again. git recomputes the hash of every
 * object and sees that none is missing; a large file that is copied has its hash recomputed, of a linked one the length is compared.
 * Throws `Refusal` when something is gone or damaged there.
 */
export async function adoptSnapshots(
  wanted: readonly Adopted[],
  { from, into, crashPoint }: { from: Halves; into: Halves; crashPoint: (name: SnapshotCrashPoint) => void },
): Promise<void> {
  const here = await getRefs(into.repository);
  const missing = wanted.filter(({ id, ref }) => here.get(ref) !== id);
  if (missing.length === 0) return;
  const ids = [...new Set(missing.map(({ id }) => id))];
  for (const [sha256, bytes] of await largeFilesOf(from.repository, ids)) {
    if (!(await from.large.has(sha256, bytes))) throw damaged(`the large file ${sha256} is gone or has another length`);
    if (!(await into.large.takeOver(from.large.pathOf(sha256), { sha256, bytes })))
      throw damaged(`the large file ${sha256} has changed`);
    crashPoint('snapshot.adopt.large');
  }
  await copyObjects(ids, from.repository, into.repository);
  crashPoint('snapshot.adopt.objects');
  await setRefs(into.repository, missing);
  crashPoint('snapshot.adopt.refs');
}

const damaged = (detail: string, cause?: unknown): Refusal => new Refusal({ reason: 'failed', detail }, cause);

/** SHA-256 and length of every large file that snapshots name. */
async function largeFilesOf(repository: Repository, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const large = new Map<string, number>();
  const lists = readObjects(
    repository,
    ids.map((id) => `${id}:manifest`),
  );
  for await (const { id, content } of lists) {
    if (content === undefined) throw damaged(`the list of snapshot ${id.replace(':manifest', '')} is gone or damaged`);
    for (const entry of readManifest(content).entries) if (entry.large) large.set(entry.sha256, entry.bytes);
  }
  return large;
}

/** One pack from store to store; both ends must succeed. What failed first is told: the other end only loses its partner. */
async function copyObjects(ids: readonly string[], from: Repository, into: Repository): Promise<void> {
  const packing = stream(from, ['pack-objects', '--revs', '--stdout', '-q']);
  const indexing = stream(into, ['index-pack', '--stdin', '--check-self-contained-and-connected']);
  packing.child.stdout.pipe(indexing.child.stdin);
  indexing.child.stdout.resume();
  await feed(packing, ids.map((id) => `${id}\n`).join(''));
  packing.child.stdin.end();
  const failed: unknown[] = [];
  await Promise.all([
    packing.ended.catch((error: unknown) => failed.push(error)),
    indexing.ended.catch((error: unknown) => {
      failed.push(error);
      packing.child.kill('SIGKILL'); // nobody reads it any more: it would wait for ever
    }),
  ]);
  if (failed.length > 0) throw failed[0];
}

/** Points all the refs at once, durably. */
async function setRefs(repository: Repository, wanted: readonly Adopted[]): Promise<void> {
  const git = stream(repository, ['update-ref', '--stdin']);
  git.child.stdout.resume();
  await feed(git, wanted.map(({ id, ref }) => `update refs/hma/${ref} ${id}\n`).join(''));
  git.child.stdin.end();
  await git.ended;
  const folders = new Set(wanted.map(({ ref }) => dirname(join(repository.path, 'refs', 'hma', ref))));
  for (const folder of folders) syncUpTo(folder, join(repository.path, 'refs', 'hma'));
}
