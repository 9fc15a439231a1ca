import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';

import { handoffs } from '../../src/analysis/handoffs.ts';
import { runFolderOf } from '../../src/ledger/places.ts';
import { readLedger } from '../../src/ledger/readLedger.ts';
import { replayRun } from '../../src/run/evolve.ts';
import type { RunEvent } from '../../src/run/events.ts';
import { measureLedger } from '../ledger/speed.ts';
import { ms, type Row } from './row.ts';
import { activationRow, reviewPageRows, sizeRow, treeRows } from './window.ts';

/*
 * `npm run bench`: ratios and differences measured side by side in one run, on this machine, as it is loaded now. Wall times alone say
 * nothing here, so each row has its reference in it. The rows are kept in docs/bench.json.
 *
 *   npm run bench             everything
 *   npm run bench -- window   only the rows of the window: activation, long archives, the package's size
 */

const repository = join(import.meta.dirname, '../..');
const dist = (name: string): string => join(repository, 'dist', name);
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

function timeOf(args: readonly string[], env: NodeJS.ProcessEnv = process.env): number {
  const from = performance.now();
  spawnSync(process.execPath, args, { env, stdio: 'ignore' });
  return performance.now() - from;
}

/** `hma` inside a session, up to its first answer, beside an empty Node. */
function sessionStart(): Row {
  const pairs = Array.from({ length: 15 }, () => [timeOf([dist('session.js'), 'help']), timeOf(['-e', '0'])] as const);
  const [ours, bare] = [median(pairs.map(([one]) => one)), median(pairs.map(([, one]) => one))];
  return {
    what: 'start of `hma submit`',
    ours: ms(ours),
    reference: `node -e 0: ${ms(bare)}`,
    result: `+${ms(ours - bare)}`,
    aim: '≤ +60 ms',
    met: ours - bare <= 60,
  };
}

async function ledgerRows(): Promise<Row[]> {
  const { append, bareAppend, replay, bareParse } = await measureLedger();
  const [a, b] = [append / bareAppend, replay / bareParse];
  return [
    {
      what: 'ledger append',
      ours: ms(append),
      reference: `write + fdatasync: ${ms(bareAppend)}`,
      result: `${a.toFixed(2)}×`,
      aim: '≤ 2×',
      met: a <= 2,
    },
    {
      what: 'replay of 100,000 events',
      ours: ms(replay),
      reference: `JSON.parse: ${ms(bareParse)}`,
      result: `${b.toFixed(2)}×`,
      aim: '≤ 3×',
      met: b <= 3,
    },
  ];
}

/** A real alternation of two programs that submit once each and leave: what a boundary and a receipt cost beside the bare programs. */
function alternationRows(): Row[] {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'hma-bench-')));
  try {
    const [workspace, home] = [join(root, 'workspace'), join(root, 'state')];
    mkdirSync(workspace);
    const agent = join(root, 'agent.mjs');
    cpSync(join(repository, 'test/rig/agent.mjs'), agent);
    cpSync(join(repository, 'test/rig/evaluate.mjs'), join(workspace, 'evaluate.mjs'));
    const plan = (from: number) =>
      JSON.stringify(
        Object.fromEntries(Array.from({ length: 12 }, (_, i) => [i + 1, [{ submit: from + i }, { exit: 0 }]])),
      );
    const one = (name: string, from: number) => ({
      name,
      adapter: 'command',
      command: [process.execPath, agent, plan(from)],
    });
    const contract = {
      objective: 'bench',
      candidate: ['candidate.txt'],
      evaluate: { command: [process.execPath, 'evaluate.mjs'], timeout: '60s' },
      agents: { A: one('a', 100), B: one('b', 200) },
      policy: { cap: 5 },
      budgets: { total: '30m', review: '10s', experiments: 10 },
      isolation: 'none',
    };
    writeFileSync(join(workspace, 'hma.yaml'), JSON.stringify(contract));
    execFileSync(process.execPath, [dist('cli.js'), 'run'], {
      cwd: workspace,
      env: { ...process.env, HMA_HOME: home },
      stdio: 'ignore',
      timeout: 900_000,
    });
    const listed = JSON.parse(
      execFileSync(process.execPath, [dist('cli.js'), 'list', '--json'], {
        cwd: workspace,
        env: { ...process.env, HMA_HOME: home },
        encoding: 'utf8',
      }),
    ) as { runs: { run: string }[] };
    const { events } = readLedger(runFolderOf(home, workspace, listed.runs[0]?.run ?? ''));
    const state = replayRun(events);
    const gaps = handoffs(state as NonNullable<typeof state>).flatMap((row) => (row.ms === null ? [] : [row.ms]));
    const bare = median(Array.from({ length: 9 }, () => timeOf(['-e', '0'])));
    const gap = median(gaps);
    const receipts = receiptTimes(events as unknown as readonly RunEvent[]);
    const evaluator = median(Array.from({ length: 9 }, () => evaluatorAlone(root)));
    const receipt = median(receipts);
    return [
      {
        what: 'handoff, p50',
        ours: ms(gap),
        reference: `a loop starting the next program: ${ms(bare)}`,
        result: `+${ms(gap - bare)}`,
        aim: '≤ +1,000 ms',
        met: gap - bare <= 1000,
      },
      {
        what: 'submission on disk → verdict committed',
        ours: ms(receipt),
        reference: `the evaluator alone: ${ms(evaluator)}`,
        result: `+${ms(receipt - evaluator)}`,
        aim: '≤ +100 ms',
        met: receipt - evaluator <= 100,
      },
    ];
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

function receiptTimes(events: readonly RunEvent[]): number[] {
  const submitted = new Map<string, number>();
  return events.flatMap((event) => {
    if (event.type === 'experiment.submitted') submitted.set(event.data.id, event.mono);
    const from = event.type === 'experiment.accepted' ? submitted.get(event.data.id) : undefined;
    return from === undefined ? [] : [event.mono - from];
  });
}

function evaluatorAlone(root: string): number {
  writeFileSync(join(root, 'candidate.txt'), '1\n');
  return timeOf([join(repository, 'test/rig/evaluate.mjs')], {
    ...process.env,
    HMA_CANDIDATE: root,
    HMA_RESULT: join(root, 'result.json'),
  });
}

const parts: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  engine: async () => [sessionStart(), ...(await ledgerRows()), ...alternationRows()],
  window: async () => [await activationRow(), ...(await reviewPageRows()), ...treeRows(), await sizeRow()],
};
const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !(name in parts));
if (unknown !== undefined)
  throw new Error(`No part of the bench is called "${unknown}". There are: ${Object.keys(parts).join(', ')}`);
const rows: Row[] = [];
for (const [name, measure] of Object.entries(parts))
  if (wanted.length === 0 || wanted.includes(name)) rows.push(...(await measure()));
const load = readFileSync('/proc/loadavg', 'utf8').split(' ')[0];
const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, load ${load}`;
console.log(`\n${machine}\n`);
console.log('| | ours | reference, same run | result | aim | |\n|---|---|---|---|---|---|');
for (const row of rows)
  console.log(
    `| ${row.what} | ${row.ours} | ${row.reference} | ${row.result} | ${row.aim} | ${row.met ? 'met' : 'missed'} |`,
  );
const file = join(repository, 'docs/bench.json');
let history: unknown[] = [];
try {
  history = JSON.parse(readFileSync(file, 'utf8')) as unknown[];
} catch {
  // the first one
}
writeFileSync(file, `${JSON.stringify([...history, { wall: new Date().toISOString(), machine, rows }], null, 2)}\n`);
