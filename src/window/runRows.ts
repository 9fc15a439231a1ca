import { handoffs, presentHandoff, startOf, type Handoff } from '../analysis/handoffs.ts';
import { defaultPrices } from '../agents/prices.ts';
import { recordsOf, shownScore, type Records } from '../analysis/shownScores.ts';
import { sumOf, type Prices } from '../analysis/usage.ts';
import type { Candidate } from '../archive/model.ts';
import type { Given } from '../base/fact.ts';
import { sayTokens } from '../base/numbers.ts';
import { oneLine } from '../base/oneLine.ts';
import { count, sayWord } from '../base/words.ts';
import type { Experiment } from '../experiments/model.ts';
import { latestAttempt } from '../options/evolve.ts';
import type { Closure, Option } from '../options/model.ts';
import { tokensOf } from '../options/usage.ts';
import type { RunState } from '../run/model.ts';
import { capOf } from '../run/schedule.ts';
import { compareScores } from '../task/quality.ts';
import { experimentRow } from './runRowsExperiment.ts';
import { handoffRow } from './runRowsHandoff.ts';
import { noticesRow } from './runRowsNotices.ts';
import { reviewRow } from './runRowsReview.ts';
import { usageRow } from './runRowsUsage.ts';
import { agentName, joined, sayElapsed, sayPhase, sayShown, sayWinner } from './runWords.ts';
import { row, type RowIcon, type TreeRow } from './treeRow.ts';

/** What the rows of one run need; computed once for all rows. */
export interface RunScene {
  readonly state: RunState;
  readonly given: Given;
  readonly records: Records;
  readonly candidates: ReadonlyMap<string, Candidate>;
  readonly prices: Prices;
}

/** Gathers what the rows of a run need. */
export function runScene(state: RunState, given: Given, prices: Prices = defaultPrices): RunScene {
  const candidates = new Map(state.archive.map((candidate) => [candidate.id, candidate]));
  return { state, given, records: recordsOf(state), candidates, prices };
}

/** A run's place in the list at the tree's end. */
export interface PastRun {
  readonly run: string;
  readonly shown: boolean;
}

/** Most experiments side by side; more are put into groups, so that an event redraws no more than one group. */
export const groupSize = 100;

/**
 * The run tree: the run with its options, handoffs and final review in order of time, then the other runs of the folder. `run` is the
 * id of the run that is shown, `state` is null while nothing of it can be read yet.
 */
export function runRows(
  shown: { readonly run: string; readonly scene: RunScene | null } | null,
  runs: readonly PastRun[],
): readonly TreeRow[] {
  if (shown === null) return [];
  const { run, scene } = shown;
  const first = scene
    ? runRow(scene)
    : row({
        id: `${run}/starting`,
        label: sayRunTime(run),
        description: 'starting',
        icon: { id: 'loading~spin' },
        context: 'run',
      });
  return runs.length > 1 ? [first, pastRow(runs)] : [first];
}

function runRow(scene: RunScene): TreeRow {
  const { state } = scene;
  const name = oneLine(state.terms.name, 60);
  const description = joined(sayWinner(state), sayPhase(state), state.pauseAfter && 'pauses at the next handoff');
  return row({
    ...{ id: state.run, label: name, description, icon: runIcon(state), context: 'run', expand: 'expanded' },
    spoken: `Run ${name}, ${description}, ${count(state.options.length, 'option')}, ${count(state.archive.length, 'candidate')}`,
    children: sessionRows(scene),
  });
}

function runIcon(state: RunState): RowIcon {
  if (state.phase === 'finished') return { id: 'pass-filled', color: 'testing.iconPassed' };
  if (state.pause)
    return state.pause.reason === 'requested'
      ? { id: 'debug-pause' }
      : { id: 'warning', color: 'list.warningForeground' };
  return state.phase === 'exploring' ? { id: 'beaker' } : { id: 'law' };
}

/** Options, the handoffs between them, and the final review, in order of time; then what else a person should know of. */
function sessionRows(scene: RunScene): TreeRow[] {
  const { state } = scene;
  const present = presentHandoff(state);
  const after = new Map<number, Handoff>(handoffs(state).map((handoff) => [handoff.from, handoff]));
  if (present) after.set(present.from, present);
  const experiments = Map.groupBy(state.experiments, ({ option }) => option);
  const rows = state.options.flatMap((option) => {
    const own = optionRow(scene, option, experiments.get(option.number) ?? []);
    const handoff = after.get(option.number);
    return handoff ? [own, handoffRow(scene, option, handoff)] : [own];
  });
  return [earlierRow(state), ...rows, reviewRow(scene), usageRow(scene), noticesRow(state)].filter(
    (one) => one !== null,
  );
}

