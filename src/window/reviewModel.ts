import { graderOf, gradersOf, sayGrader } from '../analysis/graders.ts';
import { shownGrade, shownRepeats } from '../analysis/shownScores.ts';
import type { Prices } from '../analysis/usage.ts';
import type { Candidate } from '../archive/model.ts';
import { standing } from '../archive/order.ts';
import type { Given } from '../base/fact.ts';
import type { Experiment } from '../experiments/model.ts';
import { decideOutcome, skipReason } from '../review/decide.ts';
import type { Review } from '../review/model.ts';
import { finalCandidate, ownSelection, pin, type FinalCandidate } from '../review/selection.ts';
import type { RunState } from '../run/model.ts';
import { explorationEndsAt } from '../run/schedule.ts';
import type { Metric } from '../task/model.ts';
import { anchoredLinearQuality, isBetter } from '../task/quality.ts';
import { errandWords, isHiding, sayDisqualified, sayErrands } from './candidateStory.ts';
import { toldOf, workOf } from './reviewNight.ts';
import type { ReviewFrame, ReviewRow } from './reviewMessages.ts';

/** What a person has marked; kept by the window, never in the run's ledger. */
export interface Marks {
  starred(id: string): boolean;
  hidden(id: string): boolean;
}

/** How the run's controller is doing, in words for people. */
export interface Presence {
  /** Whether an intent can be carried out now, and why not. */
  readonly canIntend: boolean;
  readonly cannot: string;
  /** Empty when all is well. */
  readonly banner: string;
}

/** All rows of a run, and which of them are new or different since the rows before. */
export interface ReviewRows {
  readonly run: string;
  readonly all: ReadonlyMap<string, ReviewRow>;
  readonly changed: readonly ReviewRow[];
  /** Id of the record by the shown value (the score; in blind tasks the reported one); null before the first with one. */
  readonly record: string | null;
  /** What each row was made from: the same parts make the same row. */
  readonly made: ReadonlyMap<string, Parts>;
}

/** What a row is made from: a candidate, or an experiment that became none. */
type Source = Candidate | Extract<Experiment, { state: 'rejected' }>;

interface Parts {
  readonly source: Source;
  /** The record's value before it. */
  readonly before: number | undefined;
  readonly starred: boolean;
  readonly hidden: boolean;
  readonly revealed: boolean;
  /** Whether grades of several graders are there. */
  readonly several: boolean;
  readonly errand: string;
}

/**
 * The table's rows: candidates that came over, then every decided experiment in order of submission. Rows of `earlier` (of the same run) whose parts are unchanged
 * are kept as they are, so that an event costs one row on the wire whatever the archive's length.
 */
export function reviewRows(state: RunState, marks: Marks, earlier: ReviewRows | null): ReviewRows {
  const known = earlier?.run === state.run ? earlier : null;
  const records = recordsBefore(state);
  const candidates = new Map(state.archive.map((candidate) => [candidate.id, candidate]));
  const all = new Map<string, ReviewRow>();
  const made = new Map<string, Parts>();
  const changed: ReviewRow[] = [];
  const [several, errands] = [gradersOf(state.archive).length > 1, errandWords(state)];
  const add = (source: Source): void => {
    const { id } = source;
    const parts: Parts = {
      ...{ source, before: records.before.get(id) },
      ...{ starred: marks.starred(id), hidden: marks.hidden(id), revealed: state.gradesRevealed },
      ...{ several, errand: errands.get(id) ?? '' },
    };
    const kept = known?.all.get(id);
    const row = kept && sameParts(known?.made.get(id), parts) ? kept : rowOf(state, parts);
    if (row !== kept) changed.push(row);
    all.set(id, row);
    made.set(id, parts);
  };
  for (const candidate of state.archive) if (candidate.origin) add(candidate);
  for (const experiment of state.experiments) {
    const source = candidates.get(experiment.id) ?? (experiment.state === 'rejected' ? experiment : undefined);
    if (source) add(source);
  }
  return { run: state.run, all, changed, record: records.last, made };
}

const sameParts = (a: Parts | undefined, b: Parts): boolean =>
  a !== undefined &&
  a.source === b.source &&
  a.before === b.before &&
  a.starred === b.starred &&
  a.hidden === b.hidden &&
  a.revealed === b.revealed &&
  a.several === b.several &&
  a.errand === b.errand;

/** A number that JSON can carry; null for what isn't finite. */
const finite = (value: number | null | undefined): number | null =>
  value !== null && value !== undefined && Number.isFinite(value) ? value : null;

const isBlind = (state: RunState): boolean => state.terms.feedback === 'blind';

/** The value that people see of a candidate: scores of blind tasks are kept back, the agent's own estimate stands in. */
const shownValue = (state: RunState, candidate: Candidate): number | null =>
  finite(isBlind(state) ? candidate.reported : candidate.score);

/** The record's value before each candidate, and the last record's id. */
function recordsBefore(state: RunState): { before: ReadonlyMap<string, number>; last: string | null } {
  const before = new Map<string, number>();
  let best: number | undefined;
  let last: string | null = null;
  for (const candidate of state.archive) {
    if (best !== undefined) before.set(candidate.id, best);
    const value = shownValue(state, candidate);
    if (candidate.disqualified || value === null || !isBetter(state.terms.metric, value, best)) continue;
    best = value;
    last = candidate.id;
  }
  return { before, last };
}

