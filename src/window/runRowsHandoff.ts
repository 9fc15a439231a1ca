import type { Handoff } from '../analysis/handoffs.ts';
import { oneLine } from '../base/oneLine.ts';
import { count } from '../base/words.ts';
import { nextAgent } from '../options/decide.ts';
import type { Option } from '../options/model.ts';
import type { RunState } from '../run/model.ts';
import { reviewerOf } from '../review/decide.ts';
import type { RunScene } from './runRows.ts';
import { agentName, joined, sayElapsed, sayGap } from './runWords.ts';
import { row, type RowIcon, type TreeRow } from './treeRow.ts';

interface Stage {
  readonly key: string;
  /** What it is called once it is reached, and while it is waited for. */
  readonly done: string;
  /** What is meant, after the time. */
  readonly meaning?: string;
  readonly doing: string;
  readonly at: number | null;
}

/** A boundary between two sessions, stage by stage as it happens: ended, settled, processes gone, clean, started, first output. */
export function handoffRow(scene: RunScene, option: Option, handoff: Handoff): TreeRow {
  const { state, given } = scene;
  const stages = stagesOf(state, option, handoff);
  const waited = handoff.ms === null ? stages.find(({ at }) => at === null) : undefined;
  // One that is over is another row than one that goes on: it folds itself up, and a long run stays easy to read.
  const id = `${state.run}/${waited ? 'handoff-now' : 'handoff'}-${handoff.from}`;
  const stuck = option.survivors.length > 0;
  const ended = handoff.processesEnded > 0 ? `${count(handoff.processesEnded, 'process', 'processes')} ended` : '';
  const description = waited
    ? joined(
        stuck ? `${count(option.survivors.length, 'process', 'processes')} can’t be ended` : waited.doing,
        sayElapsed(given.active - handoff.endedAt),
        ended,
      )
    : joined(sayGap(handoff.ms), ended);
  const label = handoff.to === 'review' ? 'Into the Final Review' : `Handoff ${handoff.from} → ${handoff.to}`;
  const spoken = `${handoff.to === 'review' ? label : `Handoff from option ${handoff.from} to ${handoff.to}`}, ${waited ? description : `took ${description}`}`;
  return row({
    ...{
      id,
      label,
      description,
      spoken: spoken.replaceAll(' · ', ', '),
      icon: iconOf(waited !== undefined, stuck),
      context: 'handoff',
    },
    expand: waited ? 'expanded' : 'collapsed',
    children: [
      ...stages.flatMap((stage) => stageRow(id, stage, { handoff, isNow: stage === waited })),
      ...endedRows(id, option),
    ],
  });
}

const iconOf = (isOpen: boolean, stuck: boolean): RowIcon =>
  stuck ? { id: 'warning', color: 'list.warningForeground' } : { id: isOpen ? 'sync' : 'arrow-swap' };

function stagesOf(state: RunState, option: Option, handoff: Handoff): Stage[] {
  const next = agentName(
    state,
    handoff.to === 'review' ? (state.review?.reviewer ?? reviewerOf(state)) : agentOf(state, handoff.to),
  );
  return [
    { key: 'ended', done: `${agentName(state, option.agent)} ended`, doing: '', at: handoff.endedAt },
    {
      key: 'settled',
      done: 'Settled',
      meaning: 'every submission is decided',
      doing: 'settling',
      at: handoff.settledAt,
    },
    { key: 'gone', done: 'Processes gone', doing: 'ending processes', at: handoff.reapedAt },
    { key: 'clean', done: 'Clean', doing: 'cleaning up', at: handoff.cleanAt },
    {
      key: 'started',
      done: `${next} started`,
      meaning: 'with an empty context',
      doing: state.pause ? 'paused' : `starting ${next}`,
      at: handoff.spawnedAt,
    },
    { key: 'spoke', done: 'First output', doing: 'waiting for its first output', at: handoff.spokeAt },
  ];
}

const agentOf = (state: RunState, number: number) =>
  state.options.find((option) => option.number === number)?.agent ?? nextAgent(state);

/** A stage that was reached, or the one that goes on; later ones are not shown yet. */
function stageRow(
  id: string,
  stage: Stage,
  { handoff, isNow }: { readonly handoff: Handoff; readonly isNow: boolean },
): TreeRow[] {
  if (stage.at === null && !isNow) return [];
  const since =
    stage.at === null
      ? stage.doing
      : stage.key === 'ended'
        ? ''
        : joined(`after ${sayGap(Math.max(0, stage.at - handoff.endedAt))}`, stage.meaning);
  const icon: RowIcon = stage.at === null ? { id: 'circle-outline' } : { id: 'check' };
  return [
    row({
      id: `${id}/${stage.key}`,
      label: stage.at === null ? 'Now' : stage.done,
      description: since,
      icon,
      context: 'stage',
    }),
  ];
}

function endedRows(id: string, { ended, survivors }: Option): TreeRow[] {
  const of = (list: Option['ended'], kind: 'ended' | 'alive') =>
    list.slice(0, 20).map((one, index) =>
      row({
        id: `${id}/${kind}-${index}`,
        label: oneLine(one.command, 60),
        description: joined(
          kind === 'ended' ? 'ended at the handoff' : 'can’t be ended',
          `pid ${one.pid}`,
          `ran ${sayElapsed(one.ageMs)}`,
        ),
        icon: kind === 'ended' ? { id: 'circle-slash' } : { id: 'warning', color: 'list.warningForeground' },
        context: 'process',
      }),
    );
  return [...of(survivors, 'alive'), ...of(ended, 'ended')];
}
