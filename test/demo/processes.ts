import { readFileSync } from 'node:fs';

import { allPids, commandOf, processAt, signalProcess } from '../../src/machines/processes.ts';
import type { ProcessIdentity } from '../../src/machines/port.ts';

/** A process and what it was started as. */
export interface Found extends ProcessIdentity {
  readonly command: string;
}

/** Where a run lives: its state folder and its workspace. */
export interface RunGround {
  readonly home: string;
  readonly workspace: string;
}

/**
 * Living processes of the runs of one state folder: keeper, controller, runners and what these started, told by the programs they
 * run from there and by their environment. This process and those that started it are not among them.
 */
export function processesOn({ home, workspace }: RunGround): Found[] {
  const mine = ancestors();
  const marks = [`HMA_HOME=${home}\0`, `HMA_WORKSPACE=${workspace}\0`];
  return allPids().flatMap((pid) => {
    const found = processAt(pid);
    if (!found || mine.has(pid)) return [];
    const command = commandOf(pid);
    const belongs = command.includes(`${home}/`) || marks.some((mark) => environmentOf(pid).includes(mark));
    return belongs ? [{ pid, start: found.start, command }] : [];
  });
}

/** Ends all of them, keepers first so that nothing is started again; gives back what still lives after `ms`. */
export async function endProcessesOn(ground: RunGround, ms = 10_000): Promise<Found[]> {
  const until = performance.now() + ms;
  for (;;) {
    const left = processesOn(ground).toSorted(
      (a, b) => Number(b.command.includes('keeper.js')) - Number(a.command.includes('keeper.js')),
    );
    if (left.length === 0 || performance.now() > until) return left;
    for (const one of left) signalProcess(one, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until none of them lives, since the controller and its keeper leave a moment after the end; gives back what does after `ms`. */
export async function processesGone(ground: RunGround, ms = 20_000): Promise<Found[]> {
  const until = performance.now() + ms;
  for (;;) {
    const left = processesOn(ground);
    if (left.length === 0 || performance.now() > until) return left;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function ancestors(): Set<number> {
  const mine = new Set<number>();
  for (let pid: number | undefined = process.pid; pid !== undefined && pid > 1; pid = processAt(pid)?.ppid)
    mine.add(pid);
  return mine;
}

function environmentOf(pid: number): string {
  try {
    return `${readFileSync(`/proc/${pid}/environ`, 'latin1')}\0`;
  } catch {
    return ''; // gone meanwhile, or somebody else's
  }
}
