import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

import { createFileAtomic } from '../../base/files.ts';
import { findProgram, programFolders } from '../../base/program.ts';
import { ok, refused, type Result } from '../../base/result.ts';
import { failure, type Failure } from '../../client/failure.ts';
import { importedContractText } from '../../client/importContract.ts';
import { readHarborTask, servesAbsolutePaths } from '../../client/importHarbor.ts';
import { readMleBench, type MleBenchRequest } from '../../client/importMleBench.ts';
import { isWithin } from '../../base/folders.ts';
import { hiddenBeside, importFailure, layOut, type ImportedTask } from '../../client/importTask.ts';
import { kernelTemplate, templates } from '../../client/kernelTemplate.ts';
import { packageOf } from '../../client/mlebenchPackage.ts';
import type { SetupAgents } from '../../client/setupWrite.ts';
import { probeTiers } from '../../machines/probeTiers.ts';
import type { Desk } from '../desk.ts';

/** Where `hma init` may take a task from. */
export interface TaskOrigin {
  readonly harbor?: string;
  readonly mleBench?: string;
  readonly template?: string;
  readonly direction?: string;
  readonly leaderboard?: string;
  readonly sample?: string;
}

/** Whether a task is to be taken from somewhere. */
export const hasOrigin = ({ harbor, mleBench, template }: TaskOrigin): boolean =>
  harbor !== undefined || mleBench !== undefined || template !== undefined;

/** Reads the task that was asked for; nothing is written. */
export async function readTask(
  desk: Desk,
  origin: TaskOrigin,
  given: { readonly workspace: string; readonly total: string | undefined },
): Promise<Result<ImportedTask, Failure>> {
  const named = [origin.harbor, origin.mleBench, origin.template].filter((each) => each !== undefined);
  if (named.length > 1)
    return refused(
      failure('usage', 'bad_init', {
        what: '--harbor, --mle-bench and --template exclude one another',
        fix: 'Name one of them.',
      }),
    );
  if (origin.template !== undefined)
    return (templates as readonly string[]).includes(origin.template)
      ? ok(kernelTemplate(given.total))
      : refused(
          failure('usage', 'bad_init', {
            what: `there is no template ${JSON.stringify(origin.template)}`,
            fix: `Write one of: ${templates.join(', ')}.`,
          }),
        );
  if (origin.mleBench !== undefined) {
    const mlebench = await findProgram('mlebench', { path: desk.env['PATH'], cwd: desk.cwd });
    return readMleBench({
      ...given,
      folder: resolve(desk.cwd, origin.mleBench),
      direction: origin.direction,
      leaderboard: origin.leaderboard === undefined ? undefined : resolve(desk.cwd, origin.leaderboard),
      sample: origin.sample === undefined ? undefined : resolve(desk.cwd, origin.sample),
      mlebench: mlebench.ok ? await mlebenchOf(mlebench.value, desk.env['HOME']) : null,
    });
  }
  const read = readHarborTask({ ...given, folder: resolve(desk.cwd, origin.harbor ?? '.') });
  if (!read.ok) return read;
  const served = await absolutePathsHere(desk, given.workspace);
  return served.ok ? read : served;
}

/** An installed mlebench: what it needs to be readable, its package's repository too where it is installed as editable. */
async function mlebenchOf(
  program: string,
  home: string | undefined,
): Promise<NonNullable<MleBenchRequest['mlebench']>> {
  const found = packageOf(program);
  const folders = await ownFolders(program, home);
  const around = found === null ? [] : [dirname(found)];
  const more = around.filter(
    (folder) => !/^\/(usr|bin|opt)(\/|$)/.test(folder) && !folders.some((own) => isWithin(own, folder)),
  );
  return { program, folders: [...folders, ...more], package: found };
}

/** The folders of a program that a stronger isolation may not show by itself: not those of the system. */
const ownFolders = async (program: string, home: string | undefined): Promise<readonly string[]> =>
  (await programFolders(program, home)).filter((folder) => !/^\/(usr|bin|opt)(\/|$)/.test(folder));

/** Whether this machine can give an evaluator the absolute paths of its task: by bubblewrap, found out by starting it. */
async function absolutePathsHere(desk: Desk, workspace: string): Promise<Result<null, Failure>> {
  const scratch = join(hiddenBeside(workspace), '..');
  const [probe] = await probeTiers({ node: process.execPath, scratch, tiers: ['bubblewrap'] });
  if (probe?.available) return ok(null);
  const engines = await Promise.all(
    ['docker', 'podman'].map(async (name) =>
      (await findProgram(name, { path: desk.env['PATH'], cwd: desk.cwd })).ok ? [name] : [],
    ),
  );
  return servesAbsolutePaths(probe, engines.flat()[0] ?? null);
}

/** Writes a task that was read, and its hma.yaml last: it is there only when all of the rest is. */
export async function writeTask(
  task: ImportedTask,
  workspace: string,
  agents: SetupAgents,
): Promise<Result<{ readonly file: string }, Failure>> {
  const file = join(workspace, 'hma.yaml');
  if (existsSync(file)) return importFailure('exists', `${file} is there already`, 'Run hma init in an empty folder.');
  await mkdir(workspace, { recursive: true });
  const laid = await layOut(task, workspace);
  if (!laid.ok) return laid;
  createFileAtomic(file, importedContractText(task.contract, agents), 0o644);
  return ok({ file });
}
