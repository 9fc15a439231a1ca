import type { LedgerEvent } from '../../src/ledger/port.ts';
import type { RunFact, RunEventMap } from '../../src/run/events.ts';
import { evolveRun } from '../../src/run/evolve.ts';
import { carryOver } from '../../src/run/goOn.ts';
import type { RunState } from '../../src/run/model.ts';

/** Wall time at active 0 of written histories, Unix ms. */
export const openedWall = 1_800_000_000_000;

/** A fact and the active runtime (ms) at which it happened; wall time runs along unless `wall` says how far it is ahead. */
export type At = readonly [active: number, fact: RunFact, wallAhead?: number];

/** Stamps a hand-written history as a ledger would. */
export const history = (...facts: readonly At[]): LedgerEvent[] =>
  facts.map(([active, { type, data }, ahead = 0], index) => ({
    seq: index + 1,
    v: 1,
    wall: openedWall + active + ahead,
    mono: 1000 + active,
    active,
    type,
    data,
  }));

/** Folds a history. */
export function stateOf(events: readonly LedgerEvent[]): RunState {
  let state: RunState | null = null;
  for (const event of events) state = evolveRun(state, event);
  if (!state) throw new Error('the history opens no run');
  return state;
}

type Opened = RunEventMap['run.opened'];

/** `run.opened` of a small task: minimize rmse, cap 2, 10 minutes with 1 for the review. */
export const opened = (
  more: {
    readonly terms?: Partial<Opened['terms']>;
    readonly budgets?: Partial<Opened['budgets']>;
    readonly tier?: Opened['tier'];
    readonly cannot?: readonly string[];
  } = {},
): RunFact => ({
  type: 'run.opened',
  data: {
    run: '20261130-181123-ab12',
    workspace: '/work/houses',
    contractHash: 'c0ffee',
    terms: {
      name: 'houses',
      metric: { name: 'rmse', direction: 'minimize', thresholds: [], noise: 0 },
      feedback: 'score',
      policy: { mode: 'alternate', cap: 2, first: 'A', tellCap: false },
      lateRule: { rule: 'finished' },
      fallback: 'standing',
      failures: { attempts: 3, waitMs: 1000, then: 'handover' },
      stallMs: 60_000,
      stopAfterBarren: null,
      limits: { candidateBytes: 1e6, candidateFiles: 100, outputBytes: 1e6, diskFloorBytes: 0, queue: 8 },
      agents: { A: { name: 'ada', adapter: 'command' }, B: { name: 'bob', adapter: 'command' } },
      evaluate: { repeats: 1, exclusive: false, timeoutMs: 10_000 },
      validates: false,
      grades: false,
      ...more.terms,
    },
    budgets: { totalMs: 600_000, reviewMs: 60_000, experiments: null, until: null, ...more.budgets },
    tier: more.tier ?? 'bubblewrap',
    cannot: more.cannot ?? [],
    initial: null,
  },
});

const option = (number: number) => ({ kind: 'option', number }) as const;
const runner = { pid: 4711, start: '99' };

