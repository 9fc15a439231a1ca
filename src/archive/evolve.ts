import type { StampedOf } from '../base/fact.ts';
import type { Experiment } from '../experiments/model.ts';
import type { ExperimentEvents } from '../experiments/events.ts';
import type { ArchiveEvents } from './events.ts';
import type { Candidate } from './model.ts';

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
  if (event.type !== 'candidate.graded') return archive;
  const { id, result } = event.data;
  return archive.map((candidate) =>
    candidate.id === id ? { ...candidate, grade: { ...result, wall: event.wall } } : candidate,
  );
}
