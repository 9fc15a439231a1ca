import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { handoffs } from '../../src/analysis/handoffs.ts';
import { readLedger } from '../../src/ledger/readLedger.ts';
import { replayRun } from '../../src/run/evolve.ts';
import type { RunEvent } from '../../src/run/events.ts';
import { measureLedger } from '../ledger/speed.ts';
import { holding, startFaultRun, type FaultRun } from '../rig/faultRun.ts';
import { startTestRun } from '../rig/run.ts';
import { count, differenceRow, median, ms, ratioRow, type Row } from './row.ts';

const repository = join(import.meta.dirname, '../..');
const sessionJs = join(repository, 'dist/session.js');

/** How long Node takes with these words, ms. */
export function timeOf(args: readonly string[], env: NodeJS.ProcessEnv = process.env): number {
  const from = performance.now();
  spawnSync(process.execPath, args, { env, stdio: 'ignore' });
  return performance.now() - from;
}

/** `hma` inside a session, up to its first answer, beside an empty Node. */
function sessionStart(): Row {
  const pairs = Array.from({ length: 15 }, () => [timeOf([sessionJs, 'help']), timeOf(['-e', '0'])] as const);
  return differenceRow({
    what: 'start of `hma submit`',
    ours: median(pairs.map(([one]) => one)),
    reference: median(pairs.map(([, one]) => one)),
    called: '`node -e 0`',
    most: 60,
  });
}

async function ledgerRows(): Promise<Row[]> {
  const { append, bareAppend, replay, bareParse } = await measureLedger();
  return [
    ratioRow({
      what: 'ledger append',
      ours: append,
      reference: bareAppend,
      called: 'write + fdatasync',
      unit: ms,
      most: 2,
    }),
    ratioRow({
      what: `replay of ${count(100_000)} events`,
      ours: replay,
      reference: bareParse,
      called: '`JSON.parse` of the lines',
      unit: ms,
      most: 3,
    }),
  ];
}

/** Two programs that submit once each and leave, and the other's start each time, beside starting the next one in a loop. */
async function handoffRow(): Promise<Row> {
  const plan = (from: number) =>
    Object.fromEntries(Array.from({ length: 12 }, (_, at) => [at + 1, [{ submit: from + at }, { exit: 0 }]]));
  const budgets = { total: '30m', review: '10s', experiments: 10 };
  await using run = await startTestRun({ A: plan(100), B: plan(200), contract: { policy: { cap: 5 }, budgets } });
  const bare: number[] = [];
  const over = run.finished(300_000).then(() => true);
  while (!(await Promise.race([over, new Promise<false>((resolve) => setTimeout(resolve, 500, false))])))
    bare.push(timeOf(['-e', '0']));
  const state = replayRun(readLedger(run.runFolder).events);
  if (!state) throw new Error('the run left no ledger');
  return differenceRow({
    what: 'handoff, p50',
    ours: median(handoffs(state).flatMap((row) => (row.ms === null ? [] : [row.ms]))),
    reference: median(bare),
    called: 'a loop starting the next program',
    most: 1000,
  });
}

/** Submissions measured for each of the two rows. */
const submissions = 15;

/**
 * What a receipt costs beside the evaluator's bare command, run by turns with it: from the submission's event to that of the verdict, and
 * the whole command `hma submit` (request, files stored, evaluation, receipt printed) beside `hma help` and then the evaluator.
 */
async function receiptRows(isolation: 'none' | 'auto'): Promise<Row[]> {
  const evaluate = { command: [process.execPath, 'evaluate.mjs'], timeout: '60s' };
  const contract = { evaluate, isolation, policy: { cap: 'none' }, budgets: { total: '30m', review: '10s' } };
  await using run = await startFaultRun({ ...holding, contract });
  await run.open(1);
  const times = await submitByTurns(run);
  const events = readLedger(run.runFolder).events as unknown as readonly RunEvent[];
  const where = isolation === 'none' ? '' : `, isolation ${run.client.state?.isolation.tier ?? isolation}`;
  return [
    differenceRow({
      what: `submission on disk → verdict on disk${where}`,
      ours: median(verdictTimes(events)),
      reference: median(times.map((one) => one.alone)),
      called: 'the evaluator alone',
      most: 100,
    }),
    differenceRow({
      what: `\`hma submit\` → receipt printed${where}`,
      ours: median(times.map((one) => one.submit)),
      reference: median(times.map((one) => one.help + one.alone)),
      called: '`hma help`, then the evaluator alone',
      most: 100,
    }),
  ];
}

/** Times of one submission, of an empty `hma`, and of the evaluator alone, ms. */
type Turn = Readonly<Record<'submit' | 'help' | 'alone', number>>;

async function submitByTurns(run: FaultRun): Promise<Turn[]> {
  const alone = evaluatorIn(run.folders.root);
  const times: Turn[] = [];
  for (let at = 0; at < submissions; at++) {
    const from = performance.now();
    const receipt = await run.submit(1, String(at + 1));
    const submit = performance.now() - from;
    if (!('outcome' in receipt) || receipt.outcome !== 'accepted') throw new Error(JSON.stringify(receipt));
    times.push({ submit, help: timeOf([sessionJs, 'help']), alone: alone() });
  }
  return times;
}

function verdictTimes(events: readonly RunEvent[]): number[] {
  const submitted = new Map<string, number>();
  return events.flatMap((event) => {
    if (event.type === 'experiment.submitted') submitted.set(event.data.id, event.mono);
    const from = event.type === 'experiment.accepted' ? submitted.get(event.data.id) : undefined;
    return from === undefined ? [] : [event.mono - from];
  });
}

/** Runs the bare evaluator on a candidate of its own and gives how long it took, ms. */
function evaluatorIn(folder: string): () => number {
  writeFileSync(join(folder, 'candidate.txt'), '1\n');
  const env = { ...process.env, HMA_CANDIDATE: folder, HMA_RESULT: join(folder, 'result.json') };
  const program = join(repository, 'test/rig/evaluate.mjs');
  return () => {
    const from = performance.now();
    execFileSync(process.execPath, [program], { env, stdio: 'ignore' });
    return performance.now() - from;
  };
}

/** The engine's rows: starts, ledger, handoff, receipts. */
export async function engineRows(): Promise<Row[]> {
  return [
    sessionStart(),
    ...(await ledgerRows()),
    await handoffRow(),
    ...(await receiptRows('none')),
    ...(await receiptRows('auto')),
  ];
}
