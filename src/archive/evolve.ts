import type { StampedOf } from '../base/fact.ts';
import type { Experiment } from '../experiments/model.ts';
import type { ExperimentEvents } from '../experiments/events.ts';
import type { ArchiveEvents } from './events.ts';
import type { Candidate, Errand } from './model.ts';

/** Adds the accepted experiment's candidate; a second acceptance of the same id changes nothing. */
export function archiveAccepted(
  archive: readonly Candidate[],
  experiment: Experiment,
  event: Extract<StampedOf<ExperimentEvents>, { type: 'experiment.accepted' }>,
): readonly Candidate[] {
  if (experiment.captured === null || archive.some((candidate) => candidate.id === experiment.id)) return archive;
  const { id, agent: author, option, reported, note, captured } = experiment;
  const { score, flags } = event.data;
  const order = archive.length + 1;
  return [
    ...archive,
    {
      id,
      order,
      author,
      option,
      score,
      reported,
      note,
      flags,
      acceptedAt: event.active,
      acceptedWall: event.wall,
      ...captured,
      grade: null,
    },
  ];
}

/** Folds facts about candidates. */
export function evolveArchive(archive: readonly Candidate[], event: StampedOf<ArchiveEvents>): readonly Candidate[] {
  const { wall } = event;
  const change = (id: string, how: (candidate: Candidate) => Candidate): readonly Candidate[] =>
    archive.map((candidate) => (candidate.id === id ? how(candidate) : candidate));
  switch (event.type) {
    case 'candidate.carried':
      return archive.some(({ id }) => id === event.data.id)
        ? archive
        : [...archive, { ...event.data, order: archive.length + 1, acceptedAt: event.active }];
    case 'candidate.graded':
      return change(event.data.id, (candidate) => ({ ...candidate, grade: { ...event.data.result, wall } }));
    case 'candidate.reevaluated':
      return change(event.data.id, (candidate) => ({
        ...candidate,
        reevaluations: [...(candidate.reevaluations ?? []), { verdict: event.data.verdict, wall }],
      }));
    case 'candidate.disqualified': {
      const { reason, who } = event.data;
      return change(event.data.id, (candidate) => ({ ...candidate, disqualified: { reason, who, wall } }));
    }
    case 'candidate.requalified':
      return change(event.data.id, ({ disqualified: _, ...candidate }) => candidate);
    default:
      return archive;
  }
}

/** Folds what a person wants done; an errand is gone once its answer is there. */
export function evolveErrands(errands: readonly Errand[], event: StampedOf<ArchiveEvents>): readonly Errand[] {
  const without = (kind: Errand['kind'], id: string): readonly Errand[] => {
    const done = errands.findIndex((errand) => errand.kind === kind && errand.candidate === id);
    return done < 0 ? errands : errands.toSpliced(done, 1);
  };
  switch (event.type) {
    case 'errands.wanted':
      return [...errands, ...event.data.errands];
    case 'candidate.graded':
      return without('grade', event.data.id);
    case 'candidate.reevaluated':
      return without('reevaluate', event.data.id);
    default:
      return errands;
  }
}
