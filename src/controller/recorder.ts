import type { Clock } from '../base/clock.ts';
import type { Given, NewEvent } from '../base/fact.ts';
import { FenceLost, LedgerFull, LedgerUnwritable, type Ledger } from '../ledger/openLedger.ts';
import type { LedgerEvent } from '../ledger/port.ts';
import { activeAt } from '../run/activeClock.ts';
import type { RunFact } from '../run/events.ts';
import { evolveRun } from '../run/evolve.ts';
import type { RunState } from '../run/model.ts';

/** Schema version of every event type so far. */
const eventVersion = 1;

/** Makes room on a full disk, and says how the run is to be paused; null where no room can be made. */
export type WhenFull = (error: LedgerFull, state: RunState) => RunFact | null;

/**
 * The single writer: decide → append + fdatasync → evolve → publish. Nothing is told before it is on disk, and everything that
 * listens sees the state in which it is true.
 */
export class Recorder {
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  readonly #listeners = new Set<(events: readonly LedgerEvent[], state: RunState) => void>();
  readonly #history: LedgerEvent[];
  readonly #whenFull: WhenFull;
  readonly #shut: (error: Error) => never;
  #state: RunState;

  /**
   * `whenFull` is called when the disk is full. `shut` ends this process: the ledger is another's, or its end is unknown, and whoever
   * called must not go on as if it had only failed.
   */
  constructor(given: {
    ledger: Ledger;
    clock: Clock;
    state: RunState;
    history: readonly LedgerEvent[];
    whenFull: WhenFull;
    shut: (error: Error) => never;
  }) {
    this.#whenFull = given.whenFull;
    this.#shut = given.shut;
    this.#ledger = given.ledger;
    this.#clock = given.clock;
    this.#state = given.state;
    this.#history = [...given.history];
  }

  /** The state in which everything that is on disk is true, and nothing else. */
  get state(): RunState {
    return this.#state;
  }

  /** What a decision may know of time, now. */
  given(): Given {
    const now = this.#clock.now();
    return { ...now, active: activeAt(this.#state.clock, now) };
  }

  /** The run's active time at an instant of this boot, ms: for stamps that others wrote (exit reports). */
  activeOf(instant: { mono: number; boot: string }): number {
    return Math.min(activeAt(this.#state.clock, instant), this.given().active);
  }

  /** Types of the events that are being appended, for the crash points of the ledger. */
  appending = '';

  /** Makes facts true, all or none, and returns them stamped. An empty list is nothing. Throws as the ledger does. */
  append(facts: readonly RunFact[]): readonly LedgerEvent[] {
    if (facts.length === 0) return [];
    const { wall, mono, active } = this.given();
    this.appending = facts.map(({ type }) => type).join('+');
    const events = this.#write(facts, ({ type, data }) => ({ v: eventVersion, wall, mono, active, type, data }));
    for (const event of events) this.#state = evolveRun(this.#state, event) ?? this.#state;
    this.#history.push(...events);
    for (const listener of this.#listeners) listener(events, this.#state);
    return events.slice(0, facts.length);
  }

  /** On a full disk what was to be written goes into the room that is freed, and with it the pause: a moment later somebody else may have taken it. */
  #write(facts: readonly RunFact[], stamp: (fact: RunFact) => NewEvent): readonly LedgerEvent[] {
    try {
      return this.#ledger.append(facts.map(stamp));
    } catch (error) {
      if (error instanceof FenceLost || error instanceof LedgerUnwritable) this.#shut(error);
      const made = error instanceof LedgerFull ? this.#whenFull(error, this.#state) : null;
      if (made === null) throw error;
      const isEnd = facts.some(({ type }) => type === 'run.paused' || type === 'run.finished');
      const runs = this.#state.pause === null && this.#state.phase !== 'finished' && !isEnd;
      return this.#ledger.append([...facts, ...(runs ? [made] : [])].map(stamp));
    }
  }

  /** Events after a number, for clients that come back. */
  eventsAfter(seq: number): readonly LedgerEvent[] {
    return this.#history.slice(Math.max(0, seq));
  }

  /** Calls back after each append. */
  subscribe(listener: (events: readonly LedgerEvent[], state: RunState) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  close(): void {
    this.#ledger.close();
  }
}
