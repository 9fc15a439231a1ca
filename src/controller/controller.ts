import { layOutReview, parseBallot, readBallotFile } from './materials.ts';
import { LedgerFull } from '../ledger/openLedger.ts';
import { undecided, nextEvaluationStep, type EvaluationStep } from '../experiments/decide.ts';
import { latestAttempt } from '../options/evolve.ts';
import type { SessionName } from '../options/model.ts';
import { decideBallot } from '../review/decide.ts';
import { nextStep, type Step } from '../run/next.ts';
import { verdictsEndAt } from '../run/schedule.ts';
import type { RunState } from '../run/model.ts';
import {
  abandonEvaluation,
  beginEvaluation,
  superviseEvaluation,
  superviseGrading,
  superviseReevaluation,
} from './evaluations.ts';
import { deliverMessages } from './messages.ts';
import { CostWatch } from './costWatch.ts';
import { pauseWhenFull } from './disks.ts';
import { fullnessOf } from '../machines/disk.ts';
import type { Room } from './room.ts';
import { SessionFolder, tokenHashOf } from './sessionFolders.ts';
import {
  adapterOf,
  beginAttempt,
  cleanAfterOption,
  closeOption,
  endSessionTree,
  intendEnd,
  sessionOf,
  setFrozen,
  superviseAttempt,
} from './sessions.ts';

/** How often an effect that throws is tried again before the run is paused for a person. */
const effectTries = 3;
/** Waits between those tries, ms. */
const effectWaitMs = 2000;
/** How often wall-clock ends are looked at, since timers follow the monotonic clock only, ms. */
const longestSleepMs = 30_000;
/** How often the ballot file is looked at while a reviewer lives, ms. */
const ballotLookMs = 1000;

/**
 * Carries out what `nextStep` and `nextEvaluationStep` say, one step after the other, and asks again whenever something happened.
 * Everything it starts is safe to start again after a crash: the state says what was intended, the runner's folder what came of it.
 */
export class Controller {
  readonly #room: Room;
  readonly #onIdle: () => void;
  readonly #costs: CostWatch;
  readonly #running = new Map<string, Promise<void>>();
  readonly #failures = new Map<string, number>();
  readonly #subscription: Disposable;
  #timer: NodeJS.Timeout | undefined;
  #ballotTimer: NodeJS.Timeout | undefined;
  #ballotSeen: string | null = null;
  #frozen: { session: string; frozen: boolean } | null = null;
  #turning = false;
  #again = false;
  #closed = false;

  /** `onIdle` is called when the run is finished and nothing is left to do. */
  constructor(room: Room, onIdle: () => void) {
    this.#room = room;
    this.#onIdle = onIdle;
    this.#costs = new CostWatch(room);
    this.#subscription = room.recorder.subscribe(() => this.wake());
  }

