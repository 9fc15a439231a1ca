import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, openSync, readFileSync, rmSync, watch } from 'node:fs';
import { connect } from 'node:net';
import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';

import {
  createMessageConnection,
  ErrorCodes,
  ResponseError,
  SocketMessageReader,
  SocketMessageWriter,
} from 'vscode-jsonrpc/node';

import { withSecrets } from '../agents/secrets.ts';
import { writeFileAtomic, writeJsonAtomic } from '../base/files.ts';
import { ok, refused, type Result } from '../base/result.ts';
import { readLedger } from '../ledger/readLedger.ts';
import type { ProcessIdentity } from '../machines/port.ts';
import { identify } from '../machines/processes.ts';
import { clientRequests, protocolVersion, type Endpoint } from '../protocol/client.ts';
import { freezeContract } from '../task/freeze.ts';
import type { Contract } from '../task/model.ts';
import { roomToStart } from './disks.ts';
import type { KeeperRecord } from './keeperProtocol.ts';
import { beginner } from '../run/goOn.ts';
import { lookBack, usuallyStatedIn } from './lookBack.ts';
import { fitPlace } from './startPlace.ts';
import { newRunId, runFiles, runFolderOf } from '../ledger/places.ts';
import { installRuntime, type Runtime } from './runtime.ts';

/** A run whose controller listens. */
export interface StartedRun {
  readonly run: string;
  readonly runFolder: string;
}

/** Why a run could not be started or taken up again: what happened, and what to do. */
export interface StartRefusal {
  readonly reason:
    | 'held'
    | 'unwritable'
    | 'isolation'
    /** Agents would act unasked with nothing around them, and nobody has said yes to that. */
    | 'bypass'
    | 'broken_ledger'
    | 'contract'
    | 'workspace'
    /** State folder and workspace lie in one another. */
    | 'state_in_workspace'
    /** There is no git. */
    | 'git'
    /** The earlier run that was to be gone on from: still running, of another folder, from elsewhere, damaged, or measured otherwise. */
    | 'from_not_over'
    | 'from_elsewhere'
    | 'from_imported'
    | 'from_broken'
    | 'from_differs'
    | 'failed'
    | 'timeout';
  readonly text: string;
  readonly fix: string;
}

/** `run.json`: what `list` needs without reading a ledger. */
export interface RunRecord {
  /** The run's id. */
  readonly run: string;
  /** Absolute path of the workspace. */
  readonly workspace: string;
  /** Absolute path of the state folder. */
  readonly home: string;
  /** The task's. */
  readonly name: string;
  /** Unix ms. */
  readonly openedWall: number;
  /** A person has said yes to agents that never ask, without isolation. */
  readonly acceptsBypass?: boolean;
  /** Files of the workspace in which the task is stated (contract, objective): protected like others, but they may differ from run to run. */
  readonly statedIn?: readonly string[];
  /** Folder of the finished run that this one goes on from. */
  readonly from?: string;
  /** When it was brought here by `hma import`, Unix ms; absent for a run that was made here. */
  readonly importedWall?: number;
}

/** Longest time from starting the keeper to a controller's answer, ms: storing protected files and the first snapshot takes time. */
const bootWaitMs = 300_000;
/** Longest time that a controller takes to answer, ms. */
const answerWaitMs = 5000;
/** Longest time that a keeper whose controller was refused may take to leave, ms. */
const keeperLeavesMs = 10_000;
/** The slow look beside the watcher, ms. */
const bootLookMs = 250;

