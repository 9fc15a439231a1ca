import {
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  rmdirSync,
  unlinkSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { hash } from 'node:crypto';
import { chmod, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../base/files.ts';
import { breather } from './breather.ts';
import { pathBytes } from './bytePaths.ts';
import type { ContentStore } from './contentStore.ts';
import type { SnapshotCrashPoint } from './crashPoints.ts';
import { childPath, FolderCursor, openAbsolute, openFolder, splitPath, type Folder } from './folders.ts';
import type { Manifest, ManifestEntry } from './manifest.ts';
import type { ObjectReader } from './objects.ts';
import type { Restored, RestoreRefusal } from './port.ts';
import { isDiskFull } from './refusals.ts';
import { globMatcher, isGlob } from './selection.ts';

/** Lies in a folder while it is being filled; a restore that finds it wipes the folder and begins again. */
const MARKER = '.hma-restoring';

/** What a restore works with. */
export interface RestoreTools {
  readonly objects: ObjectReader;
  readonly large: ContentStore;
  readonly crashPoint: (name: SnapshotCrashPoint) => void;
}

/** Carries a refusal out of deep calls of a restore. */
class RestoreError extends Error {
  readonly refusal: RestoreRefusal;

  constructor(refusal: RestoreRefusal) {
    super(refusal.detail);
    this.refusal = refusal;
  }
}

/** Fills a new or empty folder with a snapshot or some paths of it. Gives what was written, or the refusal. */
export async function restoreInto(
  target: { readonly manifest: Manifest; readonly folder: string; readonly only?: readonly string[] | undefined },
  tools: RestoreTools,
): Promise<Restored | RestoreRefusal> {
  let root: Folder | undefined;
  try {
    const { entries, folders } = choose(target.manifest, target.only);
    expectSoundTree(entries, folders);
    root = openTarget(target.folder);
    writeFileSync(
      childPath(root, pathBytes(MARKER)),
      'A restore was interrupted here; doing it again replaces everything in this folder.\n',
    );
    tools.crashPoint('snapshot.restore.begin');
    await writeAll(root, entries, folders, tools);
    tools.crashPoint('snapshot.restore.written');
    await rm(childPath(root, pathBytes(MARKER)));
    return { files: entries.length, bytes: entries.reduce((sum, { bytes }) => sum + bytes, 0) };
  } catch (error) {
    return restoreRefusal(error, target.folder);
  } finally {
    root?.close();
  }
}

function restoreRefusal(error: unknown, folder: string): RestoreRefusal {
  if (error instanceof RestoreError) return error.refusal;
  const message = error instanceof Error ? error.message : String(error);
  if (isDiskFull(error))
    return {
      reason: 'disk_full',
      detail: `No space is left for ${folder}. Free some space and try again. (${message})`,
    };
  return { reason: 'failed', detail: `${folder} could not be filled from the snapshot: ${message}` };
}

function choose(
  manifest: Manifest,
  only: readonly string[] | undefined,
): { entries: readonly ManifestEntry[]; folders: readonly string[] } {
  if (only === undefined) return manifest;
  const tests = only.map((spec) => {
    const clean = spec.replace(/^(\.\/)+|\/+$/g, '');
    const glob = isGlob(clean) ? globMatcher(clean) : () => false;
    return { spec, matches: (path: string) => path === clean || path.startsWith(`${clean}/`) || glob(path) };
  });
  const paths = [...manifest.entries.map(({ path }) => path), ...manifest.folders];
  const unmatched = tests.find(({ matches }) => !paths.some(matches));
  if (unmatched)
    throw new RestoreError({
      reason: 'missing',
      path: unmatched.spec,
      detail: `The snapshot holds nothing that matches "${unmatched.spec}".`,
    });
  const wanted = (path: string): boolean => tests.some(({ matches }) => matches(path));
  return { entries: manifest.entries.filter(({ path }) => wanted(path)), folders: manifest.folders.filter(wanted) };
}

/** A list in which a file or link is also a folder, or the marker is taken, was not made by us or was damaged. */
function expectSoundTree(entries: readonly ManifestEntry[], folders: readonly string[]): void {
  const taken = new Set(entries.map(({ path }) => path));
  for (const path of [...taken, ...folders]) {
    const parts = path.split('/');
    const blocked = parts.slice(1).some((_, at) => taken.has(parts.slice(0, at + 1).join('/')));
    if (blocked || parts[0] === MARKER)
      throw new RestoreError({
        reason: 'damaged',
        path,
        detail: `The snapshot's list can't be right at "${path}". Verify the snapshot.`,
      });
  }
}

function openTarget(folder: string): Folder {
  mkdirSync(dirname(folder), { recursive: true });
  try {
    mkdirSync(folder);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
  if (!lstatSync(folder).isDirectory())
    throw new RestoreError({
      reason: 'not_empty',
      path: folder,
      detail: `${folder} is no folder. Name a new or empty folder.`,
    });
  // links on the way to the folder are the caller's; from the folder on, none is followed
  const root = openAbsolute(join(realpathSync(dirname(folder)), basename(folder)));
  const names = readdirSync(root.prefix, { encoding: 'buffer' });
  if (names.length > 0 && !names.some((name) => name.equals(pathBytes(MARKER)))) {
    root.close();
    throw new RestoreError({
      reason: 'not_empty',
      path: folder,
      detail: `${folder} is not empty. Name a new or empty folder.`,
    });
  }
  // the marker goes last, so that a kill in here is repeatable too
  for (const name of names) if (!name.equals(pathBytes(MARKER))) rmTree(root, name);
  return root;
}

/** Removes a tree by handle, never following a link. */
function rmTree(parent: Folder, name: Buffer): void {
  if (!lstatSync(childPath(parent, name)).isDirectory()) return unlinkSync(childPath(parent, name));
  const folder = openFolder(parent, name);
  try {
    for (const child of readdirSync(folder.prefix, { encoding: 'buffer' })) rmTree(folder, child);
  } finally {
    folder.close();
  }
  return rmdirSync(childPath(parent, name));
}

async function writeAll(
  root: Folder,
  entries: readonly ManifestEntry[],
  folders: readonly string[],
  tools: RestoreTools,
): Promise<void> {
  const cursor = new FolderCursor(root, { create: true });
  const breathe = breather();
  try {
    for (const path of folders) cursor.enter(path);
    const small = entries.filter(({ large }) => !large);
    const links: { entry: ManifestEntry; target: Buffer }[] = [];
    let at = 0;
    for await (const { content } of tools.objects.read(small.map(({ blob }) => blob))) {
      const entry = small[at++];
      if (entry === undefined) break;
      if (content === undefined || hash('sha256', content, 'hex') !== entry.sha256) throw damaged(entry);
      if (entry.kind === 'link') links.push({ entry, target: content });
      else writeFile(cursor, entry, content);
      const pause = breathe();
      if (pause) await pause;
    }
    for (const entry of entries) if (entry.large) await writeLarge(cursor, entry, tools.large);
    // links last: while files are written there is none that could lead elsewhere
    for (const { entry, target } of links) {
      const { folder, name } = splitPath(entry.path);
      symlinkSync(target, childPath(cursor.enter(folder), pathBytes(name)));
    }
  } finally {
    cursor.close();
  }
}

const damaged = ({ path }: ManifestEntry): RestoreError =>
  new RestoreError({
    reason: 'damaged',
    path,
    detail: `The stored content of ${path} is damaged or gone. Verify the snapshot; restore the others with "only".`,
  });

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const modeOf = ({ kind }: ManifestEntry): number => (kind === 'executable' ? 0o755 : 0o644);

function writeFile(cursor: FolderCursor, entry: ManifestEntry, content: Buffer): void {
  const { folder, name } = splitPath(entry.path);
  const fd = openSync(childPath(cursor.enter(folder), pathBytes(name)), CREATE, modeOf(entry));
  try {
    for (let done = 0; done < content.length;) done += writeSync(fd, content, done);
    fchmodSync(fd, modeOf(entry));
  } finally {
    closeSync(fd);
  }
}

async function writeLarge(cursor: FolderCursor, entry: ManifestEntry, store: ContentStore): Promise<void> {
  if (!(await store.has(entry.sha256, entry.bytes))) throw damaged(entry);
  const { folder, name } = splitPath(entry.path);
  const target = childPath(cursor.enter(folder), pathBytes(name));
  const copied = await store.copyTo(entry.sha256, target);
  if (copied.sha256 !== entry.sha256) throw damaged(entry);
  await chmod(target, modeOf(entry));
}