  /** Something happened: ask what is next. Never re-enters itself. */
  wake(): void {
    if (this.#closed) return;
    this.#again = true;
    if (this.#turning) return;
    this.#turning = true;
    queueMicrotask(() => this.#turn());
  }

  #turn(): void {
    try {
      while (this.#again && !this.#closed) {
        this.#again = false;
        this.#takeSteps();
      }
    } finally {
      this.#turning = false;
    }
  }

  #takeSteps(): void {
    const { recorder } = this.#room;
    clearTimeout(this.#timer);
    const evaluation = nextEvaluationStep(recorder.state, recorder.given());
    this.#evaluationStep(evaluation);
    const step = nextStep(recorder.state, recorder.given(), {
      lingerMs: this.#lingerMs(),
      prices: this.#costs.prices(),
    });
    this.#sessionStep(step);
    this.#keepFrozen();
    this.#watchBallot();
    this.#sleepUntilNext(step);
  }

  #lingerMs(): number {
    const option = this.#room.recorder.state.options.at(-1);
    return option?.state === 'open' ? adapterOf(this.#room, option).lingerMs : 0;
  }

  #evaluationStep(step: EvaluationStep): void {
    switch (step.do) {
      case 'nothing':
        return;
      case 'record':
        this.#room.recorder.append(step.facts);
        return;
      case 'startEvaluation':
        return beginEvaluation(this.#room, step.id, step.kind);
      case 'watchEvaluation':
        return this.#effect(`evaluation ${step.nonce}`, () => superviseEvaluation(this.#room, step.id, step.nonce));
      case 'abandonEvaluation':
        return this.#effect(`abandon ${step.nonce}`, () => abandonEvaluation(this.#room, step));
    }
  }

  #sessionStep(step: Step): void {
    const { recorder } = this.#room;
    switch (step.do) {
      case 'wait':
        if (recorder.state.phase === 'finished' && this.#running.size === 0) this.#onIdle();
        return;
      case 'record':
        recorder.append(step.facts);
        return;
      case 'openOption': {
        const option = recorder.state.options.length + 1;
        const token = new SessionFolder(this.#room.files.sessions, { kind: 'option', number: option }).createToken();
        recorder.append([
          { type: 'option.opened', data: { option, agent: step.agent, tokenHash: tokenHashOf(token) } },
        ]);
        return;
      }
      case 'openReview':
        return this.#effect('open review', async () => {
          const token = new SessionFolder(this.#room.files.sessions, { kind: 'review' }).createToken();
          await layOutReview(this.#room, step.reviewer);
          recorder.append([
            { type: 'review.opened', data: { reviewer: step.reviewer, tokenHash: tokenHashOf(token) } },
          ]);
        });
      case 'startAttempt':
        return beginAttempt(this.#room, step.session);
      case 'watchAttempt':
        return this.#watchAttempt(step.session);
      case 'endOption':
        return intendEnd(this.#room, { kind: 'option', number: step.option, reason: step.reason });
      case 'endReview':
        return intendEnd(this.#room, { kind: 'review', reason: step.reason });
      case 'reap':
        return this.#effect(`reap ${nameOf(step.session)}`, () => this.#reap(step.session));
      case 'clean':
        return this.#effect(`clean ${step.option}`, () => cleanAfterOption(this.#room, step.option));
      case 'closeOption':
        return this.#effect(`close ${step.option}`, () => closeOption(this.#room, step.option));
      case 'grade':
        return this.#effect(`grade ${step.id}`, () => superviseGrading(this.#room, step.id));
      case 'reevaluate':
        return this.#effect(`reevaluate ${step.id}`, () => superviseReevaluation(this.#room, step.id));
    }
  }

  #watchAttempt(session: SessionName): void {
    const state = sessionOf(this.#room, session);
    const attempt = state && latestAttempt(state);
    if (attempt && attempt.state !== 'ended')
      this.#effect(`attempt ${attempt.nonce}`, () => {
        deliverMessages(this.#room); // those that a controller recorded and did not live to deliver
        return superviseAttempt(this.#room, session, attempt);
      });
  }

  /** Ends a session's processes, then lets its attempt's end be recorded, then says that it is gone. */
  async #reap(session: SessionName): Promise<void> {
    const tree = await endSessionTree(this.#room, session);
    const state = sessionOf(this.#room, session);
    const attempt = state && latestAttempt(state);
    if (attempt && attempt.state !== 'ended') {
      const watching = this.#running.get(`attempt ${attempt.nonce}`);
      await (watching ?? superviseAttempt(this.#room, session, attempt));
    }
    if (session.kind === 'review') this.#readBallot();
    const { recorder } = this.#room;
    if (session.kind === 'review') recorder.append([{ type: 'review.reaped', data: tree }]);
    else recorder.append([{ type: 'option.reaped', data: { option: session.number, ...tree } }]);
    if (tree.survivors.length > 0 && !recorder.state.pause) {
      const list = tree.survivors.map(({ pid, command }) => `${pid} (${command})`).join(', ');
      recorder.append([
        {
          type: 'run.paused',
          data: {
            reason: 'survivors',
            detail: `these processes could not be ended: ${list}; end them, then resume`,
            by: 'hma',
          },
        },
      ]);
    }
  }

  /** Runs an effect unless it runs already; tries again when it throws, and pauses the run when it keeps throwing. */
  #effect(key: string, act: () => Promise<void>): void {
    if (this.#running.has(key)) return;
    const running = act().then(
      () => void this.#failures.delete(key),
      async (error: unknown) => await this.#failed(key, error),
    );
    this.#running.set(
      key,
      running.finally(() => {
        this.#running.delete(key);
        this.wake();
      }),
    );
  }

  async #failed(key: string, error: unknown): Promise<void> {
    if (this.#closed) return;
    const { recorder } = this.#room;
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    this.#room.log(
      `${key} failed (${failures}): ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
    if (error instanceof LedgerFull) throw error;
    const full = fullnessOf(error, this.#room.folder);
    if (full !== null && !recorder.state.pause)
      recorder.append([pauseWhenFull(this.#room, recorder.state, { full, what: `a file (${key})` })]);
    else if (failures >= effectTries && !recorder.state.pause) {
      this.#failures.delete(key);
      const detail = `${key}: ${error instanceof Error ? error.message : String(error)}`;
      recorder.append([{ type: 'run.paused', data: { reason: 'start_failed', detail, by: 'hma' } }]);
    }
    await new Promise((resolve) => setTimeout(resolve, effectWaitMs * failures));
  }

  /** Keeps the session frozen exactly while the run is paused or an exclusive evaluation runs. */
  #keepFrozen(): void {
    const { state } = this.#room.recorder;
    const session = livingSession(state);
    if (!session) {
      this.#frozen = null;
      return;
    }
    const exclusive =
      state.terms.evaluate.exclusive && undecided(state).some((e) => e.evaluations.at(-1)?.verdict === null);
    const frozen = state.pause !== null || exclusive;
    const key = `${nameOf(session.name)} ${session.nonce}`;
    if (this.#frozen?.session === key && this.#frozen.frozen === frozen) return;
    this.#frozen = { session: key, frozen };
    const before = this.#running.get('freeze') ?? Promise.resolve();
    const after = before
      .then(() => setFrozen(this.#room, session.name, frozen))
      .catch((error: unknown) => this.#room.log(`freeze: ${String(error)}`));
    this.#running.set(
      'freeze',
      after.finally(() => this.#running.delete('freeze')),
    );
  }

  #watchBallot(): void {
    clearTimeout(this.#ballotTimer);
    if (this.#room.recorder.state.review?.state !== 'open') return;
    this.#ballotTimer = setTimeout(() => {
      this.#readBallot();
      this.#watchBallot();
    }, ballotLookMs);
  }

  /** Reads the ballot file; new content is judged and recorded, an unchanged one is no news. */
  #readBallot(): void {
    const { recorder, files } = this.#room;
    const { review } = recorder.state;
    if (!review || review.state === 'closed') return;
    const text = readBallotFile(new SessionFolder(files.sessions, { kind: 'review' }).ballot);
    if (text === null || text === this.#ballotSeen) return;
    this.#ballotSeen = text;
    const fact = decideBallot(recorder.state, parseBallot(text));
    const known =
      fact.data.valid &&
      review.nomination?.candidate === fact.data.candidate &&
      review.nomination.reason === fact.data.reason;
    if (!known) recorder.append([fact]);
  }

  #sleepUntilNext(step: Step): void {
    if (this.#closed) return;
    const { recorder } = this.#room;
    const given = recorder.given();
    const wakes: number[] = [];
    if ((step.do === 'wait' || step.do === 'watchAttempt') && step.wakeAt !== null)
      wakes.push(step.wakeAt - given.active);
    if (undecided(recorder.state).length > 0) wakes.push(verdictsEndAt(recorder.state, given) - given.active);
    if (recorder.state.pause) {
      // The active clock stands, but a rental's end comes all the same.
      wakes.length = 0;
      if (recorder.state.budgets.until !== null) wakes.push(longestSleepMs);
      if (recorder.state.pause.until !== undefined) wakes.push(recorder.state.pause.until - given.wall);
    }
    if (wakes.length === 0) return;
    this.#timer = setTimeout(() => this.wake(), Math.max(1, Math.min(longestSleepMs, Math.ceil(Math.min(...wakes)))));
  }

  /** Stops asking; what runs under runners goes on. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#ballotTimer);
    this.#subscription[Symbol.dispose]();
    this.#costs[Symbol.dispose]();
  }
}

const nameOf = (session: SessionName): string => (session.kind === 'review' ? 'review' : `option ${session.number}`);

/** The session whose attempt runs, if any. */
export function livingSession(state: RunState): { name: SessionName; nonce: string; attempt: number } | null {
  const option = state.options.at(-1);
  const candidates: { name: SessionName; latest: ReturnType<typeof latestAttempt> }[] = [];
  if (option && option.state !== 'closed')
    candidates.push({ name: { kind: 'option', number: option.number }, latest: latestAttempt(option) });
  if (state.review && state.review.state !== 'closed')
    candidates.push({ name: { kind: 'review' }, latest: latestAttempt(state.review) });
  for (const { name, latest } of candidates)
    if (latest?.state === 'running') return { name, nonce: latest.nonce, attempt: latest.number };
  return null;
}
