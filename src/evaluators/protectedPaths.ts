import type { Stats } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize, relative } from 'node:path';
import picomatch from 'picomatch';
import { ok, refused, type Result } from '../base/result.ts';

/** A protected path that was found, relative to the workspace and `/`-separated. */
export interface FoundPath {
  readonly path: string;
  readonly kind: 'file' | 'link';
}

interface PathRefusal {
  readonly path: string;
  readonly detail: string;
}

const kindOf = (stats: Stats): 'file' | 'folder' | 'link' | 'special' =>
  stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : stats.isSymbolicLink() ? 'link' : 'special';

/** Ours and git's own folders are never protected files: they change by themselves. */
const isOwn = (path: string): boolean => /^\.(?:hma|git)(?:\/|$)/u.test(path);

const clean = (pattern: string): string => normalize(pattern).replace(/^\.\//u, '').replace(/\/+$/u, '') || '.';

/** The first component of a relative path that is a symbolic link, or null. Missing components are the caller's business. */
export async function linkOnTheWay(root: string, path: string): Promise<string | null> {
  let way = '';
  for (const part of path.split('/')) {
    if (part === '.' || part === '') continue;
    way = way === '' ? part : `${way}/${part}`;
    const stats = await lstat(join(root, way)).catch(() => null);
    if (stats === null) return null;
    if (stats.isSymbolicLink()) return way;
  }
  return null;
}

/**
 * Whether a relative path belongs to the protected ones: a pattern names it, matches it, or names or matches a folder above it.
 * A pattern stands for its own text as well as for what it matches as a glob; `paths` are further ones, meant literally.
 */
export function protectedMatcher(
  patterns: readonly string[],
  paths: readonly string[] = [],
): (path: string) => boolean {
  const cleaned = patterns.map(clean);
  const literal = new Set([...cleaned, ...paths]);
  const globs = cleaned.map((pattern) => picomatch(pattern, { dot: true }));
  const hit = (path: string): boolean => literal.has(path) || globs.some((glob) => glob(path));
  return (path) => {
    if (literal.has('.')) return true;
    for (let part = path; part !== '.' && part !== ''; part = dirname(part)) if (hit(part)) return true;
    return false;
  };
}

async function below(root: string, folder: string): Promise<{ path: string; kind: ReturnType<typeof kindOf> }[]> {
  const all: { path: string; kind: ReturnType<typeof kindOf> }[] = [];
  const pending = [folder];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const name of await readdir(join(root, next))) {
      const path = next === '.' ? name : `${next}/${name}`;
      if (isOwn(path)) continue;
      const kind = kindOf(await lstat(join(root, path)));
      if (kind === 'folder') pending.push(path);
      else all.push({ path, kind });
    }
  }
  return all;
}

async function exactly(
  root: string,
  path: string,
): Promise<{ path: string; kind: ReturnType<typeof kindOf> }[] | null> {
  const stats = await lstat(join(root, path)).catch(() => null);
  if (stats === null) return null;
  return stats.isDirectory() ? await below(root, path) : [{ path, kind: kindOf(stats) }];
}

async function matching(root: string, pattern: string): Promise<{ path: string; kind: ReturnType<typeof kindOf> }[]> {
  const base = picomatch.scan(pattern).base || '.';
  const stats = await lstat(join(root, base)).catch(() => null);
  if (!stats?.isDirectory()) return [];
  const belongs = protectedMatcher([pattern]);
  return (await below(root, base)).filter((entry) => belongs(entry.path));
}

/** A link that stays in the workspace brings its target under protection too: the link alone would protect nothing. */
async function targetInside(root: string, path: string): Promise<string | null> {
  const real = await realpath(join(root, path)).catch(() => null);
  if (real === null) return null;
  const inside = relative(await realpath(root), real);
  return inside === '' || inside.startsWith('..') || isAbsolute(inside) ? null : inside;
}

/**
 * All files and links that the patterns name below the workspace, sorted, each once. A pattern that exists as a path is that
 * path (a folder stands for all below it), any other is a glob. Links are reported, never followed out of the workspace.
 */
export async function findProtected(
  workspace: string,
  patterns: readonly string[],
): Promise<Result<FoundPath[], PathRefusal>> {
  const found = new Map<string, FoundPath>();
  const pending = patterns.map(clean);
  for (let pattern = pending.shift(); pattern !== undefined; pattern = pending.shift()) {
    const path = pattern;
    if (isAbsolute(path) || path.split('/').includes('..')) {
      return refused({
        path,
        detail: `the protected path \`${path}\` leaves the workspace; name paths below ${workspace}`,
      });
    }
    const link = await linkOnTheWay(workspace, dirname(path));
    if (link !== null) {
      const detail = `the protected path \`${path}\` goes through the symbolic link \`${link}\`; name the real path instead`;
      return refused({ path, detail });
    }
    try {
      const entries = (await exactly(workspace, path)) ?? (await matching(workspace, path));
      if (entries.length === 0 && (await exactly(workspace, path)) === null) {
        return refused({
          path,
          detail: `the protected path \`${path}\` matches nothing in ${workspace}; correct or remove it`,
        });
      }
      for (const entry of entries) {
        if (entry.kind === 'special' || entry.kind === 'folder') {
          const detail = `\`${entry.path}\` is protected but no regular file (a FIFO, socket or device); remove it or narrow the pattern`;
          return refused({ path: entry.path, detail });
        }
        if (found.has(entry.path)) continue;
        found.set(entry.path, { path: entry.path, kind: entry.kind });
        if (entry.kind === 'link') {
          const target = await targetInside(workspace, entry.path);
          if (target !== null && !isOwn(target)) pending.push(target);
        }
      }
    } catch (cause) {
      return refused({ path, detail: `the protected path \`${path}\` could not be read: ${(cause as Error).message}` });
    }
  }
  return ok([...found.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1)));
}
