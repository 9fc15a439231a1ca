import * as fc from 'fast-check';

import type { Verdict } from '../../src/evaluators/port.ts';
import type { FailureReason } from '../../src/agents/port.ts';
import type { Intent } from '../../src/protocol/client.ts';
import type { RunState, Terms } from '../../src/run/model.ts';
import type { Budgets } from '../../src/task/model.ts';

/** One `hma submit` of a scripted session, ms after the attempt's start (of unfrozen time). */
export interface SubmissionScript {
  readonly after: number;
  /** What the candidate's files are; equal numbers are equal files. */
  readonly content: number;
  readonly captureMs: number;
  readonly trouble: 'none' | 'tampered' | 'unstable' | 'too_large';
  /** Sends the same call once more, as after a lost answer. */
  readonly again: boolean;
}

/** What one attempt of an option does. `endless` waits to be ended. */
export interface AttemptScript {
  readonly spawnMs: number;
  readonly starts: boolean;
  readonly submissions: readonly SubmissionScript[];
  readonly end: {
    readonly how: 'natural' | FailureReason | 'endless' | 'vanishes' | 'stalls';
    readonly after: number;
    readonly resetIn: number | null;
  };
  /** From the decision to the printed receipt, ms; null = it never looks. */
  readonly looksAfter: number | null;
  /** Its model answers so often (ms), with so many tokens each time; not at all when absent. */
  readonly responds?: { readonly every: number; readonly tokens: number };
}

/** One ballot of a reviewer: by number in the archive; a number beyond it is no candidate. */
export interface BallotScript {
  readonly after: number;
  readonly pick: number;
  readonly via: 'call' | 'file';
}
export interface ReviewScript {
  readonly spawnMs: number;
  readonly ballots: readonly BallotScript[];
  readonly end: { readonly how: 'natural' | 'crash' | 'endless' | 'vanishes'; readonly after: number };
}

export interface EvaluationScript {
  readonly verdict: Exclude<Verdict, { kind: 'timeout' }>;
  readonly ms: number;
}

/** Something that comes from outside, at a share of the total time (0–1200 thousandths, of monotonic time). */
export interface Disturbance {
  readonly at: number;
  readonly what:
    | { readonly do: 'intend'; readonly intent: Intent }
    | { readonly do: 'selectLatest' | 'stale' | 'foreign' }
    | { readonly do: 'wall'; readonly stepMs: number };
}

/** The controller dies after its n-th append, or at a moment; `world` says what of the rest outlives it. */
export interface Death {
  readonly when: { readonly append: number } | { readonly at: number };
  readonly downMs: number;
  readonly world: 'lives' | 'dies' | 'reboots';
}

/** Everything that a simulated run depends on. */
export interface Scenario {
  readonly terms: Terms;
  readonly budgets: Budgets;
  readonly initial: boolean;
  readonly lingerMs: number;
  readonly attempts: readonly AttemptScript[];
  readonly evaluations: readonly EvaluationScript[];
  readonly reviews: readonly ReviewScript[];
  readonly reapMs: readonly number[];
  /** For each reap: whether something survives it. */
  readonly survivors: readonly boolean[];
  readonly disturbances: readonly Disturbance[];
  readonly deaths: readonly Death[];
  /** The end of a run that this one goes on from. */
  readonly earlier?: RunState;
  /** How long a person leaves the run paused, ms. */
  readonly pauseMs: number;
}

const often = <T>(common: T, rare: fc.Arbitrary<T>, weight = 4): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: fc.constant(common) }, { weight: 1, arbitrary: rare });

