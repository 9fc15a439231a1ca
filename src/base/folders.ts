import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

/** Whether a path lies at or below a folder. Both absolute. */
export const isWithin = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith('../'));
};

/** Whether a workspace (real) and a state folder, which need not exist yet, lie in one another; `state` = the state folder lies in the workspace. */
export function nesting(workspace: string, home: string): 'state' | 'workspace' | null {
  const real = realOf(home);
  if (isWithin(workspace, real)) return 'state';
  return isWithin(real, workspace) ? 'workspace' : null;
}

/** A path with the links of what exists of it followed. */
const realOf = (path: string): string =>
  existsSync(path) || dirname(path) === path ? realpathSync(path) : join(realOf(dirname(path)), basename(path));
