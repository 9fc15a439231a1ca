import { join } from 'node:path';

import { loadPrices } from '../../agents/priceFile.ts';
import { shownGrade, shownRepeats, shownScore } from '../../analysis/shownScores.ts';
import { costOf, sumOf } from '../../analysis/usage.ts';
import { sayCosts, sayUsage } from '../../analysis/usageWords.ts';
import { sayRepeats } from '../../analysis/repeatsWords.ts';
import type { Candidate } from '../../archive/model.ts';
import { authorName } from '../../archive/origin.ts';
import { sayBytes, sayClock, sayLength, sayScore } from '../../base/numbers.ts';
import { oneLine } from '../../base/oneLine.ts';
import { ok, refused, type Result } from '../../base/result.ts';
import { sayWord } from '../../base/words.ts';
import { filesMissing } from '../../client/apply.ts';
import { failure, type Failure } from '../../client/failure.ts';
import { findRun } from '../../client/lookup.ts';
import { viewRun, type RunView } from '../../client/readRun.ts';
import type { CapturedFiles, Evaluation, Experiment } from '../../experiments/model.ts';
import { runFiles } from '../../ledger/places.ts';
import { firstFiles } from '../../run/goOn.ts';
import type { RunState } from '../../run/model.ts';
import type { SnapshotEntry } from '../../snapshots/port.ts';
import { openSnapshotsReadOnly } from '../../snapshots/store.ts';
import { fail, paperOf, say, sayJson, sayLines, type Desk } from '../desk.ts';
import { exitCodes } from '../exitCodes.ts';
import { marksOf } from '../render/pages.ts';
import { pad, table } from '../render/text.ts';
import { diffOutput, showOutput } from '../schemas.ts';
import type { RunOptions } from './looking.ts';

/** A run's view with its snapshots opened for reading, closed after the work. */
async function withSnapshots(
  desk: Desk,
  options: RunOptions,
  work: (view: RunView, store: ReturnType<typeof openSnapshotsReadOnly>) => Promise<Result<number, Failure>>,
): Promise<number> {
  const json = options.json ?? false;
  const place = findRun({ ...desk, run: options.run });
  if (!place.ok) return fail(desk, place.refusal, json);
  const view = await viewRun(place.value);
  if (!view.ok) return fail(desk, view.refusal, json);
  const store = openSnapshotsReadOnly({ dir: runFiles(place.value.folder).snapshots });
  try {
    const done = await work(view.value, store);
    return done.ok ? done.value : await fail(desk, done.refusal, json);
  } finally {
    await store.close();
  }
}

/** What sets a candidate apart, in the field's words. */
const wordsFor = (state: RunState, candidate: Candidate | undefined): string[] =>
  candidate === undefined
    ? []
    : [
        ...(marksOf(state).get(candidate.id) ?? []),
        ...(state.review?.nomination?.candidate === candidate.id ? ['nominated'] : []),
        ...candidate.flags.map(sayWord),
      ];

/** `hma show ID`: all that is known of one experiment, and the files of its candidate. */
export const show = (desk: Desk, id: string, options: RunOptions): Promise<number> =>
  withSnapshots(desk, options, async ({ place, state }, store) => {
    const known = knownOf(state, id);
    if (!known) return unknown(state, id);
    const kept = known.captured !== null && (await store.has(known.captured.snapshot)); // hma gc keeps candidates'
    const files = kept ? await store.entries(known.captured.snapshot) : [];
    const shown = { ...known, state, files, runFolder: place.folder, home: place.home };
    if (options.json) await sayJson(desk, showOutput.parse(showReport(shown)));
    else await sayLines(desk, showLines(shown, desk));
    return ok(exitCodes.ok);
  });

function unknown(state: RunState, id: string): Result<never, Failure> {
  const { from, experiments, archive } = state;
  const number = /^e(\d+)$/.exec(id)?.[1];
  const isEarlier =
    from !== undefined && number !== undefined && Number(number) >= 1 && Number(number) <= from.experiments;
  return refused(
    failure('notFound', 'unknown_experiment', {
      what: `run ${state.run} has no experiment ${JSON.stringify(oneLine(id, 60))}`,
      fix: isEarlier
        ? `It was no candidate of the run that this one goes on from: hma show ${id} --run ${from.run}`
        : experiments.length + archive.length === 0
          ? 'Nothing was submitted yet.'
          : 'hma candidates lists the accepted ones.',
    }),
  );
}

/** An experiment with its candidate, if it became one; of a candidate that came over from an earlier run there is no experiment. */
type Known = { readonly id: string; readonly captured: CapturedFiles | null } & (
  | { readonly experiment: Experiment; readonly candidate: Candidate | undefined }
  | { readonly experiment: undefined; readonly candidate: Candidate }
);

