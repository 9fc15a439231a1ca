import { execFile } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { readJson, writeJsonAtomic } from '../base/files.ts';
import { oneLine } from '../base/oneLine.ts';
import { ok, refused, type Result } from '../base/result.ts';
import { runFiles, runFolderOf } from '../ledger/places.ts';
import { sayProblem } from '../ledger/port.ts';
import { readLedger } from '../ledger/readLedger.ts';
import { replayRun } from '../run/evolve.ts';
import { openSnapshotsReadOnly } from '../snapshots/store.ts';
import * as z from 'zod';
import { failure, type Failure } from './failure.ts';
import type { RunPlace } from './lookup.ts';

const run = promisify(execFile);

/** What never leaves a machine: tokens, half-finished HOMEs, caches, a copy of the machine's user names, and what says that somebody looks after the run here. */
const leftOut = [
  'sessions/*/token',
  'sessions/*/home',
  'sessions/*/tmp',
  'sessions/*/passwd',
  'evaluations/*/runner/passwd',
  'snapshots/cache',
  'snapshots/home',
  'endpoint.json',
  'keeper.json',
  'alive.json',
  'boot-*.json',
  'ballast',
  'ballast.tmp',
  'room.tmp',
];

/** Longest output of `tar` that is kept for a message, bytes. */
const maxBuffer = 16 * 1024 * 1024;

/**
 * Packs a run into one file that can be read elsewhere: ledger, candidates, prompts, outputs. A file of that name is never
 * overwritten. A living run is packed as it stands; its ledger then ends where it was read.
 */
export async function exportRun(place: RunPlace, file: string, signal?: AbortSignal): Promise<Result<null, Failure>> {
  if (existsSync(file))
    return refused(
      failure('refused', 'exists', {
        what: `${file} is there already; it was left as it is`,
        fix: 'Name another file with --out.',
      }),
    );
  if (!statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory())
    return refused(
      failure('failed', 'no_folder', {
        what: `the folder ${dirname(file)} does not exist`,
        fix: 'Create it, or name another file with --out.',
      }),
    );
  const half = `${file}.${process.pid}.tmp`;
  const excluded = leftOut.map((pattern) => `--exclude=./${pattern}`);
  try {
    // 1: a file changed while it was read, as a living run's log does; what counts is checked on import
    await run('tar', ['-czf', half, ...excluded, '-C', place.folder, '.'], { maxBuffer, signal }).catch(
      (error: unknown) => {
        if (!(error instanceof Error && 'code' in error && error.code === 1)) throw error;
      },
    );
    renameSync(half, file);
    return ok(null);
  } catch (error) {
    rmSync(half, { force: true });
    return refused(
      tarFailure(
        `run ${place.run} could not be packed into ${file}`,
        error,
        'See that there is room on the disk, and that tar is installed.',
      ),
    );
  }
}

const tarFailure = (what: string, error: unknown, fix: string): Failure => {
  const lines = error instanceof Error && 'stderr' in error ? String(error.stderr).split('\n') : [];
  // tar's last lines only say that it gave up
  const telling = lines.find((line) => line.trim() !== '' && !/not recoverable|Child returned|exit delayed/.test(line));
  const words = oneLine(telling ?? (error instanceof Error ? error.message : String(error)), 300);
  return failure('failed', 'tar', {
    what: `${what}: ${words}`,
    fix,
  });
};

const runRecord = z.looseObject({ run: z.string().regex(/^\d{8}-\d{6}-[0-9a-z]{4}$/), workspace: z.string() });

/** What was taken in. */
export interface Imported {
  readonly run: string;
  readonly folder: string;
  /** The workspace it was made in, on the machine it came from. */
  readonly from: string;
  readonly candidates: number;
}

/** How an import is watched and cut off; cut off, it leaves nothing. */
export interface ImportWatch {
  readonly signal?: AbortSignal;
  readonly tell?: (how: string) => void;
}

/**
 * Takes a packed run into a state folder, beside the runs of `workspace`. Everything is checked before it is put in place: it holds
 * files and folders only, its ledger's chain is whole, and every candidate has the bytes it should have.
 */
export async function importRun(
  file: string,
  given: { readonly home: string; readonly workspace: string } & ImportWatch,
): Promise<Result<Imported, Failure>> {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    return refused(
      failure('failed', 'no_file', {
        what: `${file} ${existsSync(file) ? 'is no file' : 'does not exist'}`,
        fix: 'Correct the path: name a file that hma export made.',
      }),
    );
  mkdirSync(given.home, { recursive: true, mode: 0o700 });
  const fresh = mkdtempSync(join(given.home, '.importing-'));
  try {
    const { signal } = given;
    await run('tar', ['-xzf', file, '--no-same-owner', '-C', fresh], { maxBuffer, signal });
    const checked = await checkUnpacked(fresh, file, given);
    if (!checked.ok) return checked;
    const folder = runFolderOf(given.home, given.workspace, checked.value.run);
    if (existsSync(folder))
      return refused(
        failure('refused', 'exists', {
          what: `run ${checked.value.run} is here already`,
          fix: `Look at it: hma status --run ${checked.value.run}`,
        }),
      );
    mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
    writeJsonAtomic(runFiles(fresh).run, { ...checked.value.record, importedWall: Date.now() });
    renameSync(fresh, folder);
    return ok({
      run: checked.value.run,
      folder,
      from: checked.value.record.workspace,
      candidates: checked.value.candidates,
    });
  } catch (error) {
    return refused(
      tarFailure(
        `${file} could not be unpacked`,
        error,
        'Name a file that hma export made; if it is one, see that there is room on the disk.',
      ),
    );
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

async function checkUnpacked(
  folder: string,
  file: string,
  { signal, tell }: ImportWatch,
): Promise<
  Result<{ readonly run: string; readonly record: z.infer<typeof runRecord>; readonly candidates: number }, Failure>
> {
  const wrong = (why: string) =>
    refused(
      failure('failed', 'bad_import', { what: `${file} is no whole run: ${why}`, fix: 'Pack it again: hma export.' }),
    );
  const odd = readdirSync(folder, { withFileTypes: true, recursive: true }).find((entry) => {
    const kind = lstatSync(join(entry.parentPath, entry.name));
    return !kind.isFile() && !kind.isDirectory();
  });
  if (odd) return wrong(`${odd.name} is neither a file nor a folder`);
  const read = readJson(runFiles(folder).run);
  const record = read.ok ? runRecord.safeParse(read.value) : undefined;
  if (!record?.success) return wrong('it has no run.json that can be read');
  const { events, problems } = readLedger(folder);
  const state = replayRun(events);
  const broken = problems.find((problem) => problem.fatal);
  if (broken) return wrong(`its ledger is broken at ${sayProblem({ ...broken, file: basename(broken.file) })}`);
  if (!state || state.run !== record.data.run) return wrong('its ledger is missing or another run’s');
  const store = openSnapshotsReadOnly({ dir: runFiles(folder).snapshots });
  try {
    for (const { id, snapshot, order } of state.archive) {
      signal?.throwIfAborted();
      tell?.(`checking candidate ${order} of ${state.archive.length}`);
      if (!(await store.has(snapshot))) return wrong(`the files of candidate ${id} are missing`);
      const [damage] = await store.verify(snapshot);
      if (damage) return wrong(`candidate ${id} is damaged: ${damage.path ?? ''} ${damage.detail}`);
    }
  } finally {
    await store.close();
  }
  return ok({ run: record.data.run, record: record.data, candidates: state.archive.length });
}
