import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { runFiles } from '../../src/ledger/places.ts';
import { startRun } from '../../src/controller/launch.ts';
import { readLedger } from '../../src/ledger/readLedger.ts';
import { allProcesses } from '../../src/machines/processes.ts';
import type { RunState } from '../../src/run/model.ts';
import { RunClient } from './client.ts';
import { layOutTask, testFolders, type TaskWish, type TestFolders } from './task.ts';

/** A real run of a test: real keeper, controller, runners, evaluators and scripted agents. Everything is ended and removed at its disposal. */
export interface TestRun extends AsyncDisposable {
  readonly folders: TestFolders;
  readonly runFolder: string;
  readonly run: string;
  readonly client: RunClient;
  finished(ms?: number): Promise<RunState>;
  /** What the controller and the keeper wrote down. */
  log(): string;
}

/** Lays out a task, starts a run on it and attaches to it. `prepare` is called while the workspace is empty. */
export async function startTestRun(
  wish: TaskWish,
  env: NodeJS.ProcessEnv = {},
  prepare: (folders: TestFolders) => void = () => undefined,
): Promise<TestRun> {
  const folders = testFolders();
  prepare(folders);
  const contract = await layOutTask(folders, wish);
  const started = await startRun({
    workspace: folders.workspace,
    contract,
    home: folders.home,
    env: { ...process.env, ...env },
  });
  if (!started.ok) {
    folders[Symbol.dispose]();
    throw new Error(`${started.refusal.reason}: ${started.refusal.text} ${started.refusal.fix}`);
  }
  return followRun(folders, started.value);
}

/** Attaches to a run that was started before. */
export function followRun(folders: TestFolders, started: { run: string; runFolder: string }): TestRun {
  const client = new RunClient(started.runFolder);
  return {
    ...started,
    folders,
    client,
    finished: (ms) => client.until('the run to finish', (state) => state.phase === 'finished', ms),
    log: () =>
      existsSync(runFiles(started.runFolder).log) ? readFileSync(runFiles(started.runFolder).log, 'utf8') : '',
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      await endAll(folders.root);
      folders[Symbol.dispose]();
    },
  };
}

/** Processes that belong to a test: those whose command line or working folder lies below its root. */
export function processesOf(root: string): { pid: number; command: string }[] {
  const mine: { pid: number; command: string }[] = [];
  for (const one of allProcesses().values()) {
    if (one.pid === process.pid) continue;
    try {
      const command = readFileSync(`/proc/${one.pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      const environment = readFileSync(`/proc/${one.pid}/environ`, 'utf8');
      if (command.includes(root) || environment.includes(root)) mine.push({ pid: one.pid, command });
    } catch {
      // gone meanwhile
    }
  }
  return mine;
}

/** Ends every process of a test by pid; keepers first, so that nothing is started again. */
export async function endAll(root: string): Promise<void> {
  for (let round = 0; round < 50; round++) {
    const left = processesOf(root).toSorted(
      (a, b) => Number(b.command.includes('keeper.js')) - Number(a.command.includes('keeper.js')),
    );
    if (left.length === 0) return;
    for (const { pid } of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // gone meanwhile
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`processes of ${root} can't be ended: ${JSON.stringify(processesOf(root))}`);
}

/** The ledger's events of a run folder, read from disk. */
export const eventsOf = (runFolder: string) => readLedger(runFolder).events;

/** The output of one attempt, as its runner recorded it. */
export const outputOf = (runFolder: string, session: string, attempt = 1): string =>
  readFileSync(join(runFolder, 'sessions', session, `attempt-${attempt}`, 'output.log'), 'utf8');
