import { hash } from 'node:crypto';
import type { ContentStore } from './contentStore.ts';
import { objectId } from './fastImport.ts';
import { readManifest, type Manifest, type ManifestEntry } from './manifest.ts';
import { readObjects } from './objects.ts';
import type { SnapshotDamage } from './port.ts';
import { raw, type Repository } from './repository.ts';

/** Recomputes every hash of a snapshot: commit, trees, list, each content. Gives all damage found; throws only when git can't be run. */
export async function verifySnapshot(
  id: string,
  repository: Repository,
  large: ContentStore,
): Promise<SnapshotDamage[]> {
  let manifest: Manifest;
  try {
    const sound = await readSound(repository, await listStructure(id, repository));
    const list = sound.find(({ type }) => type === 'blob');
    if (list === undefined) return [{ detail: `The list of snapshot ${id} is gone.` }];
    manifest = readManifest(list.content);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ detail: `Snapshot ${id} itself is damaged or gone: ${message.trim()}` }];
  }
  const isLarge = ({ large: inStore }: ManifestEntry): boolean => inStore;
  const small = manifest.entries.filter((entry) => !isLarge(entry));
  return [...(await verifySmall(small, repository)), ...(await verifyLarge(manifest.entries.filter(isLarge), large))];
}

/** The ids of the commit, its list, and all its trees. Throws git's error when one can't be read. */
async function listStructure(id: string, repository: Repository): Promise<string[]> {
  if (!/^[0-9a-f]{40}$/.test(id)) throw new Error('this is no snapshot id');
  const list = await raw(repository, 'rev-parse', '--verify', '--end-of-options', `${id}:manifest`);
  const rest = await raw(repository, 'rev-list', '--objects', '--no-object-names', '--filter=blob:none', id);
  return [...new Set([...rest.trim().split('\n'), list.trim()])];
}

async function readSound(repository: Repository, ids: readonly string[]): Promise<{ type: string; content: Buffer }[]> {
  const sound: { type: string; content: Buffer }[] = [];
  for await (const { id, type, content } of readObjects(repository, ids)) {
    if (type === undefined || content === undefined) throw new Error(`object ${id} is gone or can't be unpacked`);
    if (objectId(type, content) !== id) throw new Error(`object ${id} does not have its hash`);
    sound.push({ type, content });
  }
  return sound;
}

async function verifySmall(entries: readonly ManifestEntry[], repository: Repository): Promise<SnapshotDamage[]> {
  const damage: SnapshotDamage[] = [];
  let at = 0;
  for await (const { content } of readObjects(
    repository,
    entries.map(({ blob }) => blob),
  )) {
    const entry = entries[at++];
    if (entry === undefined) break;
    const { path } = entry;
    if (content === undefined) damage.push({ path, detail: `The content of ${path} is gone or can't be unpacked.` });
    else if (hash('sha256', content, 'hex') !== entry.sha256)
      damage.push({ path, detail: `The content of ${path} has changed in the store.` });
  }
  return damage;
}

async function verifyLarge(entries: readonly ManifestEntry[], store: ContentStore): Promise<SnapshotDamage[]> {
  const damage: SnapshotDamage[] = [];
  for (const { path, sha256 } of entries) {
    const stored = await store.rehash(sha256);
    if (stored === undefined) damage.push({ path, detail: `The content of ${path} is gone from the content store.` });
    else if (stored.sha256 !== sha256)
      damage.push({ path, detail: `The content of ${path} has changed in the content store.` });
  }
  return damage;
}
