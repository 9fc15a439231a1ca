import { appendFileSync, existsSync, readFileSync } from 'node:fs';

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
  'responses.read',
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
/** How often this process passed a place, by `point` and by `point@detail`. */
const passed = new Map<string, number>();

/**
 * Marks a crash point. Nothing happens in real life. In tests `HMA_CRASH=point[@detail][#n]` kills the process there with SIGKILL
 * the n-th time; `HMA_CRASH_PLAN` names a file with one such word a line, of which each kills once (what is done is noted in
 * `<file>.done`); `HMA_CRASH_TRACE` names a file that collects every point that is passed. Throws for an unlisted point.
 */
export function crashAt(point: CrashPoint, detail?: string): void {
  if (!listed.has(point)) throw new Error(`crash point ${point} is not in the list`);
  const trace = process.env['HMA_CRASH_TRACE'];
  if (trace) appendFileSync(trace, `${point}${detail === undefined ? '' : `@${detail}`}\n`);
  const wanted = [process.env['HMA_CRASH'] ?? '', ...planned()].filter((word) => word !== '');
  if (wanted.length === 0) return;
  for (const name of new Set([point, `${point}@${detail}`])) passed.set(name, (passed.get(name) ?? 0) + 1);
  const due = wanted.find((word) => isDue(word, point, detail));
  if (due === undefined) return;
  const plan = process.env['HMA_CRASH_PLAN'];
  if (plan && due !== process.env['HMA_CRASH']) appendFileSync(`${plan}.done`, `${due}\n`);
  process.kill(process.pid, 'SIGKILL');
}

function isDue(word: string, point: CrashPoint, detail: string | undefined): boolean {
  const [name = '', times = '1'] = word.split('#');
  return (name === point || name === `${point}@${detail}`) && passed.get(name) === Number(times);
}

/** What is left of the plan, read anew at each point: the test's file is small, and one process after the other consumes it. */
function planned(): string[] {
  const plan = process.env['HMA_CRASH_PLAN'];
  if (!plan || !existsSync(plan)) return [];
  const done = existsSync(`${plan}.done`) ? readFileSync(`${plan}.done`, 'utf8').split('\n') : [];
  return readFileSync(plan, 'utf8')
    .split('\n')
    .filter((word) => word !== '' && !done.includes(word));
}