function knownOf(state: RunState, id: string): Known | undefined {
  const experiment = state.experiments.find((one) => one.id === id);
  const candidate = state.archive.find((one) => one.id === id);
  if (experiment) return { id, captured: experiment.captured, experiment, candidate };
  return candidate && { id, captured: candidate, experiment: undefined, candidate };
}

type Shown = Known & {
  readonly state: RunState;
  readonly files: readonly SnapshotEntry[];
  readonly runFolder: string;
  readonly home: string;
};

const outputOf = (runFolder: string, id: string, { nonce }: Evaluation): string =>
  join(runFiles(runFolder).evaluations, `${id}-${nonce}`, 'output.log');

/** What an experiment and a candidate that came over have both, and who made it. */
function madeBy({ state, experiment, candidate }: Shown) {
  if (!experiment) {
    const { author, option, note, reported, acceptedWall, origin } = candidate;
    const agent = authorName(candidate, state.terms.agents);
    return {
      author,
      agent,
      option,
      note,
      reported,
      submittedWall: acceptedWall,
      origin: origin?.run ?? null,
      attempt: null,
    };
  }
  const { option, agent: author, attempt, note, reported, submittedWall } = experiment;
  return {
    author,
    agent: state.terms.agents[author].name,
    option,
    note,
    reported,
    submittedWall,
    origin: null,
    attempt,
  };
}

function showReport(shown: Shown) {
  const { state, id, experiment, candidate, captured, files, runFolder } = shown;
  const rejected = experiment?.state === 'rejected' ? experiment : null;
  const grade = candidate ? shownGrade(state, candidate) : null;
  return {
    run: state.run,
    id,
    state: experiment?.state ?? 'accepted',
    code: rejected?.code ?? null,
    reason: rejected?.reason ?? null,
    score: candidate ? shownScore(state, candidate) : null,
    grade: typeof grade === 'number' ? grade : null,
    again: candidate ? shownRepeats(state, candidate) : null,
    disqualified: candidate?.disqualified?.reason ?? null,
    marks: wordsFor(state, candidate),
    ...madeBy(shown),
    contentHash: captured?.contentHash ?? null,
    files: files.map(({ path, kind, bytes, sha256 }) => ({ path, kind, bytes, sha256 })),
    evaluations: (experiment?.evaluations ?? []).map((each) => ({
      kind: each.kind,
      verdict: each.verdict?.kind ?? null,
      ms: each.endedAt === null ? null : each.endedAt - each.startedAt,
      output: outputOf(runFolder, id, each),
    })),
  };
}

function sayGrade(grade: ReturnType<typeof shownGrade>): string | null {
  if (grade === 'hidden') return 'hidden; hma reveal shows grades, and that is recorded';
  return grade === 'failed' ? 'the grader failed' : grade === null ? null : sayScore(grade);
}

/** What the models of the author's whole session used; null where its harness does not tell. */
function sessionWords({ state, experiment, home }: Shown, desk: Desk): string | null {
  const usage = (experiment && state.options[experiment.option - 1]?.usage) ?? [];
  if (usage.length === 0) return null;
  const models = usage.map(({ model }) => (model === null ? 'model not told' : oneLine(model, 40)));
  const cost = costOf(usage, loadPrices(home, desk.env).prices);
  return `${models.join(', ')} · ${sayUsage(sumOf(usage))} · ${sayCosts(cost)}`;
}

