import { constants, existsSync, lstatSync, realpathSync } from 'node:fs';
import { copyFile, cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { isWithin } from '../base/folders.ts';
import { ok, refused, type Result } from '../base/result.ts';
import { failure, type Failure } from './failure.ts';
import type { ImportedContract } from './importContract.ts';

/** Something to be laid out: a copy of a file or folder, a text, or a link to what lies elsewhere. `to` is relative. */
export type Laid =
  | { readonly to: string; readonly copy: string }
  | { readonly to: string; readonly text: string }
  | { readonly to: string; readonly link: string };

/** A task of another collection, read and understood, before anything is written. */
export interface ImportedTask {
  readonly contract: ImportedContract;
  /** What comes into the workspace, besides hma.yaml. */
  readonly workspace: readonly Laid[];
  /** What comes into the hidden folder beside it; empty for none. */
  readonly hidden: readonly Laid[];
  /** What a person should know: what was taken over, guessed, left out. */
  readonly remarks: readonly string[];
}

/** The folder beside a workspace that agents never see: `toy` → `toy.hidden`. */
export const hiddenBeside = (workspace: string): string => join(dirname(workspace), `${basename(workspace)}.hidden`);

/** A refusal of an import, as a command tells it. */
export const importFailure = (code: string, what: string, fix: string): { ok: false; refusal: Failure } =>
  refused(failure('refused', code, { what, fix }));

/** The task's folder, real; refuses one that isn't there, and one that agents would get to see as or in their workspace. */
export function sourceFolder(named: string, workspace: string): Result<string, Failure> {
  if (!existsSync(named) || !lstatSync(realpathSync(named)).isDirectory())
    return importFailure('no_folder', `${named} is no folder`, 'Name the task’s folder.');
  const folder = realpathSync(named);
  if (isWithin(folder, workspace) || isWithin(workspace, folder))
    return importFailure(
      'nested_folders',
      `the task’s folder ${folder} and the workspace ${workspace} lie in one another, so agents would see its private part`,
      'Make an empty folder elsewhere, and run hma init there.',
    );
  return ok(folder);
}

/**
 * Lays an imported task out: the workspace’s files, and the hidden ones beside it. Never writes over anything: refuses before the first
 * write when something of either is there already.
 */
export async function layOut(task: ImportedTask, workspace: string): Promise<Result<null, Failure>> {
  const beside = hiddenBeside(workspace);
  const taken = [
    ...task.workspace.map(({ to }) => join(workspace, to)),
    ...(task.hidden.length > 0 ? [beside] : []),
  ].find((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
  if (taken !== undefined)
    return importFailure(
      'exists',
      `${taken} is there already; nothing was written`,
      'Run hma init in an empty folder.',
    );
  for (const [root, parts] of [
    [workspace, task.workspace],
    [beside, task.hidden],
  ] as const)
    for (const part of parts) await lay(root, part);
  return ok(null);
}

async function lay(root: string, part: Laid): Promise<void> {
  const target = join(root, part.to);
  await mkdir(dirname(target), { recursive: true });
  if ('text' in part) await writeFile(target, part.text, { flag: 'wx' });
  else if ('link' in part) await symlink(part.link, target);
  else if (lstatSync(part.copy).isDirectory())
    await cp(part.copy, target, { recursive: true, verbatimSymlinks: true, errorOnExist: true, force: false });
  else await copyFile(part.copy, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
}

/** Where the files lie that ship with hma (`media`), seen from the sources and from the bundles. */
export function shipped(...path: readonly string[]): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const found = join(folder, 'media', ...path);
    if (existsSync(found)) return found;
    if (folder === dirname(folder)) throw new Error(`media/${path.join('/')} does not ship with this hma`);
  }
}
