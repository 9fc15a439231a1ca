import { isAbsolute, join, resolve } from 'node:path';

/** An absolute path of one that is absolute, begins with `~/`, or is relative to the workspace. */
export function absolutePath(path: string, facts: { readonly workspace: string; readonly home: string }): string {
  if (path === '~' || path.startsWith('~/')) return join(facts.home, path.slice(1));
  return isAbsolute(path) ? resolve(path) : resolve(facts.workspace, path);
}

/** Whether a path is one of the system's folders, or in one, where nothing of a task may be laid. */
export const isOfSystem = (path: string): boolean =>
  /^\/(bin|boot|dev|etc|lib\w*|proc|run|sbin|sys|tmp|usr|var)(\/|$)/.test(path);

/** `./a//b/` → `a/b`: how paths below the workspace are kept. */
export const plainPath = (path: string): string =>
  path
    .replace(/\/+/g, '/')
    .replace(/^(\.\/)+(?=.)/, '')
    .replace(/(?<=.)\/$/, '');
