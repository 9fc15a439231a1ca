import { isDeepStrictEqual } from 'node:util';

import type { Instant } from '../../src/base/clock.ts';
import type { Given } from '../../src/base/fact.ts';
import type { Prices } from '../../src/analysis/usage.ts';
import { undecided, nextEvaluationStep } from '../../src/experiments/decide.ts';
import type { LedgerEvent } from '../../src/ledger/port.ts';
import { activeAfterAbsence, activeAt } from '../../src/run/activeClock.ts';
import type { RunFact } from '../../src/run/events.ts';
import { evolveRun, replayRun } from '../../src/run/evolve.ts';
import { carryOver } from '../../src/run/goOn.ts';
import type { RunState } from '../../src/run/model.ts';
import { nextStep, type Step } from '../../src/run/next.ts';
import { verdictsEndAt } from '../../src/run/schedule.ts';
import { carryOutEvaluation, carryOutStep, keepFrozen, observe } from './carryOut.ts';
import { lives, type Process } from './processes.ts';
import { openedWall, type Death, type Scenario } from './scenario.ts';
import { disturb, resumeLater, showReceipt } from './sessions.ts';

/** What a simulated run leaves behind: the ledger, and what the world saw that no law allows. */
export interface Trace {
  readonly scenario: Scenario;
  readonly events: readonly LedgerEvent[];
  readonly state: RunState;
  readonly ended: 'finished' | 'stuck' | 'endless';
  /** Breaches that only the world can see: two sessions at once, a changed answer, a step repeated without end. */
  readonly breaches: readonly string[];
  /** Ids that a session was told. */
  readonly told: readonly string[];
  /** What became of active time while no controller lived. */
  readonly absences: readonly Absence[];
  /** Most steps taken in a row while no time passed. */
  readonly longestTurn: number;
}

/** A stretch without a controller: active time when it died and when one was there again; ms. */
export interface Absence {
  readonly world: Death['world'];
  readonly died: number;
  readonly back: number;
  readonly lasted: number;
  readonly paused: boolean;
  /** Whether a session's program was there all the time. */
  readonly lived: boolean;
}

/** The controller's process died in the middle of what it did. */
class Died {
  readonly death: Death;
  constructor(death: Death) {
    this.death = death;
  }
}

interface Happening {
  readonly at: number;
  readonly order: number;
  readonly act: () => void;
}

/** Longest sleep of the controller, as in controller.ts, ms. */
const longestSleepMs = 30_000;
/** Steps in a row, without time passing, from which on a turn counts as a hot loop. */
const hotLoop = 60;
/** What the model of simulated sessions costs: a dollar for a million tokens. */
export const prices: Prices = { m: { input: 1, cachedInput: 1, output: 1, asOf: '2026-11-30', source: 'the test' } };
/** Happenings after which a run counts as endless. */
const endless = 30_000;

/** A world with one controller in it. Time passes only from one happening to the next. */
export class World {
  readonly scenario: Scenario;
  readonly events: LedgerEvent[] = [];
  readonly breaches: string[] = [];
  readonly told = new Set<string>();
  readonly processes = new Map<string, Process>();
  /** Nonces of starts that were given up: a late runner exits. */
  readonly abandoned = new Set<string>();
  readonly effects = new Set<string>();
  readonly counters = { attempt: 0, evaluation: 0, review: 0, reap: 0, nonce: 0, request: 0, resume: 0 };
  ballot: string | null = null;
  ballotSeen: string | null = null;
  refusals = new Map<number, number>();
  up = false;
  #state: RunState | null = null;
  #elapsed = 0;
  #boots = 1;
  #monoBase = -1_000;
  #wallShift = 0;
  #epoch = 0;
  #again = false;
  #timerAt: number | null = null;
  #startedMono = 0;
  #absent: Omit<Absence, 'back' | 'lived'> | null = null;
  readonly #absences: Absence[] = [];
  #diedAt = 0;
  #aliveAt: Pick<Instant, 'mono' | 'boot'> = { mono: 0, boot: '' };
  #appends = 0;
  #longestTurn = 0;
  #order = 0;
  #queue: Happening[] = [];
  readonly #deaths: Death[];

  constructor(scenario: Scenario) {
    this.scenario = scenario;
    this.#deaths = [...scenario.deaths];
  }

