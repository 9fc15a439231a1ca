import { existsSync, readdirSync, statSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';

import * as vscode from 'vscode';

import { processClock } from '../base/clock.ts';
import type { Given } from '../base/fact.ts';
import { attach, type RunConnection } from '../client/connection.ts';
import { follow } from '../client/follow.ts';
import { runsOf, stateHomes, type RunPlace } from '../client/lookup.ts';
import { readOffline } from '../client/readRun.ts';
import { workspaceId } from '../ledger/places.ts';
import type { LedgerEvent } from '../ledger/port.ts';
import type { Intent, IntentReply } from '../protocol/client.ts';
import { activeAt } from '../run/activeClock.ts';
import type { RunState } from '../run/model.ts';
import { settings } from './settings.ts';

/**
 * How the window stands to the run that it shows.
 *
 *   none ──a run appears──▶ connecting ──▶ live ◀──▶ away (its controller is expected back) ──▶ lost (nobody brings it back)
 *                                            └──finished──▶ over
 */
export type Presence = 'none' | 'connecting' | 'live' | 'away' | 'lost' | 'over';

/** What changed: events in order, or none when only the presence or the shown run did. */
export interface RunChange {
  readonly before: RunState | null;
  readonly state: RunState | null;
  readonly events: readonly LedgerEvent[];
}

/** How often the runs folder is looked at beside its watcher, ms. */
const lookMs = 5000;

/**
 * The run that this window shows: the newest of the folder, or the one a person chose. It only looks and asks; closing the window
 * changes nothing of the run.
 */
export class RunModel implements vscode.Disposable {
  readonly folder: string;
  readonly #changed = new vscode.EventEmitter<RunChange>();
  /** Fires after each batch of events and each change of presence. */
  readonly onDidChange = this.#changed.event;
  readonly #clock = processClock();
  #place: RunPlace | null = null;
  #chosen: string | null = null;
  #state: RunState | null = null;
  #presence: Presence = 'none';
  #why = '';
  /** Active runtime at the last event, ms: where a run without a controller stands. */
  #lastActive = 0;
  /** Bytes of the ledger when it was last read as a whole; null before. */
  #ledgerLength: number | null = null;
  #leaving = new AbortController();
  #connection: () => RunConnection | null = () => null;
  #listening = false;
  #watchers: FSWatcher[] = [];
  #timer: NodeJS.Timeout;
  #pending: { before: RunState | null; events: LedgerEvent[] } | null = null;

  /** `folder` is the workspace's real path. */
  constructor(folder: string) {
    this.folder = folder;
    this.#timer = setInterval(() => this.look(), lookMs);
    this.look();
  }

  get state(): RunState | null {
    return this.#state;
  }
  get place(): RunPlace | null {
    return this.#place;
  }
  get presence(): Presence {
    return this.#presence;
  }
  /** Why the run is lost, in words; empty otherwise. */
  get why(): string {
    return this.#why;
  }

  /** Time as the run's decisions know it; a run that nobody looks after stands where its ledger ends. */
  given(): Given {
    const now = this.#clock.now();
    const goesOn = this.#presence === 'live' || this.#presence === 'away';
    return { ...now, active: this.#state && goesOn ? activeAt(this.#state.clock, now) : this.#lastActive };
  }

  /** All runs of the folder, newest first. */
  runs(): readonly RunPlace[] {
    return runsOf(this.folder, this.#homes());
  }

  #homes(): readonly string[] {
    const own = settings().stateFolder;
    return stateHomes(own === '' ? process.env : { ...process.env, HMA_HOME: own }, this.folder);
  }

  /** Looks for a newer run; follows it unless a person chose another one to look at. */
  look(): void {
    const places = this.runs();
    const wanted = places.find(({ run }) => run === this.#chosen) ?? places[0] ?? null;
    this.#watchFolders();
    if (wanted?.run !== this.#place?.run) this.#show(wanted);
    else if (wanted && this.#presence === 'lost') this.#retry(wanted);
    else if (wanted && this.#presence === 'over') this.#readOn(wanted);
  }

  /** Shows another run of the folder; null goes back to the newest. */
  choose(run: string | null): void {
    this.#chosen = run;
    this.look();
  }

  #watchFolders(): void {
    if (this.#watchers.length > 0) return;
    for (const home of this.#homes()) {
      const runs = join(home, 'workspaces', workspaceId(this.folder), 'runs');
      if (!existsSync(runs)) continue;
      const watcher = watch(runs, () => this.look());
      watcher.on('error', () => watcher.close());
      this.#watchers.push(watcher);
    }
  }

  #show(place: RunPlace | null): void {
    this.#leaving.abort();
    this.#leaving = new AbortController();
    const before = this.#state;
    this.#place = place;
    this.#state = null;
    this.#why = '';
    this.#lastActive = 0;
    this.#ledgerLength = null;
    this.#connection = () => null;
    this.#presence = place === null ? 'none' : 'connecting';
    if (place) this.#begin(place);
    this.#changed.fire({ before, state: this.#state, events: [] });
  }

  #begin(place: RunPlace): void {
    const offline = readOffline(place);
    if (offline.ok) {
      this.#state = offline.value.state;
      this.#lastActive = offline.value.events.at(-1)?.active ?? 0;
      if (offline.value.state.phase === 'finished') {
        this.#presence = 'over';
        return;
      }
    }
    this.#follow(place);
  }

  /** Follows from the ledger's first event; the states in between are not shown one by one. */
  #follow(place: RunPlace): void {
    const { signal } = this.#leaving;
    const following = follow(place, {
      signal,
      base: this.#state,
      onEvent: (before, event, after) => this.#take(before, event, after),
      onPresence: (present) => this.#become(present ? 'live' : 'away'),
    });
    this.#connection = () => following.connection;
    void following.end.then((end) => {
      if (signal.aborted) return;
      if (end.how === 'lost') this.#why = end.why;
      this.#become(end.how === 'finished' ? 'over' : 'lost');
    });
  }

  /** After a run's end a person still selects, grades and the like, from this window, another one or a terminal: the ledger tells. */
  #readOn(place: RunPlace): void {
    if (this.#listening) return;
    const length = ledgerLength(place.folder);
    if (length === this.#ledgerLength) return;
    this.#ledgerLength = length;
    const before = this.#state;
    const read = readOffline(place);
    if (!read.ok || read.value.state.seq === before?.seq) return;
    this.#state = read.value.state;
    const events = read.value.events.filter(({ seq }) => seq > (before?.seq ?? 0));
    this.#changed.fire({ before, state: this.#state, events });
    if (this.#state.errands.length > 0) void this.#listen(place);
  }

  /** Listens to the controller that is back for a person's errands, until all are done: whoever stayed would keep it from leaving. */
  async #listen(place: RunPlace): Promise<void> {
    this.#listening = true;
    const { signal } = this.#leaving;
    const done = Promise.withResolvers<void>();
    const connection = await attach(place.folder, {
      base: this.#state,
      onEvent: (before, event, after) => {
        if (signal.aborted) return;
        this.#take(before, event, after);
        if (after?.errands.length === 0) done.resolve();
      },
    }).catch(() => null); // it leaves just now: the next look tells
    signal.addEventListener('abort', () => done.resolve(), { once: true });
    if (connection && this.#state?.errands.length !== 0) await Promise.race([done.promise, connection.closed]);
    connection?.close();
    this.#listening = false;
  }

  #retry(place: RunPlace): void {
    void attach(place.folder).then(
      (connection) => {
        if (!connection || this.#place?.run !== place.run || this.#presence !== 'lost') return connection?.close();
        connection.close();
        this.#show(place);
      },
      () => undefined,
    );
  }

  #take(before: RunState | null, event: LedgerEvent, after: RunState | null): void {
    this.#state = after;
    this.#lastActive = event.active;
    if (this.#pending === null) {
      this.#pending = { before, events: [] };
      // One repaint for all that came in one go.
      setTimeout(() => this.#flush(), 50);
    }
    this.#pending.events.push(event);
  }

  #flush(): void {
    const pending = this.#pending;
    this.#pending = null;
    if (pending) this.#changed.fire({ before: pending.before, state: this.#state, events: pending.events });
  }

  #become(presence: Presence): void {
    if (this.#presence === presence) return;
    this.#presence = presence;
    this.#changed.fire({ before: this.#state, state: this.#state, events: [] });
  }

  /** Asks the controller for something; a run without one answers in words. */
  async intend(intent: Intent): Promise<IntentReply> {
    const following = this.#connection();
    if (following) return await following.intend(intent);
    const connection = this.#place && (await attach(this.#place.folder).catch(() => null));
    if (!connection) return { done: false, reason: 'no_controller', text: 'the run has no controller at the moment' };
    const reply = await connection.intend(intent);
    connection.close();
    this.look();
    return reply;
  }

  dispose(): void {
    this.#leaving.abort();
    clearInterval(this.#timer);
    for (const watcher of this.#watchers) watcher.close();
    this.#changed.dispose();
  }
}

/** Bytes of all segments of a run's ledger; 0 where there is none. */
function ledgerLength(folder: string): number {
  try {
    const segments = readdirSync(folder).filter((name) => /^ledger-\d+\.jsonl$/.test(name));
    return segments.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  } catch {
    return 0; // the run's folder was removed
  }
}
