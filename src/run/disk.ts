/** What bytes of a run belong to. */
export const diskCauses = ['workspace', 'snapshots', 'sessions', 'evaluations', 'ledger'] as const;
/** One of them. */
export type DiskCause = (typeof diskCauses)[number];

/** A file system that the run needs. */
export interface DiskPlace {
  /** Where it is mounted. */
  readonly path: string;
  /** What of the run lies on it: `workspace`, `state` (the state folder), `home` and `tmp` (of sessions, where they are not in the state folder), `writable` (`isolation.writable`). */
  readonly holds: readonly DiskHolding[];
  /** Bytes that an ordinary user may still write. */
  readonly free: number;
  /** Free inodes; null where they are not counted. */
  readonly freeFiles: number | null;
  /** Bytes below which the run pauses. */
  readonly floor: number;
}

/** What of a run lies on a file system. */
export type DiskHolding = 'workspace' | 'state' | 'home' | 'tmp' | 'writable';

/** What a look at the disks found. */
export interface DiskSample {
  /** Active runtime then, ms. */
  readonly active: number;
  /** Bytes on disk by what they belong to; null where they could not be counted. */
  readonly bytes: Readonly<Record<DiskCause, number | null>>;
  readonly places: readonly DiskPlace[];
}
