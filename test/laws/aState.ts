import type { Given } from '../../src/base/fact.ts';
import type { LedgerEvent } from '../../src/ledger/port.ts';
import type { RunFact } from '../../src/run/events.ts';
import { evolveRun } from '../../src/run/evolve.ts';
import type { RunState, Terms } from '../../src/run/model.ts';
import type { Budgets } from '../../src/task/model.ts';
import { aTerms } from './scenario.ts';

/** Wall time at which a run by hand opens, Unix ms; its monotonic clock begins at 0. */
export const wall0 = 1_790_000_000_000;

/** A moment of a run by hand: active, monotonic and wall time go together unless said otherwise. */
export const at = (active: number, over: Partial<Given> = {}): Given => ({
  active,
  mono: active,
  wall: wall0 + active,
  boot: 'boot-1',
  ...over,
});

/** A run whose state is told fact by fact: each entry is a moment and what became true then. */
export function after(...told: readonly (readonly [number | Given, ...RunFact[]])[]): RunState {
  return afterOn({}, ...told);
}

/** The same on other terms and budgets. */
export function afterOn(
  given: { terms?: Partial<Terms>; budgets?: Partial<Budgets>; initial?: string | null },
  ...told: readonly (readonly [number | Given, ...RunFact[]])[]
): RunState {
  const budgets: Budgets = { totalMs: 600_000, reviewMs: 60_000, experiments: null, until: null, ...given.budgets };
  const opened: RunFact = {
    type: 'run.opened',
    data: {
      run: 'r',
      workspace: '/w',
      contractHash: 'c',
      terms: aTerms(given.terms),
      budgets,
      tier: 'none',
      cannot: [],
      initial: given.initial === undefined ? 's0' : given.initial,
    },
  };
  const started: RunFact = {
    type: 'controller.started',
    data: { pid: 1, fence: 1, version: '0', boot: 'boot-1', gapMs: 0 },
  };
  let state: RunState | null = null;
  let seq = 0;
  for (const [moment, ...facts] of [[0, opened, started] as const, ...told]) {
    const { active, mono, wall } = typeof moment === 'number' ? at(moment) : moment;
    for (const { type, data } of facts) {
      const event: LedgerEvent = { seq: ++seq, v: 1, wall, mono, active, type, data };
      state = evolveRun(state, event);
    }
  }
  if (!state) throw new Error('no run');
  return state;
}

export const opened = (option: number, agent: 'A' | 'B' = option % 2 === 1 ? 'A' : 'B'): RunFact => ({
  type: 'option.opened',
  data: { option, agent, tokenHash: `token-${option}` },
});

const session = (option: number) => ({ kind: 'option', number: option }) as const;
export const starting = (option: number, attempt = 1): RunFact => ({
  type: 'attempt.starting',
  data: { session: session(option), attempt, nonce: `n${option}-${attempt}`, promptHash: 'p' },
});
export const started = (option: number, attempt = 1): RunFact => ({
  type: 'attempt.started',
  data: { session: session(option), attempt, runner: { pid: 9, start: '1' } },
});

export const submitted = (number: number, option: number, over: { hash?: string; request?: string } = {}): RunFact => ({
  type: 'experiment.submitted',
  data: {
    id: `e${number}`,
    option,
    agent: option % 2 === 1 ? 'A' : 'B',
    attempt: 1,
    note: null,
    reported: null,
    captured: { snapshot: `s${number}`, contentHash: over.hash ?? `h${number}`, files: 1, bytes: 9 },
    ...(over.request === undefined ? {} : { request: over.request }),
  },
});
export const accepted = (number: number, option: number, score = 1, verdictAt = 0): RunFact => ({
  type: 'experiment.accepted',
  data: { id: `e${number}`, option, score, verdictAt, flags: [] },
});

/** An option that did so and so, whole; `candidates` are the numbers of its accepted experiments. */
export function turn(
  option: number,
  told: {
    closure?: 'natural' | 'failed' | 'stalled' | 'handoff';
    candidates?: readonly number[];
    endedItself?: boolean;
  } = {},
): RunFact[] {
  const { closure = 'natural', candidates = [], endedItself = closure === 'natural' } = told;
  return [
    opened(option),
    starting(option),
    started(option),
    ...candidates.flatMap((number) => [submitted(number, option), accepted(number, option, number)]),
    {
      type: 'attempt.ended',
      data: {
        session: session(option),
        attempt: 1,
        exit: null,
        endedItself,
        failure: null,
        retryAt: null,
        counts: false,
      },
    },
    { type: 'option.ending', data: { option, reason: closure, descendants: [] } },
    { type: 'option.reaped', data: { option, ended: [], survivors: [], ms: 1 } },
    { type: 'option.settled', data: { option } },
    { type: 'option.clean', data: { option, restored: [] } },
    { type: 'option.closed', data: { option, closure, endedItself, workspaceSnapshot: null } },
  ];
}
