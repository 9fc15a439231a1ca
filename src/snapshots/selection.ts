import picomatch from 'picomatch';
import { Refusal } from './refusals.ts';

/** Decides which paths below the root belong to a capture. */
export interface Selection {
  /** Names as the request gives them, without `./` and closing slashes. '' is the whole root. */
  readonly specs: readonly string[];
  /** Whether a path (not its parents) is left out. */
  excludes(path: string): boolean;
}

const OPTIONS = { dot: true, nonegate: true, noextglob: false } as const;

/** Whether a name in a request is a glob and not the name of one path. */
export const isGlob = (spec: string): boolean => picomatch.scan(spec, OPTIONS).isGlob;

/** The folder a glob can't match outside of ('' for the root). */
export const globBase = (spec: string): string => picomatch.scan(spec, OPTIONS).base.replace(/^\.$/, '');

/** A test for whole relative paths. `*` stays within one folder, `**` crosses folders, dot files count. */
export const globMatcher = (spec: string): ((path: string) => boolean) => picomatch(spec, OPTIONS);

/** Reads the names of a request. Throws a `Refusal` (`outside`) for absolute paths and `..`. */
export function selectionOf(include: readonly string[], exclude: readonly string[] = []): Selection {
  const literal = new Set(exclude.map(cleanSpec));
  const globs = [...literal].filter(isGlob).map(globMatcher);
  return {
    specs: include.map(cleanSpec),
    excludes: (path) =>
      path === '.git' || path === '.hma' || literal.has(path) || globs.some((matches) => matches(path)),
  };
}

function cleanSpec(spec: string): string {
  const parts = spec.split('/').filter((part) => part !== '.' && part !== '');
  if (spec === '' || spec.startsWith('/') || spec.includes('\0') || parts.includes('..'))
    throw new Refusal({
      reason: 'outside',
      path: spec,
      detail: `"${spec}" does not name something inside the workspace. Give a path relative to it, without "..".`,
    });
  return parts.join('/');
}
