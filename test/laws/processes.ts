import type { Failure } from '../../src/agents/port.ts';
import type { Verdict } from '../../src/evaluators/port.ts';
import type { SessionName } from '../../src/options/model.ts';
import type { AttemptScript } from './scenario.ts';
import type { World } from './simulation.ts';

/** A program under a runner, as an observer sees it. */
export interface Process {
  readonly nonce: string;
  /** The session it belongs to; null for an evaluator. */
  readonly session: SessionName | null;
  readonly looksAfter: AttemptScript['looksAfter'];
  /** Its runner's report; null while it lives, and for ever when the runner is lost. */
  exit: {
    readonly mono: number;
    readonly boot: string;
    readonly cause: 'exit' | 'ended';
    readonly failure: Failure | null;
    readonly verdict: Verdict;
    readonly trueActive: number | null;
  } | null;
  lost: boolean;
  spoke: boolean;
  frozen: boolean;
  /** What it does as soon as it is thawed. */
  deferred: (() => void)[];
}

export const lives = (process: Process): boolean => process.exit === null && !process.lost;

/** What a program does by itself after a while, if it lives then; a frozen one does it when it is thawed. */
export function inProcess(world: World, process: Process, does: { delay: number; act: () => void }): void {
  world.schedule(does.delay, () => {
    if (!lives(process)) return;
    if (process.frozen) process.deferred.push(does.act);
    else does.act();
  });
}

export function setFrozen(world: World, process: Process, frozen: boolean): void {
  if (process.frozen === frozen) return;
  process.frozen = frozen;
  if (frozen) return;
  const deferred = process.deferred;
  process.deferred = [];
  for (const [index, act] of deferred.entries()) inProcess(world, process, { delay: 10 + index, act });
}

/** The end of a program, with the stamps of its runner. */
export function exits(
  world: World,
  process: Process,
  how: { cause: 'exit' | 'ended'; failure?: Failure | null; verdict?: Verdict },
): void {
  if (!lives(process)) return;
  const { mono, boot } = world.now();
  process.exit = {
    mono,
    boot,
    cause: how.cause,
    failure: how.failure ?? null,
    verdict: how.verdict ?? { kind: 'lost' },
    trueActive: world.trueActive(),
  };
}

/** Starts a program; two sessions' programs at once are a breach of invariant 3. */
export function spawns(world: World, process: Pick<Process, 'nonce' | 'session' | 'looksAfter'>): Process {
  const name = JSON.stringify(process.session);
  for (const other of world.processes.values()) {
    if (process.session && other.session && lives(other) && other.nonce !== process.nonce)
      world.breach(`${name} starts while ${JSON.stringify(other.session)} lives`);
  }
  const born: Process = { ...process, exit: null, lost: false, spoke: false, frozen: false, deferred: [] };
  world.processes.set(born.nonce, born);
  return born;
}
