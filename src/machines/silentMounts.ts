import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { tool } from './tools.ts';

/** A mounted file system that does not answer, such as that of a server that is gone. */
export interface SilentMount {
  readonly path: string;
  /** As the kernel names it: `nfs4`, `fuse.sshfs`. */
  readonly type: string;
}

/** File systems whose answers come from elsewhere: another machine, or a program. */
const remote = /^(nfs\d?|cifs|smb3?|9p|ceph|glusterfs|lustre|beegfs|gpfs|afs|davfs|virtiofs|fuse(\.|blk|$))/;

/** Time for an answer, ms. */
const patienceMs = 5000;

/**
 * The mounts of this machine that don't answer within 5 s. Whoever calls the system about a path below one hangs, this process too and
 * for good: so they are found by a program of their own each, which can be killed.
 */
export async function silentMounts(patience = patienceMs): Promise<readonly SilentMount[]> {
  const asked = await Promise.all(
    remoteMounts().map(async (mount) => ((await answers(mount.path, patience)) ? [] : [mount])),
  );
  return asked.flat();
}

function remoteMounts(): readonly SilentMount[] {
  let text: string;
  try {
    text = readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return []; // a system without /proc tells nothing of its mounts
  }
  return text.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [path, type] = [before.split(' ')[4], after.split(' ')[0]];
    if (path === undefined || type === undefined || !remote.test(type)) return [];
    return [
      { path: path.replaceAll(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8))), type },
    ];
  });
}

/** An error is an answer too. */
const answers = (path: string, patience: number): Promise<boolean> =>
  new Promise((resolve) => {
    const options = { timeout: patience, killSignal: 'SIGKILL' } as const;
    execFile(tool('stat'), ['-f', '--', path], options, (error) => resolve(error?.signal !== 'SIGKILL'));
  });

/** Whether a path lies on one of them, by its text: the path itself is not touched. */
export const liesOn = (mounts: readonly SilentMount[], path: string): SilentMount | undefined =>
  mounts.find((mount) => path === mount.path || path.startsWith(`${mount.path}/`));
