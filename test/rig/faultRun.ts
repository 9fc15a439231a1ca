import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { runFiles } from '../../src/ledger/places.ts';
import { readEndpoint, reviveRun, startRun, type StartRefusal } from '../../src/controller/launch.ts';
import type { KeeperRecord } from '../../src/controller/keeperProtocol.ts';
import { SessionFolder } from '../../src/controller/sessionFolders.ts';
import { livingSession } from '../../src/controller/controller.ts';
import type { Receipt } from '../../src/protocol/agent.ts';
import { bundleFolder } from '../../src/controller/runtime.ts';
import type { RunState } from '../../src/run/model.ts';
import { layOutScripts, type ScriptedTask } from './crashScenario.ts';
import { endAll, followRun, processesOf, type TestRun } from './run.ts';
import { testFolders, type TestFolders } from './task.ts';

/** How a command ended and what it printed. */
interface Said {
  readonly exit: number | null;
  readonly out: string;
  readonly err: string;
}

/** A session as `hma` is called in it: an option's number, or the review. */
type SessionKey = number | 'review';

/** A run whose sessions the test acts for: the scripted agents may just hold, and the test calls the real `hma` with their tokens. */
export interface FaultRun extends TestRun {
  /** Resolves when the session's program runs. */
  open(session: SessionKey): Promise<RunState>;
  /** One call of `hma` as the session would make it, in a process of its own. */
  hma(session: SessionKey, ...words: string[]): Promise<Said>;
  /** Writes candidate.txt and submits it; the receipt, or what refused it. */
  submit(
    session: SessionKey,
    text: string,
    ...words: string[]
  ): Promise<Receipt | { readonly refused: { readonly code: string; readonly reason: string } }>;
  /** The person's `hma`, in the workspace. */
  person(...words: string[]): Promise<Said>;
  /** Environment of a session's `hma`. */
  sessionEnvironment(session: SessionKey): Record<string, string>;
  /** Process ids of keeper and controller. */
  pids(): { readonly keeper: number; readonly controller: number };
}

/** What a fault needs beside the task. */
interface FaultWish {
  readonly env?: NodeJS.ProcessEnv;
  /** State folder; below the test's root by default. */
  readonly home?: string;
  /** Called while the workspace is empty. */
  before?(folders: TestFolders): void;
  /** Called when the workspace is laid out and nothing runs. */
  prepare?(folders: TestFolders): void;
  /** Called when everything is ended, before the folders are removed. */
  after?(folders: TestFolders): void;
}

/** Both agents just hold. */
export const holding: Pick<ScriptedTask, 'A' | 'B'> = {
  A: { '1.1': 'hold', '3.1': 'hold', '5.1': 'hold', review: 'hold' },
  B: { '2.1': 'hold', '4.1': 'hold', review: 'hold' },
};

/** Starts a run of scripts; throws the refusal's words when it is refused. */
export async function startFaultRun(task: ScriptedTask, wish: FaultWish = {}): Promise<FaultRun> {
  const plain = testFolders();
  const folders: TestFolders = {
    ...plain,
    [Symbol.dispose]() {
      wish.after?.(plain);
      plain[Symbol.dispose]();
    },
  };
  wish.before?.(folders);
  const contract = await layOutScripts(folders, task);
  wish.prepare?.(folders);
  const env = { ...process.env, ...wish.env };
  const started = await startRun({ workspace: folders.workspace, contract, home: wish.home ?? folders.home, env });
  if (started.ok) return withSessions(followRun(folders, started.value), env);
  await endAll(folders.root);
  folders[Symbol.dispose]();
  throw new Error(wordsOf(started.refusal));
}

/** A refusal as one text. */
export const wordsOf = (refusal: StartRefusal): string => `${refusal.reason}: ${refusal.text} ${refusal.fix}`;

