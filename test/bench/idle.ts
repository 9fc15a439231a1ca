import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

import { processClock } from '../../src/base/clock.ts';
import { reviveRun } from '../../src/controller/launch.ts';
import type { NewEvent } from '../../src/ledger/port.ts';
import { openLedger } from '../../src/ledger/openLedger.ts';
import type { RunFact } from '../../src/run/events.ts';
import { accepted } from '../cli/history.ts';
import { eventually, holding, startFaultRun, type FaultRun } from '../rig/faultRun.ts';
import { count, megabytes, type Form, type Row } from './row.ts';

/** Events in the ledger. */
const events = 100_000;
/** Candidates among them; the rest are responses of the model. */
const candidates = 1000;
/** How long the idle controller is watched, ms. */
const watched: Readonly<Record<Form, number>> = { short: 20_000, long: 300_000 };

/** What a start leaves to do is done by then, ms. */
const settleMs = 5000;

/** A real controller that took up a ledger of 100,000 events, a session open and a client attached, beside a bare Node that waits. */
export async function idleRows(form: Form): Promise<Row[]> {
  const contract = { policy: { cap: 'none' }, budgets: { total: '48h', review: '10s' } };
  await using run = await startFaultRun({ ...holding, contract });
  await run.open(1);
  await fillLedger(run);
  const revived = await reviveRun({ runFolder: run.runFolder, env: process.env });
  if (!revived.ok) throw new Error(revived.refusal.text);
  const state = await run.client.until('the long ledger', ({ archive }) => archive.length >= candidates);
  if (state.options.at(-1)?.attempts.at(-1)?.state !== 'running') throw new Error('the session is not open any more');
  const bare = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' });
  try {
    await wait(settleMs);
    return await watch({ ours: run.pids().controller, bare: bare.pid ?? 0, forMs: watched[form] });
  } finally {
    bare.kill('SIGKILL');
  }
}

/** Looks at two processes at the beginning and at the end of a while in which nothing happens. */
async function watch(what: { readonly ours: number; readonly bare: number; readonly forMs: number }): Promise<Row[]> {
  const { ours, bare, forMs } = what;
  const before = { ours: cpuOf(ours), bare: cpuOf(bare) };
  await wait(forMs);
  const cpu = { ours: (100 * (cpuOf(ours) - before.ours)) / forMs, bare: (100 * (cpuOf(bare) - before.bare)) / forMs };
  const rss = { ours: rssOf(ours), bare: rssOf(bare) };
  return [
    {
      what: `memory of the controller after ${count(events)} events (RSS), a session open`,
      ours: megabytes(rss.ours),
      reference: `a bare Node that waits: ${megabytes(rss.bare)}`,
      result: `+${megabytes(rss.ours - rss.bare)}`,
      aim: '≤ 150 MB in all',
      met: rss.ours <= 150e6,
    },
    {
      what: `CPU of that controller while nothing happens, over ${forMs / 1000} s`,
      ours: `${cpu.ours.toFixed(2)} % of a core`,
      reference: `a bare Node that waits: ${cpu.bare.toFixed(2)} %`,
      result: `+${Math.max(0, cpu.ours - cpu.bare).toFixed(2)} %`,
      aim: '≤ 0.5 % in all',
      met: cpu.ours <= 0.5,
    },
  ];
}

/** Ends keeper and controller as a crash would, and writes a segment of the ledger as a controller between them might have. */
async function fillLedger(run: FaultRun): Promise<void> {
  const { keeper, controller } = run.pids();
  for (const pid of [keeper, controller]) process.kill(pid, 'SIGKILL');
  await eventually('keeper and controller to end', () => !isThere(keeper) && !isThere(controller));
  const opened = openLedger({ dir: run.runFolder, fence: 2, confirmFence: () => true });
  if (!opened.ok) throw new Error(opened.refusal.reason);
  const { ledger } = opened.value;
  const { wall, mono } = processClock().now();
  const active = opened.value.events.at(-1)?.active ?? 0;
  const stamped = ({ type, data }: RunFact): NewEvent => ({ v: 1, wall, mono, active, type, data });
  const facts = manyFacts();
  for (let at = 0; at < facts.length; at += 100) ledger.append(facts.slice(at, at + 100).map(stamped));
  ledger.close();
}

function manyFacts(): RunFact[] {
  const submissions = Array.from({ length: candidates }, (_, at) =>
    accepted(at + 200, {
      id: `e${at + 1}`,
      option: 1,
      agent: 'A',
      score: at,
      note: 'a note of some length on what was tried',
    }),
  ).flat();
  const responses = Array.from({ length: events - submissions.length }, (_, at): RunFact => ({
    type: 'attempt.responded',
    data: {
      session: { kind: 'option', number: 1 },
      attempt: 1,
      responses: [
        {
          ...{ id: `msg_${at}`, at: 1_790_000_000_000 + at, model: 'model' },
          ...{ uncachedInput: 10, cachedInput: 50_000, cacheWrite: 900, output: 400, reasoning: 100, toolCalls: 1 },
        },
      ],
    },
  }));
  return [...submissions.map(([, fact]) => fact), ...responses];
}

function isThere(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** CPU time of all threads of a process so far, ms, as finely as the scheduler counts it. */
const cpuOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce(
    (sum, task) => sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
    0,
  );

const rssOf = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
