import { exitCodes } from './exitCodes.ts';
import { isForPeople, paperOf, personOf, remark, type Desk } from './desk.ts';
import { loadPrices } from '../agents/priceFile.ts';
import { follow, type FollowEnd, type Following } from '../client/follow.ts';
import { interruptions } from './interrupt.ts';
import type { RunPlace } from '../client/lookup.ts';
import { givenOf } from '../client/readRun.ts';
import { eventLines } from './render/events.ts';
import { summaryPage } from './render/pages.ts';
import { Screen } from './render/screen.ts';
import { statusLine } from './render/statusLine.ts';
import type { LedgerEvent } from '../ledger/port.ts';
import { finalCandidate } from '../review/selection.ts';
import type { RunState } from '../run/model.ts';

/** How a run is shown while it lives. */
export interface LiveOptions {
  readonly json: boolean;
  /** Lines of the past shown at first; all of them when absent. */
  readonly tail?: number;
  /** Whether Ctrl-C asks what to do with the run; else it only leaves. */
  readonly owns: boolean;
}

/** The status line is drawn anew so often, ms. */
const refreshMs = 1000;

/** Shows a run until it is over or the person leaves; answers the exit code. */
export async function showLive(desk: Desk, place: RunPlace, options: LiveOptions): Promise<number> {
  const leaving = new AbortController();
  const view = options.json ? jsonView(desk) : logView(desk, options);
  const following = follow(place, {
    signal: leaving.signal,
    onEvent: (before, event, after) => view.event(before, event, after),
    onPresence: (present) => view.presence(present),
  });
  const interrupts = interruptions(desk, {
    asks: options.owns && isForPeople(desk) && !options.json,
    onQuestion: (question) => view.question(question),
    onLeave: () => leaving.abort(),
    onStop: () => void stopRun(desk, following),
  });
  const timer = setInterval(() => view.refresh(), refreshMs);
  let end: FollowEnd;
  try {
    end = await following.end;
  } finally {
    clearInterval(timer);
    interrupts[Symbol.dispose]();
    view.close();
  }
  return conclude(desk, place, { end, json: options.json });
}

async function stopRun(desk: Desk, following: Following): Promise<void> {
  const reply = await following.connection
    ?.intend({ kind: 'stop', by: personOf(desk) })
    .catch((error: unknown) => ({ done: false as const, text: String(error) }));
  if (!reply?.done)
    remark(
      desk,
      `hma: the run could not be stopped: ${reply?.text ?? 'its controller is away; ask again with hma stop'}`,
    );
}

async function conclude(
  desk: Desk,
  place: RunPlace,
  { end, json }: { readonly end: FollowEnd; readonly json: boolean },
): Promise<number> {
  const paper = paperOf(desk);
  switch (end.how) {
    case 'finished': {
      if (!json)
        desk.stdout.write(
          `${summaryPage(end.state, { runFolder: place.folder, live: false, prices: loadPrices(place.home, desk.env).prices }, paper).join('\n')}\n`,
        );
      return finalCandidate({ ...end.state.terms, ...end.state }) ? exitCodes.ok : exitCodes.noCandidate;
    }
    case 'left':
      if (!json) remark(desk, `The run goes on without this window: hma watch · hma status · hma stop`);
      return exitCodes.detached;
    case 'lost':
      remark(
        desk,
        `hma: no controller looks after run ${place.run} any more (${end.why})\n     Nothing is lost: go on with hma resume. The reason is in ${place.folder}/controller.log`,
      );
      return exitCodes.notRunning;
  }
}

interface View {
  event(before: RunState | null, event: LedgerEvent, after: RunState | null): void;
  presence(present: boolean): void;
  question(question: string | null): void;
  refresh(): void;
  close(): void;
}

/** One JSON object per event, as it is in the ledger. */
function jsonView(desk: Desk): View {
  const nothing = (): void => undefined;
  return {
    event: (_, event) => void desk.stdout.write(`${JSON.stringify(event)}\n`),
    presence: nothing,
    question: nothing,
    refresh: nothing,
    close: nothing,
  };
}

/** The calm log with its status line. */
function logView(desk: Desk, options: LiveOptions): View {
  const screen = new Screen(desk.stdout, desk.env['TERM'] !== 'dumb');
  let state: RunState | null = null;
  let away = false;
  let asking: string | null = null;
  // the past is told from its end: it is held until the controller has told all of it
  let past: string[] | null = options.tail === undefined ? null : [];
  const bottom = (): string => {
    if (asking !== null) return asking;
    if (away) return 'the controller is away; waiting for it to come back';
    return state && state.phase !== 'finished'
      ? statusLine(state, givenOf(desk, { state, live: true, lastActive: state.clock.active }), paperOf(desk))
      : '';
  };
  const flush = (): void => {
    if (past) screen.print(past.slice(-(options.tail ?? past.length)));
    past = null;
  };
  return {
    event(before, event, after) {
      state = after;
      if (!after) return;
      const lines = eventLines({ before, event, after }, paperOf(desk));
      if (past) past.push(...lines);
      else screen.print(lines, bottom());
    },
    presence(present) {
      flush();
      away = !present;
      screen.setBottom(bottom());
    },
    question(question) {
      asking = question;
      screen.setBottom(bottom());
    },
    refresh: () => screen.setBottom(bottom()),
    close() {
      flush();
      screen.setBottom('');
    },
  };
}
