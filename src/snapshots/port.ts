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
