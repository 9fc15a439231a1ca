import { existsSync, readFileSync } from 'node:fs';

import { sayBytes } from '../../base/numbers.ts';
import { count } from '../../base/words.ts';
import { failure } from '../../client/failure.ts';
import { allRuns, findRun, findWorkspace, runsOf, stateHomes } from '../../client/lookup.ts';
import { removeRun, sizeOfRun, tidyHome, tidyRun } from '../../client/tidy.ts';
import { installRuntime } from '../../controller/runtime.ts';
import { confirmed } from '../asking.ts';
import { fail, sayJson, sayLines, type Desk } from '../desk.ts';
import { exitCodes } from '../exitCodes.ts';
import { showing } from '../progress.ts';
import { unitFile } from './service.ts';
import { gcOutput, removedOutput } from '../schemas.ts';

/** `hma remove RUN`: a run with its ledger, candidates and logs. The workspace stays. */
export async function remove(
  desk: Desk,
  run: string,
  options: { readonly yes?: boolean; readonly json?: boolean },
): Promise<number> {
  const json = options.json ?? false;
  const place = findRun({ ...desk, run });
  if (!place.ok) return fail(desk, place.refusal, json);
  const bytes = await sizeOfRun(place.value);
  const yes = await confirmed(desk, {
    question: `Remove run ${place.value.run} with all its candidates (${sayBytes(bytes)})? It can't be had back.`,
    command: 'hma remove',
    yes: options.yes ?? false,
  });
  if (typeof yes !== 'boolean') return fail(desk, yes, json);
  if (!yes) return exitCodes.ok;
  const removed = await showing(desk, `removing run ${place.value.run}`, () => removeRun(place.value));
  if (!removed.ok) return fail(desk, removed.refusal, json);
  if (json) await sayJson(desk, removedOutput.parse({ run: place.value.run, bytes }));
  else await sayLines(desk, [`Run ${place.value.run} is removed: ${sayBytes(bytes)} freed.`]);
  return exitCodes.ok;
}

/** What `hma gc` may be told. */
export interface GcOptions {
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** `hma gc`: frees what no candidate needs, of the finished runs of this folder, or with `--all` of every one. */
export async function gc(desk: Desk, options: GcOptions): Promise<number> {
  const dryRun = options.dryRun ?? false;
  const workspace = findWorkspace(desk.cwd);
  if (workspace === undefined && !options.all)
    return fail(
      desk,
      failure('notFound', 'no_workspace', {
        what: `no task in ${desk.cwd} or above it`,
        fix: 'Go to its folder, or write hma gc --all for the runs of every one.',
      }),
      options.json ?? false,
    );
  const homes = stateHomes(desk.env, workspace);
  const places = options.all || workspace === undefined ? allRuns(homes) : runsOf(workspace, homes);
  const runs = await showing(desk, 'looking through runs', async (tell) => {
    const tidied = [];
    for (const [index, place] of places.entries()) {
      tell(`${index + 1} of ${places.length}`);
      tidied.push(await tidyRun(place, dryRun));
    }
    return tidied;
  });
  let programs = 0;
  const unit = unitFile(desk.env);
  const service = existsSync(unit) ? readFileSync(unit, 'utf8') : '';
  for (const home of homes) {
    const current = installRuntime(home).folder;
    programs += await tidyHome(home, { needed: (folder) => folder === current || service.includes(folder), dryRun });
  }
  const freed = runs.reduce(
    (sum, one) => sum + (one.kind === 'collected' ? one.bytesBefore - one.bytesAfter : 0),
    programs,
  );
  if (options.json) await sayJson(desk, gcOutput.parse({ dryRun, freed, programs, runs }));
  else
    await sayLines(desk, [
      ...runs.map((one) =>
        one.kind === 'left'
          ? `${one.run}  left: ${one.why}`
          : `${one.run}  ${count(one.snapshots, 'snapshot')} of no candidate, ${sayBytes(Math.max(0, one.bytesBefore - one.bytesAfter))}`,
      ),
      ...(programs === 0 ? [] : [`copies of hma itself that no run uses, ${sayBytes(programs)}`]),
      `${sayBytes(freed)} ${dryRun ? 'would be freed (large files only; what packs free shows afterwards)' : 'freed'}.`,
    ]);
  return exitCodes.ok;
}
