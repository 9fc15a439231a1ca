import type { Candidate } from '../../src/archive/model.ts';
import type { Experiment, Flag, RejectionCode } from '../../src/experiments/model.ts';
import type { Option } from '../../src/options/model.ts';
import type { Review, Selection } from '../../src/review/model.ts';
import type { RunState, Terms } from '../../src/run/model.ts';
import type { AgentSlot, Metric } from '../../src/task/model.ts';

/** One experiment in a scene; `score` null is a rejected one. */
export interface Entry {
  readonly by?: AgentSlot;
  readonly option?: number;
  readonly score: number | null;
  readonly reported?: number;
  readonly note?: string;
  /** Active minutes. */
  readonly minute?: number;
  readonly code?: RejectionCode;
  readonly reason?: string;
  readonly flags?: readonly Flag[];
  readonly grade?: number;
}

export const minute = 60_000;
/** Unix ms at which scenes begin. */
export const began = Date.UTC(2026, 10, 30, 9, 0);

const accuracy: Metric = { name: 'accuracy', direction: 'maximize', thresholds: [], noise: 0 };

function terms(metric: Metric, feedback: Terms['feedback']): Terms {
  return {
    ...{ name: 'digits', metric, feedback, lateRule: { rule: 'finished' }, fallback: 'standing' },
    policy: { mode: 'alternate', cap: 5, first: 'A', tellCap: false },
    failures: { attempts: 3, waitMs: 1000, then: 'handover' },
    ...{ stallMs: 900_000, stopAfterBarren: null, validates: false, grades: true },
    limits: { candidateBytes: 1e9, candidateFiles: 1e4, outputBytes: 1e6, diskFloorBytes: 1e9, queue: 8 },
    agents: { A: { name: 'alpha', adapter: 'command' }, B: { name: 'beta', adapter: 'command' } },
    evaluate: { repeats: 1, exclusive: false, timeoutMs: 60_000 },
  };
}

/** An experiment and, if it was accepted, its candidate. */
function decided(entry: Entry, number: number, order: number): { experiment: Experiment; candidate: Candidate | null } {
  const { by = 'A', option = 1, score, reported = null, note = null, flags = [] } = entry;
  const at = (entry.minute ?? number) * minute;
  const captured = { snapshot: `s${number}`, contentHash: `h${number}`, files: 3, bytes: 1000 * number };
  const id = `e${number}`;
  const common = {
    ...{ id, option, agent: by, attempt: 1, note, reported, captured, evaluations: [] },
    ...{ submittedAt: at - 1000, submittedWall: began + at - 1000, decidedAt: at, decidedWall: began + at },
  };
  if (score === null) {
    const { code = 'timeout', reason = 'the evaluator took longer than 60 s' } = entry;
    return { experiment: { ...common, state: 'rejected', code, reason, score: null }, candidate: null };
  }
  const grade = entry.grade === undefined ? null : ({ kind: 'graded', grade: entry.grade, wall: began + at } as const);
  return {
    experiment: { ...common, state: 'accepted', score, flags },
    candidate: {
      ...{ id, order, author: by, option, score, reported, note, flags, grade },
      ...{ acceptedAt: at, acceptedWall: began + at, ...captured },
    },
  };
}

/** Options as the entries tell them: each from its first experiment to the next one's. */
function optionsOf(experiments: readonly Experiment[]): Option[] {
  const firsts = experiments.filter((each, index) => each.option !== experiments[index - 1]?.option);
  return firsts.map(({ option: number, agent, submittedAt }, index) => {
    const openedAt = index === 0 ? 0 : submittedAt;
    const next = firsts[index + 1]?.submittedAt ?? null;
    return {
      ...{
        number,
        agent,
        state: next === null ? 'open' : 'closed',
        tokenHash: '',
        openedAt,
        attempts: [],
        accepted: [],
      },
      ...{ submissions: 0, closure: null, endedItself: false, capSeenAt: null, failures: 0, retryAt: null },
      ...{ ended: [], survivors: [], usage: [], endingAt: next, endingMono: null, settledAt: next, reapedAt: next },
      ...{ cleanAt: next, closedAt: next },
    };
  });
}

/** A run in which these experiments were decided; the rest is ordinary unless told otherwise. */
export function scene(
  entries: readonly Entry[],
  given: {
    readonly metric?: Partial<Metric>;
    readonly feedback?: Terms['feedback'];
    readonly state?: Partial<RunState>;
  } = {},
): RunState {
  const experiments: Experiment[] = [];
  const archive: Candidate[] = [];
  for (const [index, entry] of entries.entries()) {
    const { experiment, candidate } = decided(entry, index + 1, archive.length + 1);
    experiments.push(experiment);
    if (candidate) archive.push(candidate);
  }
  return {
    ...{ seq: experiments.length, run: '20261130-090000-ab12', workspace: '/w', openedWall: began, contractHash: '' },
    terms: terms({ ...accuracy, ...given.metric }, given.feedback ?? 'score'),
    budgets: { totalMs: 360 * minute, reviewMs: 15 * minute, experiments: null, until: null },
    ...{ isolation: { tier: 'bubblewrap', cannot: [] }, initial: null, phase: 'exploring' },
    clock: { running: true, active: 0, mono: 0, boot: 'b', before: null },
    controller: { pid: 1, fence: 1, version: '0.1.0', starts: 1 },
    ...{ pause: null, pausedMs: 0, resumedAt: null, pauseAfter: false, explorationEnding: null },
    ...{ explorationEndingAt: null, explorationEndedAt: null, options: optionsOf(experiments), experiments, archive },
    ...{
      review: null,
      selections: [],
      gradesRevealed: false,
      grading: null,
      finished: null,
      notices: [],
      disk: [],
      messages: [],
      errands: [],
      reevaluating: null,
    },
    ...given.state,
  };
}

/** A closed review by B unless told otherwise. */
export const review = (parts: Partial<Review>): Review => ({
  ...{ reviewer: 'B', state: 'closed', tokenHash: '', openedAt: 345 * minute, attempts: [], nomination: null },
  ...{
    invalidBallots: 0,
    invalidReason: null,
    survivors: [],
    usage: [],
    endReason: 'natural',
    outcome: null,
    endingAt: null,
  },
  ...{ endingMono: null, reapedAt: null, cleanAt: null, closedAt: null },
  ...parts,
});

export const selection = (parts: Pick<Selection, 'candidate' | 'by' | 'who'> & Partial<Selection>): Selection => ({
  ...{ reason: 'because', wall: began + 350 * minute, active: 350 * minute, gradesRevealed: false },
  ...parts,
});

/** The clocks at a minute of active time. */
export const at = (minutes: number) => ({
  wall: began + minutes * minute,
  mono: 0,
  boot: 'b',
  active: minutes * minute,
});

export const present = { canIntend: true, cannot: '', banner: '' } as const;
export const unmarked = { starred: () => false, hidden: () => false } as const;
