import { setTimeout as wait } from 'node:timers/promises';

import type { EndedProcess, Polite, ProcessIdentity } from './port.ts';
import {
  descendants,
  describeProcess,
  isAlive,
  listByUid,
  signalProcess,
  untouchablePids,
  type LiveProcess,
} from './processes.ts';
import { membersOf, programOf, signalUid, type KnownProcesses, type ProcessTree } from './processTree.ts';

/** What ending a tree came to. `ended` are programs of the tree, not our wrappers; a survivor is one that a SIGKILL did not end in time. */
export interface TreeEnd {
  readonly ended: readonly EndedProcess[];
  readonly survivors: readonly EndedProcess[];
  readonly ms: number;
}

/** Most processes listed in a record: a re-forking one could fill the disk with its generations. */
const mostListed = 100;
/** What a program leaves behind when it has ended is asked to end for at most this long, milliseconds. */
export const leftoverGraceMs = 2000;
/** How long the hard phase goes on before survivors are reported, milliseconds. */
const hardLimitMs = 10_000;

/** One ending under way: what has been seen so far, described while it still lived. */
interface Ending {
  readonly tree: ProcessTree;
  readonly known: KnownProcesses;
  readonly seen: Map<string, EndedProcess>;
  readonly isOwn: (one: LiveProcess) => boolean;
  readonly isEmpty: () => boolean;
}

/**
 * Ends every process of a tree: looks first, asks politely (as `polite` says), gives `graceMs`, then ends hard, by the strongest means of the
 * tree's tier: bubblewrap by killing the root of its pid namespace, `uid` by kill(-1) as that uid until it is empty, `none` by
 * stopping on sight and killing newest first until three looks in a row find nothing. Never touches this process, its ancestors
 * or `tree.spare`. Idempotent; a tree that is gone gives empty lists.
 */
export async function endTree(given: {
  readonly tree: ProcessTree;
  readonly graceMs: number;
  /** SIGTERM to the whole tree when absent. */
  readonly polite?: Polite;
  /** Which processes are the program itself, and so not listed among what was ended of it. */
  readonly isOwn?: (one: LiveProcess) => boolean;
  /** Whether the kernel has told that nothing descends from the program any more: its reaper, to which all orphans come, ended by itself. */
  readonly isEmpty?: () => boolean;
}): Promise<TreeEnd> {
  const began = performance.now();
  const { tree, isOwn = () => false, isEmpty = () => false } = given;
  const ending: Ending = { tree, known: new Map(), seen: new Map(), isOwn, isEmpty };
  const living = look(ending);
  if (living.length === 0 && isEmpty()) return { ended: [], survivors: [], ms: Math.round(performance.now() - began) };
  if (living.length > 0 && given.graceMs > 0)
    await endPolitely(ending, { due: began + given.graceMs, polite: given.polite ?? byDefault });
  const survivors = (await endHard(ending, living.length === 0)).filter((one) => isAlive(one)).map(describeProcess);
  const lost = new Set(survivors.map((one) => one.pid));
  const ended = [...ending.seen.values()].filter((one) => !lost.has(one.pid));
  return { ended, survivors, ms: Math.round(performance.now() - began) };
}

/** Looks at the tree and notes what is seen for the first time. */
function look(ending: Ending, onSight?: (one: LiveProcess) => void): LiveProcess[] {
  return membersOf(ending.tree, {
    known: ending.known,
    onSight: (one) => {
      onSight?.(one);
      const key = `${one.pid} ${one.start}`;
      if (!ending.seen.has(key) && ending.seen.size < mostListed && !ending.isOwn(one))
        ending.seen.set(key, describeProcess(one));
    },
  });
}

const byDefault: Polite = { signal: 'SIGTERM', to: 'tree' };

/**
 * Asks the program, or the whole tree, and waits. A harness that gets its signal alone can write its transcript and end its tools
 * itself; what it leaves behind all the same (many put commands in sessions of their own, and forget them) is asked once it is gone, for
 * a short time only: nobody is there any more to hear it.
 */
async function endPolitely(ending: Ending, given: { readonly due: number; readonly polite: Polite }): Promise<void> {
  const { due, polite } = given;
  const program = programOf(ending.tree);
  let living = look(ending);
  if (program && isAlive(program)) {
    ask(polite.to === 'program' ? [program] : living, polite.signal);
    // a stopped process would answer only after its thaw, and a program that waits for a stopped one never
    for (const one of living) signalProcess(one, 'SIGCONT');
    await lookUntil(ending, { due, enough: () => !isAlive(program) });
    if (isAlive(program)) return;
    living = look(ending);
  }
  ask(living, program ? 'SIGTERM' : polite.signal);
  await lookUntil(ending, { due: program ? Math.min(due, performance.now() + leftoverGraceMs) : due });
}

