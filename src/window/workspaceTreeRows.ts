import { diskForecastCode, diskGrowth } from '../analysis/disk.ts';
import { sayDiskPlace, sayGrowth } from '../analysis/diskWords.ts';
import { sayBytes } from '../base/numbers.ts';
import { oneLine } from '../base/oneLine.ts';
import { count } from '../base/words.ts';
import type { Gpu } from '../machines/gpus.ts';
import type { Tier } from '../machines/port.ts';
import { nextAgent } from '../options/decide.ts';
import type { RunState } from '../run/model.ts';
import type { AgentSlot } from '../task/model.ts';
import { joined } from './runWords.ts';
import { row, type RowIcon, type TreeRow } from './treeRow.ts';

/** The part of a contract that the view shows: of the run's, else of hma.yaml as it is now. */
export interface ShownContract {
  readonly agents: Readonly<Record<AgentSlot, { readonly name: string; readonly adapter: string }>>;
  readonly mode: 'alternate' | 'single';
  readonly first: AgentSlot;
  readonly evaluate: readonly string[];
  readonly feedback: 'score' | 'blind';
  readonly tier: Tier | 'auto';
}

/** Who holds the lease on the workspace, as the lease itself says. */
export interface ShownOwner {
  readonly run: string;
  readonly host: string;
  readonly pid: number;
  readonly released: boolean;
}

/** All that the view shows; null = there is none, or it isn't known. */
export interface WorkspaceFacts {
  readonly state: RunState | null;
  readonly contract: ShownContract | null;
  readonly owner: ShownOwner | null;
  /** Whether the shown run's controller answers. */
  readonly live: boolean;
  /** Version of the run's programs where it isn't this window's; null where it is, or isn't known. */
  readonly otherVersion: string | null;
  readonly gpus: readonly Gpu[] | null;
  /** Bytes free where the workspace lies, and what a run keeps free. */
  readonly free: number | null;
  readonly floor: number | null;
  readonly stateFolder: string | null;
  /** What the tier can't protect. */
  readonly cannot: readonly string[];
}

/** The rows of the view "Workspace". Empty without a contract. */
export function workspaceRows(facts: WorkspaceFacts): readonly TreeRow[] {
  const { contract } = facts;
  if (!contract) return [];
  return [
    agentsRow(facts, contract),
    evaluatorRow(contract),
    isolationRow(facts, contract),
    ownerRow(facts),
    versionRow(facts),
    gpuRow(facts),
    diskRow(facts),
    stateRow(facts),
  ].filter((one) => one !== null);
}

const fact = (
  id: string,
  label: string,
  rest: {
    readonly description: string;
    readonly icon: RowIcon;
    readonly children?: readonly TreeRow[];
    readonly spoken?: string;
  },
): TreeRow =>
  row({ id: `workspace/${id}`, label, context: id, expand: rest.children?.length ? 'collapsed' : 'none', ...rest });

function agentsRow({ state }: WorkspaceFacts, contract: ShownContract): TreeRow {
  const slots: readonly AgentSlot[] = contract.mode === 'single' ? [contract.first] : ['A', 'B'];
  const names = slots.map((slot) => oneLine(contract.agents[slot].name, 40));
  const children = slots.map((slot) => {
    const turn = turnOf(state, slot) ?? (!state && contract.first === slot ? 'starts' : null);
    return row({
      ...{
        id: `workspace/agent-${slot}`,
        label: oneLine(contract.agents[slot].name, 40),
        description: joined(contract.agents[slot].adapter, turn),
      },
      icon: turn === null ? { id: 'person' } : { id: 'person', color: 'charts.green' },
      context: 'agent',
    });
  });
  return row({
    id: 'workspace/agents',
    label: 'Agents',
    description: names.join(' ⇄ '),
    spoken: `Agents, ${names.join(' and ')}`,
    icon: { id: 'organization' },
    context: 'agents',
    expand: 'expanded',
    children,
  });
}

/** What an agent has to do with the run now; null = nothing. */
function turnOf(state: RunState | null, slot: AgentSlot): string | null {
  if (!state || state.phase === 'finished') return null;
  if (state.phase === 'reviewing')
    return state.review && state.review.state !== 'closed' && state.review.reviewer === slot ? 'reviews now' : null;
  if (state.phase !== 'exploring') return null;
  const last = state.options.at(-1);
  if (last && last.state !== 'closed') return last.agent === slot ? 'its turn now' : null;
  return nextAgent(state) === slot ? 'its turn next' : null;
}

