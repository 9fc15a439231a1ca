import { setTimeout as wait } from 'node:timers/promises';

import { processAt, signalProcess, type LiveProcess } from './processes.ts';
import { membersOf, signalUid, type KnownProcesses, type ProcessTree } from './processTree.ts';

/** What a freeze or thaw came to: how many processes the tree has, and those that are not in the wanted state. */
export interface TreeState {
  readonly processes: number;
  readonly missed: readonly number[];
}

const isStopped = (one: LiveProcess): boolean => one.state === 'T' || one.state === 't';

/** Rounds before a tree that can't be brought to rest (a process that waits on a dead disk) is reported as it is. */
const mostRounds = 100;

/** Looks in a row that find nothing running before a tree counts as frozen: what re-forks may slip through one. */
const quietRounds = 3;

/**
 * Stops every process of the tree (SIGSTOP), closing over forks: looks until all that is seen is stopped, three times in a row. Parents before children,
 * so that a shell doesn't remark that its job was stopped. Our wrappers, the runner and the controller go on. Idempotent.
 */
export async function freezeTree(tree: ProcessTree): Promise<TreeState> {
  const known: KnownProcesses = new Map();
  let living: LiveProcess[] = [];
  let quiet = 0;
  for (let round = 0; round < mostRounds && quiet < quietRounds; round++) {
    if (tree.tier === 'uid' && tree.uid !== undefined) {
      await signalUid(tree.uid, 'STOP');
      for (const one of tree.supervisors) signalProcess(one, 'SIGCONT'); // the reaper runs as that uid too
    }
    living = membersOf(tree, {
      known,
      ...(round > 0 && { onSight: (one: LiveProcess) => void signalProcess(one, 'SIGSTOP') }),
    });
    quiet = living.every(isStopped) ? quiet + 1 : 0;
    for (const one of byAge(living)) if (!isStopped(one)) signalProcess(one, 'SIGSTOP');
    await wait(3);
  }
  return { processes: living.length, missed: living.filter((one) => !isStopped(one)).map((one) => one.pid) };
}

/** Lets every process of the tree go on (SIGCONT), children before parents. Idempotent; jobs that the program itself had stopped go on too. */
export async function thawTree(tree: ProcessTree): Promise<TreeState> {
  let living: LiveProcess[] = [];
  for (let round = 0; round < mostRounds; round++) {
    living = membersOf(tree);
    const stopped = living.filter(isStopped);
    if (stopped.length === 0) break;
    for (const one of byAge(stopped).reverse()) signalProcess(one, 'SIGCONT');
    await wait(Math.min(1 + round, 20));
  }
  const missed = living.filter(
    (one) => isStopped(processAt(one.pid) ?? one) && processAt(one.pid)?.start === one.start,
  );
  return { processes: living.length, missed: missed.map((one) => one.pid) };
}

const byAge = (these: readonly LiveProcess[]): LiveProcess[] =>
  [...these].sort((a, b) => Number(a.start) - Number(b.start) || a.pid - b.pid);
