import { spawn, type StdioOptions } from 'node:child_process';

import { attach, type OnEvent, type RunConnection } from '../../src/client/connection.ts';
import type { LedgerEvent } from '../../src/ledger/port.ts';
import type { RunState } from '../../src/run/model.ts';
import { projectEnvironment } from '../bootstrap/environment.mjs';
import { hmaBundle, type DemoPlace } from './place.ts';
import { endProcessesOn } from './processes.ts';
import { latestRun } from './recorded.ts';

/** How `hma run` came to its end. */
export interface RunEnd {
  readonly exit: number | null;
  /** It was ended from here, and why. */
  readonly stopped: string | null;
}

/** A real run in the foreground of this process. */
export interface ForegroundRun {
  readonly end: Promise<RunEnd>;
  /** Tells the run to begin the final review, as `hma review` does. */
  review(): void;
  /** Ends the run, with everything that it started; a second call changes nothing. */
  stop(why: string): void;
}

/** Longest wait for an orderly stop before everything is killed, ms. */
const stopWithinMs = 20_000;
const lookMs = 250;

/**
 * Starts `hma run` on a laid-out demonstration. It is no part of the terminal's process group, so that Ctrl-C comes here alone: a
 * demonstration is ended, not detached from. A run in trouble is ended too, not waited for.
 */
export function startForegroundRun(
  place: DemoPlace,
  stdio: StdioOptions,
  onEvent: OnEvent = () => undefined,
): ForegroundRun {
  const child = spawn(process.execPath, [hmaBundle, 'run'], {
    cwd: place.workspace,
    env: demoEnvironment(place),
    detached: true,
    stdio,
  });
  let stopped: string | null = null;
  let connection: RunConnection | null = null;
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code));
  });
  const stop = (why: string): void => {
    if (stopped !== null) return;
    stopped = why;
    void stopOrderly(() => connection, ended).then((orderly) => (orderly ? undefined : endProcessesOn(place)));
  };
  const reshape = (): void => void child.kill('SIGWINCH');
  process.on('SIGWINCH', reshape);
  void watchForTrouble(place, { ended, onConnection: (now) => (connection = now), onTrouble: stop, onEvent });
  return {
    end: ended
      .then((exit) => ({ exit, stopped }))
      .finally(() => {
        process.off('SIGWINCH', reshape);
        connection?.close();
      }),
    review: () => void connection?.intend({ kind: 'review', by: 'the comparison' }).catch(() => undefined),
    stop,
  };
}

/** The environment in which the demonstration's `hma` runs: the project's Node first on PATH, its own state folder, no session's token. */
const demoEnvironment = (place: DemoPlace): NodeJS.ProcessEnv => ({
  ...projectEnvironment(),
  HMA_HOME: place.home,
  HMA_TOKEN: '',
  HMA_SOCKET: '',
});

/** What a demonstration does not go on from: a pause, which only a person ends, a broken evaluator, a failed session that would be tried again. */
function troubleIn(event: LedgerEvent, state: RunState | null): string | undefined {
  if (state?.pause) return `it paused: ${state.pause.detail}`;
  if (event.type === 'experiment.rejected') {
    const { id, code, reason } = event.data as { id: string; code: string; reason: string };
    return code === 'evaluator_error' ? `the evaluator failed on ${id}: ${reason}` : undefined;
  }
  if (event.type !== 'attempt.ended') return undefined;
  const { failure } = event.data as { failure: { reason: string; detail: string } | null };
  return failure ? `a session failed (${failure.reason}): ${failure.detail}` : undefined;
}

/** Attaches to the run as soon as it listens, again when its controller was restarted, until `hma run` is over. */
async function watchForTrouble(
  place: DemoPlace,
  given: {
    readonly ended: Promise<unknown>;
    readonly onConnection: (connection: RunConnection | null) => void;
    readonly onTrouble: (why: string) => void;
    readonly onEvent: OnEvent;
  },
): Promise<void> {
  const onEvent: OnEvent = (before, event, state) => {
    given.onEvent(before, event, state);
    const trouble = troubleIn(event, state);
    if (trouble !== undefined) given.onTrouble(trouble);
  };
  const life = lifeOf(given.ended);
  while (!life.over) {
    const run = latestRun(place);
    const connection = run ? await attach(run.folder, { history: true, onEvent }).catch(() => null) : null;
    if (connection) {
      given.onConnection(connection);
      await Promise.race([connection.closed, given.ended.catch(() => undefined)]);
      given.onConnection(null);
      connection.close();
    } else await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}

/** Whether something has ended by now. */
function lifeOf(ended: Promise<unknown>): { readonly over: boolean } {
  const life = { over: false };
  void ended.catch(() => undefined).then(() => (life.over = true));
  return life;
}

/** Asks the controller to stop, as `hma stop` does, until it has agreed; false when the run was not over in time. */
async function stopOrderly(connection: () => RunConnection | null, ended: Promise<unknown>): Promise<boolean> {
  const life = lifeOf(ended);
  let asked = false;
  for (const until = performance.now() + stopWithinMs; !life.over && performance.now() < until;) {
    asked ||=
      (
        await connection()
          ?.intend({ kind: 'stop', by: 'the demonstration' })
          .catch(() => undefined)
      )?.done ?? false;
    await Promise.race([ended.catch(() => undefined), new Promise((resolve) => setTimeout(resolve, lookMs))]);
  }
  return life.over;
}