function ask(these: readonly ProcessIdentity[], signal: NodeJS.Signals): void {
  for (const one of these) {
    signalProcess(one, signal);
    signalProcess(one, 'SIGCONT');
  }
}

/** Looks again and again until nothing lives, enough is seen or the time is over. */
async function lookUntil(ending: Ending, given: { readonly due: number; enough?(): boolean }): Promise<void> {
  let living = look(ending);
  for (let pause = 10; living.length > 0 && given.enough?.() !== true; pause = Math.min(100, pause * 2)) {
    const left = given.due - performance.now();
    if (left <= 0) break;
    await wait(Math.min(pause, left));
    living = look(ending);
  }
}

/** Gives what the last look found. */
async function endHard(ending: Ending, foundEmpty: boolean): Promise<LiveProcess[]> {
  const { tree } = ending;
  // a program that ended politely has its exit told by the reaper, which ends by itself then: not to be cut short
  if (tree.supervisors.length > 0 && (foundEmpty || look(ending).length === 0)) await untilGone(tree.supervisors, 1000);
  if (tree.tier === 'bubblewrap' && tree.root && isAlive(tree.root) && !untouchablePids().has(tree.root.pid)) {
    const inside = descendants(tree.root);
    signalProcess(tree.root, 'SIGKILL');
    await untilGone([tree.root, ...inside]);
  }
  if (tree.tier === 'uid' && tree.uid !== undefined) await endUid(ending, tree.uid);
  const left = await endByScan(ending);
  await endWrappers(tree);
  return left;
}

/** kill(-1) as the uid until nothing runs as it. Where setpriv is missing, the scan that follows has to do. */
async function endUid(ending: Ending, uid: number): Promise<void> {
  const limit = performance.now() + hardLimitMs;
  while (performance.now() < limit && listByUid(uid).length > 0) {
    look(ending);
    await signalUid(uid, 'KILL');
    await wait(10);
  }
}

/** Where the kernel itself vouches for the end (a pid namespace, kill(-1) as a uid, the reaper) one look is enough; a moving target may slip through one. */
const looksNeeded = ({ tree, isEmpty }: Ending): number =>
  (tree.tier === 'bubblewrap' && tree.root) || (tree.tier === 'uid' && tree.uid !== undefined) || isEmpty() ? 1 : 3;

/** Stop on sight until no new one is seen (what is stopped can't fork, so the set closes), kill newest first, look again. Gives what the last look found. */
async function endByScan(ending: Ending): Promise<LiveProcess[]> {
  const limit = performance.now() + hardLimitMs;
  const stop = (one: LiveProcess): void => void signalProcess(one, 'SIGSTOP');
  let living: LiveProcess[] = [];
  for (let empty = 0; empty < looksNeeded(ending) && performance.now() < limit;) {
    living = look(ending, stop);
    for (let before = -1; before !== living.length && living.length > 0;) {
      before = living.length;
      living = look(ending, stop);
    }
    for (const one of living.sort((a, b) => Number(b.start) - Number(a.start) || b.pid - a.pid))
      signalProcess(one, 'SIGKILL');
    empty = living.length === 0 ? empty + 1 : 0;
    if (empty < looksNeeded(ending)) await wait(15);
  }
  return living;
}

/** Our wrappers end by themselves once their children are gone; a stuck one is killed. */
async function endWrappers(tree: ProcessTree): Promise<void> {
  const untouchable = untouchablePids();
  const wrappers = [...tree.supervisors, ...(tree.root ? [tree.root] : [])].filter((one) => !untouchable.has(one.pid));
  if (await untilGone(wrappers, 200)) return;
  for (const one of wrappers) signalProcess(one, 'SIGKILL');
  await untilGone(wrappers);
}

/** Waits until all of these are gone; false when the limit passes first. */
async function untilGone(these: readonly ProcessIdentity[], limitMs = hardLimitMs): Promise<boolean> {
  const limit = performance.now() + limitMs;
  for (let pause = 2; these.some((one) => isAlive(one)); pause = Math.min(50, pause * 2)) {
    if (performance.now() > limit) return false;
    await wait(pause);
  }
  return true;
}
