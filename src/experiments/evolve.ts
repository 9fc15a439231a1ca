import type { StampedOf } from '../base/fact.ts';
import type { ExperimentEvents } from './events.ts';
import type { Experiment } from './model.ts';

/** Folds an event into the list of experiments. Total: events about unknown ids change nothing. */
export function evolveExperiments(
  experiments: readonly Experiment[],
  event: StampedOf<ExperimentEvents>,
): readonly Experiment[] {
  switch (event.type) {
    case 'experiment.submitted':
      return [
        ...experiments,
        { ...event.data, submittedAt: event.active, submittedWall: event.wall, evaluations: [], state: 'queued' },
      ];
    case 'submission.refused':
    case 'validation.ended':
      return experiments;
    default:
      return replaceLast(experiments, event.data.id, (experiment) => evolveExperiment(experiment, event));
  }
}

/** Replaces the experiment named; looks from the end, where the undecided ones are. */
function replaceLast(
  experiments: readonly Experiment[],
  id: string,
  change: (e: Experiment) => Experiment,
): readonly Experiment[] {
  const index = experiments.findLastIndex((experiment) => experiment.id === id);
  const found = experiments[index];
  return found ? experiments.with(index, change(found)) : experiments;
}

function evolveExperiment(
  experiment: Experiment,
  event: Exclude<
    StampedOf<ExperimentEvents>,
    { type: 'experiment.submitted' | 'submission.refused' | 'validation.ended' }
  >,
): Experiment {
  if (experiment.state === 'accepted' || experiment.state === 'rejected') return experiment;
  switch (event.type) {
    case 'evaluation.starting': {
      const { nonce, kind } = event.data;
      return {
        ...experiment,
        state: 'evaluating',
        evaluations: [
          ...experiment.evaluations,
          { nonce, kind, startedAt: event.active, verdict: null, endedAt: null },
        ],
      };
    }
    case 'evaluation.ended': {
      const { nonce, verdict, at } = event.data;
      return {
        ...experiment,
        evaluations: experiment.evaluations.map((e) => (e.nonce === nonce ? { ...e, verdict, endedAt: at } : e)),
      };
    }
    case 'experiment.accepted': {
      const { score, flags } = event.data;
      return { ...experiment, state: 'accepted', score, flags, decidedAt: event.active, decidedWall: event.wall };
    }
    case 'experiment.rejected': {
      const { code, reason, score } = event.data;
      return {
        ...experiment,
        state: 'rejected',
        code,
        reason,
        score,
        decidedAt: event.active,
        decidedWall: event.wall,
      };
    }
  }
}
