import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { record } from '../../src/archive/order.ts';
import { sayScore } from '../../src/base/numbers.ts';
import { finalCandidate } from '../../src/review/selection.ts';
import type { RunState } from '../../src/run/model.ts';
import { layOutDemo } from './place.ts';
import { endProcessesOn, processesGone, type Found } from './processes.ts';
import { startForegroundRun } from './realRun.ts';
import { latestRun, readRecorded } from './recorded.ts';

/** Alternation, or one of its agents alone. */
export type LineUp = 'alternation' | 'A' | 'B';

/** One finished run of the comparison. */
export interface Compared {
  readonly seed: number;
  readonly lineUp: LineUp;
  readonly state: RunState;
  readonly exit: number | null;
  readonly left: readonly Found[];
  /** It ended its turn twice in a row without an accepted experiment, before the budget was used up. */
  readonly outOfIdeas: boolean;
}

/** Every run of the comparison may have so many accepted experiments; alternation's sessions are ended at the cap. */
export const size = { experiments: 5, cap: 2 } as const;
export const seeds = [1, 2, 3] as const;
export const lineUps = ['alternation', 'A', 'B'] as const satisfies readonly LineUp[];

/** Real runs of the sample, the same engine for all, two at a time. */
export async function compare(onDone: (one: Compared) => void = () => undefined): Promise<Compared[]> {
  const jobs = seeds.flatMap((seed) => lineUps.map((lineUp) => ({ seed, lineUp })));
  const all: Compared[] = [];
  const worker = async (): Promise<void> => {
    for (let job = jobs.shift(); job; job = jobs.shift()) {
      const done = await runOne(job.seed, job.lineUp);
      all.push(done);
      onDone(done);
    }
  };
  await Promise.all([worker(), worker()]);
  return seeds.flatMap((seed) =>
    lineUps.flatMap((lineUp) => all.filter((one) => one.seed === seed && one.lineUp === lineUp)),
  );
}

async function runOne(seed: number, lineUp: LineUp): Promise<Compared> {
  const root = mkdtempSync(join(tmpdir(), 'hma-compare-'));
  const place = layOutDemo(root, { seed, ...size, ...(lineUp === 'alternation' ? {} : { alone: lineUp }) });
  try {
    const ideas = ideasOf(lineUp);
    const running = startForegroundRun(
      place,
      'ignore',
      (_, event, now) => ideas.see(event.type, now) && running.review(),
    );
    const { exit, stopped } = await running.end;
    if (stopped !== null) throw new Error(`seed ${seed}, ${lineUp}: ended because ${stopped}`);
    const left = await processesGone(place);
    const run = latestRun(place);
    const recorded = run && readRecorded(run.folder);
    if (!recorded) throw new Error(`seed ${seed}, ${lineUp}: hma run ended with ${String(exit)} and left no record`);
    return {
      seed,
      lineUp,
      state: recorded.state,
      exit,
      left,
      outOfIdeas: ideas.over && recorded.state.archive.length < size.experiments,
    };
  } finally {
    await endProcessesOn(place);
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * One alone is asked again and again when it ends its turn (the paper's goal baseline). A script that has tried everything would go on
 * like that until its time is over: after two turns in a row without an accepted experiment its run is concluded.
 */
function ideasOf(lineUp: LineUp): { readonly over: boolean; see(type: string, state: RunState | null): boolean } {
  let [over, barren, known] = [false, 0, 0];
  return {
    get over() {
      return over;
    },
    see(type, state) {
      if (lineUp === 'alternation' || type !== 'attempt.ended' || over) return false;
      const accepted = state?.archive.length ?? 0;
      barren = accepted > known ? 0 : barren + 1;
      known = accepted;
      over = barren >= 2;
      return over;
    },
  };
}

/** Score and hidden grade of a run's record and of its final candidate. */
export function outcomeOf(state: RunState): {
  readonly record: number;
  readonly recordGrade: number;
  readonly final: string;
  readonly finalGrade: number;
} {
  const best = record(state.archive, state.terms.metric);
  const final = state.archive.find(({ id }) => id === finalCandidate({ ...state.terms, ...state })?.candidate);
  const gradeOf = (one: typeof best): number => (one?.grade?.kind === 'graded' ? one.grade.grade : Number.NaN);
  return {
    record: best?.score ?? Number.NaN,
    recordGrade: gradeOf(best),
    final: final?.id ?? '',
    finalGrade: gradeOf(final),
  };
}

/** How a line-up is called, with its agents' names. */
export const nameOf = ({ state, lineUp }: Pick<Compared, 'state' | 'lineUp'>): string =>
  lineUp === 'alternation' ? 'alternation' : `${state.terms.agents[lineUp].name} alone`;

const heads = [
  'seed',
  'who',
  'options',
  'experiments',
  'record',
  'its hidden grade',
  'final',
  'its hidden grade',
  'lowest final grade',
];

/** The comparison as a Markdown table, and who won in how many seeds; lower is better. */
export function comparisonTable(all: readonly Compared[]): string {
  const wins = new Map<string, number>();
  const rows = seeds.flatMap((seed) => {
    const ofSeed = all.filter((one) => one.seed === seed);
    const least = Math.min(...ofSeed.map(({ state }) => outcomeOf(state).finalGrade));
    return ofSeed.map((one) => {
      const { record: best, recordGrade, final, finalGrade } = outcomeOf(one.state);
      const won = finalGrade === least;
      if (won) wins.set(nameOf(one), (wins.get(nameOf(one)) ?? 0) + 1);
      const authors = one.state.archive.map(({ author }) => author).join('');
      return [
        String(seed),
        nameOf(one),
        one.state.options.map(({ agent }) => agent).join(' → '),
        `${one.state.archive.length}: ${authors}${one.outOfIdeas ? ', out of ideas' : ''}`,
        sayScore(best),
        sayScore(recordGrade),
        final,
        sayScore(finalGrade),
        won ? '←' : '',
      ];
    });
  });
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const tally = [...wins].map(([name, times]) => `${name} ${times} of ${seeds.length}`).join(', ');
  return [
    line(heads),
    `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`,
    ...rows.map(line),
    '',
    `Lowest hidden grade of the final candidate: ${tally}.`,
  ].join('\n');
}
