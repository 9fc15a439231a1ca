import type { RunState } from '../../src/run/model.ts';
import type { AgentSlot } from '../../src/task/model.ts';
import { minute, review, scene, selection, type Entry } from './scenes.ts';

const notes = [
  'kNN with k = 5 on raw pixels',
  'deskewed images, k = 3',
  'small convnet, 3 epochs',
  'augmentation: shifts by one pixel; longer training with a cosine schedule and label smoothing, checkpoints averaged over the last five epochs',
  'dropout 0.3 instead of 0.5',
  'ensemble of two seeds',
  null,
] as const;

/** A number in [0, 1) that is the same at each call: pictures and tests repeat. */
const noise = (index: number): number => {
  const value = Math.sin(index * 12.9898) * 43_758.5453;
  return value - Math.floor(value);
};

/** Experiments of a run in which scores rise, with dips and failures; options of five, agents in turn. */
export function entriesOf(length: number, minutes = 340): Entry[] {
  return Array.from({ length }, (_, index) => {
    const option = 1 + Math.floor(index / 5);
    const by: AgentSlot = option % 2 === 1 ? 'A' : 'B';
    const minuteOf = ((index + 0.6 + 0.3 * noise(index)) / length) * minutes;
    const common = { by, option, minute: minuteOf, ...(notes[index % 7] && { note: notes[index % 7] as string }) };
    if (index % 11 === 6)
      return {
        ...common,
        score: null,
        code: index % 2 === 0 ? 'timeout' : 'incorrect',
        reason:
          index % 2 === 0 ? 'the evaluator took longer than 60 s' : 'predictions.csv has 9,999 rows instead of 10,000',
      };
    const score = Number((0.985 - 0.22 * Math.exp(-index / (length / 3)) - 0.03 * noise(index + 7)).toFixed(4));
    const reported = Number((score + 0.01 * (noise(index + 3) - 0.4)).toFixed(3));
    const flags = index % 13 === 4 ? (['out_of_range'] as const) : [];
    return {
      ...common,
      score,
      flags,
      grade: Number((score - 0.012 * noise(index + 5)).toFixed(4)),
      ...(index % 3 !== 0 && { reported }),
    };
  });
}

const metric = {
  baseline: 0.7,
  reference: 0.99,
  noise: 0.001,
  thresholds: [
    { name: 'bronze', score: 0.9 },
    { name: 'gold', score: 0.97 },
  ],
} as const;

/** A finished run of 34 experiments: the reviewer chose one, then a person another. */
export function finishedRun(state: Partial<RunState> = {}): RunState {
  const reason =
    'Best of the three that hold on the shifted validation split; e33 gains 0.002 on the evaluator but its note says that the seed was picked by score, and e31 needs twice the memory for the same value.';
  const base = scene(entriesOf(34), { metric });
  const chosen = base.archive.at(-3)?.id ?? '';
  return {
    ...base,
    phase: 'finished',
    explorationEndedAt: 345 * minute,
    options: base.options.map((option) => ({ ...option, closedAt: option.closedAt ?? 345 * minute })),
    review: review({ outcome: 'chosen', nomination: { candidate: chosen, reason, at: 351 * minute } }),
    selections: [selection({ candidate: chosen, by: 'reviewer', who: 'beta', reason, active: 352 * minute })],
    finished: { reason: 'deadline', wall: 0, active: 352 * minute },
    ...state,
  };
}

/** A run in mid-exploration, nothing decided. */
export const runningRun = (): RunState => scene(entriesOf(18, 190), { metric });

/** A blind task. */
export const blindRun = (): RunState => scene(entriesOf(18, 190), { metric, feedback: 'blind' });

/** As many candidates as asked for, and failed ones between them; all of `length` decided. */
export const longRun = (length: number): RunState => scene(entriesOf(length), { metric });
