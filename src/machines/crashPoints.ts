/** The points at which a test can make the runner die (`HMA_CRASH=<name>`): one after each of its lasting effects. */
export const runnerCrashPoints = [
  'runner.created',
  'runner.prepared',
  'runner.spawned',
  'runner.programWritten',
  'runner.ended',
  'runner.reaped',
  'runner.outputClosed',
  'runner.exitWritten',
] as const;

/** A point of `runnerCrashPoints`. */
export type RunnerCrashPoint = (typeof runnerCrashPoints)[number];

/** Kills this process without any clean-up when the environment names this point; nothing otherwise. */
export function crashAt(point: RunnerCrashPoint): void {
  if (process.env['HMA_CRASH'] === point) process.kill(process.pid, 'SIGKILL');
}
