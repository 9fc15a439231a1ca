import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { chmod, copyFile, lchown, lstat, mkdir, rename, rm, symlink, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { pristineFile, type ProtectedFile, type ProtectedFiles } from './protectedFiles.ts';

/** What happens to something that stands where a protected file or one of its folders belongs. */
type InTheWay = 'remove' | 'moveAside';

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

/** Writes a pristine protected file to a path where nothing is; fails when something is there, a link included. */
export async function writePristine(
  target: string,
  files: ProtectedFiles,
  file: Exclude<ProtectedFile, { kind: 'large' }>,
): Promise<void> {
  if (file.kind === 'link') return symlink(file.target, target);
  await copyFile(pristineFile(files, file), target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await chmod(target, file.mode);
  await utimes(target, file.mtimeMs / 1000, file.mtimeMs / 1000);
}

/** Puts one file back atomically, with its owner, whatever stands there now. */
async function putBack(
  workspace: string,
  files: ProtectedFiles,
  file: Exclude<ProtectedFile, { kind: 'large' }>,
): Promise<void> {
  const target = join(workspace, file.path);
  await makeWay(workspace, dirname(file.path), 'moveAside');
  const temporary = join(dirname(target), `.hma-${process.pid}-${basename(target)}`.slice(0, 200));
  await rm(temporary, { recursive: true, force: true });
  await writePristine(temporary, files, file);
  if (file.kind === 'file' && process.getuid?.() === 0) await lchown(temporary, file.uid, file.gid);
  const inTheWay = await lstat(target).catch(() => null);
  if (inTheWay?.isDirectory()) await clear(target, 'moveAside');
  await rename(temporary, target);
}

/** Gives folders and all in them to a user, links themselves instead of what they point at. */
export async function giveTrees(folders: readonly string[], uid: number): Promise<void> {
  await promisify(execFile)('chown', ['-hRP', `${uid}:${uid}`, '--', ...folders]);
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
      await putBack(workspace, files, file);
      restored.push(file.path);
    } catch (cause) {
      failed.push({ path: file.path, detail: `\`${file.path}\` could not be put back: ${(cause as Error).message}` });
    }
  }
  for (const path of wanted) failed.push({ path, detail: `\`${path}\` is not a protected file of this run` });
  return { restored, failed };
}
