import type { Clock } from '../base/clock.ts';
import { sayLength } from '../base/numbers.ts';
import type { RunFact } from '../run/events.ts';
import type { NoticeCode } from '../run/notices.ts';

/** Shorter sleeps and steps aren't worth a word, ms. */
const [leastSleepMs, leastStepMs] = [10_000, 60_000];

/**
 * Looks what the clocks did since it last looked, and says what a person may wonder about: that the machine slept, or that its time of day
 * was set. Budgets don't depend on either (invariant 10).
 */
export class ClockWatch {
  readonly #clock: Clock;
  #seen: Reading;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#seen = readingOf(clock);
  }

  /** Notices for the ledger; none as a rule. */
  look(): RunFact[] {
    const [before, now] = [this.#seen, readingOf(this.#clock)];
    this.#seen = now;
    if (before.boot !== now.boot) return [];
    const slept = now.asleep - before.asleep;
    const stepped = now.wall - before.wall - (now.mono - before.mono) - slept;
    return [
      ...(slept >= leastSleepMs
        ? [notice('asleep', `the machine slept for ${sayLength(slept)}; the run stood still and none of it counts`)]
        : []),
      ...(Math.abs(stepped) >= leastStepMs
        ? [
            notice(
              'clock_set',
              `the machine's time of day was set ${stepped > 0 ? 'forward' : 'back'} by ${sayLength(Math.abs(stepped))}; active runtime is not changed by it`,
            ),
          ]
        : []),
    ];
  }
}

interface Reading {
  readonly wall: number;
  readonly mono: number;
  readonly boot: string;
  readonly asleep: number;
}

const readingOf = (clock: Clock): Reading => ({ ...clock.now(), asleep: clock.asleep?.() ?? 0 });

const notice = (code: NoticeCode, text: string): RunFact => ({
  type: 'run.noticed',
  data: { level: 'info', code, text },
});
