import { gradersOf } from '../analysis/graders.ts';
import { sayMean } from '../analysis/repeatsWords.ts';
import { recordsOf, shownScore, shownRepeats } from '../analysis/shownScores.ts';
import type { Candidate } from '../archive/model.ts';
import { authorName, sayOption } from '../archive/origin.ts';
import { oneLine } from '../base/oneLine.ts';
import { count, sayWord } from '../base/words.ts';
import type { RunState } from '../run/model.ts';
import type { AgentSlot } from '../task/model.ts';
import { compareScores } from '../task/quality.ts';
import { errandWords, sayGrade } from './candidateStory.ts';
import { showFiles } from './runRowsExperiment.ts';
import { candidateMarks, joined, sayShown, type CandidateMark } from './runWords.ts';
import { row, type RowIcon, type TreeRow } from './treeRow.ts';

/** Orders of the candidates tree: latest first, best first, or by author (then latest first). */
export const candidateOrders = ['time', 'score', 'author'] as const;
export type CandidateOrder = (typeof candidateOrders)[number];

/** What a person wants to see. Empty lists let everything through; different kinds of wishes must all be met. */
export interface CandidateFilter {
  readonly authors: readonly AgentSlot[];
  readonly options: readonly number[];
  readonly flagged: boolean;
  readonly starred: boolean;
  /** The hidden ones too. */
  readonly hidden: boolean;
}

/** Everything but what a person hid. */
export const noFilter: CandidateFilter = { authors: [], options: [], flagged: false, starred: false, hidden: false };

/** Whether a filter keeps anything back. */
export const filters = (filter: CandidateFilter): boolean =>
  filter.authors.length > 0 || filter.options.length > 0 || filter.flagged || filter.starred;

/** What a person has marked. */
export interface OwnMarks {
  isStarred(run: string, candidate: string): boolean;
  isHidden(run: string, candidate: string): boolean;
}

/** How the tree is looked at. `most`: rows shown before "Show more". */
export interface CandidateView {
  readonly order: CandidateOrder;
  readonly filter: CandidateFilter;
  readonly most: number;
}

/** The candidates tree's rows, and how many there are behind them. */
export interface CandidateRows {
  readonly rows: readonly TreeRow[];
  /** Candidates that pass the filter. */
  readonly passing: number;
  readonly all: number;
}

/** Rows of the candidates that pass the filter, in order; at most `view.most`, then a row that shows more. */
export function candidateRows(state: RunState, own: OwnMarks, view: CandidateView): CandidateRows {
  const marks = candidateMarks(state, recordsOf(state));
  const passing = state.archive.filter((candidate) => passes(state, candidate, { own, filter: view.filter }));
  const shown = inOrder(state, passing, view.order).slice(0, view.most);
  const [errands, several] = [errandWords(state), gradersOf(state.archive).length > 1];
  const rows = shown.map((candidate) => {
    const { id } = candidate;
    return candidateRow(state, candidate, { own, marks: marks.get(id) ?? [], errand: errands.get(id) ?? '', several });
  });
  const left = passing.length - shown.length;
  return {
    rows: left > 0 ? [...rows, moreRow(state.run, left)] : rows,
    passing: passing.length,
    all: state.archive.length,
  };
}

function passes(
  state: RunState,
  candidate: Candidate,
  by: { readonly own: OwnMarks; readonly filter: CandidateFilter },
): boolean {
  const { authors, options, flagged, starred, hidden } = by.filter;
  const { author, option, origin } = candidate;
  if (authors.length > 0 && (author === null || !authors.includes(author))) return false;
  if (options.length > 0 && (origin !== undefined || !options.includes(option))) return false;
  if (flagged && candidate.flags.length === 0) return false;
  if (starred && !by.own.isStarred(state.run, candidate.id)) return false;
  return hidden || !by.own.isHidden(state.run, candidate.id);
}

/** By score, those without one come last; equals are in order of time. */
function inOrder(state: RunState, candidates: readonly Candidate[], order: CandidateOrder): Candidate[] {
  const value = (one: Candidate): number => shownScore(state, one) ?? Number.NaN;
  switch (order) {
    case 'time':
      return candidates.toReversed();
    case 'score':
      return candidates.toSorted((a, b) => compareScores(state.terms.metric, value(a), value(b)) || a.order - b.order);
    case 'author':
      return candidates.toSorted((a, b) => (a.author ?? '').localeCompare(b.author ?? '') || b.order - a.order);
  }
}

function candidateRow(
  state: RunState,
  candidate: Candidate,
  by: {
    readonly own: OwnMarks;
    readonly marks: readonly CandidateMark[];
    readonly errand: string;
    /** Whether the run has grades of several graders. */
    readonly several: boolean;
  },
): TreeRow {
  const { id, note, flags } = candidate;
  const starred = by.own.isStarred(state.run, id);
  const hidden = by.own.isHidden(state.run, id);
  const repeats = shownRepeats(state, candidate);
  const grade = state.gradesRevealed ? sayGrade(state, candidate, by.several) : '';
  const parts = [
    ...[sayShown(state, candidate), by.errand, by.marks.join(', ')],
    ...[repeats && `again ${sayMean(repeats)}`, grade && `grade ${grade}`],
    ...[starred ? 'starred' : '', hidden ? 'hidden' : ''],
  ];
  const whose = `${oneLine(authorName(candidate, state.terms.agents), 40)}, ${sayOption(candidate)}`;
  const rest = joined(...parts, whose, flags.map(sayWord).join(', '), oneLine(note ?? '', 120));
  return row({
    ...{
      id: `${state.run}/${id}`,
      label: id,
      description: rest,
      icon: iconOf(by.marks, { starred, flagged: flags.length > 0 }),
    },
    spoken: `Candidate ${id}, ${rest.replaceAll(' · ', ', ')}`,
    context: [
      ...['candidate', starred ? 'starred' : 'unstarred', hidden ? 'hidden' : 'shown'],
      ...[candidate.grade?.kind === 'graded' ? 'graded' : 'ungraded', ...by.marks],
    ].join(' '),
    ...{ candidate: id, command: showFiles(id), marks: hidden ? ['hidden', ...by.marks] : by.marks },
  });
}

/** The weightiest thing that a candidate is. */
function iconOf(
  marks: readonly CandidateMark[],
  given: { readonly starred: boolean; readonly flagged: boolean },
): RowIcon {
  switch (marks[0]) {
    case 'disqualified':
      return { id: 'circle-slash', color: 'disabledForeground' };
    case 'final':
      return { id: 'check-all', color: 'charts.green' };
    case 'nominated':
      return { id: 'law', color: 'charts.purple' };
    case 'record':
      return { id: 'arrow-circle-up', color: 'charts.yellow' };
    case 'standing':
      return { id: 'git-commit', color: 'charts.blue' };
    default:
      if (given.starred) return { id: 'star-full' };
      return given.flagged ? { id: 'warning', color: 'list.warningForeground' } : { id: 'circle-outline' };
  }
}

const moreRow = (run: string, left: number): TreeRow =>
  row({
    ...{ id: `${run}/more`, label: 'Show More…', description: `${count(left, 'candidate')} not shown yet` },
    ...{
      icon: { id: 'ellipsis' },
      context: 'more',
      command: { command: 'hma.showMoreCandidates', title: 'Show more candidates', arguments: [] },
    },
  });
