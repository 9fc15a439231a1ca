import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';

import { parse } from 'yaml';
import * as z from 'zod';

import { readJson } from '../base/files.ts';
import { ok, refused, type Result } from '../base/result.ts';
import { homeOf, runFiles, stateHome, workspaceId } from '../ledger/places.ts';
import { absolutePath } from '../task/paths.ts';
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
const contractHint = z.object({ state: z.string() });
const ownerHint = z.object({ stateDir: z.string() });

/** The nearest folder upwards that has `hma.yaml` or `.hma`, as its real path; undefined where there is none. */
export function findWorkspace(from: string): string | undefined {
  for (let folder = realpathSync(from); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'hma.yaml')) || existsSync(join(folder, '.hma'))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

/**
 * State folders in which a workspace's runs may lie: `HMA_HOME` alone where it is set; else the platform's, and what the workspace
 * itself names: `state` in hma.yaml, the lease. Agents can write those, so they are followed only to a private folder of this user
 * outside of the workspace, which a session can't have made.
 */
export function stateHomes(env: NodeJS.ProcessEnv, workspace?: string): string[] {
  const homes = [stateHome(env)];
  if (workspace !== undefined && !env['HMA_HOME'])
    homes.push(...namedByWorkspace(workspace).filter((home) => isPrivate(home, workspace)));
  return [...new Set(homes)];
}

function namedByWorkspace(workspace: string): string[] {
  const read = readJson(join(workspace, '.hma', 'owner.json'));
  const owner = read.ok ? ownerHint.safeParse(read.value) : undefined;
  const leased = owner?.success ? [homeOf(owner.data.stateDir)] : [];
  try {
    const contract = contractHint.safeParse(parse(readFileSync(join(workspace, 'hma.yaml'), 'utf8')));
    return contract.success ? [absolutePath(contract.data.state, { workspace, home: homedir() }), ...leased] : leased;
  } catch {
    return leased; // no contract, or none that can be read: its errors are told by hma run
  }
}

function isPrivate(folder: string, workspace: string): boolean {
  try {
    const real = realpathSync(folder);
    const { uid, mode } = statSync(real);
    return (
      uid === process.getuid?.() && (mode & 0o077) === 0 && real !== workspace && !real.startsWith(`${workspace}/`)
    );
  } catch {
    return false;
  }
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
      return namesIn(workspaces).flatMap((workspace) =>
        namesIn(join(workspaces, workspace, 'runs')).map((name) =>
          placeOf(home, join(workspaces, workspace, 'runs', name)),
        ),
      );
    })
    .toSorted(newestFirst);
}

/** The run that a command is about: the one named (its id or the only one that begins so), else the workspace's latest. */
export function findRun(given: {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly run?: string | undefined;
}): Result<RunPlace, Failure> {
  const workspace = findWorkspace(given.cwd);
  const homes = stateHomes(given.env, workspace);
  if (given.run !== undefined) return namedRun(given.run, homes);
  if (workspace === undefined) {
    return refused(
      failure('notFound', 'no_workspace', {
        what: `no workspace at ${given.cwd}: neither here nor in any folder above is an hma.yaml or .hma`,
        fix: 'Go to the workspace, or name a run: --run ID (hma list --all shows all).',
      }),
    );
  }
  const latest = runsOf(workspace, homes)[0];
  if (latest) return ok(latest);
  return refused(
    failure('notFound', 'no_run', {
      what: `${workspace} has no runs in ${homes.join(' or ')}`,
      fix: 'Start one with hma run. If its state lies elsewhere, set HMA_HOME.',
    }),
  );
}

function namedRun(name: string, homes: readonly string[]): Result<RunPlace, Failure> {
  if (name.trim() === '')
    return refused(failure('notFound', 'no_run', { what: 'the name of the run is empty', fix: 'See hma list --all.' }));
  const found = allRuns(homes).filter(({ run }) => run.startsWith(name));
  const exact = found.find(({ run }) => run === name);
  const [only, another] = found;
  if (exact ?? (only && !another)) return ok((exact ?? only) as RunPlace);
  if (another)
    return refused(
      failure('notFound', 'ambiguous_run', {
        what: `several runs begin with ${JSON.stringify(name)}: ${found
          .slice(0, 5)
          .map(({ run }) => run)
          .join(', ')}`,
        fix: 'Write more of the id.',
      }),
    );
  return refused(
    failure('notFound', 'no_run', {
      what: `no run ${JSON.stringify(name)} in ${homes.join(' or ')}`,
      fix: 'See hma list --all.',
    }),
  );
}
