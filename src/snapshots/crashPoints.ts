/**
 * The instants of a capture at which a kill is most telling, in order: nothing done yet · a large file is in the content store (once per
 * file) · all objects are synced, no ref yet · the
 * stat cache is written · the ref is synced. `adopt` ones, when a store takes over another's: a large file is here (once per file) · all
 * git objects are · the refs are written. `restore` ones: marker written · all files
 * written, marker still there.
 */
export const snapshotCrashPoints = [
  'snapshot.begin',
  'snapshot.large',
  'snapshot.objects',
  'snapshot.cache',
  'snapshot.ref',
  'snapshot.adopt.large',
  'snapshot.adopt.objects',
  'snapshot.adopt.refs',
  'snapshot.restore.begin',
  'snapshot.restore.written',
] as const;

/** Name of one of them. */
export type SnapshotCrashPoint = (typeof snapshotCrashPoints)[number];
