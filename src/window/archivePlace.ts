import type { SnapshotEntry } from '../snapshots/port.ts';

/** Scheme of documents in the archive. */
export const archiveScheme = 'hma-archive';

/** In the place of a candidate's id: the candidate files as they were when the run began. */
export const startId = 'start';
/** The same of the first run of a chain of runs that go on from each other. */
export const beginningId = 'beginning';

/** A place in the archive; an empty path is the candidate itself. */
export interface ArchivePlace {
  readonly run: string;
  readonly candidate: string;
  readonly path: string;
}

/** The parts of a document's address: which candidate is the authority, the path is the one that the file has in the workspace. */
export interface ArchiveAddress {
  readonly authority: string;
  readonly path: string;
}

/** The address of a place. `folder` is the workspace's: with equal paths on both sides VS Code shows a diff, not a renaming. */
export const archiveAddress = ({ run, candidate, path }: ArchivePlace, folder: string): ArchiveAddress => ({
  authority: `${candidate}.${run}`,
  path: `${folder}${path === '' ? '' : `/${path}`}`,
});

/** The place that an address names; undefined where it names none in this workspace. */
export function placeIn({ authority, path }: ArchiveAddress, folder: string): ArchivePlace | undefined {
  const [, candidate, run] = /^([^./]+)\.([^./]+)$/.exec(authority) ?? [];
  const plain = path.replace(/\/+$/, '');
  if (candidate === undefined || run === undefined || (plain !== folder && !plain.startsWith(`${folder}/`)))
    return undefined;
  return { run, candidate, path: plain.slice(folder.length + 1) };
}

/** Names directly below a folder of a candidate (`''` is its root), as a listing shows them. */
export function childrenOf(
  entries: readonly SnapshotEntry[],
  folder: string,
): { readonly name: string; readonly folder: boolean }[] {
  const prefix = folder === '' ? '' : `${folder}/`;
  const names = new Map<string, boolean>();
  for (const { path } of entries) {
    if (!path.startsWith(prefix)) continue;
    const rest = path.slice(prefix.length);
    const cut = rest.indexOf('/');
    names.set(cut < 0 ? rest : rest.slice(0, cut), cut >= 0);
  }
  return [...names].map(([name, isFolder]) => ({ name, folder: isFolder }));
}

/** Larger files are not shown in a diff, bytes. */
const mostDiffBytes = 5 * 1024 * 1024;

/** One file that differs between two sides; a missing side has no such file. */
export interface FileDifference {
  readonly path: string;
  readonly before: Pick<SnapshotEntry, 'bytes' | 'kind'> | undefined;
  readonly after: Pick<SnapshotEntry, 'bytes' | 'kind'> | undefined;
}

/** Files that differ between two lists, by path. */
export function differencesOf(before: readonly SnapshotEntry[], after: readonly SnapshotEntry[]): FileDifference[] {
  const [left, right] = [new Map(before.map((one) => [one.path, one])), new Map(after.map((one) => [one.path, one]))];
  return [...new Set([...left.keys(), ...right.keys()])]
    .toSorted()
    .map((path) => ({ path, before: left.get(path), after: right.get(path) }))
    .filter((one) => one.before?.sha256 !== one.after?.sha256 || one.before?.kind !== one.after?.kind);
}

/** Whether a file is too large to be compared as text. */
export const isLarge = ({ before, after }: FileDifference): boolean =>
  Math.max(before?.bytes ?? 0, after?.bytes ?? 0) > mostDiffBytes;

/** Whether bytes are no text: a zero byte among the first 8,000, as git decides. */
export const isBinary = (bytes: Uint8Array): boolean => bytes.subarray(0, 8000).includes(0);

/** Ids of candidates in what a command was called with: an id, a tree's row, or several of either. */
export function candidateIds(given: unknown): string[] {
  if (Array.isArray(given)) return [...new Set(given.flatMap(candidateIds))];
  if (typeof given === 'string') return [given];
  if (typeof given !== 'object' || given === null) return [];
  const { candidate, id } = given as { candidate?: unknown; id?: unknown };
  if (candidate !== undefined) return candidateIds(candidate);
  return typeof id === 'string' ? [/(e\d+)$/.exec(id)?.[1] ?? id] : [];
}
