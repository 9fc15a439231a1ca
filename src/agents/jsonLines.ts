import { constants } from 'node:fs';
import { open, readdir, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { parseJsonLine } from './jsonLine.ts';

/** What a reader of JSON lines is told to look at. */
export interface JsonLinesOptions {
  /** The files as they are now; asked at each look, so that new ones are found. Files that don't exist are skipped. */
  files(): Promise<readonly string[]>;
  /** A longer line is skipped, so that one line can't fill the memory, bytes. Default: 16 MiB. */
  readonly maxLineBytes?: number;
}

/** Follows growing files of JSON lines. */
export interface JsonLines {
  /**
   * Calls back with the value of each complete line that was written since the last look, file by file, in order. A line that is no
   * JSON is skipped. With `last`, what stands behind the last line break counts as a line too. Never rejects for what lies on the disk.
   * A file that was replaced, truncated or renamed may be told once more from its beginning: whoever counts dedupes by an id.
   */
  look(last: boolean, onLine: (value: unknown, file: string) => void): Promise<void>;
}

const chunkBytes = 256 * 1024;
/** The beginning of a file by which a rewritten one is known although its inode and length would fit. */
const headBytes = 256;

/** How far one file was read. */
interface Progress {
  readonly inode: string;
  readonly head: Buffer;
  offset: number;
  /** Bytes behind the last line break; null while a line that is too long is being skipped. */
  rest: Buffer[] | null;
  restBytes: number;
}

/**
 * Opens a reader. The files may lie where a session writes: only regular files are read, no symbolic link in the last place is
 * followed, and a FIFO can't block.
 */
export function jsonLines(options: JsonLinesOptions): JsonLines {
  const maxLineBytes = options.maxLineBytes ?? 16 * 1024 * 1024;
  const known = new Map<string, Progress>();
  return {
    async look(last, onLine) {
      for (const file of await options.files().catch(() => [])) {
        const handle = await openRegular(file);
        if (!handle) continue;
        try {
          const progress = await progressOf(handle, known.get(file));
          known.set(file, progress);
          await readOn(handle, { progress, maxLineBytes, last, onLine: (value) => onLine(value, file) });
        } catch {
          known.delete(file); // a file system that fails in the middle: read it again from the beginning at the next look
        } finally {
          await handle.close().catch(() => undefined);
        }
      }
    },
  };
}

async function openRegular(file: string): Promise<FileHandle | null> {
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
    return null;
  } catch {
    return null; // not there (yet), a link, or not ours to read: nothing to tell
  }
}

/** Where to go on in a file: where we stopped, or at its beginning when it is another one now. */
async function progressOf(handle: FileHandle, before: Progress | undefined): Promise<Progress> {
  const { dev, ino, size } = await handle.stat();
  const inode = `${dev}:${ino}`;
  const wanted = before && before.head.length > 0 ? before.head.length : headBytes;
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(wanted), 0, wanted, 0);
  const head = buffer.subarray(0, bytesRead);
  if (before && before.inode === inode && size >= before.offset && head.equals(before.head)) return before;
  return { inode, head, offset: 0, rest: [], restBytes: 0 };
}

async function readOn(
  handle: FileHandle,
  given: { progress: Progress; maxLineBytes: number; last: boolean; onLine: (value: unknown) => void },
): Promise<void> {
  const { progress, maxLineBytes, last, onLine } = given;
  const chunk = Buffer.alloc(chunkBytes);
  for (;;) {
    const { bytesRead } = await handle.read(chunk, 0, chunkBytes, progress.offset);
    if (bytesRead === 0) break;
    progress.offset += bytesRead;
    let from = 0;
    const bytes = chunk.subarray(0, bytesRead);
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      if (progress.rest && progress.restBytes + end - from <= maxLineBytes)
        tell(Buffer.concat([...progress.rest, bytes.subarray(from, end)]), onLine);
      progress.rest = [];
      progress.restBytes = 0;
      from = end + 1;
    }
    keepRest(progress, bytes.subarray(from), maxLineBytes);
  }
  if (last && progress.rest && tell(Buffer.concat(progress.rest), onLine)) {
    progress.rest = [];
    progress.restBytes = 0;
  }
}

function keepRest(progress: Progress, bytes: Buffer, maxLineBytes: number): void {
  if (!progress.rest || bytes.length === 0) return;
  progress.restBytes += bytes.length;
  if (progress.restBytes > maxLineBytes) progress.rest = null;
  else progress.rest.push(Buffer.from(bytes)); // a copy: the chunk is used again
}

/** Whether the line was JSON. */
function tell(line: Buffer, onLine: (value: unknown) => void): boolean {
  const value = parseJsonLine(line.toString('utf8'));
  if (value === undefined) return false;
  onLine(value);
  return true;
}

/**
 * Regular files below a folder whose path relative to it matches, sorted; none when the folder isn't there. Symbolic links are not
 * followed, and at most `depth` folders deep is looked.
 */
export async function filesBelow(
  root: string,
  options: { readonly matches: (relative: string) => boolean; readonly depth?: number },
): Promise<string[]> {
  const found: string[] = [];
  const walk = async (relative: string, depth: number): Promise<void> => {
    const entries = await readdir(join(root, relative), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = relative === '' ? entry.name : `${relative}/${entry.name}`;
      if (entry.isDirectory() && depth > 0) await walk(path, depth - 1);
      else if (entry.isFile() && options.matches(path)) found.push(join(root, path));
    }
  };
  await walk('', options.depth ?? 8);
  return found.sort();
}

/**
 * The files that hold a program's output while it runs: the runner's log and, once its first half is full, the segments of its end.
 * When the program is over the segments are put behind the log, so that their lines come a second time.
 */
export async function outputFiles(output: string): Promise<string[]> {
  const folder = dirname(output);
  const stem = basename(output, '.log');
  const names = await readdir(folder).catch(() => [] as string[]);
  const offset = (name: string): number => Number(name.slice(`${stem}.tail-`.length));
  const tails = names.filter((name) => name.startsWith(`${stem}.tail-`)).sort((a, b) => offset(a) - offset(b));
  return [output, ...tails.map((name) => join(folder, name))];
}