function rowOf(state: RunState, parts: Parts): ReviewRow {
  const { source, starred, hidden } = parts;
  const { id, option, note } = source;
  const common = { id, option, note, reported: finite(source.reported), starred, hidden, errand: parts.errand };
  const none = { again: null, grader: '', disqualified: '' } as const;
  const openScore = !isBlind(state) || state.gradesRevealed;
  if (!('order' in source)) {
    return {
      ...common,
      ...none,
      ...{ author: source.agent, order: null, state: 'rejected', quality: null, change: null, flags: [], grade: null },
      score: openScore ? finite(source.score) : null,
      bytes: source.captured?.bytes ?? null,
      files: source.captured?.files ?? null,
      ...{ at: source.decidedAt, wall: source.decidedWall, code: source.code, reason: source.reason },
    };
  }
  const { author, origin, order, flags, disqualified } = source;
  const grade = shownGrade(state, source);
  const value = shownValue(state, source);
  return {
    ...common,
    ...{ author, order, state: 'accepted', code: null, reason: null, flags },
    ...(origin === undefined ? {} : { origin: { run: origin.run, agent: origin.agent } }),
    score: openScore ? finite(source.score) : null,
    quality: value === null ? null : qualityOf(state.terms.metric, value),
    change: changeOf(state.terms.metric, value, parts.before),
    ...{ bytes: source.bytes, files: source.files, at: source.acceptedAt, wall: source.acceptedWall },
    grade: typeof grade === 'number' ? finite(grade) : grade,
    grader: parts.several && typeof grade === 'number' ? sayGrader(graderOf(source)) : '',
    again: shownRepeats(state, source),
    disqualified: disqualified ? sayDisqualified(disqualified) : '',
  };
}

function qualityOf({ baseline, reference }: Metric, value: number): number | null {
  if (baseline === undefined || reference === undefined) return null;
  return anchoredLinearQuality(value, { baseline, reference }) ?? null;
}

function changeOf({ direction }: Metric, value: number | null, before: number | undefined): number | null {
  if (value === null || before === undefined) return null;
  const change = direction === 'maximize' ? value - before : before - value;
  return change === 0 ? 0 : change; // never −0
}

/** The page's whole content but for the rows. `recordId`: of the rows of the same state. */
export function reviewFrame(
  state: RunState,
  given: {
    readonly given: Given;
    readonly presence: Presence;
    readonly recordId: string | null;
    readonly prices: Prices;
  },
): ReviewFrame {
  const { terms, archive } = state;
  const { presence } = given;
  const final = finalCandidate({ ...terms, selections: state.selections, archive });
  const empty = archive.length === 0;
  return {
    ...{ run: state.run, task: terms.name, phase: state.phase, feedback: terms.feedback },
    metric: {
      ...{ name: terms.metric.name, direction: terms.metric.direction, thresholds: terms.metric.thresholds },
      noise: terms.metric.noise,
      baseline: finite(terms.metric.baseline),
      reference: finite(terms.metric.reference),
    },
    agents: { A: terms.agents.A.name, B: terms.agents.B.name },
    options: state.options.map(({ number, agent, openedAt, closedAt }) => ({
      number,
      agent,
      from: openedAt,
      to: closedAt,
    })),
    explorationEnd: state.explorationEndedAt ?? explorationEndsAt(state, given.given),
    now: state.finished?.active ?? given.given.active,
    standing: standing(archive)?.id ?? null,
    record: given.recordId,
    review: state.review && reviewOf(state, state.review),
    final: final === undefined ? null : { ...final, who: whoseWord(state, final) },
    history: state.selections,
    grades: gradesOf(state),
    ...{ told: toldOf(state, given), work: workOf(state, given.prices) },
    graders: severalGraders(state),
    errands: sayErrands(state),
    acts: {
      reevaluate: presence.canIntend && !empty && state.phase === 'finished',
      grade: presence.canIntend && !empty && state.phase === 'finished' && terms.grades,
      disqualify: presence.canIntend && !empty,
    },
    canSelect: presence.canIntend && !empty,
    cannot: empty ? 'There is no candidate yet.' : presence.canIntend ? '' : presence.cannot,
    banner: presence.banner,
  };
}

function whoseWord(state: RunState, final: FinalCandidate): string {
  if (final.by === 'person') return pin(state.selections)?.who ?? '';
  return ownSelection(state.selections)?.who ?? 'hma';
}

/** Versions of the grader where grades of several are there, in words. */
function severalGraders({ archive }: RunState): readonly string[] {
  const graders = gradersOf(archive);
  return graders.length > 1 ? graders.map(sayGrader) : [];
}

/** In blind tasks the evaluator's own scores are kept back with the grades, so there is always something to reveal. */
function gradesOf(state: RunState): ReviewFrame['grades'] {
  if (isHiding(state)) return 'hidden';
  return state.terms.grades || isBlind(state) ? 'revealed' : 'none';
}

function reviewOf(state: RunState, review: Review): NonNullable<ReviewFrame['review']> {
  const { reviewer, outcome, nomination } = review;
  return {
    reviewer,
    state: review.state,
    outcome,
    detail: detailOf(state, review),
    nominated: nomination?.candidate ?? null,
  };
}

/** The nomination's reason; without one, what the reviewer is doing or why there is none. */
function detailOf(state: RunState, review: Review): string {
  if (review.nomination) return review.nomination.reason;
  if (review.outcome === 'skipped') return skipReason(state) ?? 'the run was stopped';
  if (review.outcome !== null) return decideOutcome(state, review).detail;
  return `${state.terms.agents[review.reviewer].name} is looking through the archive.`;
}
