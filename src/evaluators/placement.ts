import { constants } from 'node:fs';
import { chmod, copyFile, lchown, lstat, mkdir, readdir, rename, rm, symlink, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pristineFile, type ProtectedFile, type ProtectedFiles } from './protectedFiles.ts';

/** What happens to something that stands where a protected file or one of its folders belongs. */
type InTheWay = 'remove' | 'moveAside';

const temporaryName = (name: string): string => `.hma-${process.pid}-${name}`.slice(0, 200);

async function clear(path: string, how: InTheWay): Promise<void> {
  const stats = await lstat(path).catch(() => null);
  if (stats === null) return;
  // a link holds nothing of its own; anything else may be somebody's work
  if (how === 'remove' || stats.isSymbolicLink()) return rm(path, { recursive: true, force: true });
  for (let n = 1; ; n += 1) {
    const aside = `${path}.moved-${n}`;
    if ((await lstat(aside).catch(() => null)) === null) return rename(path, aside);
  }
}

/** Makes the folders down to `path` real ones: a link or file that poses as one is cleared, so that no write goes through it. */
export async function makeWay(root: string, path: string, how: InTheWay): Promise<void> {
  let way = root;
  for (const part of path.split('/')) {
    if (part === '.' || part === '') continue;
    way = join(way, part);
    const stats = await lstat(way).catch(() => null);
    if (stats?.isDirectory()) continue;
    if (stats) await clear(way, how);
    await mkdir(way);
  }
}

/**
 * Puts a pristine protected file at its place below `root`, atomically, whatever stands there now; nothing is ever written
 * through a link. A large file can't be placed (its bytes are not in the store) and is the caller's business.
 */
export async function placeProtected(
  root: string,
  files: ProtectedFiles,
  { file, how }: { readonly file: Exclude<ProtectedFile, { kind: 'large' }>; readonly how: InTheWay },
): Promise<void> {
  const folder = dirname(file.path);
  await makeWay(root, folder, how);
  const target = join(root, file.path);
  const temporary = join(root, folder, temporaryName(file.path.slice(file.path.lastIndexOf('/') + 1)));
  await rm(temporary, { recursive: true, force: true });
  if (file.kind === 'link') await symlink(file.target, temporary);
  else {
    await copyFile(pristineFile(files, file), temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    await chmod(temporary, file.mode);
    await utimes(temporary, file.mtimeMs / 1000, file.mtimeMs / 1000);
    if (process.getuid?.() === 0) await lchown(temporary, file.uid, file.gid);
  }
  const inTheWay = await lstat(target).catch(() => null);
  if (inTheWay?.isDirectory()) await clear(target, how);
  await rename(temporary, target);
}

/** Gives a folder and all in it to a user, links themselves instead of what they point at. */
export async function giveTree(folder: string, uid: number): Promise<void> {
  await lchown(folder, uid, uid);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await giveTree(path, uid);
    else await lchown(path, uid, uid);
  }
}
/** What a restoring did. A large file can't be restored: its bytes were never copied. */
export interface Restoration {
  readonly restored: readonly string[];
  readonly failed: readonly { readonly path: string; readonly detail: string }[];
}

/**
 * Puts the named protected files of the workspace back as they were, each atomically; used at handoffs, when no session lives.
 * Folders and files that an agent put in their place are moved aside (`NAME.moved-1`), not deleted.
 */
export async function restoreProtected(
  workspace: string,
  files: ProtectedFiles,
  paths: readonly string[],
): Promise<Restoration> {
  const wanted = new Set(paths);
  const restored: string[] = [];
  const failed: { path: string; detail: string }[] = [];
  for (const file of files.files) {
    if (!wanted.delete(file.path)) continue;
    if (file.kind === 'large') {
      const detail = `\`${file.path}\` is larger than 1 GB, so no copy was kept; put the original back by hand`;
      failed.push({ path: file.path, detail });
      continue;
    }
    try {
      await placeProtected(workspace, files, { file, how: 'moveAside' });
      restored.push(file.path);
    } catch (cause) {
      failed.push({ path: file.path, detail: `\`${file.path}\` could not be put back: ${(cause as Error).message}` });
    }
  }
  for (const path of wanted) failed.push({ path, detail: `\`${path}\` is not a protected file of this run` });
  return { restored, failed };
}
