import type { Instant } from '../base/clock.ts';
import type { ActiveClock } from './model.ts';

/**
 * Active runtime at an instant, ms (domain.md): monotonic time, so that sleep doesn't count, less pauses. An instant of another
 * boot adds nothing: the gap is judged when a controller starts. A stamp from before the clock's last start or stop, such as a
 * verdict's that came while no controller lived, counts from where the clock ran then.
 */
export function activeAt(clock: ActiveClock, instant: Pick<Instant, 'mono' | 'boot'>): number {
  const { before } = clock;
  const since = clock.boot === instant.boot && instant.mono >= clock.mono;
  if (since) return clock.running ? clock.active + instant.mono - clock.mono : clock.active;
  if (before === null || before.boot !== instant.boot) return clock.active;
  return Math.min(clock.active, before.active + Math.max(0, instant.mono - before.mono));
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
  const alive = Math.max(clock.active, activeAt(clock, lastAlive));
  if (!clock.running) return { active: clock.active, gapMs: 0 };
  if (lastAlive.boot !== now.boot) return { active: alive, gapMs: 0 };
  const silence = Math.max(0, now.mono - Math.max(lastAlive.mono, clock.mono));
  return silence > toleranceMs ? { active: alive, gapMs: silence } : { active: activeAt(clock, now), gapMs: 0 };
}
