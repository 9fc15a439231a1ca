import { appendFileSync } from 'node:fs';

import { ledgerCrashPoints } from '../ledger/crashPoints.ts';
import { snapshotCrashPoints } from '../snapshots/crashPoints.ts';
import { leaseCrashPoints } from './lease.ts';

/**
 * Every place at which the controller may die in a test: around each append, rename, spawn, signal and reply. A place that isn't
 * in this list can't be passed (`crashAt` throws), so the crash matrix is complete by construction. Points of the ledger carry
 * the event's type behind an `@`; the matrix runs them for every type.
 */
export const controllerCrashPoints = [
  ...ledgerCrashPoints,
  ...snapshotCrashPoints,
  ...leaseCrashPoints,
  'sockets.open',
  'endpoint.written',
  'attempt.beforeSpawn',
  'attempt.spawned',
  'evaluation.prepared',
  'evaluation.beforeSpawn',
  'evaluation.spawned',
  'evaluation.read',
  'grading.beforeSpawn',
  'grading.spawned',
  'session.beforeSignal',
  'session.signalled',
  'session.cleaned',
  'listing.written',
  'ballot.written',
  'reply.submit',
  'reply.result',
  'reply.nominate',
  'reply.intent',
] as const;

/** A name of that list. */
export type CrashPoint = (typeof controllerCrashPoints)[number];

const listed: ReadonlySet<string> = new Set(controllerCrashPoints);
let remaining: number | undefined;

/**
 * Marks a crash point. Nothing happens in real life. In tests `HMA_CRASH=point[@detail][#n]` kills the process there with SIGKILL
 * the n-th time, and `HMA_CRASH_TRACE` names a file that collects every point that is passed. Throws for an unlisted point.
 */
export function crashAt(point: CrashPoint, detail?: string): void {
  if (!listed.has(point)) throw new Error(`crash point ${point} is not in the list`);
  const trace = process.env['HMA_CRASH_TRACE'];
  if (trace) appendFileSync(trace, `${point}${detail === undefined ? '' : `@${detail}`}\n`);
  const wanted = process.env['HMA_CRASH'];
  if (!wanted) return;
  const [name = '', times = '1'] = wanted.split('#');
  if (name !== point && name !== `${point}@${detail}`) return;
  remaining ??= Number(times);
  remaining -= 1;
  if (remaining === 0) process.kill(process.pid, 'SIGKILL');
}