/** The run that this one goes on from; a click shows it. */
function earlierRow({ run, from }: RunState): TreeRow | null {
  if (from === undefined) return null;
  const came = from.candidates === 0 ? 'no candidate' : count(from.candidates, 'candidate');
  return row({
    ...{ id: `${run}/from`, label: 'Goes on from', description: joined(sayRunTime(from.run), `${came} came over`) },
    spoken: `Goes on from the run of ${sayRunTime(from.run)}: ${came} came over`,
    icon: { id: 'history' },
    context: 'earlierRun',
    command: { command: 'hma.chooseRun', title: 'Show that run', arguments: [from.run] },
  });
}

function optionRow(scene: RunScene, option: Option, experiments: readonly Experiment[]): TreeRow {
  const { state } = scene;
  const id = `${state.run}/option-${option.number}`;
  const agent = agentName(state, option.agent);
  const stands = optionStands(scene, option);
  const time = optionTime(scene, option);
  const best = bestWords(scene, option);
  const attempts = attemptsOf(option);
  const accepted = acceptedOf(state, option);
  const tokens = tokensWords(option);
  // what counts first, in few words: a row in the side bar shows some twenty letters of them
  const ended = option.state === 'closed' && option.closure !== null ? shortClosures[option.closure] : stands;
  const parts = [accepted, ended, best, attempts, time, tokens];
  const rows =
    experiments.length === 0
      ? [noneRow(id, option)]
      : experiments.map((experiment) => experimentRow(scene, experiment));
  return row({
    ...{
      id,
      label: `${option.number} · ${agent}`,
      description: joined(...parts),
      icon: optionIcon(state, option),
    },
    ...{ context: 'option session', session: { kind: 'option', number: option.number } },
    spoken: `Option ${option.number} by ${agent}, ${[stands, `${accepted} accepted`, attempts, time, best, tokens].filter(Boolean).join(', ')}`,
    expand: option.state === 'closed' ? 'collapsed' : 'expanded',
    children: rows.length > groupSize ? grouped(id, rows) : rows,
  });
}

/** Stands in for experiments: VS Code would keep a row that had no children closed when they come. */
const noneRow = (id: string, { state }: Option): TreeRow =>
  row({
    id: `${id}/none`,
    label: state === 'closed' ? 'No experiment' : 'No experiment yet',
    icon: { id: 'dash' },
    context: 'none',
  });

/** Where an option stands: what goes on in it, or why it ended. */
function optionStands({ state, given }: RunScene, option: Option): string {
  if (option.state === 'closed') return option.closure === null ? 'ended' : closureWords[option.closure];
  if (option.state === 'ending') return state.explorationEnding === 'stopped' ? 'being ended' : 'handing over';
  if (state.pause) return 'paused';
  const latest = latestAttempt(option);
  if (latest?.state !== 'ended') return latest?.state === 'running' ? 'at work' : 'starting';
  return option.retryAt === null
    ? 'ending'
    : `${latest.failure ? `${sayWord(latest.failure.reason)}: ` : ''}another attempt ${option.retryAt > given.active ? `in ${sayElapsed(option.retryAt - given.active)}` : 'now'}`;
}

const closureWords: Readonly<Record<Closure, string>> = {
  natural: 'natural end',
  cap: 'cap reached',
  deadline: 'deadline',
  budget: 'budget used up',
  handoff: 'handed off by a person',
  stopped: 'stopped',
  failed: 'failed',
  stalled: 'stalled',
};

/** The same as short as it goes. */
const shortClosures: Readonly<Record<Closure, string>> = {
  natural: 'own end',
  cap: 'cap',
  deadline: 'deadline',
  budget: 'budget',
  handoff: 'handed off',
  stopped: 'stopped',
  failed: 'failed',
  stalled: 'stalled',
};

function acceptedOf(state: RunState, option: Option): string {
  const cap = capOf(state);
  const most = Number.isFinite(cap) ? `/${cap}` : '';
  return `${option.accepted.length}${most}`;
}