function showLines(shown: Shown, desk: Desk): string[] {
  const { state, id, experiment, candidate, captured, files, runFolder } = shown;
  const { style, columns } = paperOf(desk);
  const line = (name: string, text: string | null): string[] =>
    text === null || text === '' ? [] : [`  ${style.dim(pad(name, 11))}${text}`];
  const marks = wordsFor(state, candidate);
  const rejected = experiment?.state === 'rejected' ? experiment : null;
  const how = rejected ? `rejected: ${sayWord(rejected.code)}` : (experiment?.state ?? 'accepted');
  const { agent, option, attempt, origin, note, reported, submittedWall } = madeBy(shown);
  const tries = attempt === null || attempt === 1 ? '' : `, attempt ${attempt}`;
  const ran = origin === null ? '' : ` of run ${origin}`;
  const score = candidate && state.terms.feedback === 'score' ? shownScore(state, candidate) : null;
  return [
    `${style.bold(id)}  ${how}${marks.length === 0 ? '' : ` · ${marks.join(', ')}`}`,
    ...line('why', rejected ? oneLine(rejected.reason, 600) : null),
    ...line('score', score === null ? null : sayScore(score)),
    ...line('reported', reported === null ? null : sayScore(reported)),
    ...line('grade', sayGrade(candidate ? shownGrade(state, candidate) : null)),
    ...line(
      'again',
      candidate?.reevaluations && shownRepeats(state, candidate) ? sayRepeats(candidate.reevaluations) : null,
    ),
    ...line(
      'disqualified',
      candidate?.disqualified
        ? `${oneLine(candidate.disqualified.reason, 400)} (${oneLine(candidate.disqualified.who, 40)})`
        : null,
    ),
    ...line('author', `${oneLine(agent, 40)}, option ${option}${ran}${tries}`),
    ...line('session', sessionWords(shown, desk)),
    ...line(
      experiment ? 'submitted' : 'accepted',
      `${sayClock(experiment?.submittedAt ?? candidate?.origin?.acceptedAt ?? 0)} · ${new Date(submittedWall).toISOString()}`,
    ),
    ...line('note', note === null ? null : oneLine(note, 4000)),
    ...line(
      'content',
      captured ? `${captured.files} files, ${sayBytes(captured.bytes)}, ${captured.contentHash}` : null,
    ),
    ...(experiment?.evaluations ?? []).flatMap((each) =>
      line(
        each.kind === 'control' ? 'control' : 'evaluation',
        `${sayWord(each.verdict?.kind ?? 'running')}${each.endedAt === null ? '' : ` after ${sayLength(each.endedAt - each.startedAt)}`}  ${style.dim(outputOf(runFolder, id, each))}`,
      ),
    ),
    ...(files.length === 0 ? [] : ['']),
    ...table({
      rows: files.map(({ path, kind, bytes }) => [
        `  ${oneLine(path, 200)}`,
        sayBytes(bytes),
        kind === 'file' ? '' : kind,
      ]),
      right: new Set([1]),
      columns,
    }),
  ];
}

/** What `hma diff` may be told. */
export interface DiffOptions extends RunOptions {
  readonly stat?: boolean;
}

/**
 * `hma diff A [B]`: what separates two candidates; without the second, a candidate from the one before it. `initial` is the start of the
 * run, `beginning` that of the first run of a chain.
 */
export const diff = (desk: Desk, [one, other]: readonly [string, string?], options: DiffOptions): Promise<number> =>
  withSnapshots(desk, options, async ({ state, place }, store) => {
    const sides = other === undefined ? withPrevious(state, one) : ok([one, other] as const);
    if (!sides.ok) return sides;
    const [before, after] = sides.value.map((id) => snapshotOf(state, id));
    if (!before?.ok) return before ?? unknown(state, one);
    if (!after?.ok) return after ?? unknown(state, one);
    for (const [index, { value }] of [before, after].entries())
      if (!(await store.has(value))) {
        const id = sides.value[index] ?? one;
        if (!state.archive.some((candidate) => candidate.id === id)) return gone(id);
        return refused(filesMissing(id, runFiles(place.folder).snapshots));
      }
    const changes = await store.diff(before.value, after.value);
    if (options.json) {
      const patch = options.stat ? null : await store.patch(before.value, after.value);
      const [from, to] = sides.value;
      const told = changes.map(({ path, change }) => ({ path, change }));
      await sayJson(desk, diffOutput.parse({ run: state.run, before: from, after: to, changes: told, patch }));
    } else if (options.stat) {
      const marks = { added: '+', removed: '-', changed: '~' } as const;
      await sayLines(
        desk,
        changes.map(({ path, change }) => `${marks[change]} ${oneLine(path, 400)}`),
      );
    } else await say(desk, await store.patch(before.value, after.value));
    return ok(exitCodes.ok);
  });

const gone = (id: string): Result<never, Failure> =>
  refused(
    failure('notFound', 'no_snapshot', {
      what: `the files of ${id} are not kept any more`,
      fix: 'hma gc removes those of rejected experiments; a candidate’s are always there.',
    }),
  );

function withPrevious(state: RunState, id: string): Result<readonly [string, string], Failure> {
  const place = state.archive.findIndex((candidate) => candidate.id === id);
  if (place < 0) return unknown(state, id);
  return ok([state.archive[place - 1]?.id ?? (state.archive[place]?.origin ? 'beginning' : 'initial'), id]);
}

function snapshotOf(state: RunState, id: string): Result<string, Failure> {
  if (id === 'initial' || id === 'beginning') {
    const files = id === 'initial' ? state.initial : firstFiles(state);
    if (files !== null) return ok(files);
    return refused(
      failure('notFound', 'no_initial', {
        what: `run ${state.run} began without candidate files, so there is no \`${id}\` to compare with`,
        fix: 'Compare with another candidate.',
      }),
    );
  }
  const snapshot = knownOf(state, id)?.captured?.snapshot;
  return snapshot === undefined ? unknown(state, id) : ok(snapshot);
}