export const aTerms = (over: Partial<Terms> = {}): Terms => ({
  name: 'digits',
  metric: { name: 'accuracy', direction: 'maximize', thresholds: [], noise: 0, range: { min: 0, max: 100 } },
  feedback: 'score',
  policy: { mode: 'alternate', cap: 2, first: 'A', tellCap: false },
  lateRule: { rule: 'finished' },
  fallback: 'standing',
  failures: { attempts: 2, waitMs: 5_000, then: 'handover' },
  stallMs: 30_000,
  stopAfterBarren: null,
  limits: { candidateBytes: 1e9, candidateFiles: 1e4, outputBytes: 1e6, diskFloorBytes: 0, queue: 4 },
  agents: { A: { name: 'ada', adapter: 'demo' }, B: { name: 'bob', adapter: 'demo' } },
  evaluate: { repeats: 1, exclusive: false, timeoutMs: 20_000 },
  validates: false,
  grades: false,
  ...over,
});

const terms: fc.Arbitrary<Terms> = fc
  .record({
    mode: often<'alternate' | 'single'>('alternate', fc.constant('single'), 8),
    cap: fc.constantFrom(1, 2, 3, null),
    first: fc.constantFrom<'A' | 'B'>('A', 'B'),
    lateRule: often<Terms['lateRule']>(
      { rule: 'finished' },
      fc.constantFrom(1_000, 8_000, 60_000).map((graceMs) => ({ rule: 'submitted', graceMs })),
      2,
    ),
    fallback: fc.constantFrom<'standing' | 'record'>('standing', 'record'),
    feedback: fc.constantFrom<'score' | 'blind'>('score', 'blind'),
    direction: fc.constantFrom<'maximize' | 'minimize'>('maximize', 'minimize'),
    failures: fc.record({
      attempts: fc.integer({ min: 1, max: 3 }),
      waitMs: fc.constantFrom(0, 2_000, 10_000),
      then: often<'handover' | 'pause'>('handover', fc.constant('pause'), 2),
      usageLimit: fc.constantFrom<NonNullable<Terms['failures']['usageLimit']>>(
        { then: 'wait', pauseClock: false },
        { then: 'wait', pauseClock: true },
        { then: 'handover', pauseClock: false },
        { then: 'pause', pauseClock: false },
      ),
    }),
    stopAfterBarren: often<number | null>(null, fc.constantFrom(2, 4), 3),
    queue: fc.constantFrom(1, 3, 64),
    repeats: often(1, fc.constant(2), 3),
    grades: fc.boolean(),
  })
  .map(({ mode, cap, first, direction, queue, repeats, ...rest }) => {
    const base = aTerms();
    return {
      ...base,
      ...rest,
      policy: { mode, cap, first, tellCap: false },
      metric: { ...base.metric, direction },
      limits: { ...base.limits, queue },
      evaluate: { ...base.evaluate, repeats },
    };
  });

const submission: fc.Arbitrary<SubmissionScript> = fc.record({
  after: fc.integer({ min: 0, max: 15_000 }),
  content: fc.integer({ min: 1, max: 12 }),
  captureMs: fc.constantFrom(0, 40, 900),
  trouble: often<SubmissionScript['trouble']>('none', fc.constantFrom('tampered', 'unstable', 'too_large'), 12),
  again: often(false, fc.constant(true), 5),
});

const attemptScript: fc.Arbitrary<AttemptScript> = fc.record({
  spawnMs: fc.constantFrom(20, 200),
  starts: often(true, fc.constant(false), 15),
  submissions: fc.array(submission, { minLength: 0, maxLength: 6, size: 'max' }),
  end: fc.record({
    how: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom('natural' as const, 'endless' as const) },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          'crash' as const,
          'usage_limit' as const,
          'vanishes' as const,
          'stalls' as const,
          'out_of_memory' as const,
          'login_expired' as const,
          'overloaded' as const,
          'context_overflow' as const,
        ),
      },
    ),
    after: fc.oneof(
      { weight: 1, arbitrary: fc.integer({ min: 10, max: 3_000 }) },
      { weight: 3, arbitrary: fc.integer({ min: 3_000, max: 90_000 }) },
    ),
    resetIn: often<number | null>(null, fc.constantFrom(2_000, 40_000, 300_000), 1),
  }),
  looksAfter: often<number | null>(100, fc.constant(null)),
});