function evaluatorRow({ evaluate, feedback }: ShownContract): TreeRow {
  const command = oneLine(evaluate.join(' '), 120);
  const seen = feedback === 'blind' ? 'blind: agents see no scores' : 'agents see scores';
  return fact('evaluator', 'Evaluator', { description: joined(command, seen), icon: { id: 'beaker' } });
}

function isolationRow({ state, cannot }: WorkspaceFacts, contract: ShownContract): TreeRow {
  const tier = state?.isolation.tier ?? contract.tier;
  const weak = tier === 'none';
  const words = {
    bubblewrap: 'bubblewrap',
    uid: 'separate uid',
    none: 'none: nothing is hidden from agents',
    auto: 'decided at the start',
  }[tier];
  const children = cannot.map((text, index) =>
    row({
      id: `workspace/cannot-${index}`,
      label: oneLine(text, 300),
      icon: { id: 'circle-slash' },
      context: 'cannot',
    }),
  );
  const icon: RowIcon = weak ? { id: 'warning', color: 'list.warningForeground' } : { id: 'shield' };
  return fact('isolation', 'Isolation', {
    description: joined(words, cannot.length > 0 && count(cannot.length, 'limit')),
    icon,
    children,
  });
}

function ownerRow({ owner, state, live }: WorkspaceFacts): TreeRow {
  const icon = { id: 'key' };
  if (!owner || owner.released) return fact('owner', 'Owner', { description: 'nobody: free for a run', icon });
  const own = owner.run === state?.run;
  const who = own ? (live ? 'this run’s controller' : 'this run’s controller, away') : `run ${owner.run}`;
  return fact('owner', 'Owner', { description: joined(who, `pid ${owner.pid}`, owner.host), icon });
}

function versionRow({ otherVersion }: WorkspaceFacts): TreeRow | null {
  if (otherVersion === null) return null;
  const description = joined('the run goes on with the version of HMA that it began with', otherVersion.slice(0, 8));
  return fact('version', 'Version', { description, icon: { id: 'versions' } });
}

function gpuRow({ gpus }: WorkspaceFacts): TreeRow {
  const icon = { id: 'chip' };
  if (gpus === null) return fact('gpus', 'GPUs', { description: 'looking…', icon });
  if (gpus.length === 0) return fact('gpus', 'GPUs', { description: 'none', icon });
  const children = gpus.map(({ index, uuid, name, memoryUsed, memoryTotal, utilization }) =>
    row({
      ...{
        id: `workspace/gpu-${uuid}`,
        label: `${index} · ${oneLine(name, 60)}`,
        icon: { id: 'chip' },
        context: 'gpu',
      },
      description: joined(
        utilization !== null && `${utilization} % busy`,
        memoryUsed !== null && memoryTotal !== null && `${memoryUsed} of ${memoryTotal} MiB`,
      ),
    }),
  );
  return fact('gpus', 'GPUs', { description: String(gpus.length), icon, children });
}

function diskRow({ free, floor, state }: WorkspaceFacts): TreeRow | null {
  if (free === null) return null;
  const low = floor !== null && free < floor * 2;
  const limit = floor !== null && floor > 0 ? `a run pauses below ${sayBytes(floor)}` : '';
  const told = state?.notices.find(({ code }) => code === diskForecastCode);
  return fact('disk', 'Disk', {
    description: joined(`${sayBytes(free)} free`, limit),
    icon: low || told ? { id: 'warning', color: 'list.warningForeground' } : { id: 'database' },
    children: state ? diskChildren(state, told?.text) : [],
  });
}

/** The other disks of a run, what grew, and the warning that holds. */
function diskChildren({ disk }: RunState, warning: string | undefined): TreeRow[] {
  const growth = diskGrowth(disk);
  const others = (disk.at(-1)?.places ?? []).filter(({ holds }) => !holds.includes('workspace'));
  const lines = [
    ...(warning === undefined ? [] : [['warning', 'Forecast', warning] as const]),
    ...(growth === null ? [] : [['growth', 'Since the Start', sayGrowth(growth)] as const]),
    ...others.map((place) => [place.path, sayDiskPlace(place), `${sayBytes(place.free)} free`] as const),
  ];
  return lines.map(([id, label, description]) =>
    row({ id: `workspace/disk-${id}`, label, description, icon: { id: 'database' }, context: 'disk' }),
  );
}

function stateRow({ stateFolder }: WorkspaceFacts): TreeRow | null {
  return stateFolder === null
    ? null
    : fact('state', 'State Folder', { description: stateFolder, icon: { id: 'folder-library' } });
}
