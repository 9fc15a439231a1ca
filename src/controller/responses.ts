import { join } from 'node:path';

import type { AgentAdapter, Response } from '../agents/port.ts';
import type { RunEvent } from '../run/events.ts';
import { runnerFile } from '../machines/runnerFiles.ts';
import type { Attempt, SessionName } from '../options/model.ts';
import { crashAt } from './crashPoints.ts';
import type { Room } from './room.ts';
import { sessionIdOf } from './sessionFolders.ts';

/** Shortest time from one reading to the next, ms. */
const everyMs = 5000;
/** Reading takes at most this share of the time: after a slow one the next comes later. */
const idleShare = 20;
/** Longest time that a session's end waits for what is left to be read, ms. */
const lastReadMs = 20_000;
/** Responses in one event, so that no line of the ledger is long. */
const batch = 100;
/** Most responses of one attempt: its transcript lies where it may write, and must not fill the disk. */
const mostResponses = 100_000;
/** Longest name that is kept, characters. */
const longestName = 200;

/** What is followed: one attempt of a session, and where it leaves its words. */
export interface Followed {
  readonly name: SessionName;
  readonly attempt: Attempt;
  readonly adapter: AgentAdapter;
  /** HOME and working folder of the attempt, and its runner's folder. */
  readonly home: string;
  readonly cwd: string;
  readonly dir: string;
}

/** Follows one attempt's responses into the ledger. */
export interface Following {
  /** Reads what is left. Resolves when it is in the ledger, or when waiting for it has taken too long. */
  finish(): Promise<void>;
  /** Stops without a last reading. */
  [Symbol.dispose](): void;
}

/**
 * Reads an attempt's responses while it runs and appends them as `attempt.responded`, each id once: what the ledger has already, also
 * from a controller before this one, is not told again. Reading is never in the way of the run: it waits between readings in
 * proportion to what they cost, and what a harness's files hold is not trusted.
 */
export function followResponses(room: Room, followed: Followed): Following {
  const { adapter, dir, home, cwd, attempt } = followed;
  if (!adapter.responses) return { finish: async () => undefined, [Symbol.dispose]: () => undefined };
  const reader = adapter.responses({
    home,
    cwd,
    output: join(dir, runnerFile.output),
    sessionId: sessionIdOf(attempt.nonce),
    startedAt: startingWall(room, followed),
  });
  const told = toldIds(room, followed);
  let timer: NodeJS.Timeout | undefined;
  let reading: Promise<void> = Promise.resolve();
  let over = false;
  /** Read, and not in the ledger yet: a full disk may keep them waiting. */
  const pending: Response[] = [];
  const read = async (last: boolean): Promise<void> => {
    const responses = await reader.next(last).catch((error: unknown) => {
      room.log(`responses of ${label(followed)}: ${String(error)}`);
      return [];
    });
    if (over) return;
    for (const one of responses.map(sound)) {
      if (one === null || told.has(one.id) || told.size >= mostResponses) continue;
      told.add(one.id);
      pending.push(one);
    }
    if (pending.length > 0) crashAt('responses.read', followed.name.kind);
    const session = { session: followed.name, attempt: attempt.number };
    while (pending.length > 0) {
      room.recorder.append([{ type: 'attempt.responded', data: { ...session, responses: pending.slice(0, batch) } }]);
      pending.splice(0, batch);
    }
  };
  const schedule = (ms: number): void => {
    timer = setTimeout(() => {
      const began = performance.now();
      reading = read(false)
        .catch((error: unknown) => room.log(`responses of ${label(followed)}: ${String(error)}`))
        .finally(() => {
          if (!over) schedule(Math.max(everyMs, (performance.now() - began) * idleShare));
        });
    }, ms);
  };
  schedule(everyMs);
  const stop = (): void => {
    over = true;
    clearTimeout(timer);
  };
  return {
    async finish() {
      clearTimeout(timer);
      const whole = reading.then(async () => {
        clearTimeout(timer); // a reading that was under way has armed it again
        await read(true);
      });
      const late = Promise.withResolvers<'late'>();
      const limit = setTimeout(() => late.resolve('late'), lastReadMs);
      try {
        if ((await Promise.race([whole, late.promise])) === 'late') noticeUnread(room, followed);
      } finally {
        clearTimeout(limit);
        stop();
      }
    },
    [Symbol.dispose]: stop,
  };
}

const label = ({ name, attempt }: Followed): string =>
  `${name.kind === 'review' ? 'the review' : `session ${name.number}`}, attempt ${attempt.number}`;

function noticeUnread(room: Room, followed: Followed): void {
  const text = `the last responses of ${label(followed)} could not be read within ${lastReadMs / 1000} s: its tokens are not complete`;
  room.recorder.append([{ type: 'run.noticed', data: { level: 'warning', code: 'responses_unread', text } }]);
}

const isOf = ({ name, attempt }: Followed, event: { session: SessionName; attempt: number }): boolean =>
  event.attempt === attempt.number &&
  event.session.kind === name.kind &&
  (event.session.kind === 'review' || name.kind === 'review' || event.session.number === name.number);

/** Ids of this attempt that are in the ledger. */
function toldIds(room: Room, followed: Followed): Set<string> {
  const events = room.recorder.eventsAfter(0) as readonly RunEvent[];
  return new Set(
    events
      .filter((event) => event.type === 'attempt.responded')
      .filter(({ data }) => isOf(followed, data))
      .flatMap(({ data }) => data.responses.map(({ id }) => id)),
  );
}

/** When the attempt was about to start, Unix ms. */
function startingWall(room: Room, followed: Followed): number {
  const events = room.recorder.eventsAfter(0) as readonly RunEvent[];
  const starting = events.findLast((event) => event.type === 'attempt.starting' && isOf(followed, event.data));
  return starting?.wall ?? room.clock.now().wall;
}

/** A response as it may stand in the ledger; null for one whose numbers are none. */
function sound(response: Response): Response | null {
  const { id, at, model, uncachedInput, cachedInput, cacheWrite, output, reasoning, toolCalls } = response;
  const counts = { uncachedInput, cachedInput, cacheWrite, output, reasoning, toolCalls };
  const whole = Object.values(counts).every((each) => Number.isSafeInteger(each) && each >= 0 && each < 1e12);
  if (!whole || typeof id !== 'string' || id === '' || !Number.isFinite(at)) return null;
  return {
    id: id.slice(0, longestName),
    at,
    model: typeof model === 'string' ? model.slice(0, longestName) : null,
    ...counts,
  };
}