const score = fc.integer({ min: -5, max: 105 });
const verdict: fc.Arbitrary<EvaluationScript['verdict']> = fc.oneof(
  { weight: 12, arbitrary: score.map((value) => ({ kind: 'scored' as const, score: value })) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<EvaluationScript['verdict']>(
      { kind: 'invalid', reason: 'two columns are missing' },
      { kind: 'incorrect', reason: 'the sum is wrong', score: 101 },
      { kind: 'non_finite', text: 'NaN' },
      { kind: 'no_result', detail: 'no result file' },
      { kind: 'lost' },
    ),
  },
);
const evaluation: fc.Arbitrary<EvaluationScript> = fc.record({
  verdict,
  ms: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 30, max: 3_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 3_000, max: 22_000 }) },
  ),
});

const review: fc.Arbitrary<ReviewScript> = fc.record({
  spawnMs: fc.constantFrom(20, 200),
  ballots: fc.array(
    fc.record({
      after: fc.integer({ min: 0, max: 20_000 }),
      pick: fc.integer({ min: 0, max: 4 }),
      via: fc.constantFrom<'call' | 'file'>('call', 'file'),
    }),
    { minLength: 0, maxLength: 2, size: 'max' },
  ),
  end: fc.record({
    how: fc.constantFrom('natural', 'natural', 'crash', 'endless', 'vanishes'),
    after: fc.integer({ min: 50, max: 25_000 }),
  }),
});

const by = 'mina';
const intent: fc.Arbitrary<Intent> = fc.oneof(
  fc.boolean().map((after): Intent => ({ kind: 'pause', after, by })),
  fc.constantFrom<Intent>(
    { kind: 'resume', by },
    { kind: 'handoff', by },
    { kind: 'handoff', by },
    { kind: 'clearSelection', reason: 'the review decides', by },
  ),
  { weight: 1, arbitrary: fc.constantFrom<Intent>({ kind: 'review', by }, { kind: 'stop', by }) },
  fc.constantFrom<Intent>(
    { kind: 'budget', by, experiments: 3 },
    { kind: 'budget', by, experiments: null },
    { kind: 'budget', by, totalMs: 150_000 },
    { kind: 'budget', by, totalMs: 500_000, reviewMs: 60_000 },
    { kind: 'budget', by, until: null },
  ),
);
const disturbance: fc.Arbitrary<Disturbance> = fc.record({
  at: fc.integer({ min: 0, max: 1_200 }),
  what: fc.oneof(
    { weight: 5, arbitrary: intent.map((one) => ({ do: 'intend' as const, intent: one })) },
    {
      weight: 3,
      arbitrary: fc.constantFrom({ do: 'selectLatest' as const }, { do: 'stale' as const }, { do: 'foreign' as const }),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(-86_400_000, -30_000, 30_000, 86_400_000)
        .map((stepMs) => ({ do: 'wall' as const, stepMs })),
    },
  ),
});
const death: fc.Arbitrary<Death> = fc.record({
  when: fc.oneof(
    fc.integer({ min: 2, max: 120 }).map((append) => ({ append })),
    fc.integer({ min: 0, max: 1_100 }).map((at) => ({ at })),
  ),
  downMs: fc.constantFrom(200, 4_000, 40_000),
  world: fc.constantFrom('lives', 'lives', 'dies', 'reboots'),
});

/** Wall time at which every simulated run opens, Unix ms. */
export const openedWall = 1_790_000_000_000;