/** The facts of an option by the moments at which they happen, ms of active runtime. */
export const optionFacts = {
  open: (at: number, number: number, agent: 'A' | 'B'): At => [
    at,
    { type: 'option.opened', data: { option: number, agent, tokenHash: `t${number}` } },
  ],
  starting: (at: number, number: number, attempt = 1): At => [
    at,
    {
      type: 'attempt.starting',
      data: { session: option(number), attempt, nonce: `n${number}.${attempt}`, promptHash: 'p' },
    },
  ],
  started: (at: number, number: number, attempt = 1): At => [
    at,
    { type: 'attempt.started', data: { session: option(number), attempt, runner } },
  ],
  spoke: (at: number, number: number, attempt = 1): At => [
    at,
    { type: 'attempt.spoke', data: { session: option(number), attempt, mono: 1000 + at } },
  ],
  ended: (at: number, number: number, more: Partial<RunEventMap['attempt.ended']> = {}): At => [
    at,
    {
      type: 'attempt.ended',
      data: {
        session: option(number),
        attempt: 1,
        exit: null,
        endedItself: true,
        failure: null,
        retryAt: null,
        counts: false,
        ...more,
      },
    },
  ],
  ending: (at: number, number: number, reason: RunEventMap['option.ending']['reason']): At => [
    at,
    { type: 'option.ending', data: { option: number, reason, descendants: [] } },
  ],
  reaped: (at: number, number: number, processes = 0): At => [
    at,
    {
      type: 'option.reaped',
      data: {
        option: number,
        ended: Array.from({ length: processes }, (_, index) => ({
          pid: 100 + index,
          command: 'python train.py',
          ageMs: 5000,
        })),
        survivors: [],
        ms: 5,
      },
    },
  ],
  settled: (at: number, number: number): At => [at, { type: 'option.settled', data: { option: number } }],
  clean: (at: number, number: number): At => [at, { type: 'option.clean', data: { option: number, restored: [] } }],
  closed: (at: number, number: number, closure: RunEventMap['option.closed']['closure'], endedItself = false): At => [
    at,
    { type: 'option.closed', data: { option: number, closure, endedItself, workspaceSnapshot: null } },
  ],
};

/** A submission and its acceptance. */
export const accepted = (
  at: number,
  given: {
    readonly id: string;
    readonly option: number;
    readonly agent: 'A' | 'B';
    readonly score: number;
    readonly note?: string;
    readonly flags?: RunEventMap['experiment.accepted']['flags'];
  },
): At[] => {
  const { id, option: number, agent, score, note = null, flags = [] } = given;
  const captured = { snapshot: `snap-${id}`, contentHash: `hash-${id}`, files: 2, bytes: 2000 };
  return [
    [
      at - 100,
      { type: 'experiment.submitted', data: { id, option: number, agent, attempt: 1, note, reported: null, captured } },
    ],
    [at, { type: 'experiment.accepted', data: { id, option: number, score, verdictAt: at, flags } }],
  ];
};

/** The first batch of a run of ada and cat that goes on from `wholeRun`: bob is none of its agents. */
export function goneOn(): At[] {
  const agents = { A: { name: 'ada', adapter: 'command' }, B: { name: 'cat', adapter: 'command' } };
  const last = { seq: 99, hash: 'f'.repeat(64) };
  const { from, facts } = carryOver(stateOf(history(...wholeRun())), { last, agents });
  const fresh = opened({ terms: { agents } });
  if (fresh.type !== 'run.opened') throw new Error('no opening');
  const run: RunFact = { type: 'run.opened', data: { ...fresh.data, run: '20261201-090000-cd34', from } };
  return [run, ...facts].map((fact): At => [0, fact]);
}

/** A submission and its rejection. */
export const rejected = (
  at: number,
  given: {
    readonly id: string;
    readonly option: number;
    readonly agent: 'A' | 'B';
    readonly code: RunEventMap['experiment.rejected']['code'];
    readonly reason: string;
  },
): At[] => {
  const { id, option: number, agent, code, reason } = given;
  return [
    [
      at - 100,
      {
        type: 'experiment.submitted',
        data: { id, option: number, agent, attempt: 1, note: null, reported: null, captured: null },
      },
    ],
    [at, { type: 'experiment.rejected', data: { id, option: number, code, reason, score: null } }],
  ];
};