/** Takes a run up again, as `hma resume` does; the refusal's words when it is refused. */
export async function revive(
  run: FaultRun,
  more: { takeOver?: boolean; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const revived = await reviveRun({
    runFolder: run.runFolder,
    env: { ...process.env, ...more.env },
    ...(more.takeOver ? { takeOver: true } : {}),
  });
  return revived.ok ? 'taken up' : wordsOf(revived.refusal);
}

function withSessions(run: TestRun, env: NodeJS.ProcessEnv): FaultRun {
  const { runFolder, folders, client } = run;
  const sessionEnvironment = (session: SessionKey): Record<string, string> => {
    const name = session === 'review' ? ({ kind: 'review' } as const) : ({ kind: 'option', number: session } as const);
    const token = new SessionFolder(runFiles(runFolder).sessions, name).readToken();
    return {
      PATH: process.env['PATH'] ?? '',
      HMA_TOKEN: token,
      HMA_SOCKET: readEndpoint(runFolder)?.agentSocket ?? '',
      HMA_TEST_ROOT: folders.root,
    };
  };
  const bundle = (name: string): string => join(bundleFolder(), name);
  const hma = (session: SessionKey, ...words: string[]): Promise<Said> =>
    say([bundle('session.js'), ...words], { cwd: folders.root, env: sessionEnvironment(session) });
  return {
    ...run,
    sessionEnvironment,
    hma,
    open: (session) => client.until(`session ${session} to run`, (state) => sessionRuns(state, session)),
    async submit(session, text, ...words) {
      writeFileSync(join(folders.workspace, 'candidate.txt'), `${text}\n`);
      const { out, err } = await hma(session, 'submit', '--json', '--wait', '100', ...words);
      const line = out.trim().split('\n').at(-1) ?? '';
      if (line === '') throw new Error(`hma submit said nothing on stdout: ${err}`);
      return JSON.parse(line) as Receipt;
    },
    person: (...words) =>
      say([bundle('cli.js'), ...words], {
        cwd: folders.workspace,
        env: { ...env, HMA_HOME: join(runFolder, '../../../..'), HMA_TOKEN: '', HMA_SOCKET: '' },
      }),
    pids() {
      const keeper = JSON.parse(readFileSync(runFiles(runFolder).keeper, 'utf8')) as KeeperRecord;
      if (keeper.state !== 'keeping') throw new Error(`the keeper is ${keeper.state}`);
      return { keeper: keeper.pid, controller: keeper.controller };
    },
  };
}

function sessionRuns(state: RunState, session: SessionKey): boolean {
  const living = livingSession(state);
  return living !== null && (living.name.kind === 'review' ? session === 'review' : living.name.number === session);
}

/** Runs a program of Node's to its end. */
function say(
  argv: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<Said> {
  const child = spawn(process.execPath, argv, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.on('data', (bytes: Buffer) => void (out += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => void (err += bytes.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exit) => resolve({ exit, out, err }));
  });
}

/** Waits for a condition on the world outside; says what it waited for when it doesn't come. */
export async function eventually<Value>(
  what: string,
  look: () => Value | undefined | false,
  ms = 60_000,
): Promise<Value> {
  const limit = performance.now() + ms;
  for (;;) {
    const value = look();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > limit) throw new Error(`waited ${ms} ms for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Ends everything of a run at one stroke, as a power cut does; its files stay. */
export async function powerCut(run: FaultRun): Promise<void> {
  await endAll(run.folders.root);
}

/** Programs of a test that run, without keeper, controller and runners. */
export const programsOf = (root: string): string[] =>
  processesOf(root)
    .map(({ command }) => command)
    .filter((command) => command !== '' && !/(?:keeper|controller|runner)\.js/.test(command));

/** A clock that a test moves: `env` for everything of the run, named in the contract so that runners have it too. */
export function testClock(folder: string): {
  readonly env: NodeJS.ProcessEnv;
  shift(offsets: { wall?: number; mono?: number; asleep?: number; boot?: string }): void;
  remove(): void;
} {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'clock.json');
  let offsets = {};
  return {
    env: { HMA_TEST_CLOCK: file },
    shift(more) {
      offsets = { ...offsets, ...more };
      writeFileSync(`${file}.new`, JSON.stringify(offsets));
      renameSync(`${file}.new`, file);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
