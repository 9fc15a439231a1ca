import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import type { Folder } from './folders.ts';
import type { Snapshot } from './port.ts';
import { sameStamp, sameSurvey, type Stamp, type Survey } from './walk.ts';

/*
 * Which files need not be read again. A file is taken as unchanged when its stamp (device, inode, size, mode, mtime, ctime) is the one
 * it had when it was read AND that ctime and mtime were then already older than RACY_MILLISECONDS. The second half is what makes it
 * safe: a write sets ctime to the kernel's present time, so after a stamp that was old when we read, no later write can leave the same
 * stamp. The margin is that large because a page written through mmap gets a new ctime only when it was written back before, which
 * Linux does after 30 s plus a 5 s flusher round. A younger file is simply read again.
 * File systems whose clock is not ours or that don't stamp mapped writes (network, FUSE, tmpfs) are never cached, and mounts below the
 * root neither.
 */

/** How old a file's times must be at the moment of reading to be trusted later. */
export const RACY_MILLISECONDS = 40_000;

/** What is known about the content of a file. `blob` is git's id for it; `large` says that it lies in the content store instead. */
export interface Content {
  readonly bytes: number;
  readonly sha256: string;
  readonly blob: string;
  readonly large: boolean;
}

/** One remembered reading of a file. */
export interface Remembered {
  readonly stamp: Stamp;
  readonly content: Content;
  /** Unix ms just before the file was opened. */
  readonly readAt: number;
}

const LOCAL_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0x2fc12fc1, // zfs
  0xf2f52010, // f2fs
  0x794c7630, // overlayfs
  0xca451a4e, // bcachefs
  0x1a, // apfs as macOS numbers it
]);

/** Whether the file system of an open folder stamps writes by this machine's clock. */
export const cachesSafely = (folder: Folder): boolean => LOCAL_FILE_SYSTEMS.has(statfsSync(folder.prefix).type);

const rememberedSchema = z.tuple([
  z.string(),
  z.object({
    dev: z.string(),
    ino: z.string(),
    bytes: z.number(),
    mode: z.number(),
    mtimeNs: z.string(),
    ctimeNs: z.string(),
  }),
  z.object({ bytes: z.number(), sha256: z.string(), blob: z.string(), large: z.boolean() }),
  z.number(),
]);

/** The readings of one request's files, kept in memory and, so that a new controller is quick too, in a file. */
export class StatCache {
  readonly #file: string;
  readonly #entries: Map<string, Remembered>;
  #latest: { readonly found: Survey; readonly snapshot: Snapshot } | undefined;

  /** Reads the file; one that is missing, cut or altered counts as empty. */
  constructor(file: string) {
    this.#file = file;
    this.#entries = load(file);
  }

  /** The content at a path, if nothing can have changed it since it was read. */
  unchanged(path: string, stamp: Stamp): Remembered | undefined {
    const known = this.#entries.get(path);
    return known !== undefined && sameStamp(known.stamp, stamp) && isSettled(known) ? known : undefined;
  }

  /**
   * The latest snapshot, if a walk found the very tree that it holds, each file settled. One walk is enough for that: whatever was written
   * meanwhile, this is a tree that was there whole.
   */
  sameAsLatest(found: Survey): Snapshot | undefined {
    if (this.#latest === undefined || !sameSurvey(this.#latest.found, found)) return undefined;
    const settled = found.nodes.every(({ kind, path, stamp }) => kind === 'folder' || this.unchanged(path, stamp));
    return settled ? this.#latest.snapshot : undefined;
  }

  /** Keeps what a walk found and the snapshot that was made of it, in memory alone. */
  rememberLatest(found: Survey, snapshot: Snapshot): void {
    this.#latest = { found, snapshot };
  }

  /** The blob last seen at a path, changed or not. It is in the repository, so equal bytes need not be sent again. */
  knownBlob(path: string): string | undefined {
    const content = this.#entries.get(path)?.content;
    return content?.large === false ? content.blob : undefined;
  }

  /** Replaces everything known. Called only after the objects are synced. A failing write costs speed, nothing else. */
  replace(entries: ReadonlyMap<string, Remembered>): void {
    const same =
      entries.size === this.#entries.size && [...entries].every(([path, entry]) => this.#entries.get(path) === entry);
    if (same) return;
    this.#entries.clear();
    for (const [path, entry] of entries) this.#entries.set(path, entry);
    const body = [...entries]
      .map(([path, { stamp, content, readAt }]) => JSON.stringify([path, stamp, content, readAt]))
      .join('\n');
    const temporary = `${this.#file}.new`;
    try {
      writeFileSync(temporary, `${createHash('sha256').update(body).digest('hex')}\n${body}`, { mode: 0o600 });
      renameSync(temporary, this.#file);
    } catch {
      rmSync(temporary, { force: true });
    }
  }

  /** Forgets everything, after the repository turned out not to have what it should. */
  clear(): void {
    this.#latest = undefined;
    this.#entries.clear();
    rmSync(this.#file, { force: true });
  }
}

function isSettled({ stamp, readAt }: Remembered): boolean {
  const youngest = readAt - RACY_MILLISECONDS;
  return Number(stamp.ctimeNs) / 1e6 < youngest && Number(stamp.mtimeNs) / 1e6 < youngest;
}

function load(file: string): Map<string, Remembered> {
  const entries = new Map<string, Remembered>();
  try {
    const text = readFileSync(file, 'utf8');
    const body = text.slice(65);
    if (createHash('sha256').update(body).digest('hex') !== text.slice(0, 64) || body === '') return entries;
    for (const line of body.split('\n')) {
      const [path, stamp, content, readAt] = rememberedSchema.parse(JSON.parse(line));
      entries.set(path, { stamp, content, readAt });
    }
  } catch {
    entries.clear();
  }
  return entries;
}
