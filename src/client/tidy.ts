import { existsSync, readdirSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { ok, refused, type Result } from '../base/result.ts';
import { runFiles } from '../ledger/places.ts';
import { ballastIn, releaseBallast } from '../machines/disk.ts';
import { allPids, commandOf, readProc } from '../machines/processes.ts';
import { firstFiles } from '../run/goOn.ts';
import { bytesBelow, collectSnapshots, type Collected } from '../snapshots/collect.ts';
import { attach } from './connection.ts';
import { failure, type Failure } from './failure.ts';
import type { RunPlace } from './lookup.ts';
import { readOffline } from './readRun.ts';

/** Processes whose command line names a folder: a run's controller, keeper and runners do. */
export const processesIn = (folder: string): { readonly pid: number; readonly command: string }[] =>
  allPids()
    .filter((pid) => pid !== process.pid)
    .filter((pid) => readProc(`/proc/${pid}/cmdline`)?.includes(folder))
    .map((pid) => ({ pid, command: commandOf(pid) }));

/** Why a run's files can't be touched; null when they can: it is over, or can't be read, and nothing of it lives. */
async function inUse(place: RunPlace): Promise<Failure | null> {
  const connection = await attach(place.folder).catch(() => null);
  connection?.close();
  const read = readOffline(place);
  if (read.ok && read.value.state.phase !== 'finished')
    return failure('refused', 'not_over', {
      what: `run ${place.run} is not over`,
      fix: `End it first: hma stop --run ${place.run}`,
    });
  const [living] = processesIn(place.folder);
  if (connection === null && living === undefined) return null;
  return failure('refused', 'in_use', {
    what: `run ${place.run} is still in use${living === undefined ? '' : ` by process ${living.pid} (${living.command.slice(0, 120)})`}`,
    fix: 'A controller stays a moment after the end, and as long as a window shows its run: close that, wait half a minute, try again.',
  });
}

/** Bytes that a run takes on disk. */
export const sizeOfRun = (place: RunPlace): Promise<number> => bytesBelow(place.folder);

/** Removes a run with everything it remembers. The workspace stays as it is. Killed in between, what is left is no run any more. */
export async function removeRun(place: RunPlace): Promise<Result<null, Failure>> {
  const used = await inUse(place);
  if (used) return refused(used);
  const away = join(dirname(place.folder), `.removing-${basename(place.folder)}`);
  await rm(away, { recursive: true, force: true });
  renameSync(place.folder, away);
  await rm(away, { recursive: true, force: true });
  return ok(null);
}

/** What `hma gc` did to one run, or why it left it alone. */
export type RunTidied =
  | ({ readonly run: string; readonly kind: 'collected' } & Collected)
  | { readonly run: string; readonly kind: 'left'; readonly why: string };

/** Removes of a finished run's snapshots what no candidate needs: rejected submissions and the text of the workspace between options. */
export async function tidyRun(place: RunPlace, dryRun: boolean): Promise<RunTidied> {
  const used = await inUse(place);
  if (used) return { run: place.run, kind: 'left', why: used.what };
  const read = readOffline(place);
  if (!read.ok) return { run: place.run, kind: 'left', why: read.refusal.what };
  const { state } = read.value;
  const starts = [state.initial, firstFiles(state)].filter((files) => files !== null);
  const keep = new Set([...state.archive.map(({ snapshot }) => snapshot), ...starts]);
  const collected = await collectSnapshots(runFiles(place.folder).snapshots, { keep, dryRun });
  // a run that was killed at its end may have kept it
  const ballast = ballastIn(place.folder);
  if (!dryRun) releaseBallast(place.folder);
  return { run: place.run, kind: 'collected', ...collected, bytesBefore: collected.bytesBefore + ballast };
}

/** Removes copies of hma's programs that no living process runs from, and what a killed removal left. Answers the bytes freed. */
export async function tidyHome(
  home: string,
  given: { readonly needed: (folder: string) => boolean; readonly dryRun: boolean },
): Promise<number> {
  const runtimes = join(home, 'runtime');
  const old = namesIn(runtimes)
    .map((name) => join(runtimes, name))
    .filter((folder) => !given.needed(folder) && processesIn(`${folder}/`).length === 0);
  const workspaces = namesIn(join(home, 'workspaces')).map((name) => join(home, 'workspaces', name, 'runs'));
  const halves = workspaces.flatMap((runs) =>
    namesIn(runs)
      .filter((name) => name.startsWith('.removing-'))
      .map((name) => join(runs, name)),
  );
  let freed = 0;
  for (const folder of [...old, ...halves]) {
    freed += await bytesBelow(folder);
    if (!given.dryRun) await rm(folder, { recursive: true, force: true });
  }
  return freed;
}

const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);
