import { oneLine } from '../base/oneLine.ts';
import { sayWord } from '../base/words.ts';
import type { Experiment } from '../experiments/model.ts';
import type { RunScene } from './runRows.ts';
import { joined, sayElapsed, sayShown } from './runWords.ts';
import { row, type RowCommand, type RowIcon, type TreeRow } from './treeRow.ts';

/** A click on a candidate anywhere: its files. */
export const showFiles = (candidate: string): RowCommand => ({
  command: 'hma.showFiles',
  title: 'Show the candidate’s files',
  arguments: [candidate],
});

/** Rows of decided experiments never change but for what is compared here, so they are kept. */
const kept = new WeakMap<Experiment, { readonly isRecord: boolean; readonly row: TreeRow }>();

/** One submission: what became of it, or for how long it has been judged. */
export function experimentRow(scene: RunScene, experiment: Experiment): TreeRow {
  const isRecord = scene.records.setters.has(experiment.id);
  const known = kept.get(experiment);
  if (known?.isRecord === isRecord) return known.row;
  const made = makeRow(scene, experiment, isRecord);
  if (experiment.state === 'accepted' || experiment.state === 'rejected') kept.set(experiment, { isRecord, row: made });
  return made;
}

function makeRow(scene: RunScene, experiment: Experiment, isRecord: boolean): TreeRow {
  const { id, note } = experiment;
  const said = oneLine(note ?? '', 120);
  const accepted = experiment.state === 'accepted';
  const description = joined(standing(scene, experiment, isRecord), said);
  return row({
    ...{ id: `${scene.state.run}/${id}`, label: id, description, icon: iconOf(experiment, isRecord) },
    context: accepted ? 'experiment accepted' : 'experiment',
    spoken: `Experiment ${id}, ${accepted ? 'accepted, ' : ''}${description.replaceAll(' · ', ', ')}`,
    ...(accepted ? { candidate: id, command: showFiles(id) } : {}),
  });
}

function standing({ state, given }: RunScene, experiment: Experiment, isRecord: boolean): string {
  switch (experiment.state) {
    case 'queued':
      return `waits · ${sayElapsed(given.active - experiment.submittedAt)}`;
    case 'evaluating': {
      const since =
        experiment.evaluations.findLast(({ endedAt }) => endedAt === null)?.startedAt ?? experiment.submittedAt;
      return `being evaluated · ${sayElapsed(given.active - since)}`;
    }
    case 'accepted':
      return joined(sayShown(state, experiment), isRecord && 'new record', ...experiment.flags.map(sayWord));
    case 'rejected':
      return `rejected, ${sayWord(experiment.code)}: ${oneLine(experiment.reason, 200)}`;
  }
}

function iconOf(experiment: Experiment, isRecord: boolean): RowIcon {
  switch (experiment.state) {
    case 'queued':
      return { id: 'clock' };
    case 'evaluating':
      return { id: 'loading~spin' };
    case 'accepted':
      if (experiment.flags.length > 0) return { id: 'warning', color: 'list.warningForeground' };
      return isRecord ? { id: 'arrow-circle-up', color: 'charts.green' } : { id: 'pass', color: 'testing.iconPassed' };
    case 'rejected':
      if (experiment.code === 'tampered') return { id: 'shield', color: 'list.warningForeground' };
      return experiment.code === 'evaluator_error'
        ? { id: 'error', color: 'list.errorForeground' }
        : { id: 'circle-slash' };
  }
}
