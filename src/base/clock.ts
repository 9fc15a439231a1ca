import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';

/**
 * One reading of the machine's clocks.
 *
 * `wall` is Unix time in milliseconds and may step; `mono` is CLOCK_MONOTONIC in milliseconds, the same for all processes of a
 * boot, and stands still while the machine sleeps; `boot` names the boot, since `mono` is comparable only within one.
 */
export interface Instant {
  readonly wall: number;
  readonly mono: number;
  readonly boot: string;
}

/** Where time comes from. Pure code never holds one: it is given an `Instant`. */
export interface Clock {
  now(): Instant;
  /** How long the machine has slept since it was started, ms: uptime less monotonic time. Some clocks can't tell. */
  asleep?(): number;
}

let bootId: string | undefined;

/** The kernel's name for this boot; where there is none (macOS), the boot's wall time to ten seconds stands in. */
function currentBoot(): string {
  if (bootId === undefined) {
    try {
      bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    } catch {
      bootId = `boot-${Math.round((Date.now() / 1000 - uptime()) / 10)}`;
    }
  }
  return bootId;
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => ({ wall: Date.now(), mono: Number(process.hrtime.bigint() / 1000n) / 1000, boot: currentBoot() }),
  asleep: () => uptime() * 1000 - Number(process.hrtime.bigint() / 1_000_000n),
};

/** What a test adds to the machine's clock, ms; `boot` is another boot's name. */
interface ClockShift {
  readonly wall?: number;
  readonly mono?: number;
  readonly asleep?: number;
  readonly boot?: string;
}

/**
 * A clock for tests of whole processes: the system clock plus offsets read from a JSON file at each call, so that a test can step the
 * wall clock, or act out a sleep or a reboot.
 */
export function shiftedClock(file: string): Clock {
  const shift = (): ClockShift => {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as ClockShift;
    } catch {
      return {}; // the file may be between two writes of the test; the unshifted clock is right then
    }
  };
  return {
    now() {
      const real = systemClock.now();
      const { wall = 0, mono = 0, boot = real.boot } = shift();
      return { wall: real.wall + wall, mono: real.mono + mono, boot };
    },
    asleep: () => (systemClock.asleep?.() ?? 0) + (shift().asleep ?? 0),
  };
}

/** The clock of this process: the machine's, or the one a test names in `HMA_TEST_CLOCK`. */
export const processClock = (env: NodeJS.ProcessEnv = process.env): Clock =>
  env['HMA_TEST_CLOCK'] ? shiftedClock(env['HMA_TEST_CLOCK']) : systemClock;
