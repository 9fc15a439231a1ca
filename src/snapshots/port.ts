import type { Readable } from 'node:stream';
import type { Result } from '../base/result.ts';

/** Names a snapshot: the commit in the run's private bare repository, 40 hex digits. */
export type SnapshotId = string;

/** What to take from where. */
export interface CaptureRequest {
  /** Absolute path of the folder that is looked at (the workspace). Opened with O_NOFOLLOW at every step. */
  readonly root: string;
  /** Paths or globs below `root`. A folder stands for all below it. */
  readonly include: readonly string[];
  /** Paths or globs left out (`.hma` and the git folder at the root always are). */
  readonly exclude?: readonly string[];
  readonly limits?: { readonly bytes: number; readonly files: number };
  /** `candidate`: all files whole, .gitignore ignored. `workspace`: text provenance (files ≤ 10 MB, .gitignore respected, others listed). */
  readonly kind: 'candidate' | 'workspace';
  /** Keeps the snapshot alive: written as `refs/hma/<ref>` after all objects are synced. */
  readonly ref: string;
}

/** A capture that is wholly on disk (objects and ref synced). */
export interface Snapshot {
  readonly id: SnapshotId;
  /** SHA-256 over the sorted (path, mode, content hash) list: equal iff the captured files are equal. */
  readonly contentHash: string;
  readonly files: number;
  readonly bytes: number;
}

/** Why a capture was refused; `path` is relative to the root. */
export interface CaptureRefusal {
  readonly reason:
    | 'missing' // an included path matches nothing
    | 'unstable' // files changed while they were read, three times
    | 'too_large'
    | 'special_file' // FIFO, socket or device
    | 'outside' // leaves the root
    | 'unreadable'
    | 'disk_full'
    | 'failed'; // the store itself failed; `detail` says how
  readonly path?: string;
  readonly detail: string;
}

/** One entry of a snapshot. `path` is relative, `/`-separated, raw bytes decoded as UTF-8 (or latin1 behind a flag, see the store). */
export interface SnapshotEntry {
  readonly path: string;
  readonly kind: 'file' | 'executable' | 'link';
  readonly bytes: number;
  /** SHA-256 of the content (of the target text for a link). */
  readonly sha256: string;
}

/** One difference between two snapshots. */
export interface SnapshotChange {
  readonly path: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly before?: SnapshotEntry;
  readonly after?: SnapshotEntry;
}

/** Why a folder could not be filled from a snapshot. */
export interface RestoreRefusal {
  readonly reason:
    | 'unknown' // no such snapshot in this store
    | 'not_empty' // the folder holds something already
    | 'missing' // a path of `only` matches nothing in the snapshot
    | 'damaged' // stored bytes don't have the hash they should have
    | 'disk_full'
    | 'failed';
  readonly path?: string;
  readonly detail: string;
}

/** What was written. */
export interface Restored {
  readonly files: number;
  readonly bytes: number;
}

/** What `verify` found wrong; an empty list means that every byte is as it was captured. */
export interface SnapshotDamage {
  /** Path in the snapshot; absent when the snapshot itself (its list) is damaged. */
  readonly path?: string;
  readonly detail: string;
}

/** A path that workspace provenance only names. `bytes` is 0 for folders, `mtimeMs` is Unix ms. */
export interface SnapshotListing {
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'other';
  readonly bytes: number;
  readonly mtimeMs: number;
}

/** The run's snapshots. Paths are strings as `pathText` (bytePaths.ts) makes them. Reading throws an Error for an unknown id or path. */
export interface Snapshots {
  /** Takes a snapshot; captures are done one after the other. When it returns, objects and ref are on disk. */
  capture(request: CaptureRequest): Promise<Result<Snapshot, CaptureRefusal>>;
  /**
   * Takes snapshots over from the store in another folder, with a ref for each; when it returns, all of it is on disk and that store is
   * needed no more. A killed adoption is called again. Refuses when something is gone or damaged there, or the disk is full.
   */
  adopt(
    dir: string,
    wanted: readonly { readonly id: SnapshotId; readonly ref: string }[],
  ): Promise<Result<null, CaptureRefusal>>;
  /** Fills a new or empty folder byte for byte. A killed restore is repeated by calling it again. `only`: paths, folders or globs. */
  restore(
    id: SnapshotId,
    folder: string,
    options?: { readonly only?: readonly string[] },
  ): Promise<Result<Restored, RestoreRefusal>>;
  has(id: SnapshotId): Promise<boolean>;
  /** The snapshot a ref points at: what a controller that was killed before its ledger event looks for. */
  find(ref: string): Promise<Snapshot | undefined>;
  describe(id: SnapshotId): Promise<Snapshot>;
  /** All files and links, sorted by path bytes. */
  entries(id: SnapshotId): Promise<readonly SnapshotEntry[]>;
  /** What workspace provenance only lists, and folders that were empty. */
  listing(
    id: SnapshotId,
  ): Promise<{ readonly listed: readonly SnapshotListing[]; readonly emptyFolders: readonly string[] }>;
  /** A file's content, or a link's target. */
  read(id: SnapshotId, path: string): Promise<Buffer>;
  /** The same as a stream, for large files. */
  readStream(id: SnapshotId, path: string): Promise<Readable>;
  diff(before: SnapshotId, after: SnapshotId): Promise<SnapshotChange[]>;
  /** Unified text diff; binary and large files are said to differ. Bytes that are not UTF-8 appear as U+FFFD. */
  patch(before: SnapshotId, after: SnapshotId, options?: { readonly contextLines?: number }): Promise<string>;
  /** Recomputes every hash. */
  verify(id: SnapshotId): Promise<readonly SnapshotDamage[]>;
  /** Waits for what is running and keeps nothing open. */
  close(): Promise<void>;
}

/** What whoever only looks may do with a run's snapshots. */
export type SnapshotsReader = Omit<Snapshots, 'capture' | 'adopt' | 'find'>;
