import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, link, mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../base/files.ts';
import { syncFolder } from './durable.ts';

/** Where and how large a stored file is. */
export interface Stored {
  readonly sha256: string;
  readonly bytes: number;
}

const CHUNK = 4 * 1024 * 1024;
const ZEROS = Buffer.alloc(64 * 1024);
/** What the system answers where files can't share blocks; each means "copy instead". */
const NO_REFLINK: ReadonlySet<string | undefined> = new Set([
  'ENOTSUP',
  'EOPNOTSUPP',
  'EXDEV',
  'EINVAL',
  'ENOTTY',
  'ENOSYS',
  'EPERM',
  'EACCES',
  'EBADF',
  'ELOOP',
]);

/** What the system answers where a file can't get another name here. */
const NO_LINK: ReadonlySet<string | undefined> = new Set([
  'EXDEV',
  'EPERM',
  'EMLINK',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
]);

/** Large files, once each, under the SHA-256 of what was really stored. Never hard links to the workspace, which could write through them. */
export class ContentStore {
  readonly #dir: string;
  #next = 0;

  private constructor(dir: string) {
    this.#dir = dir;
  }

  /** Opens the folder, creating it and removing half written files. */
  static async open(dir: string): Promise<ContentStore> {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const store = new ContentStore(dir);
    await store.sweep();
    return store;
  }

  /** The folder as it stands, for readers beside a living writer: nothing is made or removed. */
  static at(dir: string): ContentStore {
    return new ContentStore(dir);
  }

  /** Removes half written files. Only while nothing is being added. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.#dir))
      if (name.startsWith('new-')) await rm(join(this.#dir, name), { force: true });
  }

  /** The file that holds a content. */
  pathOf(sha256: string): string {
    return join(this.#dir, sha256);
  }

  /** Whether a content is there with its full length. */
  async has(sha256: string, bytes: number): Promise<boolean> {
    try {
      return (await stat(this.pathOf(sha256))).size === bytes;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return false;
      throw error;
    }
  }

  /**
   * Stores what a file holds (the caller keeps it open and names it by its handle) and gives the hash of the stored copy, read back after it was synced.
   * `stable` is asked between copying and publishing; false throws nothing away but the copy and gives `undefined`.
   */
  async add(source: string, stable: () => boolean): Promise<Stored | undefined> {
    const temporary = join(this.#dir, `new-${process.pid}-${this.#next++}`);
    try {
      await cloneOrCopy(source, temporary);
      if (!stable()) return undefined;
      const stored = await settle(temporary);
      // what is here already may be shared with an earlier run's store
      if (await this.has(stored.sha256, stored.bytes)) return stored;
      await rename(temporary, this.pathOf(stored.sha256));
      syncFolder(this.#dir);
      return stored;
    } finally {
      await rm(temporary, { force: true });
    }
  }

  /**
   * Takes a content over from another store: a hard link where the file system allows, since no store writes into a content once it is
   * there; else a copy, of which the hash is recomputed. False when that is not the content. Safe to repeat.
   */
  async takeOver(source: string, wanted: Stored): Promise<boolean> {
    if (await this.has(wanted.sha256, wanted.bytes)) return true;
    const temporary = join(this.#dir, `new-${process.pid}-${this.#next++}`);
    try {
      if (!(await linked(source, temporary))) {
        await cloneOrCopy(source, temporary);
        if ((await settle(temporary)).sha256 !== wanted.sha256) return false;
      }
      await rename(temporary, this.pathOf(wanted.sha256));
      syncFolder(this.#dir);
      return true;
    } finally {
      await rm(temporary, { force: true });
    }
  }

  /** Recomputes the hash of a stored content; `undefined` when it is gone. */
  async rehash(sha256: string): Promise<Stored | undefined> {
    try {
      return await withFile(this.pathOf(sha256), constants.O_RDONLY, hashOf);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Copies a content to a new file at `target` (sharing blocks where possible) and gives the hash of the copy. */
  async copyTo(sha256: string, target: Buffer): Promise<Stored> {
    await cloneOrCopy(this.pathOf(sha256), target);
    await chmod(target, 0o644);
    return withFile(target, constants.O_RDONLY, hashOf);
  }
}

/** Whether another name for the file could be made; not across file systems, nor beyond a file's most links. */
async function linked(source: string, target: string): Promise<boolean> {
  try {
    await link(source, target);
    return true;
  } catch (error) {
    if (NO_LINK.has(errorCode(error))) return false;
    throw error;
  }
}

const settle = (path: string): Promise<Stored> =>
  withFile(path, constants.O_RDONLY, async (file) => {
    await file.chmod(0o400);
    await file.sync();
    return hashOf(file);
  });

async function withFile<Value>(
  path: string | Buffer,
  flags: number,
  use: (file: FileHandle) => Promise<Value>,
): Promise<Value> {
  const file = await open(path, flags, 0o600);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

async function hashOf(file: FileHandle): Promise<Stored> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(CHUNK);
  let at = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK, at);
    if (bytesRead === 0) return { sha256: hash.digest('hex'), bytes: at };
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
}

async function cloneOrCopy(source: string, target: string | Buffer): Promise<void> {
  try {
    return await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
  } catch (error) {
    if (!NO_REFLINK.has(errorCode(error))) throw error;
  }
  await rm(target, { force: true });
  await copySparsely(source, target);
}

/** Copies by chunks; runs of zeros become holes, so a sparse file stays cheap. */
async function copySparsely(source: string, target: string | Buffer): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  await withFile(source, constants.O_RDONLY, (from) => withFile(target, flags, (to) => copyRuns(from, to)));
}

async function copyRuns(from: FileHandle, to: FileHandle): Promise<void> {
  const buffer = Buffer.allocUnsafe(CHUNK);
  let at = 0;
  for (;;) {
    const { bytesRead } = await from.read(buffer, 0, CHUNK, at);
    if (bytesRead === 0) break;
    for (const [start, end] of dataRuns(buffer.subarray(0, bytesRead)))
      await writeAll(to, buffer.subarray(start, end), at + start);
    at += bytesRead;
  }
  await to.truncate(at);
}

async function writeAll(file: FileHandle, data: Buffer, at: number): Promise<void> {
  for (let done = 0; done < data.length;)
    done += (await file.write(data, done, data.length - done, at + done)).bytesWritten;
}

/** The stretches of a chunk, to 64 KiB, that are not all zeros, as [start, end). */
function dataRuns(chunk: Buffer): [number, number][] {
  const runs: [number, number][] = [];
  for (let start = 0; start < chunk.length; start += ZEROS.length) {
    const end = Math.min(start + ZEROS.length, chunk.length);
    if (chunk.compare(ZEROS, 0, end - start, start, end) === 0) continue;
    const last = runs.at(-1);
    if (last?.[1] === start) last[1] = end;
    else runs.push([start, end]);
  }
  return runs;
}
