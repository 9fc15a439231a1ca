import { defaultPrices } from '../../agents/prices.ts';
import { handoffs, handoffTimes, startOf, type Handoff } from '../../analysis/handoffs.ts';
import { sayEarlier } from '../../analysis/words.ts';
import { timeShares, type TimeShares } from '../../analysis/timeShares.ts';
import { shownGrade } from '../../analysis/shownScores.ts';
import { sumOf, type Prices } from '../../analysis/usage.ts';
import type { Candidate } from '../../archive/model.ts';
import { record, standing } from '../../archive/order.ts';
import { sayOption } from '../../archive/origin.ts';
import type { Given } from '../../base/fact.ts';
import { sayMoment } from '../../base/moment.ts';
import { oneLine } from '../../base/oneLine.ts';
import { count, sayWord } from '../../base/words.ts';
import { tokensOf } from '../../options/usage.ts';
import { finalCandidate, ownSelection, pin } from '../../review/selection.ts';
import type { RunState } from '../../run/model.ts';
import { sparkline, stackedBar } from './bars.ts';
import { diskLines } from './diskPage.ts';
import { bestOf, rule, sayAgent, sayAuthor, type Paper } from './scene.ts';
import { sayLength, sayScore, sayShare, sayTokens } from '../../base/numbers.ts';
import { statusLine } from './statusLine.ts';
import { fit, pad, table, widthOf, wrap } from './text.ts';
import { usageLines } from './usagePage.ts';

/** Where a run's things lie. */
export interface Places {
  readonly runFolder: string;
  /** Whether a controller looks after the run. */
  readonly live: boolean;
  /** Prices of models; the built-in ones when absent. */
  readonly prices?: Prices;
}

const label = (name: string, { style }: Paper): string => `  ${style.dim(pad(name, 10))}`;
const indent = ' '.repeat(12);

/** Prose behind a label, broken into lines. */
function prose(
  name: string,
  text: string,
  given: { readonly paper: Paper; readonly colour?: (line: string) => string; readonly most?: number },
): string[] {
  const { paper, colour = (line: string) => line, most = 6 } = given;
  const lines = wrap(text, Math.min(paper.columns, 100) - indent.length, { most });
  return lines.map((line, index) => `${index === 0 ? label(name, paper) : indent}${colour(line)}`);
}

/** The page at the end of a run: the final candidate and who chose it, the options, times, where everything lies, what to do next. */
export function summaryPage(state: RunState, places: Places, paper: Paper): string[] {
  const { style } = paper;
  const given: Given = {
    wall: state.finished?.wall ?? 0,
    mono: 0,
    boot: '',
    active: state.finished?.active ?? state.clock.active,
  };
  const cut = (lines: readonly string[]): string[] => lines.map((line) => fit(line, paper.columns));
  const lines = [
    '',
    rule(style.bold('result'), paper),
    ...resultLines(state, paper),
    '',
    ...optionsTable(state, given, paper),
    '',
    ...timeLines(state, given, paper),
    ...usageLines(state, places.prices ?? defaultPrices, paper),
    '',
  ];
  return [...cut(lines), ...placeLines(state, places, paper), '', ...cut(nextLines(state, places, paper))];
}

/** How a pause comes to its end. */
const goesOn = (pause: NonNullable<RunState['pause']>, given: Given): string =>
  pause.until === undefined
    ? 'go on: hma resume'
    : `goes on by itself at ${sayMoment(pause.until, given.wall)}; earlier: hma resume`;