/** Lays out the run folder, copies the programs, starts the keeper detached and waits until the controller listens or has refused. */
export async function startRun(given: {
  workspace: string;
  contract: Contract;
  home: string;
  env: NodeJS.ProcessEnv;
  /** The person's yes to `permissions: bypass` without isolation. */
  acceptBypass?: boolean;
  /** Files of the workspace in which the task is stated, relative to it; hma.yaml by default. */
  statedIn?: readonly string[];
  /** Folder of a finished run that this one goes on from. */
  from?: string;
}): Promise<Result<StartedRun, StartRefusal>> {
  const workspace = await realpath(given.workspace);
  const { from, statedIn = usuallyStatedIn } = given;
  const place = await fitPlace({ ...given, workspace });
  if (!place.ok) return place;
  const agreed = await agreedContract({ ...given, workspace, statedIn });
  if (!agreed.ok) return agreed;
  const wall = Date.now();
  const run = newRunId(wall, randomBytes(2).toString('hex'));
  const runFolder = runFolderOf(given.home, workspace, run);
  let runtime: Runtime;
  try {
    mkdirSync(given.home, { recursive: true, mode: 0o700 });
    mkdirSync(runFolder, { recursive: true, mode: 0o700 });
    runtime = installRuntime(given.home);
    const record: RunRecord = {
      ...{ run, workspace, home: given.home, name: given.contract.name, openedWall: wall },
      ...(given.acceptBypass ? { acceptsBypass: true } : {}),
      statedIn,
      ...(from === undefined ? {} : { from }),
    };
    writeFileAtomic(runFiles(runFolder).contract, freezeContract(agreed.value));
    writeJsonAtomic(runFiles(runFolder).run, record);
  } catch (error) {
    const text = `the state folder ${given.home} can't be written: ${error instanceof Error ? error.message : String(error)}`;
    return refused({
      reason: 'unwritable',
      text,
      fix: 'make room or correct the permissions, or choose another place with HMA_HOME or `state:` in hma.yaml',
    });
  }
  const started = await launch({ runtime, runFolder, env: given.env });
  if (started.ok) return ok({ run, runFolder });
  // Nothing ever happened in it: a refused start leaves no run behind. One that only takes long may still come up.
  if (started.refusal.reason !== 'timeout' && readLedger(runFolder).events.length === 0)
    rmSync(runFolder, { recursive: true, force: true, maxRetries: 10 });
  return started;
}

/** The contract as it is frozen: where the run goes on from another, with the agent first whose turn it is. Writes nothing. */
async function agreedContract(given: {
  readonly workspace: string;
  readonly contract: Contract;
  readonly statedIn: readonly string[];
  readonly from?: string;
}): Promise<Result<Contract, StartRefusal>> {
  const { contract, from } = given;
  if (from === undefined) return ok(contract);
  const looked = await lookBack({ ...given, folder: from });
  if (!looked.ok) return looked;
  return ok({ ...contract, policy: { ...contract.policy, first: beginner(looked.value.state, contract) } });
}

/**
 * Starts the keeper of an existing run: after a crash or a reboot, or to reach the single writer of a finished run (it leaves again
 * when idle). Returns at once when the run's controller answers.
 */
export async function reviveRun(given: {
  runFolder: string;
  env: NodeJS.ProcessEnv;
  takeOver?: boolean;
}): Promise<Result<StartedRun, StartRefusal>> {
  const { runFolder } = given;
  let record: RunRecord;
  try {
    record = JSON.parse(readFileSync(runFiles(runFolder).run, 'utf8')) as RunRecord;
  } catch (error) {
    return refused({
      reason: 'failed',
      text: `${runFiles(runFolder).run} can't be read: ${String(error)}`,
      fix: 'check the state folder (HMA_HOME); `hma list --all` shows the runs in it',
    });
  }
  const started = { run: record.run, runFolder };
  if (given.takeOver !== true && (await answers(runFolder))) return ok(started);
  if (roomToStart(runFolder) !== null)
    return refused({
      reason: 'unwritable',
      text: `nothing can be written in the state folder ${runFolder}: its disk is full, or a quota is used up`,
      fix: 'free some space (hma gc --all, or hma remove earlier runs), then hma resume',
    });
  const launched = await launch({
    runtime: installRuntime(record.home),
    runFolder,
    env: given.env,
    takeOver: given.takeOver === true,
  });
  // Refused because its keeper was just bringing it back: that is what was wanted.
  return launched.ok || (launched.refusal.reason === 'held' && (await answers(runFolder))) ? ok(started) : launched;
}

/**
 * Whether a run's controller answers a question. A connection alone proves nothing: the kernel goes on taking them for a process that is
 * stopped, or dying.
 */
export async function answers(runFolder: string): Promise<boolean> {
  const endpoint = readEndpoint(runFolder);
  if (!endpoint) return false;
  const socket = connect(endpoint.clientSocket);
  const connection = createMessageConnection(new SocketMessageReader(socket), new SocketMessageWriter(socket));
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), answerWaitMs);
  socket.once('error', () => resolve(false));
  socket.once('close', () => resolve(false));
  socket.once('connect', () => {
    connection.listen();
    // A refusal is an answer too, such as that of another version.
    const isAnswer = (error: unknown): boolean =>
      error instanceof ResponseError && error.code !== ErrorCodes.PendingResponseRejected;
    connection.sendRequest(clientRequests.attach, { protocol: protocolVersion }).then(
      () => resolve(true),
      (error: unknown) => resolve(isAnswer(error)),
    );
  });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    connection.dispose();
    socket.destroy();
  }
}