const anything: fc.Arbitrary<Scenario> = fc.record({
  terms,
  budgets: fc
    .record({
      totalMs: fc.constantFrom(90_000, 240_000, 600_000),
      reviewMs: fc.constantFrom(5_000, 30_000, 80_000),
      experiments: often<number | null>(null, fc.constantFrom(1, 2, 5), 2),
      untilShare: often<number | null>(null, fc.constantFrom(0.5, 0.9, 1.5), 5),
    })
    .map(({ untilShare, ...rest }) => ({
      ...rest,
      until: untilShare === null ? null : openedWall + rest.totalMs * untilShare,
    })),
  initial: fc.boolean(),
  lingerMs: fc.constantFrom(0, 1_000),
  attempts: fc.array(attemptScript, { minLength: 2, maxLength: 6 }),
  evaluations: fc.array(evaluation, { minLength: 3, maxLength: 8 }),
  reviews: fc.array(review, { minLength: 1, maxLength: 2 }),
  reapMs: fc.array(fc.constantFrom(5, 150, 400), { minLength: 1, maxLength: 3 }),
  survivors: fc.array(often(false, fc.constant(true), 9), { maxLength: 8 }).map((all) => [...all, false]),
  disturbances: often<readonly Disturbance[]>([], fc.array(disturbance, { maxLength: 6 }), 1),
  deaths: often<readonly Death[]>([], fc.array(death, { maxLength: 3 }), 2),
  pauseMs: fc.constantFrom(500, 45_000),
});

/** Nobody does anything: what slows such a run down is otherwise seldom reached. */
const idle = anything.map((one): Scenario => ({
  ...one,
  attempts: one.attempts.map((attempt) => ({
    ...attempt,
    submissions: [],
    end: {
      ...attempt.end,
      how: attempt.end.how === 'crash' ? 'crash' : 'natural',
      after: (attempt.end.after % 4_000) + 10,
    },
  })),
}));

/** Paused again and again, with sessions that die. */
const frosty = fc
  .tuple(anything, fc.array(fc.integer({ min: 5, max: 900 }), { minLength: 2, maxLength: 5 }))
  .map(([one, pauses]): Scenario => ({
    ...one,
    attempts: one.attempts.map((attempt) =>
      attempt.end.how === 'natural' ? { ...attempt, end: { ...attempt.end, how: 'crash' } } : attempt,
    ),
    disturbances: [
      ...one.disturbances,
      ...pauses.map((at): Disturbance => ({ at, what: { do: 'intend', intent: { kind: 'pause', after: false, by } } })),
    ],
  }));

/** Agents whose usage limits are reached again and again, and persons who are patient. */
const spent = anything.map((one): Scenario => ({
  ...one,
  attempts: one.attempts.map((attempt) => ({
    ...attempt,
    end: {
      ...attempt.end,
      how: attempt.end.how === 'endless' ? 'natural' : 'usage_limit',
      after: (attempt.end.after % 9_000) + 10,
    },
  })),
  pauseMs: 45_000,
}));

/** Models that answer, in runs that may use so many tokens or so much money, or as much as they like. */
export const talkative: fc.Arbitrary<Scenario> = fc
  .tuple(
    anything,
    fc.constantFrom(
      {},
      { tokens: 20_000 },
      { tokens: 150_000 },
      { cost: 0.02 },
      { cost: 0.15 },
      { tokens: 1, cost: 9 },
    ),
    fc.record({ every: fc.constantFrom(200, 1_000, 7_000), tokens: fc.integer({ min: 1, max: 9_000 }) }),
  )
  .map(([one, caps, responds]): Scenario => ({
    ...one,
    budgets: { ...one.budgets, ...caps },
    attempts: one.attempts.map((attempt, index) => (index % 3 === 2 ? attempt : { ...attempt, responds })),
  }));

/** A whole world: terms, scripts of all that happens, and what comes from outside. */
export const scenario: fc.Arbitrary<Scenario> = fc.oneof(
  { weight: 8, arbitrary: anything },
  { weight: 1, arbitrary: idle },
  { weight: 1, arbitrary: frosty },
  { weight: 1, arbitrary: spent },
);
