import type { Instant } from '../base/clock.ts';
import type { ActiveClock } from './model.ts';

/**
 * Active runtime at an instant, ms (domain.md): monotonic time, so that sleep doesn't count, less pauses. An instant of another
 * boot adds nothing: the gap is judged when a controller starts.
 */
export function activeAt(clock: ActiveClock, instant: Pick<Instant, 'mono' | 'boot'>): number {
  if (!clock.running || clock.boot !== instant.boot) return clock.active;
  return clock.active + Math.max(0, instant.mono - clock.mono);
}

/**
 * Where the clock stands when a controller starts again. `lastAlive` is the latest sign of life of anything of the run (event,
 * heartbeat, exit stamp). A stretch in which nothing lived for longer than `toleranceMs` doesn't count; a controller that was
 * down while its session lived does.
 */
export function activeAfterAbsence(given: {
  clock: ActiveClock;
  lastAlive: Pick<Instant, 'mono' | 'boot'>;
  now: Pick<Instant, 'mono' | 'boot'>;
  toleranceMs: number;
}): { active: number; gapMs: number } {
  const { clock, lastAlive, now, toleranceMs } = given;
  const alive = activeAt(clock, lastAlive);
  if (!clock.running) return { active: clock.active, gapMs: 0 };
  if (lastAlive.boot !== now.boot) return { active: alive, gapMs: 0 };
  const silence = Math.max(0, now.mono - Math.max(lastAlive.mono, clock.mono));
  return silence > toleranceMs ? { active: alive, gapMs: silence } : { active: activeAt(clock, now), gapMs: 0 };
}
