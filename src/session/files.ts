import { chmodSync, lstatSync, mkdirSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, normalize, resolve } from 'node:path';

import type { FileReply } from '../protocol/agent.ts';

/** A file of a candidate as it came over the socket. */
export type FetchedFile = Extract<FileReply, { readonly base64: string }>;

/** Whether a path can be put below a folder without leaving it. */
export const staysBelow = (path: string): boolean => {
  const plain = normalize(path);
  return (
    path !== '' &&
    !path.includes('\0') &&
    !plain.startsWith('/') &&
    plain !== '..' &&
    !plain.startsWith('../') &&
    plain !== '.'
  );
};

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Where one file goes: `out` itself, or below it when it is a folder or written as one. */
export const destinationOf = (out: string, path: string): string =>
  out.endsWith('/') || isFolder(out) ? join(resolve(out), basename(path)) : resolve(out);

/**
 * Writes a file as it was archived: links as links, executables executable. What was there is replaced, not written through: a
 * link there could lead anywhere. Throws the system's error.
 */
export function writeFetched(file: FetchedFile, destination: string): void {
  mkdirSync(dirname(destination), { recursive: true });
  if (lstatSync(destination, { throwIfNoEntry: false })) unlinkSync(destination);
  const bytes = Buffer.from(file.base64, 'base64');
  if (file.kind === 'link') return symlinkSync(bytes, destination);
  writeFileSync(destination, bytes, { flag: 'wx' });
  if (file.kind === 'executable') chmodSync(destination, 0o755);
}
