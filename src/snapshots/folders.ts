import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  type BigIntStats,
  type Dirent,
} from 'node:fs';
import { pathBytes } from './bytePaths.ts';

/*
 * Node has no openat(2). On Linux `/proc/self/fd/<n>/name` is the same thing: the kernel starts at the opened folder itself, so a
 * folder that is swapped for a link after it was opened can't lead elsewhere, and paths of any depth stay short. Where there is no
 * /proc (macOS) the path is used, with O_NOFOLLOW for its last part only: a folder above that is swapped for a link at the right
 * instant would be followed there.
 */

/** Whether folders are really walked by handle here (Linux), or only by path (macOS). */
export const walksByHandle: boolean = existsSync('/proc/self/fd');

const FOLDER_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const FILE_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** An open folder. Whoever opens one closes it. */
export interface Folder {
  readonly fd: number;
  /** Prefix that reaches this folder's children, ending in a slash. */
  readonly prefix: Buffer;
  close(): void;
}

function folderOf(fd: number, path: Buffer): Folder {
  const prefix = walksByHandle ? Buffer.from(`/proc/self/fd/${fd}/`) : Buffer.concat([path, Buffer.from('/')]);
  return { fd, prefix, close: () => closeSync(fd) };
}

/** The address of a child for one system call. */
export const childPath = (folder: Folder, name: Buffer): Buffer => Buffer.concat([folder.prefix, name]);

/** Opens a folder inside another; throws the system's error (ELOOP or ENOTDIR for a link). */
export function openFolder(parent: Folder, name: Buffer): Folder {
  const path = childPath(parent, name);
  return folderOf(openSync(path, FOLDER_FLAGS), path);
}

/**
 * Opens an absolute path from `/` on, each part with O_NOFOLLOW.
 * Throws the system's error; ENOTDIR or ELOOP when some part is a link, so callers pass a real path.
 */
export function openAbsolute(path: string): Folder {
  let folder = folderOf(openSync('/', FOLDER_FLAGS), Buffer.alloc(0));
  for (const part of path.split('/').filter((name) => name !== '' && name !== '.')) {
    try {
      const next = openFolder(folder, pathBytes(part));
      folder.close();
      folder = next;
    } catch (error) {
      folder.close();
      throw error;
    }
  }
  return folder;
}

/** Opens a file for reading without following a link and without waiting at a FIFO. */
export const openFile = (folder: Folder, name: Buffer): number => openSync(childPath(folder, name), FILE_FLAGS);

/** What lies under a name, links not followed. */
export const statChild = (folder: Folder, name: Buffer): BigIntStats =>
  lstatSync(childPath(folder, name), { bigint: true });

/** All names in a folder, sorted by bytes. */
export function listFolder(folder: Folder): Dirent<Buffer>[] {
  const list = readdirSync(folder.prefix, { withFileTypes: true, encoding: 'buffer' });
  return list.sort((left, right) => Buffer.compare(left.name, right.name));
}

/** The target text of a link, as bytes. */
export const readLink = (folder: Folder, name: Buffer): Buffer =>
  readlinkSync(childPath(folder, name), { encoding: 'buffer' });

/** Moves through the folders below a root by handle, keeping only the chain to the present one open. */
export class FolderCursor {
  readonly #root: Folder;
  readonly #create: boolean;
  #chain: { readonly name: string; readonly folder: Folder }[] = [];

  /** `create` makes folders that are missing (restoring). The root stays the caller's to close. */
  constructor(root: Folder, options: { readonly create?: boolean } = {}) {
    this.#root = root;
    this.#create = options.create ?? false;
  }

  /** The open folder at a relative path ('' is the root), valid until the next call. Throws the system's error. */
  enter(path: string): Folder {
    const parts = path === '' ? [] : path.split('/');
    let shared = 0;
    while (shared < parts.length && this.#chain[shared]?.name === parts[shared]) shared++;
    for (const { folder } of this.#chain.splice(shared)) folder.close();
    for (const name of parts.slice(shared)) {
      const parent = this.#chain.at(-1)?.folder ?? this.#root;
      this.#chain.push({ name, folder: this.#step(parent, pathBytes(name)) });
    }
    return this.#chain.at(-1)?.folder ?? this.#root;
  }

  #step(parent: Folder, name: Buffer): Folder {
    if (!this.#create) return openFolder(parent, name);
    try {
      return openFolder(parent, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      mkdirSync(childPath(parent, name));
      return openFolder(parent, name);
    }
  }

  /** Closes the chain of folders that is open. */
  close(): void {
    for (const { folder } of this.#chain.splice(0)) folder.close();
  }
}

/** Splits a relative path into its folder ('' at the top) and last name. */
export function splitPath(path: string): { readonly folder: string; readonly name: string } {
  const at = path.lastIndexOf('/');
  return at < 0 ? { folder: '', name: path } : { folder: path.slice(0, at), name: path.slice(at + 1) };
}
