import { existsSync, realpathSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

import { adapters } from '../../agents/adapters.ts';
import { presets } from '../../agents/presets.ts';
import { stateHome } from '../../ledger/places.ts';
import { reviveRun, startRun, type StartRefusal } from '../../controller/launch.ts';
import { loadContract } from '../../task/load.ts';
import { formatMessages } from '../../task/messages.ts';
import type { Contract } from '../../task/model.ts';
import { attach } from '../../client/connection.ts';
import { confirmed } from '../asking.ts';
import { fail, isForPeople, paperOf, personOf, remark, sayJson, sayLines, type Desk } from '../desk.ts';
import { exitCodes } from '../exitCodes.ts';
import { failure, type Failure, type FailureKind } from '../../client/failure.ts';
import { showLive } from '../live.ts';
import { readLedger } from '../../ledger/readLedger.ts';
import { sayBeginning } from '../render/sessionLines.ts';
import { replayRun } from '../../run/evolve.ts';
import { allRuns, findRun, findWorkspace, stateHomes } from '../../client/lookup.ts';
import { readOffline } from '../../client/readRun.ts';
import { resumedOutput, startedOutput } from '../schemas.ts';
import type { RunOptions } from './looking.ts';

/** What a refusal to start is to a script; all that isn't here is a failure of this machine. */
const exitOf = (reason: StartRefusal['reason']): FailureKind => {
  if (reason === 'held' || reason === 'contract') return reason;
  return reason.startsWith('from_') && reason !== 'from_broken' ? 'refused' : 'failed';
};

/** A refusal to start as a failure of the command. */
export const startFailure = (refusal: StartRefusal): Failure =>
  failure(exitOf(refusal.reason), refusal.reason, {
    what: refusal.text,
    fix: /^hma\b/.test(refusal.fix) ? refusal.fix : refusal.fix.charAt(0).toUpperCase() + refusal.fix.slice(1),
  });

/** `hma run`: checks the contract, starts the run, and shows it until it is over. */
export async function run(
  desk: Desk,
  options: {
    readonly detach?: boolean;
    readonly file?: string;
    readonly json?: boolean;
    readonly acceptBypass?: boolean;
    readonly from?: string;
  },
): Promise<number> {
  const json = options.json ?? false;
  const file = options.file === undefined ? undefined : resolve(desk.cwd, options.file);
  const workspace =
    findWorkspace(desk.cwd) ??
    (file !== undefined && existsSync(file) ? realpathSync(dirname(file)) : realpathSync(desk.cwd));
  const loaded = await loadContract({
    workspace,
    ...(file === undefined ? {} : { file }),
    given: { wall: desk.clock.now().wall, adapters: Object.keys(adapters), presets },
  });
  if (!loaded.ok) {
    desk.stderr.write(formatMessages(loaded.refusal.messages));
    const errors = loaded.refusal.messages.filter(({ severity }) => severity === 'error');
    const what = `${errors[0]?.file ?? 'hma.yaml'} has ${errors.length} ${errors.length === 1 ? 'error' : 'errors'}; nothing was started`;
    return fail(
      desk,
      failure('contract', 'contract_errors', {
        what,
        fix: `Correct ${errors.length === 1 ? 'it' : 'them'} and start again.`,
      }),
      json,
    );
  }
  if (loaded.value.warnings.length > 0) desk.stderr.write(formatMessages(loaded.value.warnings));
  const from = options.from === undefined ? undefined : findRun({ ...desk, run: options.from });
  if (from?.ok === false) return fail(desk, from.refusal, json);
  const { sources } = loaded.value;
  return startAndShow(desk, {
    statedIn: [sources.contract, sources.objective].flatMap((path) =>
      path === undefined ? [] : relative(workspace, path),
    ),
    ...(from === undefined ? {} : { from: from.value.folder }),
    ...{ contract: loaded.value.contract, workspace, json },
    detach: options.detach ?? false,
    acceptBypass: options.acceptBypass ?? false,
  });
}

async function startAndShow(
  desk: Desk,
  given: {
    readonly contract: Contract;
    readonly workspace: string;
    readonly json: boolean;
    readonly detach: boolean;
    readonly acceptBypass: boolean;
    readonly statedIn: readonly string[];
    readonly from?: string;
  },
): Promise<number> {
  const { contract, workspace, json, detach } = given;
  const home = stateHome(desk.env, contract.state);
  const started = await startRun({ ...given, home, env: desk.env });
  if (!started.ok && started.refusal.reason === 'bypass' && !json && isForPeople(desk)) {
    const { text } = started.refusal;
    const yes = await confirmed(desk, {
      question: `${text}. Start all the same?`,
      command: 'hma run --accept-bypass',
      yes: false,
    });
    if (yes === true) return startAndShow(desk, { ...given, acceptBypass: true });
  }
  if (!started.ok) return fail(desk, startFailure(started.refusal), json);
  const { run: id, runFolder } = started.value;
  if (!detach) return showLive(desk, { run: id, folder: runFolder, home, workspace }, { json, owns: true });
  const { from, terms } = replayRun(readLedger(runFolder).events) ?? {};
  if (json) await sayJson(desk, startedOutput.parse({ run: id, runFolder, workspace, from: from?.run ?? null }));
  else
    await sayLines(desk, [
      `run ${paperOf(desk).style.bold(id)} goes on in the background`,
      ...(from && terms ? [`  ${sayBeginning(from, terms)}`] : []),
      `  ${runFolder}`,
      '  hma watch · hma status · hma stop',
    ]);
  return exitCodes.ok;
}

/** `hma watch`: shows a run that was started before. */
export async function watch(desk: Desk, options: RunOptions & { readonly tail?: number }): Promise<number> {
  const json = options.json ?? false;
  const place = findRun({ ...desk, run: options.run });
  if (!place.ok) return fail(desk, place.refusal, json);
  return showLive(desk, place.value, { json, owns: false, tail: options.tail ?? 20 });
}

/** What became of one run that was to go on. */
interface Resumed {
  readonly run: string;
  readonly runFolder: string;
  readonly running: boolean;
  readonly goesOn: boolean;
  readonly problem: string | null;
}

/** `hma resume`: a controller for a run that has none, and an end to its pause. */
export async function resume(
  desk: Desk,
  named: string | undefined,
  options: RunOptions & { readonly all?: boolean; readonly takeOver?: boolean },
): Promise<number> {
  const json = options.json ?? false;
  if (options.all) return resumeAll(desk, json);
  const place = findRun({ ...desk, run: named ?? options.run });
  if (!place.ok) return fail(desk, place.refusal, json);
  const read = readOffline(place.value);
  if (!read.ok) return fail(desk, read.refusal, json);
  if (read.value.state.phase === 'finished')
    return fail(
      desk,
      failure('refused', 'finished', {
        what: `run ${place.value.run} is over`,
        fix: 'Start another one with hma run, or look at this one with hma candidates.',
      }),
      json,
    );
  const revived = await reviveRun({
    runFolder: place.value.folder,
    env: desk.env,
    takeOver: options.takeOver ?? false,
  });
  if (!revived.ok) return fail(desk, startFailure(revived.refusal), json);
  const connection = await attach(place.value.folder);
  if (!connection)
    return fail(
      desk,
      failure('notRunning', 'no_controller', {
        what: `the controller of run ${place.value.run} left again at once`,
        fix: `Read ${place.value.folder}/controller.log.`,
      }),
      json,
    );
  const reply = await connection.intend({ kind: 'resume', by: personOf(desk) });
  connection.close();
  if (!reply.done)
    return fail(desk, failure('refused', reply.reason, { what: reply.text, fix: 'See hma status.' }), json);
  if (json)
    await sayJson(
      desk,
      resumedOutput.parse({
        runs: [
          {
            run: place.value.run,
            runFolder: place.value.folder,
            running: true,
            goesOn: true,
            problem: null,
          } satisfies Resumed,
        ],
      }),
    );
  else await sayLines(desk, [`run ${place.value.run} goes on: hma watch`]);
  return exitCodes.ok;
}

/** After a reboot: every run that is not over gets its controller; a pause stays one, since a person or a fault made it. */
async function resumeAll(desk: Desk, json: boolean): Promise<number> {
  const runs: Resumed[] = [];
  for (const place of allRuns(stateHomes(desk.env, findWorkspace(desk.cwd)))) {
    const read = readOffline(place);
    if (!read.ok || read.value.state.phase === 'finished') continue;
    const revived = await reviveRun({ runFolder: place.folder, env: desk.env });
    const goesOn = revived.ok && read.value.state.pause === null;
    runs.push({
      run: place.run,
      runFolder: place.folder,
      running: revived.ok,
      goesOn,
      problem: revived.ok ? null : `${revived.refusal.text}; ${revived.refusal.fix}`,
    });
  }
  if (json) await sayJson(desk, resumedOutput.parse({ runs }));
  else await sayLines(desk, runs.length === 0 ? ['No run is waiting to go on.'] : runs.map(sayResumed));
  const bad = runs.filter(({ problem }) => problem !== null);
  if (bad.length > 0) remark(desk, `hma: ${bad.length} of ${runs.length} runs could not be resumed`);
  return bad.length > 0 ? exitCodes.failed : exitCodes.ok;
}

const sayResumed = (one: Resumed): string =>
  `${one.run}  ${one.problem !== null ? `not resumed: ${one.problem}` : one.goesOn ? 'goes on' : `is paused: hma resume ${one.run}`}`;
