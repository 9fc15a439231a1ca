import { createHash } from 'node:crypto';
import * as z from 'zod';
import { comparePaths } from './bytePaths.ts';
import type { SnapshotEntry } from './port.ts';

/*
 * A snapshot's own list of what it holds, kept as the blob `manifest` in its commit. The git tree beside it (`files/`) keeps the blobs
 * alive and makes diffs quick; the manifest knows what a tree can't hold: SHA-256 of each content, empty folders, large files, and
 * files that are only listed. One JSON line each, sorted by path bytes, so that later versions differ little.
 */

/** A captured file or link, and where its content lies: git's blob, or the content store. */
export interface ManifestEntry extends SnapshotEntry {
  readonly blob: string;
  readonly large: boolean;
}

/** A path that is named but whose content was not taken (workspace provenance). */
export interface ListedEntry {
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'other';
  readonly bytes: number;
  /** Unix time of the last change in ms. */
  readonly mtimeMs: number;
}

/** Everything a snapshot says about itself. */
export interface Manifest {
  readonly kind: 'candidate' | 'workspace';
  readonly entries: readonly ManifestEntry[];
  /** Folders with nothing captured inside. */
  readonly folders: readonly string[];
  readonly listed: readonly ListedEntry[];
}

const headSchema = z.object({ hma: z.literal('snapshot'), v: z.literal(1), kind: z.enum(['candidate', 'workspace']) });
const path = z.string().refine(isPlainPath, 'a path that leaves its folder');
const hex = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`));
const lineSchema = z.discriminatedUnion('k', [
  z.object({
    k: z.enum(['file', 'executable', 'link']),
    p: path,
    n: z.number(),
    h: hex(64),
    b: hex(40),
    l: z.literal(1).optional(),
  }),
  z.object({ k: z.literal('folder'), p: path }),
  z.object({ k: z.literal('listed'), p: path, t: z.enum(['file', 'folder', 'other']), n: z.number(), m: z.number() }),
]);
type Line = z.infer<typeof lineSchema>;

/** Whether a path stays below its root: no empty, `.` or `..` part, no NUL. */
function isPlainPath(text: string): boolean {
  return !text.includes('\0') && text.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

/** The manifest as stored. */
export function writeManifest(manifest: Manifest): Buffer {
  const lines: Line[] = [
    ...manifest.entries.map((entry): Line => ({
      k: entry.kind,
      p: entry.path,
      n: entry.bytes,
      h: entry.sha256,
      b: entry.blob,
      ...(entry.large ? { l: 1 as const } : {}),
    })),
    ...manifest.folders.map((p): Line => ({ k: 'folder', p })),
    ...manifest.listed.map((entry): Line => ({
      k: 'listed',
      p: entry.path,
      t: entry.kind,
      n: entry.bytes,
      m: entry.mtimeMs,
    })),
  ];
  const head = { hma: 'snapshot', v: 1, kind: manifest.kind };
  return Buffer.from([head, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(''));
}

/** Reads a stored manifest. Throws an Error that says what is wrong with it. */
export function readManifest(stored: Buffer): Manifest {
  const [first, ...rest] = stored.toString('utf8').split('\n').slice(0, -1);
  const { kind } = headSchema.parse(JSON.parse(first ?? 'null'));
  const entries: ManifestEntry[] = [];
  const folders: string[] = [];
  const listed: ListedEntry[] = [];
  for (const text of rest) {
    const line = lineSchema.parse(JSON.parse(text));
    if (line.k === 'folder') folders.push(line.p);
    else if (line.k === 'listed') listed.push({ path: line.p, kind: line.t, bytes: line.n, mtimeMs: line.m });
    else entries.push({ path: line.p, kind: line.k, bytes: line.n, sha256: line.h, blob: line.b, large: line.l === 1 });
  }
  return { kind, entries, folders, listed };
}

/** SHA-256 over the sorted (path, kind, content hash) list: equal iff the captured files are equal. Empty folders don't count. */
export function contentHash(entries: readonly SnapshotEntry[]): string {
  const hash = createHash('sha256');
  for (const { path: name, kind, sha256 } of entries.toSorted((left, right) => comparePaths(left.path, right.path)))
    hash.update(`${JSON.stringify([name, kind, sha256])}\n`);
  return hash.digest('hex');
}
