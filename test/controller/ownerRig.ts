import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { buildSync } from 'esbuild';
import { afterAll, onTestFinished } from 'vitest';

import type { Order } from './leaseProcess.ts';

/** A process that can own. */
export interface Owner {
  readonly pid: number;
  /** Sends an order and waits for its answer. */
  ask(order: Order): Promise<unknown>;
  /** Sends a signal. */
  signal(name: NodeJS.Signals): void;
  /** Resolves with the signal or code by which it ended. */
  readonly ended: Promise<string | number>;
}

// a bundle starts five times as fast as the sources, and a race needs forty of them
const programs = mkdtempSync(join(tmpdir(), 'hma-owner-'));
const program = join(programs, 'leaseProcess.mjs');
buildSync({
  entryPoints: [join(import.meta.dirname, 'leaseProcess.ts')],
  bundle: true,
  platform: 'node',
  format: 'esm',
  outfile: program,
  logLevel: 'error',
});
afterAll(() => rmSync(programs, { recursive: true, force: true }));

const patience = 60_000;

/** Waits for something that a process says or does, for at most a minute. */
async function within<Value>(what: string, promise: Promise<Value>): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`waited ${patience / 1000} s in vain for ${what}`)), patience);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Starts an owner; it is ended when the test is. */
export async function startOwner(env: Record<string, string> = {}): Promise<Owner> {
  const child = fork(program, { env: { ...process.env, NODE_OPTIONS: '', ...env }, execArgv: [] });
  const ended = once(child, 'exit').then(([code, signal]) => (signal ?? code) as string | number);
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
  });
  await answerOf(child, ended, 'a new owner process');
  const ask = async (order: Order) => {
    const answer = answerOf(child, ended, `the answer to ${order.do}`);
    child.send(order);
    return answer;
  };
  return { pid: child.pid as number, ask, signal: (name) => void child.kill(name), ended };
}

async function answerOf(child: ChildProcess, ended: Promise<string | number>, what: string): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const take = (message: unknown) => resolve((message as { answer: unknown }).answer);
  child.once('message', take);
  return within(what, Promise.race([promise, ended.then((by) => ({ died: by }))])).finally(() =>
    child.off('message', take),
  );
}

/** A workspace and two state folders, gone when the test is. */
export function freshPlace(): { root: string; workspace: string; state: string; otherState: string } {
  const root = mkdtempSync(join(tmpdir(), 'hma-lease-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const place = { root, workspace: join(root, 'w'), state: join(root, 's1'), otherState: join(root, 's2') };
  mkdirSync(place.workspace);
  return place;
}
