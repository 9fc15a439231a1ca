import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { text } from 'node:stream/consumers';

/**
 * Bytes on disk below each folder, by `du`: a process of its own at the lowest priority, since a walk of a large tree in this one would
 * keep it from answering. Other file systems mounted below count for nothing, a file with several names once. 0 for a folder that isn't
 * there; null for all where it took longer than `timeoutMs` or there is no `du`.
 */
export async function measureFolders(
  folders: readonly string[],
  given: { readonly timeoutMs: number; readonly path: string },
): Promise<readonly (number | null)[]> {
  const there = folders.filter((folder) => existsSync(folder));
  if (there.length === 0) return folders.map(() => 0);
  const child = spawn('du', ['-skx', '--', ...there], {
    env: { PATH: given.path, LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: given.timeoutMs,
    killSignal: 'SIGKILL',
  });
  const ended = new Promise<boolean>((done) => {
    child.once('error', () => done(false));
    // 1: something could not be read or went away meanwhile; the rest is told
    child.once('close', (code) => done(code === 0 || code === 1));
  });
  try {
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  } catch {
    // it is over already
  }
  const lines = (await text(child.stdout)).split('\n');
  if (!(await ended)) return folders.map(() => null);
  const sizes = new Map(
    lines.flatMap((line) => {
      const tab = line.indexOf('\t');
      return tab < 0 ? [] : [[line.slice(tab + 1), Number(line.slice(0, tab)) * 1024] as const];
    }),
  );
  return folders.map((folder) => (there.includes(folder) ? (sizes.get(folder) ?? null) : 0));
}
