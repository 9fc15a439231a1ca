import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import type { SaidLine } from '../../agents/port.ts';
import { paintSaid, SaidText } from '../../agents/saidText.ts';
import { sayerOf, type Sayer } from '../../agents/sayer.ts';
import { plainOutput } from '../../base/plainOutput.ts';
import { ok, refused, type Result } from '../../base/result.ts';
import { runFiles } from '../../ledger/places.ts';
import { SessionFolder } from '../../controller/sessionFolders.ts';
import { outputLength, readOutput } from '../../machines/outputLog.ts';
import { runnerFile } from '../../machines/runnerFiles.ts';
import { evolveRun } from '../../run/evolve.ts';
import type { RunState } from '../../run/model.ts';
import type { OnEvent } from '../../client/connection.ts';
import { fail, paperOf, remark, say, sayJson, sayLines, type Desk } from '../desk.ts';
import { exitCodes } from '../exitCodes.ts';
import { failure, type Failure } from '../../client/failure.ts';
import { follow } from '../../client/follow.ts';
import { interruptions } from '../interrupt.ts';
import { findRun, type RunPlace } from '../../client/lookup.ts';
import { readOffline } from '../../client/readRun.ts';
import { eventLines } from '../render/events.ts';
import { sayBytes } from '../../base/numbers.ts';
import { sessionLogOutput } from '../schemas.ts';
import { brokenLedger, type RunOptions } from './looking.ts';

/** What `hma log` may be told. */
export interface LogOptions extends RunOptions {
  readonly session?: string;
  readonly events?: boolean;
  readonly follow?: boolean;
  readonly raw?: boolean;
}