/** The page of `hma status`. */
export function statusPage(state: RunState, given: Given, page: Places & { readonly paper: Paper }): string[] {
  const { paper } = page;
  const { style } = paper;
  const pause = state.pause
    ? prose('paused', `${oneLine(state.pause.detail, 600)} (${goesOn(state.pause, given)})`, {
        paper,
        colour: style.warn,
      })
    : [];
  const dead =
    page.live || state.phase === 'finished'
      ? []
      : [`  ${style.warn('not running: no controller looks after this run; go on with hma resume')}`];
  const people = state.notices
    .filter((notice) => notice.level !== 'info')
    .slice(-3)
    .flatMap((notice) => prose('notice', oneLine(notice.text, 600), { paper, colour: style.warn }));
  const lines = [
    `${style.bold(oneLine(state.terms.name, 60))}  ${style.dim(`run ${state.run}`)}`,
    ...(state.from ? [`  ${style.dim(sayEarlier(state.from))}`] : []),
    ...(dead.length === 0
      ? [`  ${statusLine(state, given, paper)}`]
      : [...dead, `  it was ${statusLine(state, given, { style, columns: paper.columns - 9 })}`]),
    ...pause,
    ...people,
    '',
    ...resultLines(state, paper),
    '',
    ...optionsTable(state, given, paper),
    ...boundaryTable(state, paper),
    '',
    ...timeLines(state, given, paper),
    ...usageLines(state, page.prices ?? defaultPrices, paper),
    '',
    ...diskLines(state, given, paper),
    `${label('isolation', paper)}${state.isolation.tier}`,
    ...(state.isolation.cannot.length > 0
      ? prose('', `not protected: ${oneLine(state.isolation.cannot.join(' '), 2000)}`, {
          paper,
          colour: style.dim,
          most: 20,
        })
      : []),
  ];
  return [...lines.map((line) => fit(line, paper.columns)), ...placeLines(state, page, paper)];
}

/** Where a run's things lie: never cut, since people copy them. */
const placeLines = (state: RunState, { runFolder }: Places, paper: Paper): string[] => [
  `${label('run', paper)}${runFolder}`,
  `${label('workspace', paper)}${state.workspace}`,
];

/** A candidate in a phrase: id, score, author, session, and its grade where there is one. */
function sayCandidate(state: RunState, candidate: Candidate, { style }: Paper): string {
  const shown = shownGrade(state, candidate);
  const grade =
    shown === null
      ? ''
      : shown === 'failed'
        ? style.warn(' · no grade')
        : ` · grade ${shown === 'hidden' ? shown : style.bold(sayScore(shown))}`;
  return `${style.bold(pad(candidate.id, 4))} ${pad(sayScore(candidate.score), 9, 'right')}  ${style.dim('by')} ${sayAuthor(state, candidate, style)} ${style.dim(`in ${sayOption(candidate)}`)}${grade}`;
}

