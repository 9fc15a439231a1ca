import type { BigIntStats } from 'node:fs';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readFile, readlink, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { errorCode, syncFolder, writeJsonAtomic } from '../base/files.ts';
import { inChunks } from '../base/inChunks.ts';
import { ok, refused, type Result } from '../base/result.ts';
import { findProtected, linkOnTheWay } from './protectedPaths.ts';

/** Above this a protected file is not copied but verified and read in place, bytes. */
const largeBytes = 2 ** 30;

/** A stamp is trusted only when the file was older than this when it was taken (a kernel tick is 1 to 10 ms). */
const settledMs = 100;

const stampSchema = z.strictObject({
  ino: z.string(),
  size: z.string(),
  mtimeNs: z.string(),
  ctimeNs: z.string(),
  /** Whether an equal stamp proves equal content; not for a file that had changed within the clock's grain. */
  settled: z.boolean(),
});

const contentSchema = z.strictObject({
  kind: z.enum(['file', 'large']),
  path: z.string(),
  bytes: z.number(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/u),
  mode: z.number(),
  uid: z.number(),
  gid: z.number(),
  mtimeMs: z.number(),
  stamp: stampSchema,
});

const linkSchema = z.strictObject({ kind: z.literal('link'), path: z.string(), target: z.string() });

const manifestSchema = z.strictObject({
  schema: z.literal(1),
  patterns: z.array(z.string()),
  files: z.array(z.discriminatedUnion('kind', [contentSchema, linkSchema])),
});

type Stamp = z.infer<typeof stampSchema>;

/**
 * One protected file as it was at the run's start. `file`: its bytes are in the store under its SHA-256. `large`: only its hash
 * is, and it is read in place. `link`: a symbolic link, kept as its target's text and never followed.
 */
export type ProtectedFile = z.infer<typeof contentSchema> | z.infer<typeof linkSchema>;

/** All protected files of a run and the folder that holds their pristine copies. Plain data. */
export interface ProtectedFiles {
  readonly store: string;
  readonly patterns: readonly string[];
  readonly files: readonly ProtectedFile[];
}

/** Why protected files could not be stored; `path` is relative to the workspace. */
export interface ProtectRefusal {
  readonly path: string;
  readonly detail: string;
}

/** One protected file that is not as it was. */
export interface ProtectedChange {
  readonly path: string;
  readonly change: 'changed' | 'removed' | 'unreadable';
}

/** What to protect. `largeBytes` exists for tests. */
export interface ProtectRequest {
  readonly workspace: string;
  /** Paths, folders or globs below the workspace. */
  readonly patterns: readonly string[];
  /** Folder of the pristine copies, in the state folder; made when absent. */
  readonly store: string;
  readonly largeBytes?: number;
}

/** Where the pristine bytes of a protected file lie. */
export const pristineFile = (files: ProtectedFiles, file: { readonly sha256: string }): string =>
  join(files.store, 'files', file.sha256);

const stampOf = (stats: BigIntStats, wallMs: number): Stamp => ({
  ino: String(stats.ino),
  size: String(stats.size),
  mtimeNs: String(stats.mtimeNs),
  ctimeNs: String(stats.ctimeNs),
  settled: wallMs - Number(stats.ctimeNs / 1_000_000n) > settledMs,
});

const sameStamp = (a: Stamp, b: Stamp): boolean =>
  a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs;

/** Opens without following a link at the end and without blocking on a FIFO. */
const openQuietly = (file: string): Promise<FileHandle> =>
  open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);

async function digest(handle: FileHandle, copyTo?: FileHandle): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(1 << 20);
  let bytes = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, bytes);
    if (bytesRead === 0) return { sha256: hash.digest('hex'), bytes };
    const part = buffer.subarray(0, bytesRead);
    hash.update(part);
    if (copyTo) await copyTo.writeFile(part);
    bytes += bytesRead;
  }
}

/** Reads one file, copies it into the store unless it is large, and returns null when it changed meanwhile. */
async function storeOnce(request: ProtectRequest, path: string): Promise<ProtectedFile | null> {
  const handle = await openQuietly(join(request.workspace, path));
  const temporary = join(request.store, 'files', `.${process.pid}-${createHash('sha256').update(path).digest('hex')}`);
  try {
    const before = await handle.stat({ bigint: true });
    const large = before.size > BigInt(request.largeBytes ?? largeBytes);
    const copy = large ? null : await open(temporary, 'w', 0o600);
    let content: { sha256: string; bytes: number };
    try {
      content = await digest(handle, copy ?? undefined);
    } finally {
      await copy?.close();
    }
    const after = await handle.stat({ bigint: true });
    const stamp = stampOf(after, Date.now());
    if (!sameStamp(stampOf(before, 0), stamp)) return null;
    if (!large) await rename(temporary, join(request.store, 'files', content.sha256));
    return {
      kind: large ? 'large' : 'file',
      path,
      ...content,
      mode: Number(after.mode) & 0o777,
      uid: Number(after.uid),
      gid: Number(after.gid),
      mtimeMs: Number(after.mtimeMs),
      stamp,
    };
  } finally {
    await handle.close();
    await rm(temporary, { force: true });
  }
}

async function storeFile(request: ProtectRequest, path: string): Promise<Result<ProtectedFile, ProtectRefusal>> {
  for (let tries = 0; tries < 3; tries += 1) {
    try {
      const stored = await storeOnce(request, path);
      if (stored) return ok(stored);
    } catch (cause) {
      const detail = `the protected file \`${path}\` could not be stored: ${(cause as Error).message}`;
      return refused({ path, detail });
    }
  }
  return refused({
    path,
    detail: `the protected file \`${path}\` changed while it was read, three times; end what writes it`,
  });
}

