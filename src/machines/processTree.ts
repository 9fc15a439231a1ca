import { spawn } from 'node:child_process';

import type { ProcessIdentity, Tier } from './port.ts';
import {
  allPids,
  carriesMarker,
  childrenOf,
  commandOf,
  descendants,
  innerPid,
  isAlive,
  listByUid,
  processAt,
  untouchablePids,
  type LiveProcess,
} from './processes.ts';
import { tool } from './tools.ts';

/**
 * Everything that one runner started, by what it can be found again: the runner writes it to `program.json`, so that a
 * controller that came later can freeze it, watch it and end it.
 */
export interface ProcessTree {
  readonly tier: Tier;
  readonly nonce: string;
  /** The process the runner spawned (bubblewrap, the reaper, or the program itself). */
  readonly root?: ProcessIdentity;
  /** The program itself, inside all wrappers; absent when the runner died before it could tell. */
  readonly program?: ProcessIdentity;
  /** Our own wrappers between runner and program: never frozen, ended last, not reported as the program's. */
  readonly supervisors: readonly ProcessIdentity[];
  /** Processes that must not be touched although they may look like the tree's: the runner. */
  readonly spare: readonly ProcessIdentity[];
  /** Tier `uid`: the user id that runs nothing but this tree. */
  readonly uid?: number;
}

/** Processes already known to be the tree's, by pid, with their start times: what has lost its parent is still found through them. */
export type KnownProcesses = Map<number, string>;

/** How one look at a tree is taken. */
export interface Look {
  readonly known?: KnownProcesses;
  /** Called at once for each member that is seen, so that it can be stopped before it forks again. */
  readonly onSight?: (one: LiveProcess) => void;
  /** False: members are known by descent alone, and no environment is read. Enough to watch a tree whose orphans come to the reaper; not to end one. */
  readonly byMarker?: boolean;
}

/** A member of a tree, with its command line (at most 200 characters). */
export interface TreeMember extends LiveProcess {
  readonly command: string;
}

/** The living members of a tree without our own wrappers, in no particular order; every tier's way of finding them is used where it applies. */
export function membersOf(tree: ProcessTree, look: Look = {}): TreeMember[] {
  const known = look.known ?? new Map<number, string>();
  const spared = untouchablePids();
  for (const one of [...tree.spare, ...tree.supervisors]) if (isAlive(one)) spared.add(one.pid);
  const hit = new Map<number, LiveProcess>();
  const take = (one: LiveProcess): boolean => {
    if (hit.has(one.pid) || spared.has(one.pid)) return false;
    hit.set(one.pid, one);
    known.set(one.pid, one.start);
    look.onSight?.(one);
    return true;
  };
  const takeAt = (pid: number): void => {
    const one = processAt(pid);
    if (one) take(one);
  };
  // orphans come to our reaper: looking there first, at once, catches what re-forks faster than all of /proc can be read
  for (const wrapper of tree.supervisors.filter((one) => isAlive(one)))
    for (const pid of childrenOf(wrapper.pid)) takeAt(pid);
  if (tree.tier === 'uid' && tree.uid !== undefined) listByUid(tree.uid).forEach(take);
  const all = scan(tree, { known, byMarker: look.byMarker ?? true }, take);
  const parents = new Set(tree.supervisors.filter((one) => isAlive(one)).map((one) => one.pid));
  if (tree.root && isAlive(tree.root)) parents.add(tree.root.pid);
  close(all, { hit, parents, take });
  for (const [pid, start] of known) if (all.get(pid) && all.get(pid)?.start !== start) known.delete(pid);
  return [...hit.values()].map((one) => ({ ...one, command: commandOf(one.pid) }));
}

/** One pass over /proc, newest first: takes what is the root, in the root's session or group, known from before, or carries the marker. */
function scan(
  tree: ProcessTree,
  { known, byMarker }: { readonly known: KnownProcesses; readonly byMarker: boolean },
  take: (one: LiveProcess) => boolean,
): Map<number, LiveProcess> {
  const all = new Map<number, LiveProcess>();
  const root = tree.root;
  // the kernel keeps a session's number while anything is in it; a new process with the root's pid means the session is gone
  const rootPid = root && [undefined, root.start].includes(processAt(root.pid)?.start) ? root.pid : undefined;
  for (const pid of allPids()) {
    const one = processAt(pid);
    if (!one) continue;
    all.set(pid, one);
    const ours =
      (rootPid !== undefined && (pid === rootPid || one.sid === rootPid || one.pgid === rootPid)) ||
      known.get(pid) === one.start;
    // what began before the root is not of its tree, and need not be searched for the marker
    const older = root !== undefined && Number(one.start) < Number(root.start);
    if (ours || (byMarker && !older && carriesMarker(pid, tree.nonce))) take(one);
  }
  return all;
}

/** Takes children of members, and what shares a session with one that leads it, until nothing new comes. */
function close(
  all: ReadonlyMap<number, LiveProcess>,
  given: {
    readonly hit: ReadonlyMap<number, LiveProcess>;
    readonly parents: ReadonlySet<number>;
    readonly take: (one: LiveProcess) => boolean;
  },
): void {
  for (let grew = true; grew;) {
    grew = false;
    for (const one of all.values()) {
      const ours =
        given.hit.has(one.ppid) || given.parents.has(one.ppid) || (given.hit.has(one.sid) && one.sid !== one.pid);
      if (ours && given.take(one)) grew = true;
    }
  }
}

/**
 * Our own wrappers of a program that runs under the reaper: the root, and with bubblewrap the first two of its pid namespace
 * (its init and the reaper). Told by their place, not their names, which a program could take.
 */
export function wrappersOf(root: ProcessIdentity, tier: Tier): ProcessIdentity[] {
  const chain: ProcessIdentity[] = [root];
  if (tier !== 'bubblewrap') return chain;
  const below = descendants(root);
  const init = below.find((one) => one.ppid === root.pid && innerPid(one.pid) === 1);
  const reaper = init && below.find((one) => one.ppid === init.pid && innerPid(one.pid) === 2);
  for (const one of [init, reaper]) if (one) chain.push({ pid: one.pid, start: one.start });
  return chain;
}

/**
 * The program inside our wrappers; undefined when it isn't known. Without a reaper bubblewrap is all that is known at the start: the
 * first process of its namespace is then bubblewrap's own too, and the second the program.
 */
export function programOf(tree: ProcessTree): ProcessIdentity | undefined {
  const { program, root } = tree;
  if (tree.tier !== 'bubblewrap' || tree.supervisors.length > 0 || !root || program?.pid !== root.pid) return program;
  return wrappersOf(root, tree.tier)[2] ?? program;
}

/**
 * Sends a signal to every process of a user id at one stroke (`kill(-1)` as that user: the kernel lets none fork past it).
 * Returns false where it can't be done (no setpriv, not root).
 */
export function signalUid(uid: number, name: 'TERM' | 'KILL' | 'STOP' | 'CONT'): Promise<boolean> {
  const ids = ['--reuid', String(uid), '--regid', String(uid), '--clear-groups', '--no-new-privs'];
  return new Promise((resolve) => {
    const child = spawn(tool('setpriv'), [...ids, '/bin/sh', '-c', 'kill -s "$1" -- -1', 'hma-kill', name], {
      stdio: 'ignore',
      env: { PATH: '/usr/bin:/bin' },
    });
    child.on('error', () => resolve(false));
    child.on('exit', (code) => resolve(code === 0));
  });
}
