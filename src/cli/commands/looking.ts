import { shownGrade } from '../../analysis/shownScores.ts';
import { loadPrices } from '../../agents/priceFile.ts';
import type { Candidate } from '../../archive/model.ts';
import { oneLine } from '../../base/oneLine.ts';
import { compareScores } from '../../task/quality.ts';
import { vouchesFor } from '../../ledger/vouchesFor.ts';
import type { EarlierRun, RunState } from '../../run/model.ts';
import { fail, paperOf, remark, say, sayJson, sayLines, type Desk } from '../desk.ts';
import { exitCodes } from '../exitCodes.ts';
import { sayProblem, type LedgerProblem } from '../../ledger/port.ts';
import { allRuns, findRun, findWorkspace, runsOf, stateHomes } from '../../client/lookup.ts';
import { givenOf, viewRun } from '../../client/readRun.ts';
import { candidatesPage, statusPage } from '../render/pages.ts';
import { sayScore } from '../../base/numbers.ts';
import { sayPhase } from '../render/statusLine.ts';
import { table } from '../render/text.ts';
import { candidatesOutput, listOutput, statusOutput } from '../schemas.ts';
import { candidatesReport, runReport, statusReport } from '../statusReport.ts';

/** What every command about one run may be told. */
export interface RunOptions {
  readonly run?: string;
  readonly json?: boolean;
}

/** What is said about a ledger that is broken inside: it can be read up to there, and not gone on with. */
export const brokenLedger = (problem: LedgerProblem): string =>
  `hma: the ledger is broken at ${sayProblem(problem)}\n     What is before that was read and can be looked at and applied (hma apply). The run goes on only when the file is as it was; else start another one with hma run.`;

/** What is said where the earlier run's ledger is not the one that this run went on from. */
const brokenLink = ({ run, seq }: EarlierRun): string =>
  `hma: the ledger of run ${run}, from which this run goes on, is not what it was: event ${seq} or one before it was changed\n     This run has all that came over in its own ledger, and is not affected.`;

/** `hma status`: where the run stands, from its controller or from its ledger. */
export async function status(desk: Desk, options: RunOptions): Promise<number> {
  const json = options.json ?? false;
  const place = findRun({ ...desk, run: options.run });
  if (!place.ok) return fail(desk, place.refusal, json);
  const view = await viewRun(place.value);
  if (!view.ok) return fail(desk, view.refusal, json);
  const given = givenOf(desk, view.value);
  for (const problem of view.value.problems) remark(desk, brokenLedger(problem));
  const { from } = view.value.state;
  const earlier = from && findRun({ ...desk, run: from.run });
  // one that was removed is needed no more; one that is there should be the one that was gone on from
  if (from && earlier?.ok && !vouchesFor(earlier.value.folder, from)) remark(desk, brokenLink(from));
  const { prices, problems } = loadPrices(place.value.home, desk.env);
  for (const { file, what, fix } of problems) remark(desk, `hma: ${file} does not count: ${what}\n     ${fix}`);
  if (json) await sayJson(desk, statusOutput.parse(statusReport(view.value, given, prices)));
  else
    await sayLines(
      desk,
      statusPage(view.value.state, given, {
        runFolder: place.value.folder,
        live: view.value.live,
        prices,
        paper: paperOf(desk),
      }),
    );
  return exitCodes.ok;
}

/** `hma list`: the workspace's runs, or all. */
export async function list(desk: Desk, options: { readonly all?: boolean; readonly json?: boolean }): Promise<number> {
  const workspace = options.all ? undefined : findWorkspace(desk.cwd);
  const homes = stateHomes(desk.env, workspace ?? findWorkspace(desk.cwd));
  const places = workspace === undefined ? allRuns(homes) : runsOf(workspace, homes);
  const report: { runs: ReturnType<typeof runReport>[]; unreadable: { runFolder: string; why: string }[] } = {
    runs: [],
    unreadable: [],
  };
  const rows: string[][] = [];
  const { style, columns } = paperOf(desk);
  for (const place of places) {
    const view = await viewRun(place);
    if (!view.ok) {
      report.unreadable.push({ runFolder: place.folder, why: view.refusal.what });
      continue;
    }
    const entry = runReport(view.value);
    report.runs.push(entry);
    const { state, live } = view.value;
    const standing = live || state.phase === 'finished' ? sayPhase(state) : style.warn('not running');
    const cells = [
      style.bold(entry.run),
      standing,
      String(entry.options),
      String(entry.accepted),
      entry.record === null ? '' : sayScore(entry.record),
      entry.final ?? '',
      `${oneLine(entry.name, 30)}${entry.from === null ? '' : style.dim(` (from ${entry.from})`)}`,
    ];
    rows.push(workspace === undefined ? [...cells, style.dim(entry.workspace)] : cells);
  }
  if (options.json) await sayJson(desk, listOutput.parse(report));
  else if (rows.length === 0)
    await say(
      desk,
      `No runs ${workspace === undefined ? `in ${homes.join(' or ')}` : `of ${workspace}`} yet. Start one with hma run.\n`,
    );
  else {
    const head = [
      'run',
      'stands',
      'options',
      'accepted',
      'record',
      'final',
      'task',
      ...(workspace === undefined ? ['workspace'] : []),
    ].map((word) => style.dim(word));
    await sayLines(desk, table({ rows: [head, ...rows], right: new Set([2, 3, 4]), columns }));
  }
  for (const { runFolder, why } of report.unreadable)
    remark(desk, `hma: ${why.includes(runFolder) ? '' : `${runFolder}: `}${why}`);
  return exitCodes.ok;
}

/** The orders that `hma candidates --sort` knows. */
export const candidateOrders = ['order', 'score', 'grade', 'option'] as const;
export type CandidateOrder = (typeof candidateOrders)[number];

/** The option of this run that a candidate is of; 0 where it came over from an earlier one. */
const ownOption = ({ origin, option }: Candidate): number => (origin === undefined ? option : 0);

/** Candidates in an order: of their acceptance, best first by score or grade (ungraded last), or by option. */
export function sortCandidates(
  state: Pick<RunState, 'archive' | 'terms' | 'gradesRevealed'>,
  order: CandidateOrder,
): Candidate[] {
  const { metric } = state.terms;
  const grade = (candidate: Candidate): number => {
    const shown = shownGrade(state, candidate);
    return typeof shown === 'number' ? shown : Number.NaN;
  };
  switch (order) {
    case 'order':
      return [...state.archive];
    case 'score':
      return state.archive.toSorted((a, b) => compareScores(metric, a.score, b.score) || a.order - b.order);
    case 'grade':
      return state.archive.toSorted((a, b) => compareScores(metric, grade(a), grade(b)) || a.order - b.order);
    case 'option':
      return state.archive.toSorted((a, b) => ownOption(a) - ownOption(b) || a.order - b.order);
  }
}

/** `hma candidates`. */
export async function candidates(
  desk: Desk,
  options: RunOptions & { readonly sort?: CandidateOrder },
): Promise<number> {
  const json = options.json ?? false;
  const place = findRun({ ...desk, run: options.run });
  if (!place.ok) return fail(desk, place.refusal, json);
  const view = await viewRun(place.value);
  if (!view.ok) return fail(desk, view.refusal, json);
  const { state } = view.value;
  const sorted = sortCandidates(state, options.sort ?? 'order');
  if (json) await sayJson(desk, candidatesOutput.parse(candidatesReport(state, sorted)));
  else await sayLines(desk, candidatesPage(state, sorted, paperOf(desk)));
  return exitCodes.ok;
}