const attemptsOf = (option: Option): string =>
  option.attempts.length > 1 ? count(option.attempts.length, 'attempt') : '';

function optionTime({ given }: RunScene, option: Option): string {
  const from = option.attempts.map(startOf).find((at) => at !== null) ?? option.openedAt;
  const end = option.endingAt ?? option.closedAt;
  if (end !== null) return sayElapsed(end - from, true);
  const ms = given.active - from;
  // in its first minute it would be drawn again each second, which takes its tooltip away under the mouse
  return ms < 60_000 ? '' : sayElapsed(ms, true);
}

/** Tokens of an option that is over: while it goes on they would draw its row again every few seconds, and take its tooltip away. */
const tokensWords = ({ state, usage }: Option): string =>
  state === 'closed' && usage.length > 0 ? `${sayTokens(tokensOf(sumOf(usage)))} tokens` : '';

function bestWords({ state, candidates, records }: RunScene, option: Option): string {
  let best: Candidate | undefined;
  for (const id of option.accepted) {
    const candidate = candidates.get(id);
    const value = candidate && shownScore(state, candidate);
    if (value == null) continue;
    if (!best || compareScores(state.terms.metric, value, shownScore(state, best) ?? Number.NaN) < 0) best = candidate;
  }
  if (!best) return '';
  const improved = option.accepted.some((id) => records.setters.has(id));
  return `best ${sayShown(state, best)}${improved ? ', improved the record' : ''}`;
}

function optionIcon(state: RunState, option: Option): RowIcon {
  if (option.state === 'ending') return { id: 'sync' };
  if (option.state === 'open')
    return state.pause ? { id: 'debug-pause' } : { id: 'play-circle', color: 'charts.green' };
  switch (option.closure) {
    case 'failed':
      return { id: 'error', color: 'list.errorForeground' };
    case 'stalled':
      return { id: 'warning', color: 'list.warningForeground' };
    case 'handoff':
    case 'stopped':
      return { id: 'debug-stop' };
    case 'deadline':
      return { id: 'watch' };
    default:
      return { id: 'check' };
  }
}

/** Runs of a hundred experiments each, the last one open. */
function grouped(id: string, rows: readonly TreeRow[]): TreeRow[] {
  const groups = Array.from({ length: Math.ceil(rows.length / groupSize) }, (_, index) =>
    rows.slice(index * groupSize, (index + 1) * groupSize),
  );
  return groups.map((children, index) =>
    row({
      id: `${id}/group-${index}`,
      // Named by its first: a label that grew with the last one would redraw the group at each.
      label: `${children[0]?.label ?? ''} and later`,
      description: index === groups.length - 1 ? '' : count(children.length, 'experiment'),
      ...{ icon: { id: 'folder' }, context: 'group', children },
      expand: index === groups.length - 1 ? 'expanded' : 'collapsed',
    }),
  );
}

function pastRow(runs: readonly PastRun[]): TreeRow {
  const children = runs.map(({ run, shown }, index) =>
    row({
      id: `past/${run}`,
      label: sayRunTime(run),
      description: joined(run, shown && 'shown above', index === 0 && 'newest'),
      icon: { id: shown ? 'circle-filled' : 'circle-outline' },
      context: 'pastRun',
      command: { command: 'hma.chooseRun', title: 'Show this run', arguments: [run] },
    }),
  );
  const spoken = `All runs of this folder, ${count(runs.length, 'run')}`;
  return row({
    id: 'past',
    label: 'All Runs',
    description: String(runs.length),
    spoken,
    icon: { id: 'history' },
    context: 'past',
    expand: 'collapsed',
    children,
  });
}

/** The run of a row of All Runs, by its id; undefined for any other. */
export const pastRunOf = (id: unknown): string | undefined =>
  typeof id === 'string' && id.startsWith('past/') ? id.slice('past/'.length) : undefined;

/** A run's start in local time, from its id; the id itself where it holds none. */
export function sayRunTime(run: string): string {
  const parts = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-/.exec(run);
  if (!parts) return run;
  const [, year, month, day, hour, minute, second] = parts.map(Number);
  const at = new Date(Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second));
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Words of a closure, for tooltips. */
export const sayClosure = (closure: Closure | null): string =>
  closure === null ? 'not yet' : `${sayWord(closure)} (${closureWords[closure]})`;
