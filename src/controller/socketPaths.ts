import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

import { errorCode } from '../base/files.ts';
import { ok, refused, type Result } from '../base/result.ts';

/** Beyond about 108 bytes Node listens on a silently truncated path; some systems have less. */
const longestPath = 100;

/** The two sockets of a run: `client` for people's tools, `agent` for what runs inside a session. */
export interface SocketPaths {
  readonly client: string;
  readonly agent: string;
}

/** Why there is no place for the sockets. */
export type SocketRefusal =
  | { readonly reason: 'too_long'; readonly path: string; readonly bytes: number }
  /** Something that isn't a folder of ours lies there: a link, or another user's folder. */
  | { readonly reason: 'foreign'; readonly path: string; readonly detail: string }
  | { readonly reason: 'unwritable'; readonly path: string; readonly code: string; readonly detail: string };

/** A refusal in words: what, where, what to do. */
export function describeSocketRefusal(refusal: SocketRefusal): string {
  switch (refusal.reason) {
    case 'too_long':
      return `The socket's path ${refusal.path} has ${refusal.bytes} bytes, more than the ${longestPath} that are safe. Set XDG_RUNTIME_DIR to a shorter folder.`;
    case 'foreign':
      return `${refusal.path} is needed for this user's sockets, but ${refusal.detail}. Somebody else put it there: remove it, or set XDG_RUNTIME_DIR to a private folder.`;
    case 'unwritable':
      return `The folder for sockets ${refusal.path} can't be made: ${refusal.detail}. Set XDG_RUNTIME_DIR to a folder that can be written.`;
  }
}

/** What decides where the sockets lie. */
export interface SocketOptions {
  /** The run's id. */
  readonly run: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly uid?: number;
  /** Where the fallback folder is made; /tmp. */
  readonly tmp?: string;
}

/**
 * Makes the short private folder for a run's sockets and names them: `$XDG_RUNTIME_DIR/hma`, or `/tmp/hma-<uid>` where that isn't set,
 * isn't ours or is too long. Root always uses the latter: sessions of another uid must reach their socket through it.
 * The base and `a/` can be passed but not listed by others (0711); `c/` is the user's alone (0700).
 */
export function socketPaths(options: SocketOptions): Result<SocketPaths, SocketRefusal> {
  const uid = options.uid ?? process.getuid?.() ?? 0;
  const runtime = (options.env ?? process.env)['XDG_RUNTIME_DIR'];
  const bases = [join(options.tmp ?? '/tmp', `hma-${uid}`)];
  if (runtime !== undefined && uid !== 0 && isAbsolute(runtime) && isOwn(runtime, uid))
    bases.unshift(join(runtime, 'hma'));
  let answer: Result<SocketPaths, SocketRefusal> | undefined;
  for (const base of bases) {
    answer = socketsBelow(base, options.run, uid);
    if (answer.ok || answer.refusal.reason === 'foreign') return answer;
  }
  return answer as Result<SocketPaths, SocketRefusal>;
}

function socketsBelow(base: string, run: string, uid: number): Result<SocketPaths, SocketRefusal> {
  const paths = { client: join(base, 'c', `${run}.sock`), agent: join(base, 'a', `${run}.sock`) };
  const bytes = Buffer.byteLength(paths.client);
  if (bytes > longestPath) return refused({ reason: 'too_long', path: paths.client, bytes });
  for (const [folder, mode] of [
    [base, 0o711],
    [join(base, 'c'), 0o700],
    [join(base, 'a'), 0o711],
  ] as const) {
    const refusal = ownFolder(folder, mode, uid);
    if (refusal !== undefined) return refused(refusal);
  }
  return ok(paths);
}

/** Makes the folder, or makes sure that the one which is there is ours; in /tmp anybody may have been faster. */
function ownFolder(path: string, mode: number, uid: number): SocketRefusal | undefined {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST')
      return { reason: 'unwritable', path, code: errorCode(error) ?? '', detail: String(error) };
  }
  const stats = lstatSync(path);
  if (!stats.isDirectory())
    return { reason: 'foreign', path, detail: stats.isSymbolicLink() ? 'it is a symbolic link' : 'it is no folder' };
  if (stats.uid !== uid) return { reason: 'foreign', path, detail: `it belongs to user ${stats.uid}` };
  if ((stats.mode & 0o777) !== mode) chmodSync(path, mode);
  return undefined;
}

function isOwn(path: string, uid: number): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats !== undefined && stats.isDirectory() && stats.uid === uid;
}
