import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/**
 * Where the system's own tools are looked for first. The runner may be root and its PATH is the program's, which can name folders
 * that a session writes to: a planted `setpriv` there must never run.
 */
const systemFolders = [
  '/usr/bin',
  '/bin',
  '/usr/sbin',
  '/sbin',
  '/usr/local/bin',
  '/usr/local/sbin',
  '/run/current-system/sw/bin',
];

/** The absolute path of a system tool: in the system's folders, or, for a user other than root, on PATH. Undefined when it isn't there. */
export function findTool(name: string): string | undefined {
  const onPath =
    process.getuid?.() === 0 ? [] : (process.env['PATH'] ?? '').split(':').filter((folder) => folder.startsWith('/'));
  return [...systemFolders, ...onPath].map((folder) => join(folder, name)).find(isExecutable);
}

/** The same, for a tool whose presence was made sure of before: a missing one is named as it is, and the spawn tells. */
export const tool = (name: string): string => findTool(name) ?? `/usr/bin/${name}`;

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
