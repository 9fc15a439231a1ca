import { styleFor, type Style } from '../../src/cli/render/style.ts';
import { sayScore } from '../../src/base/numbers.ts';
import { fit, pad, table, wrap } from '../../src/cli/render/text.ts';
import { finalCandidate } from '../../src/review/selection.ts';
import type { Candidate } from '../../src/archive/model.ts';
import { authorName } from '../../src/archive/origin.ts';
import { gradedOnes, type Check } from './checks.ts';
import type { DemoPlace } from './place.ts';
import type { RecordedRun } from './recorded.ts';

/** What the demonstration's own pages are drawn on. */
export interface Sheet {
  readonly style: Style;
  readonly columns: number;
}

/** This process's terminal; elsewhere lines as long as they are. */
export const sheetOf = (out: NodeJS.WriteStream): Sheet => ({
  style: styleFor(out.isTTY, process.env),
  columns: out.isTTY ? Math.max(40, out.columns || 80) : 1000,
});

const headline = (title: string, { style, columns }: Sheet): string =>
  fit(
    `${style.dim('══')} ${style.bold(title)} ${style.dim('═'.repeat(Math.max(2, Math.min(columns, 100) - title.length - 4)))}`,
    columns,
  );

/** What will be seen, before it begins. */
export function introduction(
  place: DemoPlace,
  given: { readonly seed: number; readonly experiments: number },
  sheet: Sheet,
): string[] {
  const { style } = sheet;
  const text = `Two scripted demonstration agents (programs, no language models; no network, no key) take turns on a real task: telling handwritten digits apart. Models are trained now, on this machine. One agent brings new models and features, the other tunes what it finds; each begins with an empty context and is ended at its cap. After ${given.experiments} experiments the one that did not write the latest candidate chooses the final one, and a grader that neither has seen grades it. About a minute.`;
  return [
    headline(`demonstration, seed ${given.seed}`, sheet),
    ...wrap(text, Math.min(sheet.columns, 100) - 2, { most: 10 }).map((line) => `  ${line}`),
    `  ${style.dim('in')} ${place.root}${style.dim(' · Ctrl-C ends it, with everything it started')}`,
    '',
  ];
}

/** The page at the end: what really happened, what the hidden grader said, where everything lies, what to try next. */
export function closingPage(
  given: {
    readonly place: DemoPlace;
    readonly run: RecordedRun;
    readonly checks: readonly Check[];
    readonly seconds: number;
  },
  sheet: Sheet,
): string[] {
  const { run, checks } = given;
  const { style } = sheet;
  const failed = checks.filter(({ good }) => !good);
  const took = `${given.seconds.toFixed(0)} s`;
  const verdict =
    failed.length === 0
      ? style.good(`All ${checks.length} checks hold`)
      : style.bad(`${failed.length} of ${checks.length} checks failed, marked ✗ above`);
  return [
    '',
    headline('what really happened', sheet),
    ...checks.flatMap((check) => checkLines(check, sheet)),
    '',
    ...gradeTable(run, sheet),
    '',
    ...next(given, sheet),
    '',
    `${verdict}. ${took}.`,
  ];
}

/** Columns of what is checked; what was found stands behind it. */
const whatColumns = 46;

function checkLines({ what, found, good }: Check, { style, columns }: Sheet): string[] {
  const [first = '', ...rest] = wrap(found, Math.max(20, Math.min(columns, 100) - whatColumns), { most: 3 });
  const head = `  ${good ? style.good('✓') : style.bad('✗')} ${pad(what, whatColumns - 4)}${good ? first : style.bad(first)}`;
  return [head, ...rest.map((text) => `${' '.repeat(whatColumns)}${good ? text : style.bad(text)}`)].map((text) =>
    fit(text, columns),
  );
}

/** Score and hidden grade of the final, the standing and the record candidate: whether the review did well is seen here only. */
function gradeTable({ state }: RecordedRun, { style, columns }: Sheet): string[] {
  const graded = gradedOnes(state);
  if (graded.length === 0) return [`  ${style.warn('no candidate, so nothing was graded')}`];
  const gradeOf = ({ grade }: Candidate): number => (grade?.kind === 'graded' ? grade.grade : Number.NaN);
  const best = Math.min(...graded.map(({ candidate }) => gradeOf(candidate)));
  const rows = graded.map(({ candidate, as }) => {
    const grade = gradeOf(candidate);
    const said = Number.isFinite(grade) ? sayScore(grade) : '—';
    return [
      candidate.id,
      as,
      authorName(candidate, state.terms.agents),
      sayScore(candidate.score),
      grade === best ? style.bold(said) : said,
    ];
  });
  const first = state.archive[0];
  const begun = first
    ? [[first.id, 'the first, to compare', authorName(first, state.terms.agents), sayScore(first.score), '']]
    : [];
  const head = ['', '', 'by', `${state.terms.metric.name} shown`, 'hidden grade'].map((word) => style.dim(word));
  return table({
    rows: [head, ...(graded.some(({ candidate }) => candidate.id === first?.id) ? [] : begun), ...rows],
    right: new Set([3, 4]),
    columns,
    indent: '  ',
  });
}

function next({ place, run }: { readonly place: DemoPlace; readonly run: RecordedRun }, { style }: Sheet): string[] {
  const { archive, review } = run.state;
  const final = finalCandidate({ ...run.state.terms, ...run.state })?.candidate;
  const other = archive.findLast(({ id }) => id !== final)?.id;
  const commands: [string, string][] = [
    ...(archive.length === 0
      ? []
      : [['hma candidates --sort score', 'all candidates, with scores, grades and notes'] as [string, string]]),
    ...(other === undefined
      ? []
      : [[`hma select ${other} --reason "…"`, 'the choice is yours; nothing is overwritten'] as [string, string]]),
    ['hma log', 'everything that happened, once more'],
    [
      `hma log --session ${review && review.attempts.length > 0 ? 'review' : '1'}`,
      review && review.attempts.length > 0 ? 'what the reviewer did' : 'what the first session printed',
    ],
  ];
  return [
    `  ${style.dim(pad('workspace', 10))}${place.workspace}`,
    `  ${style.dim(pad('record', 10))}${run.folder}`,
    '',
    `  ${style.dim('To look around:')} cd ${place.workspace} && export PATH=${place.bin}:$PATH`,
    ...commands.map(([command, why]) => `    ${pad(command, 34)} ${style.dim(why)}`),
  ];
}
