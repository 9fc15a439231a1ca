import { existsSync, readFileSync } from 'node:fs';

import { oneLine } from '../base/oneLine.ts';
import { ok, refused, type Result } from '../base/result.ts';
import { checkProtected, loadProtected } from '../evaluators/protectedFiles.ts';
import { findProtected } from '../evaluators/protectedPaths.ts';
import { runFiles } from '../ledger/places.ts';
import { sayProblem } from '../ledger/port.ts';
import { readLedger } from '../ledger/readLedger.ts';
import { replayRun } from '../run/evolve.ts';
import type { EarlierRun, RunState } from '../run/model.ts';
import { incomparable } from '../task/comparable.ts';
import { contractHash, thawContract } from '../task/freeze.ts';
import type { Contract } from '../task/model.ts';
import type { RunRecord, StartRefusal } from './launch.ts';

/** An earlier run that can be gone on from. */
export interface LookedBack {
  readonly state: RunState;
  /** The end of its ledger. */
  readonly last: Pick<EarlierRun, 'seq' | 'hash'>;
}

/** Most differences that are named; the rest is counted. */
const mostNamed = 8;

/** Files of the workspace in which a run's task was stated, where nothing else is said. */
export const usuallyStatedIn: readonly string[] = ['hma.yaml'];

/**
 * Whether a run can go on from another (decision 6): it is over, its ledger is whole, it worked in the same workspace, and a score there
 * is a score here. Only looks. Asked before anything of the new run is written, and again by its controller under the lease, since
 * which nobody else can write to a run of this workspace.
 */
export async function lookBack(request: {
  /** The earlier run's folder. */
  readonly folder: string;
  readonly workspace: string;
  readonly contract: Contract;
  /** Files of the workspace in which the new run's task is stated. */
  readonly statedIn: readonly string[];
}): Promise<Result<LookedBack, StartRefusal>> {
  const { folder, workspace } = request;
  const record = readRecord(folder);
  if (record === null)
    return no(
      'from_broken',
      `${runFiles(folder).run} can't be read`,
      'restore it from a backup, or begin afresh: hma run',
    );
  const { run } = record;
  if (record.importedWall !== undefined)
    return no(
      'from_imported',
      `run ${run} was imported: the folder that its agents worked in is not here`,
      'take a candidate of it over, hma apply, and begin afresh: hma run',
    );
  if (record.workspace !== workspace)
    return no(
      'from_elsewhere',
      `run ${run} worked in ${record.workspace}, not in ${workspace}`,
      'go to that folder, or name a run of this one: hma list',
    );
  const { events, problems, last } = readLedger(folder);
  const broken = problems.find(({ fatal }) => fatal);
  if (broken)
    return no(
      'from_broken',
      `the ledger of run ${run} is not whole: ${sayProblem(broken)}`,
      'restore that file from a backup, or begin afresh: hma run',
    );
  const state = replayRun(events);
  if (state === null || last === null)
    return no(
      'from_broken',
      `the ledger of run ${run} holds no events`,
      'name another run: hma list; or begin afresh: hma run',
    );
  if (state.phase !== 'finished')
    return no(
      'from_not_over',
      `run ${run} is not over`,
      `let it come to its end, hma resume ${run}, or end it, hma stop --run ${run}`,
    );
  const different = await differences({ ...request, record, state });
  if (!different.ok) return different;
  if (different.value.length > 0) return refused(differs(run, different.value));
  return ok({ state, last: { seq: last.lastSeq, hash: last.hash } });
}

const no = (reason: StartRefusal['reason'], text: string, fix: string) => refused<StartRefusal>({ reason, text, fix });

function differs(run: string, all: readonly string[]): StartRefusal {
  const rest = all.length > mostNamed ? `; and ${all.length - mostNamed} more` : '';
  return {
    reason: 'from_differs',
    text: `scores of run ${run} can't be compared with those of this run: ${all.slice(0, mostNamed).join('; ')}${rest}`,
    fix: 'put back what differs, or begin afresh: hma run',
  };
}

function readRecord(folder: string): RunRecord | null {
  try {
    return JSON.parse(readFileSync(runFiles(folder).run, 'utf8')) as RunRecord;
  } catch {
    return null;
  }
}

/** In what the two runs measure differently, in words. */
async function differences(given: {
  readonly folder: string;
  readonly workspace: string;
  readonly contract: Contract;
  readonly statedIn: readonly string[];
  readonly record: RunRecord;
  readonly state: RunState;
}): Promise<Result<readonly string[], StartRefusal>> {
  const { folder, workspace, contract, record, state } = given;
  const file = runFiles(folder).contract;
  const before = existsSync(file) ? thawContract(readFileSync(file, 'utf8')) : undefined;
  if (!before?.ok)
    return no(
      'from_broken',
      `${file}: ${before?.refusal.what ?? 'it is gone'}`,
      before?.refusal.fix ?? 'restore it from a backup, or begin afresh: hma run',
    );
  if (contractHash(before.value) !== state.contractHash)
    return no(
      'from_broken',
      `${file} is not the contract that the ledger of run ${state.run} names: it was changed`,
      'restore it from a backup, or begin afresh: hma run',
    );
  const keys = incomparable(before.value, contract).map(
    (one) => `${one.key} was ${oneLine(one.before, 120)} and is ${oneLine(one.after, 120)}`,
  );
  const kept = await loadProtected(runFiles(folder).protected);
  if (!kept.ok || kept.value === null)
    return no(
      'from_broken',
      kept.ok ? `${runFiles(folder).protected} is gone` : kept.refusal.detail,
      'restore it from a backup, or begin afresh: hma run',
    );
  const now = await findProtected(workspace, contract.protected);
  if (!now.ok)
    return no(
      'workspace',
      `protected files: ${now.refusal.path}: ${now.refusal.detail}`,
      'correct `protected:` or the file',
    );
  const stated = new Set([...(record.statedIn ?? usuallyStatedIn), ...given.statedIn]);
  const known = new Set(kept.value.files.map(({ path }) => path));
  const still = new Set(now.value.map(({ path }) => path));
  const changes = new Map((await checkProtected(workspace, kept.value)).map(({ path, change }) => [path, change]));
  const sayFile = (path: string): string | null => {
    const change = changes.get(path);
    if (!known.has(path)) return 'is new';
    if (change !== undefined) return change === 'unreadable' ? "can't be read" : `was ${change}`;
    return still.has(path) ? null : 'is protected no more';
  };
  const files = [...new Set([...known, ...still])]
    .filter((path) => !stated.has(path))
    .toSorted()
    .flatMap((path) => {
      const words = sayFile(path);
      return words === null ? [] : [`the protected file ${oneLine(path, 200)} ${words}`];
    });
  return ok([...keys, ...files]);
}