  get state(): RunState {
    if (!this.#state) throw new Error('the run is not open yet');
    return this.#state;
  }

  now(): Instant {
    return {
      wall: openedWall + this.#elapsed + this.#wallShift,
      mono: this.#elapsed - this.#monoBase,
      boot: `boot-${this.#boots}`,
    };
  }

  given(): Given {
    const now = this.now();
    return { ...now, active: activeAt(this.state.clock, now) };
  }

  /** As Recorder.activeOf. */
  activeOf(instant: { mono: number; boot: string }): number {
    return Math.min(activeAt(this.state.clock, instant), this.given().active);
  }

  /** Active time now as the world knows it; null where that can't be known before a controller judges the absence. */
  trueActive(): number | null {
    if (this.up) return this.given().active;
    const lived = [...this.processes.values()].some((process) => process.session !== null && lives(process));
    if (!this.#absent || (!this.#absent.paused && !lived)) return null;
    return this.#absent.died + (this.#absent.paused ? 0 : this.#elapsed - this.#diedAt);
  }

  stepWall(ms: number): void {
    this.#wallShift += ms;
  }

  breach(what: string): void {
    this.breaches.push(`${what} (event ${this.events.length}, ${this.#elapsed} ms)`);
  }

  /** Something of the world happens after a while, whether or not a controller lives. */
  schedule(delay: number, act: () => void): void {
    this.#queue.push({ at: this.#elapsed + delay, order: this.#order++, act });
  }

  /** Something that this controller process does after a while; it dies with it. */
  later(delay: number, act: () => void): void {
    const epoch = this.#epoch;
    this.schedule(delay, () => {
      if (this.up && this.#epoch === epoch) act();
    });
  }

  /** As Controller.#effect: once at a time by key; `finish` asks again what is next. */
  effect(key: string, act: () => void): void {
    if (this.effects.has(key)) return;
    this.effects.add(key);
    act();
  }

  finish(key: string): void {
    this.effects.delete(key);
    this.#again = true;
  }

  /** As Recorder.append. The disk has the events as JSON, the controller has the objects. */
  append(facts: readonly RunFact[]): void {
    if (facts.length === 0) return;
    const { wall, mono, active } = this.given();
    for (const { type, data } of facts) {
      const event: LedgerEvent = { seq: this.events.length + 1, v: 1, wall, mono, active, type, data };
      this.events.push(event);
      this.#state = evolveRun(this.#state, event);
      if (type === 'run.paused') resumeLater(this);
      if (type === 'experiment.accepted') showReceipt(this, data);
    }
    this.#again = true;
    this.#appends++;
    const index = this.#deaths.findIndex(({ when }) => 'append' in when && when.append <= this.#appends);
    const [death] = index < 0 ? [] : this.#deaths.splice(index, 1);
    if (death) throw new Died(death);
  }

  run(): Trace {
    this.#start();
    this.#plan();
    let ended: Trace['ended'] = 'endless';
    for (let count = 0; count < endless; count++) {
      if (this.up) this.#surviving(() => this.#turn());
      if (this.up && this.state.phase === 'finished' && this.effects.size === 0) {
        ended = 'finished';
        break;
      }
      if (!this.#advance()) {
        ended = 'stuck';
        break;
      }
    }
    const { events, breaches } = this;
    return {
      scenario: this.scenario,
      events,
      state: this.state,
      ended,
      breaches,
      told: [...this.told],
      absences: this.#absences,
      longestTurn: this.#longestTurn,
    };
  }

  #plan(): void {
    const total = this.scenario.budgets.totalMs;
    for (const { at, what } of this.scenario.disturbances)
      this.schedule((at * total) / 1000, () => disturb(this, what));
    for (const death of this.#deaths) {
      const { when } = death;
      if ('at' in when) this.schedule((when.at * total) / 1000, () => void (this.up && this.#die(death)));
    }
  }

  /** The next happening or the controller's timer, whichever is first; false when there is nothing to come. */
  #advance(): boolean {
    let next: Happening | undefined;
    for (const one of this.#queue)
      if (!next || one.at < next.at || (one.at === next.at && one.order < next.order)) next = one;
    if (this.#timerAt !== null && (!next || this.#timerAt <= next.at)) {
      this.#elapsed = Math.max(this.#elapsed, this.#timerAt);
      this.#timerAt = null;
      this.#again = true;
      return true;
    }
    if (!next) return false;
    const chosen = next;
    this.#queue = this.#queue.filter((one) => one !== chosen);
    this.#elapsed = Math.max(this.#elapsed, chosen.at);
    this.#surviving(chosen.act);
    return true;
  }

  #surviving(act: () => void): void {
    try {
      act();
    } catch (error) {
      if (!(error instanceof Died)) throw error;
      this.#die(error.death);
    }
  }

  /** As Controller.#turn and #takeSteps. */
  #turn(): void {
    observe(this);
    let steps = 0;
    let step: Step | null = null;
    while (this.#again) {
      this.#again = false;
      carryOutEvaluation(this, nextEvaluationStep(this.state, this.given()));
      step = nextStep(this.state, this.given(), { lingerMs: this.#lingerMs(), prices });
      carryOutStep(this, step);
      keepFrozen(this);
      observe(this);
      if (++steps >= hotLoop) {
        this.breach(`hot loop: ${step.do}`);
        break;
      }
    }
    this.#longestTurn = Math.max(this.#longestTurn, steps);
    if (step) this.#sleepUntilNext(step);
  }

  #lingerMs(): number {
    return this.state.options.at(-1)?.state === 'open' ? this.scenario.lingerMs : 0;
  }

  #sleepUntilNext(step: Step): void {
    const given = this.given();
    const wakes: number[] = [];
    this.#timerAt = null;
    if ((step.do === 'wait' || step.do === 'watchAttempt') && step.wakeAt !== null)
      wakes.push(step.wakeAt - given.active);
    if (undecided(this.state).length > 0) wakes.push(verdictsEndAt(this.state, given) - given.active);
    if (this.state.pause) wakes.length = 0;
    if (this.state.pause?.until !== undefined) wakes.push(this.state.pause.until - given.wall);
    if (wakes.length === 0) return;
    this.#timerAt = this.#elapsed + Math.max(1, Math.min(longestSleepMs, Math.ceil(Math.min(...wakes))));
  }

  #die(death: Death): void {
    const now = this.now();
    this.#diedAt = this.#elapsed;
    this.#absent = {
      world: death.world,
      died: this.given().active,
      lasted: death.downMs,
      paused: this.state.pause !== null,
    };
    const beats = Math.floor((now.mono - this.#startedMono) / 5000);
    this.#aliveAt = { mono: this.#startedMono + beats * 5000, boot: now.boot };
    this.up = false;
    this.#epoch++;
    this.effects.clear();
    this.#timerAt = null;
    if (death.world !== 'lives') for (const process of this.processes.values()) process.lost ||= process.exit === null;
    if (death.world === 'reboots') {
      this.#boots++;
      this.#monoBase = this.#elapsed - 5_000;
    }
    this.schedule(death.downMs, () => this.#start());
  }

  /** As boot.ts: replay, observe, judge the absence, go on. */
  #start(): void {
    const now = this.now();
    const replayed = replayRun(JSON.parse(JSON.stringify(this.events)) as LedgerEvent[]);
    if (!isDeepStrictEqual(replayed, this.#state)) this.breach('replay differs from live');
    const { terms, budgets, initial, earlier } = this.scenario;
    const carried = earlier && carryOver(earlier, { last: { seq: earlier.seq, hash: 'h' }, agents: terms.agents });
    const opened: RunFact = {
      type: 'run.opened',
      data: {
        run: 'run',
        workspace: '/w',
        contractHash: 'c',
        terms,
        budgets,
        tier: 'none',
        cannot: [],
        initial: initial ? 'initial' : null,
        ...(carried && { from: carried.from }),
      },
    };
    const { active, gapMs } = replayed
      ? activeAfterAbsence({ clock: replayed.clock, lastAlive: this.#lastAlive(replayed), now, toleranceMs: 15_000 })
      : { active: 0, gapMs: 0 };
    const facts: RunFact[] = [
      ...(replayed ? [] : [opened, ...(carried?.facts ?? [])]),
      { type: 'controller.started', data: { pid: 1, fence: 1, version: '0', boot: now.boot, gapMs } },
    ];
    if (this.#absent)
      this.#absences.push({
        ...this.#absent,
        back: active,
        lived: [...this.processes.values()].some((process) => process.session !== null && lives(process)),
      });
    this.#state = replayed;
    for (const { type, data } of facts) {
      const event: LedgerEvent = {
        seq: this.events.length + 1,
        v: 1,
        wall: now.wall,
        mono: now.mono,
        active,
        type,
        data,
      };
      this.events.push(event);
      this.#state = evolveRun(this.#state, event);
    }
    this.up = true;
    this.#startedMono = now.mono;
    this.#again = true;
    this.ballotSeen = null;
    if (this.ballot !== null) this.later(1_000, () => void (this.#again = true));
  }

  #lastAlive(state: RunState): Pick<Instant, 'mono' | 'boot'> {
    const now = this.now();
    const signs: Pick<Instant, 'mono' | 'boot'>[] = [
      this.#aliveAt,
      { mono: this.events.at(-1)?.mono ?? 0, boot: state.clock.boot },
    ];
    for (const session of [state.options.at(-1), state.review]) {
      const process = this.processes.get(session?.attempts.at(-1)?.nonce ?? '');
      if (process?.exit) signs.push(process.exit);
      else if (process && !process.lost) signs.push(now);
    }
    const here = signs.filter(({ boot }) => boot === now.boot);
    return (here.length > 0 ? here : signs).toSorted((a, b) => b.mono - a.mono)[0] ?? now;
  }
}

/** Plays a scenario, given as plain JSON as a contract would be, to its end. */
export const simulate = (scenario: Scenario): Trace =>
  new World(JSON.parse(JSON.stringify(scenario)) as Scenario).run();
