import { spawn } from 'node:child_process';
import { openSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { writeJsonAtomic } from '../base/files.ts';
import { identify, isAlive } from '../machines/processes.ts';
import type { ProcessIdentity } from '../machines/port.ts';
import { thawContract } from '../task/freeze.ts';
import { runFiles } from '../ledger/places.ts';
import { controllerExit, type KeeperRecord } from './keeperProtocol.ts';
import { notify } from './notifier.ts';
import { runtimeIn } from './runtime.ts';

/** Deaths in a row without a new event after which the keeper stops. */
const mostDeaths = 5;
/** First and longest wait before another start, ms. */
const [firstWaitMs, longestWaitMs] = [250, 60_000];
/** How soon it tries again to write down what it could not, ms. */
const unsaidMs = 1000;
/** How often an adopted controller is looked at, ms: it is no child of ours. */
const adoptedLookMs = 1000;

/**
 * `keeper RUN_FOLDER [--take-over] [--adopt PID:START]`: starts the controller and starts it again when it dies.
 *
 *   starting ──▶ keeping ──died──▶ waiting ──▶ keeping …
 *                   ├──finished / refused──▶ end
 *                   └──5 deaths without a new event──▶ gave up, notified
 */
async function main(args: readonly string[]): Promise<void> {
  const folder = resolve(args[0] ?? '.');
  const files = runFiles(folder);
  const self = identify(process.pid) ?? { pid: process.pid, start: '' };
  // A keeper that was followed by another one (a person took over) has nothing more to say.
  let unsaid: NodeJS.Timeout | undefined;
  const say = (record: KeeperRecord): void => {
    clearTimeout(unsaid);
    if (record.state !== 'keeping' && !isMine(files.keeper)) return;
    try {
      writeJsonAtomic(files.keeper, record);
    } catch {
      unsaid = setTimeout(() => say(record), unsaidMs); // a full disk must not end the keeper
    }
  };
  let adopt = adopted(args);
  let env: NodeJS.ProcessEnv = process.env;
  let deaths = 0;
  let takeOver = args.includes('--take-over');
  for (;;) {
    const before = eventCount(folder);
    const code = adopt
      ? await untilGone(adopt, (pid) => say({ state: 'keeping', ...self, controller: pid }))
      : await control({ folder, takeOver, env, say: (pid) => say({ state: 'keeping', ...self, controller: pid }) });
    adopt = undefined;
    takeOver = false;
    if (code === controllerExit.finished) return say({ state: 'finished' });
    if (code === controllerExit.refused) return say({ state: 'refused' });
    // A start writes its own two lines (seal and start); only what comes after them is progress.
    deaths = eventCount(folder) - before > 2 ? 1 : deaths + 1;
    if (deaths >= mostDeaths) return await giveUp({ folder, deaths, code, say });
    await new Promise((done) => setTimeout(done, Math.min(longestWaitMs, firstWaitMs * 2 ** (deaths - 1))));
    env = { ...env };
    delete env['HMA_CRASH'];
  }
}

function isMine(file: string): boolean {
  try {
    const record = JSON.parse(readFileSync(file, 'utf8')) as KeeperRecord;
    return record.state !== 'keeping' || record.pid === process.pid;
  } catch {
    return true;
  }
}

function adopted(args: readonly string[]): ProcessIdentity | undefined {
  const at = args.indexOf('--adopt');
  const [pid, start] = at < 0 ? [] : (args[at + 1] ?? '').split(':');
  return pid && start ? { pid: Number(pid), start } : undefined;
}

/** Waits for a controller that isn't our child; how it ended can't be known, so the next one finds out. */
async function untilGone(controller: ProcessIdentity, say: (pid: number) => void): Promise<number | null> {
  say(controller.pid);
  while (isAlive(controller)) await new Promise((done) => setTimeout(done, adoptedLookMs));
  return null;
}

/** Runs one controller to its end; null when a signal ended it. */
function control(given: {
  folder: string;
  takeOver: boolean;
  env: NodeJS.ProcessEnv;
  say: (pid: number) => void;
}): Promise<number | null> {
  const runtime = runtimeIn(import.meta.dirname);
  const log = openSync(runFiles(given.folder).log, 'a', 0o600);
  const child = spawn(runtime.node, [runtime.controller, given.folder, ...(given.takeOver ? ['--take-over'] : [])], {
    cwd: given.folder,
    env: given.env,
    detached: true,
    stdio: ['ignore', log, log],
  });
  if (child.pid !== undefined) given.say(child.pid);
  const pass = (): void => void child.kill('SIGTERM');
  process.once('SIGTERM', pass);
  return new Promise((done) => {
    child.once('error', () => done(null));
    child.once('exit', (code) => {
      process.removeListener('SIGTERM', pass);
      done(code);
    });
  });
}

/** Lines in all ledger segments. */
function eventCount(folder: string): number {
  let lines = 0;
  for (const name of readdirSync(folder)) {
    if (!/^ledger-\d+\.jsonl$/.test(name)) continue;
    for (const byte of readFileSync(join(folder, name))) if (byte === 10) lines++;
  }
  return lines;
}

async function giveUp(given: {
  folder: string;
  deaths: number;
  code: number | null;
  say: (record: KeeperRecord) => void;
}): Promise<void> {
  const { folder, deaths, code } = given;
  const why = `the controller died ${deaths} times in a row without getting anywhere (last exit: ${code ?? 'a signal'}); its last words are in ${runFiles(folder).log}`;
  given.say({ state: 'gave_up', deaths, why, wall: Date.now() });
  const contract = thawContract(readFileSync(runFiles(folder).contract, 'utf8'));
  if (!contract.ok) return;
  const { run, workspace } = JSON.parse(readFileSync(runFiles(folder).run, 'utf8')) as {
    run: string;
    workspace: string;
  };
  await notify(contract.value.notify, { kind: 'keeper_gave_up', run, workspace, text: why, wall: Date.now() });
}

await main(process.argv.slice(2));