function resultLines(state: RunState, paper: Paper): string[] {
  const { style } = paper;
  const { metric } = state.terms;
  const final = finalCandidate({ ...state.terms, ...state });
  const of = (id: string | undefined): Candidate | undefined => state.archive.find((candidate) => candidate.id === id);
  const chosen = of(final?.candidate);
  if (!final || !chosen) return [`  ${style.dim(state.phase === 'finished' ? 'no candidate' : 'no candidate yet')}`];
  const best = record(state.archive, metric);
  const last = standing(state.archive);
  const decided = state.selections.length > 0;
  const who =
    final.by === 'person'
      ? `selected by ${oneLine(pin(state.selections)?.who ?? 'a person', 40)}`
      : final.by === 'reviewer'
        ? `selected by the reviewer ${oneLine(state.review ? state.terms.agents[state.review.reviewer].name : '', 40)}`
        : decided
          ? 'selected by fallback'
          : 'would be selected now';
  const own = ownSelection(state.selections);
  const aside =
    final.by === 'person' && own?.candidate && own.candidate !== final.candidate
      ? [`${label('', paper)}${style.dim(`the run's own selection was ${own.candidate}, by ${own.by}`)}`]
      : [];
  return [
    `${label(decided ? 'final' : 'so far', paper)}${sayCandidate(state, chosen, paper)}`,
    ...prose('', `${who}: ${oneLine(final.reason, 600)}`, { paper }),
    ...aside,
    ...(best ? [`${label('record', paper)}${sayCandidate(state, best, paper)}`] : []),
    ...(last ? [`${label('standing', paper)}${sayCandidate(state, last, paper)}`] : []),
    ...(state.review?.outcome ? [`${label('review', paper)}${state.review.outcome}`] : []),
    `${label('scores', paper)}${sparkline(
      metric,
      state.archive.map((candidate) => candidate.score),
      Math.max(8, Math.min(paper.columns, 100) - 40),
    )}  ${style.dim(count(state.archive.length, 'candidate'))}`,
  ];
}

function optionsTable(state: RunState, given: Given, { style, columns }: Paper): string[] {
  if (state.options.length === 0) return [];
  const into = new Map(handoffs(state).map((row) => [row.to, row]));
  const tells = state.options.some(({ usage }) => usage.length > 0);
  const rows = state.options.map((option) => {
    const best = bestOf(state, option);
    const handoff = into.get(option.number)?.ms;
    const end = option.endingAt ?? state.finished?.active ?? given.active;
    const rejected = state.experiments.filter((one) => one.option === option.number && one.state === 'rejected').length;
    return [
      String(option.number),
      sayAgent(state, option.agent, style),
      option.closure === null ? '…' : sayWord(option.closure),
      String(option.accepted.length),
      String(rejected),
      best === undefined ? '—' : sayScore(best),
      sayLength(Math.max(0, end - (option.attempts.map(startOf).find((at) => at !== null) ?? option.openedAt))),
      handoff === null || handoff === undefined ? '—' : sayLength(handoff),
      ...(tells ? [option.usage.length === 0 ? '—' : sayTokens(tokensOf(sumOf(option.usage)))] : []),
    ];
  });
  const head = [
    '#',
    'agent',
    'ended',
    'accepted',
    'rejected',
    'best',
    'time',
    'handoff',
    ...(tells ? ['tokens'] : []),
  ].map((word) => style.dim(word));
  return table({ rows: [head, ...rows], right: new Set([0, 3, 4, 5, 6, 7, 8]), columns, indent: '  ' });
}

/** How each handoff went, stage by stage, from the end of the session before. */
function boundaryTable(state: RunState, { style, columns }: Paper): string[] {
  const rows = handoffs(state);
  if (rows.length === 0) return [];
  const since = (row: Handoff, at: number | null): string =>
    at === null ? '—' : sayLength(Math.max(0, at - row.endedAt));
  const cells = rows.map((row) => [
    `${row.from} → ${row.to}`,
    ...[row.settledAt, row.reapedAt, row.cleanAt, row.spawnedAt, row.spokeAt].map((at) => since(row, at)),
    String(row.processesEnded),
  ]);
  const head = ['handoff', 'settled', 'processes gone', 'clean', 'spawned', 'first output', 'ended'].map((word) =>
    style.dim(word),
  );
  return ['', ...table({ rows: [head, ...cells], right: new Set([1, 2, 3, 4, 5, 6]), columns, indent: '  ' })];
}

function timeLines(state: RunState, given: Given, paper: Paper): string[] {
  const { style } = paper;
  const shares = timeShares(state, given);
  const times = handoffTimes(handoffs(state));
  const sayMs = (ms: number | undefined): string => (ms === undefined ? '—' : sayLength(ms));
  const handoff =
    times.count === 0
      ? []
      : [
          `${label('handoffs', paper)}p50 ${sayMs(times.p50)} · p95 ${sayMs(times.p95)}${style.dim(` over ${times.count}; to the first output p50 ${sayMs(times.firstOutputP50)} · p95 ${sayMs(times.firstOutputP95)}`)}`,
        ];
  return [...shareLines(state, shares, paper), ...handoff];
}

function shareLines(state: RunState, shares: TimeShares, paper: Paper): string[] {
  const { style } = paper;
  const part = (name: string, amount: number, look: { fill: string; colour: (text: string) => string }) => ({
    name: oneLine(name, 30),
    amount,
    ...look,
  });
  const parts = [
    part(state.terms.agents.A.name, shares.sessions.A, { fill: '█', colour: (text) => style.agent('A', text) }),
    part(state.terms.agents.B.name, shares.sessions.B, { fill: '▓', colour: (text) => style.agent('B', text) }),
    part('start', shares.start, { fill: '▒', colour: style.dim }),
    part('between sessions', shares.between, { fill: '▒', colour: style.dim }),
    part('unused review', shares.unusedReview, { fill: '░', colour: style.dim }),
    part('unused exploration', shares.unusedExploration, { fill: '░', colour: style.dim }),
    part('ahead', shares.ahead, { fill: '·', colour: style.dim }),
  ].filter(({ amount }) => amount > 0);
  const names = parts.map(
    ({ name, amount, fill, colour }) => `${colour(fill)} ${name} ${sayShare(amount, shares.budget)}`,
  );
  const paused = shares.paused > 0 ? [`paused ${sayLength(shares.paused)} beside it`] : [];
  return [
    `${label('time', paper)}${stackedBar(parts, 50)} ${style.dim(`of ${sayLength(shares.budget)}`)}`,
    ...packed([...names, ...paused], paper),
  ];
}

/** Short pieces side by side, as many on a line as fit. */
function packed(pieces: readonly string[], { columns }: Paper): string[] {
  const lines: string[] = [];
  for (const piece of pieces) {
    const last = lines.at(-1);
    const longer = last === undefined ? '' : `${last}   ${piece}`;
    if (last !== undefined && widthOf(longer) <= Math.min(columns, 100)) lines[lines.length - 1] = longer;
    else lines.push(indent + piece);
  }
  return lines;
}

function nextLines(state: RunState, { live }: Places, { style }: Paper): string[] {
  const finished = state.phase === 'finished';
  const final = finalCandidate({ ...state.terms, ...state })?.candidate;
  const other = [
    record(state.archive, state.terms.metric),
    standing(state.archive),
    ...state.archive.toReversed(),
  ].find((candidate) => candidate && candidate.id !== final);
  const commands: [string, string][] = [
    ['hma candidates', 'all candidates, with scores and notes'],
    ...(other
      ? [[`hma select ${other.id} --reason "…"`, 'choose another one; nothing is overwritten'] as [string, string]]
      : []),
    ['hma log --session 1', 'what the first session printed'],
    ...(finished || live ? [] : [['hma resume', 'go on with the run'] as [string, string]]),
  ];
  return commands.map(([command, why]) => `  ${pad(command, 34)} ${style.dim(why)}`);
}

const sayGrade = (grade: ReturnType<typeof shownGrade>): string =>
  typeof grade === 'number' ? sayScore(grade) : (grade ?? '');

/** The table of `hma candidates`. `standing`, `record` and `final` are marked. */
export function candidatesPage(state: RunState, candidates: readonly Candidate[], paper: Paper): string[] {
  const { style, columns } = paper;
  if (candidates.length === 0) return ['No candidates yet.'];
  const marks = marksOf(state);
  const graded = candidates.some((candidate) => candidate.grade !== null);
  const carried = candidates.some((candidate) => candidate.origin !== undefined);
  const rows = candidates.map((candidate) => [
    style.bold(candidate.id),
    sayAuthor(state, candidate, style),
    String(candidate.option),
    ...(carried ? [candidate.origin?.run ?? ''] : []),
    sayScore(candidate.score),
    candidate.reported === null ? '' : sayScore(candidate.reported),
    ...(graded ? [sayGrade(shownGrade(state, candidate))] : []),
    (marks.get(candidate.id) ?? []).join(', '),
    style.dim(
      [...candidate.flags.map(sayWord), oneLine(candidate.note ?? '', 120)].filter((part) => part !== '').join('; '),
    ),
  ]);
  const head = [
    'id',
    'author',
    'option',
    ...(carried ? ['of run'] : []),
    oneLine(state.terms.metric.name, 20),
    'reported',
    ...(graded ? ['grade'] : []),
    '',
    'note',
  ].map((word) => style.dim(word));
  const numbers = carried ? [2, 4, 5] : [2, 3, 4];
  return table({ rows: [head, ...rows], right: new Set(graded ? [...numbers, carried ? 6 : 5] : numbers), columns });
}

/** What candidates are, by id: `final`, `record`, `standing`. */
export function marksOf(state: RunState): ReadonlyMap<string, readonly string[]> {
  const marks = new Map<string, string[]>();
  const mark = (id: string | undefined, word: string): void => {
    if (id !== undefined) marks.set(id, [...(marks.get(id) ?? []), word]);
  };
  for (const { id, disqualified } of state.archive) if (disqualified) mark(id, 'disqualified');
  mark(finalCandidate({ ...state.terms, ...state })?.candidate, state.selections.length > 0 ? 'final' : 'so far final');
  mark(record(state.archive, state.terms.metric)?.id, 'record');
  mark(standing(state.archive)?.id, 'standing');
  return marks;
}