/** Where a run's controller listens, or last did; undefined when it never did. */
export function readEndpoint(runFolder: string): Endpoint | undefined {
  try {
    return JSON.parse(readFileSync(runFiles(runFolder).endpoint, 'utf8')) as Endpoint;
  } catch {
    return undefined;
  }
}

/** Starts a keeper, detached, with nothing that ties it to this process; it inherits the environment, and so the keys in it. */
export function spawnKeeper(given: {
  runtime: Runtime;
  runFolder: string;
  env: NodeJS.ProcessEnv;
  takeOver?: boolean;
  adopt?: ProcessIdentity | undefined;
}): ChildProcess {
  const { runtime, runFolder, env, takeOver, adopt } = given;
  const log = openSync(runFiles(runFolder).log, 'a', 0o600);
  const more = [...(takeOver ? ['--take-over'] : []), ...(adopt ? ['--adopt', `${adopt.pid}:${adopt.start}`] : [])];
  const keeper = spawn(runtime.node, [runtime.keeper, runFolder, ...more], {
    cwd: runFolder,
    env: withSecrets(dirname(dirname(runtime.folder)), env),
    detached: true,
    stdio: ['ignore', log, log],
  });
  keeper.unref();
  return keeper;
}

async function launch(given: {
  runtime: Runtime;
  runFolder: string;
  env: NodeJS.ProcessEnv;
  takeOver?: boolean;
}): Promise<Result<null, StartRefusal>> {
  const id = randomBytes(8).toString('hex');
  const { runFolder } = given;
  const file = runFiles(runFolder).boot(id);
  const { promise, resolve } = Promise.withResolvers<Result<null, StartRefusal>>();
  const log = runFiles(runFolder).log;
  let keeperGone: string | undefined;
  const look = (): void => {
    const answer = readAnswer(file);
    if (!answer) {
      // A keeper that was killed leaves a controller that may still answer; without either nobody will.
      if (keeperGone !== undefined && !controllerLives(runFolder))
        resolve(
          refused({
            reason: 'failed',
            text: `the keeper ended (${keeperGone}) before a controller answered`,
            fix: `read ${log}, then hma resume`,
          }),
        );
      return;
    }
    resolve(answer.ok ? ok(null) : refused({ reason: answer.reason, text: answer.text, fix: answer.fix }));
  };
  const watcher = watch(runFolder, look);
  const timer = setInterval(look, bootLookMs);
  const giveUp = setTimeout(() => {
    resolve(
      refused({
        reason: 'timeout',
        text: `the controller did not answer within ${bootWaitMs / 1000} s`,
        fix: `read ${log}`,
      }),
    );
  }, bootWaitMs);
  const keeper = spawnKeeper({ ...given, env: { ...given.env, HMA_LAUNCH: id } });
  keeper.once('error', (error) => (keeperGone = error.message));
  keeper.once('exit', (code, signal) => (keeperGone = signal ?? `exit code ${code}`));
  const left = new Promise<void>((done) => keeper.once('exit', () => done()));
  try {
    const answer = await promise;
    // A refused keeper still writes in the run folder until it is gone, and the caller may want to remove that.
    if (!answer.ok && answer.refusal.reason !== 'timeout' && keeperGone === undefined)
      await Promise.race([left, new Promise((done) => setTimeout(done, keeperLeavesMs).unref())]);
    return answer;
  } finally {
    watcher.close();
    clearInterval(timer);
    clearTimeout(giveUp);
  }
}

function controllerLives(runFolder: string): boolean {
  try {
    const record = JSON.parse(readFileSync(runFiles(runFolder).keeper, 'utf8')) as KeeperRecord;
    return record.state === 'keeping' && identify(record.controller) !== undefined;
  } catch {
    return false;
  }
}

type Answer = { readonly ok: true } | ({ readonly ok: false } & StartRefusal);

function readAnswer(file: string): Answer | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Answer;
  } catch {
    return undefined;
  }
}
