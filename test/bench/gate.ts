import { spawn } from 'node:child_process';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { sessionExit } from '../../src/protocol/agent.ts';
import { startFaultRun, type FaultRun } from '../rig/faultRun.ts';
import { count, median, seconds, type Form, type Row } from './row.ts';

/** Processes that submit at once. */
const many = 40;
/** The cap: as many are to be accepted in each option, not one more. */
const cap = 3;

const rounds: Readonly<Record<Form, number>> = { short: 10, long: 1000 };
/** Rounds of bare processes between them. */
const bareRounds = 5;

const answers = new Set<number | null>([sessionExit.accepted, sessionExit.rejected, sessionExit.refused]);

/** What a round came to: accepted experiments, processes that were told of another as accepted, processes without an answer. */
interface Round {
  readonly accepted: number;
  readonly deceived: number;
  readonly unanswered: number;
  readonly ms: number;
}

/** In each round, an option of its own, forty `hma submit` at once; beside as many bare processes that get one answer from a socket. */
export async function gateRow(form: Form): Promise<Row> {
  const number = rounds[form];
  const hold = Object.fromEntries(Array.from({ length: number + 2 }, (_, at) => [`${at + 1}.1`, 'hold']));
  const contract = { policy: { cap }, budgets: { total: '48h', review: '10s' }, limits: { queue: many } };
  await using run = await startFaultRun({ A: hold, B: hold, contract });
  const echo = await startEcho(join(run.folders.root, 'echo.sock'));
  const done: Round[] = [];
  const bare: number[] = [];
  try {
    for (let option = 1; option <= number; option++) {
      await run.open(option);
      done.push(await oneRound(run, option));
      if (option % (number / bareRounds) === 0) bare.push(await forty(() => ask(echo.path)));
    }
  } finally {
    echo.close();
  }
  const right = done.filter((one) => one.accepted === cap && one.deceived + one.unanswered === 0).length;
  const [ours, reference] = [median(done.map((one) => one.ms)), median(bare)];
  return {
    what: `${many} processes submit at once, cap ${cap}, ${count(number)} rounds: exactly ${cap} accepted, all answered`,
    ours: `${right} of ${count(number)} rounds, ${seconds(ours)} each`,
    reference: `${many} bare processes and a socket: ${seconds(reference)}`,
    result: `${right === number ? 'always' : `not in ${number - right}`}; ${(ours / reference).toFixed(2)}× the time`,
    aim: `exactly ${cap}, always`,
    met: right === number,
  };
}

async function oneRound(run: FaultRun, option: number): Promise<Round> {
  const { workspace } = run.folders;
  let value = option * 1e6;
  // the file changes under the forty, so that they submit different ones; whole, never half written
  const write = (): void => {
    writeFileSync(join(workspace, 'candidate.new'), `${++value}\n`);
    renameSync(join(workspace, 'candidate.new'), join(workspace, 'candidate.txt'));
  };
  write();
  const writing = setInterval(write, 40);
  const said: Awaited<ReturnType<FaultRun['hma']>>[] = [];
  const took = await forty(async () => void said.push(await run.hma(option, 'submit', '--json', '--wait', '100')));
  clearInterval(writing);
  const accepted = (): readonly string[] => run.client.state?.options[option - 1]?.accepted ?? [];
  // many of the forty may have read the same file, which is one experiment: the rest of the cap is used up here
  while (accepted().length < cap) await run.submit(option, String(++value));
  await run.open(option + 1);
  const told = said.flatMap(({ exit, out }) => (exit === sessionExit.accepted ? [receiptIn(out).id] : []));
  return {
    accepted: accepted().length,
    deceived: told.filter((id) => !accepted().includes(id)).length,
    unanswered: said.filter(({ exit }) => !answers.has(exit)).length,
    ms: took,
  };
}

const receiptIn = (out: string) => JSON.parse(out.trim().split('\n').at(-1) ?? '') as { readonly id: string };

/** Does forty at once and gives how long all took, ms. */
async function forty(one: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await Promise.all(Array.from({ length: many }, one));
  return performance.now() - from;
}

/** A bare process that connects, says a word, and ends when it has an answer. */
const asking = `const s=require('net').connect(process.argv[1],()=>s.write('x'));s.on('data',()=>s.end());`;

const ask = (path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['-e', asking, path], { stdio: 'ignore' });
    child.once('error', reject);
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a bare process ended with ${code}`))));
  });

async function startEcho(path: string): Promise<{ readonly path: string; close(): void }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => socket.write(bytes));
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    path,
    close() {
      server.close();
      rmSync(path, { force: true });
    },
  };
}
