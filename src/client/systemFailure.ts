import { tmpdir } from 'node:os';

import { errorCode } from '../base/files.ts';
import { failure, type Failure } from './failure.ts';

const words: Readonly<Record<string, readonly [what: string, fix: string]>> = {
  ENOENT: ['does not exist', 'Create it, or correct the path.'],
  ENOTDIR: ['can\u2019t be reached: a part of its path is a file', 'Correct the path.'],
  EEXIST: ['is in the way: it is there already', 'Move it away, or name another path.'],
  EISDIR: ['is a folder', 'Name a file.'],
  EACCES: ['may not be read or written', 'Give yourself permission to it and to its folders.'],
  EPERM: ['may not be changed', 'Give yourself permission to it.'],
  EROFS: ['lies on a file system that can only be read', 'Choose another place.'],
  ENOSPC: ['can\u2019t be written: no space is left', 'Free some space, or choose another place.'],
  EDQUOT: ['can\u2019t be written: your quota is used up', 'Free some space, or choose another place.'],
  ELOOP: ['is a symbolic link that leads back to itself', 'Replace the link.'],
  ENAMETOOLONG: ['has too long a name', 'Name a shorter path.'],
  EFBIG: ['can\u2019t be written: it would be larger than is allowed', 'Raise the limit: ulimit -f unlimited.'],
  EIO: ['can\u2019t be read or written: its device fails', 'Look at the disk, or choose another place.'],
  EMFILE: ['can\u2019t be opened: too many files are open', 'Raise the limit: ulimit -n 4096.'],
};

/** Errors that say enough without the file that they are about, as a write to an open one has none. */
const tellsWithoutPath: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EMFILE', 'EROFS']);

/** A system's error about a file as a failure, with the file's path where it is known; undefined for any other error. */
export function systemFailure(error: unknown): Failure | undefined {
  if (!(error instanceof Error)) return undefined;
  const { path: named } = error as NodeJS.ErrnoException;
  const code = errorCode(error) ?? '';
  const said = Object.hasOwn(words, code) ? words[code] : undefined;
  const path = named ?? (tellsWithoutPath.has(code) ? `a file in ${tmpdir()} or HMA_HOME` : undefined);
  if (said === undefined || path === undefined) return undefined;
  const [what, fix] = said;
  return failure('failed', code.toLowerCase(), {
    what: `${path} ${what}`,
    fix: `${fix} Runs and their state lie in the folder that HMA_HOME names.`,
  });
}