/** Brings all copies to the disk: once for the whole file system where `sync -f` exists (20,000 syncs take minutes), else one by one. */
async function syncCopies(files: ProtectedFiles): Promise<void> {
  const folder = join(files.store, 'files');
  try {
    await promisify(execFile)('sync', ['-f', folder]);
  } catch {
    for (const file of files.files) {
      if (file.kind !== 'file') continue;
      const handle = await open(pristineFile(files, file), 'r');
      await handle.sync();
      await handle.close();
    }
  }
  syncFolder(folder);
}

/** The manifest comes last: with it on disk, all copies are. */
async function writeManifest(files: ProtectedFiles): Promise<void> {
  await syncCopies(files);
  writeJsonAtomic(join(files.store, 'protected.json'), { schema: 1, patterns: files.patterns, files: files.files });
}

/**
 * What an earlier call stored, or null when none has finished. A manifest that can't be read is refused, never redone: the
 * workspace's files may no longer be pristine.
 */
export async function loadProtected(store: string): Promise<Result<ProtectedFiles | null, ProtectRefusal>> {
  const file = join(store, 'protected.json');
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return ok(null);
    return refused({
      path: file,
      detail: `the list of protected files could not be read: ${(cause as Error).message}`,
    });
  }
  const broken = (why: string) =>
    refused({
      path: file,
      detail: `the list of protected files is damaged (${why}); stop this run and begin a new one`,
    });
  try {
    const manifest = manifestSchema.parse(JSON.parse(text));
    const files: ProtectedFiles = { store, patterns: manifest.patterns, files: manifest.files };
    const short = await inChunks(files.files, async (entry) => {
      if (entry.kind !== 'file') return false;
      const stats = await lstat(pristineFile(files, entry)).catch(() => null);
      return stats?.size !== entry.bytes;
    });
    const cut = files.files[short.indexOf(true)];
    if (cut) return broken(`the copy of \`${cut.path}\` is missing or cut short`);
    return ok(files);
  } catch (cause) {
    return broken((cause as Error).message.split('\n')[0] ?? 'unreadable');
  }
}

/**
 * Stores pristine copies of the protected files, once, at the run's start and before the first session. The manifest
 * `protected.json` is written last and atomically: a call after a crash finishes the job, a call after success returns what was
 * stored then, whatever the workspace looks like now. Refuses patterns that match nothing, special files, and paths through links.
 */
export async function protectFiles(request: ProtectRequest): Promise<Result<ProtectedFiles, ProtectRefusal>> {
  const earlier = await loadProtected(request.store);
  if (!earlier.ok) return earlier;
  if (earlier.value) return ok(earlier.value);
  await mkdir(join(request.store, 'files'), { recursive: true, mode: 0o700 });
  const found = await findProtected(request.workspace, request.patterns);
  if (!found.ok) return found;
  const stored = await inChunks(found.value, async ({ path, kind }): Promise<Result<ProtectedFile, ProtectRefusal>> => {
    if (kind === 'file') return await storeFile(request, path);
    return ok({ kind, path, target: await readlink(join(request.workspace, path)) });
  });
  const files: ProtectedFile[] = [];
  for (const file of stored) {
    if (!file.ok) return file;
    files.push(file.value);
  }
  const all: ProtectedFiles = { store: request.store, patterns: request.patterns, files };
  await writeManifest(all);
  return ok(all);
}

/** Stamps seen with the right content since the start, so that a touched file is hashed only once. */
const seenStamps = new WeakMap<ProtectedFile, Stamp>();

async function checkOne(
  workspace: string,
  file: ProtectedFile,
  linked: (folder: string) => Promise<string | null>,
): Promise<ProtectedChange['change'] | null> {
  const absolute = join(workspace, file.path);
  if ((await linked(dirname(file.path))) !== null) return 'changed';
  if (file.kind === 'link') {
    const stats = await lstat(absolute);
    return stats.isSymbolicLink() && (await readlink(absolute)) === file.target ? null : 'changed';
  }
  const stats = await lstat(absolute, { bigint: true });
  if (!stats.isFile() || stats.size !== BigInt(file.bytes)) return 'changed';
  const known = seenStamps.get(file) ?? file.stamp;
  if (known.settled && sameStamp(known, stampOf(stats, 0))) return null;
  const handle = await openQuietly(absolute);
  try {
    const before = await handle.stat({ bigint: true });
    if (!before.isFile() || (await digest(handle)).sha256 !== file.sha256) return 'changed';
    const after = await handle.stat({ bigint: true });
    const stamp = stampOf(after, Date.now());
    if (sameStamp(stampOf(before, 0), stamp)) seenStamps.set(file, stamp);
    return null;
  } finally {
    await handle.close();
  }
}

/**
 * The protected files of the workspace that are no longer as they were. Cheap: size, times and inode first; the content is
 * hashed only when those differ (or can't be trusted yet). Never follows a link.
 */
export async function checkProtected(workspace: string, files: ProtectedFiles): Promise<ProtectedChange[]> {
  const ways = new Map<string, Promise<string | null>>();
  const linked = (folder: string): Promise<string | null> => {
    const way = ways.get(folder) ?? linkOnTheWay(workspace, folder);
    ways.set(folder, way);
    return way;
  };
  const changes = await inChunks(files.files, async (file): Promise<ProtectedChange | null> => {
    try {
      const change = await checkOne(workspace, file, linked);
      return change && { path: file.path, change };
    } catch (cause) {
      const code = errorCode(cause);
      const change = code === 'ENOENT' || code === 'ENOTDIR' ? 'removed' : code === 'ELOOP' ? 'changed' : 'unreadable';
      return { path: file.path, change };
    }
  });
  return changes.filter((change) => change !== null);
}
