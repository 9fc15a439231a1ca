import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import * as z from 'zod';

import { readJson } from '../base/files.ts';
import { ok, refused, type Result } from '../base/result.ts';
import { runFiles, stateHome, workspaceId } from '../controller/home.ts';
import { failure, type Failure } from './failure.ts';

/** A run on disk. */
export interface RunPlace {
  readonly run: string;
  readonly folder: string;
  readonly home: string;
  /** The workspace; null where `run.json` can't be read. */
  readonly workspace: string | null;
}

const runSchema = z.object({ run: z.string(), workspace: z.string() });
const ownerHint = z.object({ stateDir: z.string() });

/** The nearest folder upwards that has `hma.yaml` or `.hma`, as its real path; undefined where there is none. */
export function findWorkspace(from: string): string | undefined {
  for (let folder = realpathSync(from); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'hma.yaml')) || existsSync(join(folder, '.hma'))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

/**
 * State folders in which a workspace's runs may lie: `HMA_HOME` alone where it is set; else the platform's, the one that the
 * contract names, and the one that the last owner wrote into the lease (a hint only: it leads to folders to look into).
 */
export function stateHomes(env: NodeJS.ProcessEnv, given: { readonly workspace?: string | undefined; readonly fromContract?: string | null } = {}): string[] {
  const homes = [stateHome(env), stateHome(env, given.fromContract ?? null)];
  if (given.workspace !== undefined && !env['HMA_HOME']) {
    const owner = readJson(join(given.workspace, '.hma', 'owner.json'), { followLinks: false });
    const hint = owner.ok ? ownerHint.safeParse(owner.value) : undefined;
    if (hint?.success) homes.push(hint.data.stateDir);
  }
  return [...new Set(homes)];
}

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return []; // not there yet, or not ours to read: no runs either way
  }
};

function placeOf(home: string, folder: string): RunPlace {
  const read = readJson(runFiles(folder).run);
  const known = read.ok ? runSchema.safeParse(read.value) : undefined;
  return { run: basename(folder), folder, home, workspace: known?.success ? known.data.workspace : null };
}

const newestFirst = (a: RunPlace, b: RunPlace): number => (a.run < b.run ? 1 : a.run > b.run ? -1 : 0);

/** A workspace's runs in these state folders, newest first (a run's id begins with its time). */
export function runsOf(workspace: string, homes: readonly string[]): RunPlace[] {
  return homes
    .flatMap((home) => {
      const runs = join(home, 'workspaces', workspaceId(workspace), 'runs');
      return namesIn(runs).map((name) => placeOf(home, join(runs, name)));
    })
    .toSorted(newestFirst);
}

/** All runs in these state folders, newest first. */
export function allRuns(homes: readonly string[]): RunPlace[] {
  return homes
    .flatMap((home) => {
      const workspaces = join(home, 'workspaces');
      return namesIn(workspaces).flatMap((workspace) => namesIn(join(workspaces, workspace, 'runs')).map((name) => placeOf(home, join(workspaces, workspace, 'runs', name))));
    })
    .toSorted(newestFirst);
}

/** The run that a command is about: the one named (its id or the only one that begins so), else the workspace's latest. */
export function findRun(given: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly run?: string | undefined }): Result<RunPlace, Failure> {
  const workspace = findWorkspace(given.cwd);
  const homes = stateHomes(given.env, { workspace });
  if (given.run !== undefined) return namedRun(given.run, homes);
  if (workspace === undefined) {
    return refused(failure('notFound', 'no_workspace', { what: `no workspace at ${given.cwd}: neither here nor in any folder above is an hma.yaml or .hma`, fix: 'Go to the workspace, or name a run: --run ID (hma list --all shows all).' }));
  }
  const latest = runsOf(workspace, homes)[0];
  if (latest) return ok(latest);
  return refused(failure('notFound', 'no_run', { what: `${workspace} has no runs in ${homes.join(' or ')}`, fix: 'Start one with hma run.' }));
}

function namedRun(name: string, homes: readonly string[]): Result<RunPlace, Failure> {
  const found = allRuns(homes).filter(({ run }) => run.startsWith(name));
  const exact = found.find(({ run }) => run === name);
  const [only, another] = found;
  if (exact ?? (only && !another)) return ok((exact ?? only) as RunPlace);
  if (another) return refused(failure('notFound', 'ambiguous_run', { what: `several runs begin with ${JSON.stringify(name)}: ${found.slice(0, 5).map(({ run }) => run).join(', ')}`, fix: 'Write more of the id.' }));
  return refused(failure('notFound', 'no_run', { what: `no run ${JSON.stringify(name)} in ${homes.join(' or ')}`, fix: 'See hma list --all.' }));
}