/** A whole run: two options by cap, one by the experiments' end, a review that chooses, and a grade. */
export const wholeRun = (): At[] => [
  [0, opened({ budgets: { experiments: 5 }, terms: { grades: true } })],
  [0, { type: 'controller.started', data: { pid: 1, fence: 1, version: 'v', boot: 'b', gapMs: 0 } }],
  optionFacts.open(1000, 1, 'A'),
  optionFacts.starting(1500, 1),
  optionFacts.started(2000, 1),
  optionFacts.spoke(2500, 1),
  ...accepted(10_000, { id: 'e1', option: 1, agent: 'A', score: 0.5, note: 'ridge' }),
  ...rejected(12_000, { id: 'e2', option: 1, agent: 'A', code: 'invalid', reason: 'row 3 is empty' }),
  ...accepted(20_000, { id: 'e3', option: 1, agent: 'A', score: 0.4 }),
  optionFacts.ending(21_000, 1, 'cap'),
  optionFacts.ended(21_050, 1, { endedItself: false }),
  optionFacts.reaped(21_200, 1, 2),
  optionFacts.settled(21_100, 1),
  optionFacts.clean(21_300, 1),
  optionFacts.closed(21_350, 1, 'cap'),
  optionFacts.open(21_350, 2, 'B'),
  optionFacts.starting(21_360, 2),
  optionFacts.started(21_410, 2),
  optionFacts.spoke(21_500, 2),
  ...accepted(30_000, { id: 'e4', option: 2, agent: 'B', score: 0.45, note: 'a tree' }),
  ...accepted(40_000, { id: 'e5', option: 2, agent: 'B', score: 0.3 }),
  // ends itself before anything asked it to
  optionFacts.ended(41_000, 2),
  optionFacts.ending(41_020, 2, 'cap'),
  optionFacts.settled(41_100, 2),
  optionFacts.reaped(41_150, 2),
  optionFacts.clean(41_200, 2),
  optionFacts.closed(41_300, 2, 'cap', true),
  optionFacts.open(41_300, 3, 'A'),
  optionFacts.starting(41_400, 3),
  optionFacts.started(41_600, 3),
  optionFacts.spoke(41_900, 3),
  ...accepted(50_000, { id: 'e6', option: 3, agent: 'A', score: 0.35 }),
  optionFacts.ending(51_000, 3, 'budget'),
  optionFacts.ended(51_100, 3, { endedItself: false }),
  optionFacts.settled(51_100, 3),
  optionFacts.reaped(51_200, 3, 1),
  optionFacts.clean(51_300, 3),
  optionFacts.closed(51_400, 3, 'budget'),
  [51_500, { type: 'exploration.ending', data: { reason: 'budget', by: 'hma' } }],
  [51_500, { type: 'exploration.ended', data: { reason: 'budget' } }],
  [51_600, { type: 'review.opened', data: { reviewer: 'B', tokenHash: 'r' } }],
  [
    51_600,
    { type: 'attempt.starting', data: { session: { kind: 'review' }, attempt: 1, nonce: 'r1', promptHash: 'p' } },
  ],
  [52_000, { type: 'attempt.started', data: { session: { kind: 'review' }, attempt: 1, runner } }],
  [60_000, { type: 'ballot.cast', data: { valid: true, candidate: 'e5', reason: 'best of all' } }],
  [
    62_000,
    {
      type: 'attempt.ended',
      data: {
        session: { kind: 'review' },
        attempt: 1,
        exit: null,
        endedItself: true,
        failure: null,
        retryAt: null,
        counts: false,
      },
    },
  ],
  [62_010, { type: 'review.ending', data: { reason: 'natural', descendants: [] } }],
  [62_050, { type: 'review.reaped', data: { ended: [], survivors: [], ms: 3 } }],
  [62_100, { type: 'review.closed', data: { outcome: 'chosen', detail: 'best of all' } }],
  [
    62_100,
    {
      type: 'candidate.selected',
      data: { candidate: 'e5', by: 'reviewer', who: 'bob', reason: 'best of all', gradesRevealed: false },
    },
  ],
  [63_000, { type: 'grading.starting', data: { id: 'e5', nonce: 'g' } }],
  [64_000, { type: 'candidate.graded', data: { id: 'e5', nonce: 'g', result: { kind: 'graded', grade: 0.33 } } }],
  [65_000, { type: 'run.finished', data: { reason: 'budget' } }],
];