/** `hma log`: what happened in words, as events, or what a session's program printed. */
export async function log(desk: Desk, options: LogOptions): Promise<number> {
  const json = options.json ?? false;
  const place = findRun({ ...desk, run: options.run });
  if (!place.ok) return fail(desk, place.refusal, json);
  if (options.session !== undefined) return sessionLog(desk, { place: place.value, options, session: options.session });
  const asJson = json || (options.events ?? false);
  if (options.follow) return followLog(desk, place.value, asJson);
  const read = readOffline(place.value);
  if (!read.ok) return fail(desk, read.refusal, json);
  if (asJson) await say(desk, read.value.events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  else await sayLines(desk, historyLines(read.value.events, paperOf(desk)));
  for (const problem of read.value.problems) remark(desk, brokenLedger(problem));
  return exitCodes.ok;
}

type Events = Extract<ReturnType<typeof readOffline>, { ok: true }>['value']['events'];

/** A whole history as the lines of the live log. */
export function historyLines(events: Events, paper: ReturnType<typeof paperOf>): string[] {
  let state: RunState | null = null;
  return events.flatMap((event) => {
    const before: RunState | null = state;
    const after = evolveRun(before, event);
    state = after;
    return after ? eventLines({ before, event, after }, paper) : [];
  });
}

/** Prints what happened and what goes on happening, until the run is over or the person leaves. */
async function followLog(desk: Desk, place: RunPlace, asJson: boolean): Promise<number> {
  const onEvent: OnEvent = (before, event, after) => {
    if (asJson) desk.stdout.write(`${JSON.stringify(event)}\n`);
    else if (after)
      for (const line of eventLines({ before, event, after }, paperOf(desk))) desk.stdout.write(`${line}\n`);
  };
  return untilInterrupted(desk, async (signal) =>
    (await follow(place, { signal, onEvent }).end).how === 'lost' ? exitCodes.notRunning : exitCodes.ok,
  );
}

/** Does something that Ctrl-C ends. */
async function untilInterrupted(desk: Desk, work: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const leaving = new AbortController();
  const interrupts = interruptions(desk, {
    asks: false,
    onQuestion: () => undefined,
    onLeave: () => leaving.abort(),
    onStop: () => undefined,
  });
  try {
    return await work(leaving.signal);
  } finally {
    interrupts[Symbol.dispose]();
  }
}

interface SessionLog {
  readonly place: RunPlace;
  readonly options: LogOptions;
  readonly session: string;
}

interface AttemptFolder {
  readonly attempt: number;
  readonly folder: string;
}

async function sessionLog(desk: Desk, { place, options, session }: SessionLog): Promise<number> {
  const found = attemptsOf(place, session);
  if (!found.ok) return fail(desk, found.refusal, options.json ?? false);
  const { path, attempts } = found.value;
  const speaks = options.raw ? undefined : sayerIn(place, session);
  if (options.json) {
    const entries = attempts.map(({ attempt, folder }) => ({
      attempt,
      folder,
      outputBytes: outputLength(folder),
      prompt: join(path, 'shown', 'prompt.md'),
    }));
    await sayJson(
      desk,
      sessionLogOutput.parse({
        run: place.run,
        session: session === 'review' ? 'review' : Number(session),
        attempts: entries,
      }),
    );
    return exitCodes.ok;
  }
  return untilInterrupted(desk, async (signal) => {
    for (const { attempt, folder } of attempts) {
      if (attempts.length > 1 && !options.raw) await say(desk, `── attempt ${attempt} ──\n`);
      const isLast = attempt === attempts.at(-1)?.attempt;
      await copyOutput(desk, {
        folder,
        raw: options.raw ?? false,
        say: speaks,
        follow: (options.follow ?? false) && isLast,
        signal,
      });
    }
    return exitCodes.ok;
  });
}

/** How the output of a session's harness is put into words; undefined where it is plain text. */
function sayerIn(place: RunPlace, session: string): Sayer | undefined {
  const read = readOffline(place);
  if (!read.ok) return undefined; // a ledger that can't be read is no reason to hide the output
  const { options, review, terms } = read.value.state;
  const slot = session === 'review' ? review?.reviewer : options[Number(session) - 1]?.agent;
  return slot && sayerOf(terms.agents[slot].adapter);
}

/** The folders of a session's attempts, in order. */
function attemptsOf(
  place: RunPlace,
  session: string,
): Result<{ readonly path: string; readonly attempts: readonly AttemptFolder[] }, Failure> {
  if (session !== 'review' && !/^[1-9]\d{0,6}$/.test(session)) {
    return refused(
      failure('usage', 'bad_session', {
        what: `--session takes an option's number or review, not ${JSON.stringify(session)}`,
        fix: 'hma status lists the options.',
      }),
    );
  }
  const { path } = new SessionFolder(
    runFiles(place.folder).sessions,
    session === 'review' ? { kind: 'review' } : { kind: 'option', number: Number(session) },
  );
  const names = existsSync(path) ? readdirSync(path) : [];
  const attempts = names.flatMap((name) => {
    const attempt = /^attempt-(\d+)$/.exec(name)?.[1];
    return attempt === undefined ? [] : [{ attempt: Number(attempt), folder: join(path, name) }];
  });
  if (attempts.length === 0)
    return refused(
      failure('notFound', 'no_session', {
        what: `run ${place.run} has ${session === 'review' ? 'no review' : `no option ${session}`} with a process yet`,
        fix: 'hma status lists the options.',
      }),
    );
  return ok({ path, attempts: attempts.toSorted((a, b) => a.attempt - b.attempt) });
}

/** An output that is followed is looked at so often, ms. */
const lookMs = 500;

/** Prints a program's output from its beginning; with `follow` until it has ended or the person leaves. */
async function copyOutput(
  desk: Desk,
  given: {
    readonly folder: string;
    readonly raw: boolean;
    readonly say: Sayer | undefined;
    readonly follow: boolean;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { folder, raw, signal } = given;
  const decoder = new TextDecoder();
  const said = given.say && new SaidText(given.say);
  const { style } = paperOf(desk);
  const tell = (lines: readonly SaidLine[]): Promise<void> =>
    sayLines(
      desk,
      lines.flatMap((line) => paintSaid(line, style.colours)),
    );
  let at = 0;
  while (!signal.aborted) {
    // looked at first: what is written before the end is then surely read below
    const over = existsSync(join(folder, runnerFile.exit));
    const piece = readOutput(folder, at);
    if (piece.bytes.length > 0) {
      if (piece.from > at) {
        said?.gap();
        if (!raw) await say(desk, `\n── ${sayBytes(piece.from - at)} are not kept ──\n`);
      }
      at = piece.next;
      if (said) await tell(said.take(piece.bytes));
      else await say(desk, raw ? piece.bytes : plainOutput(decoder.decode(piece.bytes, { stream: true })));
    } else if (piece.ended || over || !given.follow) {
      if (said && (piece.ended || over)) await tell(said.end());
      return;
    } else await wait(lookMs);
  }
}
