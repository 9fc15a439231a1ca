import { realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';

import { findRun, findWorkspace } from '../../client/lookup.ts';
import { exportRun, importRun } from '../../client/portable.ts';
import { stateHome } from '../../ledger/places.ts';
import { count } from '../../base/words.ts';
import { fail, sayJson, sayLines, type Desk } from '../desk.ts';
import { exitCodes } from '../exitCodes.ts';
import { interruptibly, showing } from '../progress.ts';
import { exportedOutput, importedOutput } from '../schemas.ts';
import type { RunOptions } from './looking.ts';

/** `hma export`: a run as one file that can be read elsewhere. */
export async function exportTo(desk: Desk, options: RunOptions & { readonly out?: string }): Promise<number> {
  const json = options.json ?? false;
  const place = findRun({ ...desk, run: options.run });
  if (!place.ok) return fail(desk, place.refusal, json);
  const file = resolve(desk.cwd, options.out ?? `${place.value.run}.hma.tgz`);
  const done = await showing(desk, `packing run ${place.value.run}`, () =>
    interruptibly((signal) => exportRun(place.value, file, signal)),
  );
  if (!done.ok) return fail(desk, done.refusal, json);
  if (json) await sayJson(desk, exportedOutput.parse({ run: place.value.run, file }));
  else await sayLines(desk, [`Run ${place.value.run} is in ${file}. Elsewhere: hma import ${basename(file)}`]);
  return exitCodes.ok;
}

/** `hma import FILE`: a run from elsewhere, for looking and applying; it is checked whole first. */
export async function importFrom(desk: Desk, file: string, options: { readonly json?: boolean }): Promise<number> {
  const workspace = findWorkspace(desk.cwd) ?? realpathSync(desk.cwd);
  const done = await showing(desk, `taking in ${file}`, (tell) =>
    interruptibly((signal) =>
      importRun(resolve(desk.cwd, file), { home: stateHome(desk.env), workspace, signal, tell }),
    ),
  );
  if (!done.ok) return fail(desk, done.refusal, options.json ?? false);
  const { run, from, candidates } = done.value;
  if (options.json) await sayJson(desk, importedOutput.parse(done.value));
  else
    await sayLines(desk, [
      `Run ${run} of ${from} is here, with ${count(candidates, 'candidate')}, every one checked.`,
      `Look at it: hma status --run ${run}`,
    ]);
  return exitCodes.ok;
}
