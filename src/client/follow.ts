import { setTimeout as wait } from 'node:timers/promises';

import * as z from 'zod';

import { readJson } from '../base/files.ts';
import { oneLine } from '../base/oneLine.ts';
import { runFiles } from '../ledger/places.ts';
import { hasProc, isAlive } from '../machines/processes.ts';
import { attach, type OnEvent, type RunConnection } from './connection.ts';
import type { RunPlace } from './lookup.ts';
import { readOffline } from './readRun.ts';
import type { RunState } from '../run/model.ts';
import { evolveRun } from '../run/evolve.ts';

/** How following came to its end. */
export type FollowEnd =
  | { readonly how: 'finished'; readonly state: RunState }
  /** The follower left; the run goes on. */
  | { readonly how: 'left'; readonly state: RunState | null }
  /** No controller came back in time, or its keeper says that none will (`why`). */
  | { readonly how: 'lost'; readonly state: RunState | null; readonly why: string };

/** What a follower wants to hear. */
export interface Follower {
  /** A state from before, whose events are not told again. */
  readonly base?: RunState | null;
  readonly onEvent: OnEvent;
  /** The controller is away (and is expected back), or here again. */
  readonly onPresence?: (present: boolean) => void;
  /** Aborted by whoever follows: leave. */
  readonly signal: AbortSignal;
  /** How long an absent controller is waited for, ms; the keeper's longest wait before a restart is shorter. */
  readonly patienceMs?: number;
}

/** A run that is being followed, across restarts of its controller. */
export interface Following {
  /** The present connection; null while the controller is away. */
  readonly connection: RunConnection | null;
  readonly end: Promise<FollowEnd>;
}

const keeperSchema = z.object({
  state: z.string(),
  why: z.string().optional(),
  pid: z.number().optional(),
  start: z.string().optional(),
});

/** Why nobody brings the controller back: what the keeper wrote when it stopped, or that it is gone; undefined while it goes on. */
function keeperEnd(place: RunPlace): string | undefined {
  const read = readJson(runFiles(place.folder).keeper);
  const known = read.ok ? keeperSchema.safeParse(read.value) : undefined;
  if (!known?.success) return undefined;
  if (known.data.state === 'gave_up') return `the keeper gave up: ${oneLine(known.data.why ?? 'it kept dying', 400)}`;
  if (known.data.state === 'refused') return 'the controller refused to go on';
  const { state, pid, start } = known.data;
  const gone = state === 'keeping' && pid !== undefined && start !== undefined && hasProc() && !isAlive({ pid, start });
  return gone ? 'it and its keeper are gone: killed, or the machine went down' : undefined;
}

const firstWaitMs = 250;
const longestWaitMs = 2000;

/**
 * Follows a run from its first event to its end. A controller that restarts is attached to again after the last event seen, so every
 * event is reported once. A finished run's rest is read from the ledger when its controller has left already.
 */
export function follow(place: RunPlace, follower: Follower): Following {
  let connection: RunConnection | null = null;
  let state: RunState | null = follower.base ?? null;
  const onEvent: OnEvent = (before, event, after) => {
    state = after;
    follower.onEvent(before, event, after);
    if (after?.phase === 'finished') finished.resolve();
  };
  const finished = Promise.withResolvers<void>();
  const left = new Promise<void>((resolve) =>
    follower.signal.addEventListener('abort', () => resolve(), { once: true }),
  );

  const once = async (): Promise<boolean> => {
    const opened = await attach(place.folder, { onEvent, base: state, history: true }).catch(() => null);
    if (!opened) return false;
    connection = opened;
    follower.onPresence?.(true);
    await Promise.race([opened.closed, finished.promise, left]);
    connection = null;
    opened.close();
    return true;
  };
  const readRest = (): void => {
    const read = readOffline(place);
    if (!read.ok || read.value.state.phase !== 'finished') return;
    for (const event of read.value.events) {
      if (state !== null && event.seq <= state.seq) continue;
      onEvent(state, event, evolveRun(state, event));
    }
  };
  const run = async (): Promise<FollowEnd> => {
    let awaySince = performance.now();
    let pause = firstWaitMs;
    for (;;) {
      const was = await once();
      if (was) [awaySince, pause] = [performance.now(), firstWaitMs];
      if (state?.phase !== 'finished') readRest();
      if (state?.phase === 'finished') return { how: 'finished', state };
      if (follower.signal.aborted) return { how: 'left', state };
      const why = was ? undefined : keeperEnd(place);
      if (why !== undefined) return { how: 'lost', state, why };
      follower.onPresence?.(false);
      if (performance.now() - awaySince > (follower.patienceMs ?? 90_000))
        return { how: 'lost', state, why: 'none came back' };
      await Promise.race([wait(pause, undefined, { ref: true }), left]);
      pause = Math.min(longestWaitMs, pause * 2);
    }
  };
  return {
    get connection() {
      return connection;
    },
    end: run(),
  };
}
