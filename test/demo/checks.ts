import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { judge } from '../../media/sample/digits/workspace/evaluate.mjs';
import { record, standing } from '../../src/archive/order.ts';
import type { Candidate } from '../../src/archive/model.ts';
import { authorName } from '../../src/archive/origin.ts';
import { runFiles } from '../../src/ledger/places.ts';
import { finalCandidate } from '../../src/review/selection.ts';
import type { RunState } from '../../src/run/model.ts';
import { openSnapshots } from '../../src/snapshots/store.ts';
import { sayScore } from '../../src/base/numbers.ts';
import { count } from '../../src/base/words.ts';
import type { DemoPlace } from './place.ts';
import type { Found } from './processes.ts';
import { sessionOutput, type RecordedRun } from './recorded.ts';

/** One thing that must really have happened, and what was found. */
export interface Check {
  readonly what: string;
  readonly found: string;
  readonly good: boolean;
}

/** What is looked at: the record on disk, the folders, and the processes that still live. */
export interface Evidence {
  readonly place: DemoPlace;
  readonly run: RecordedRun;
  readonly exit: number | null;
  readonly left: readonly Found[];
  /** Least number of options. */
  readonly options: number;
}

/** Everything that a demonstration claims, checked against the ledger, the snapshots and the machine. */
export async function checkDemo(evidence: Evidence): Promise<Check[]> {
  const { state } = evidence.run;
  return [
    ledgerWhole(evidence),
    sessions(evidence),
    alternation(state),
    authors(state),
    caps(state),
    worksOn(evidence),
    review(state),
    selection(evidence),
    ...(await recomputed(evidence)),
    gone(evidence),
  ];
}

function ledgerWhole({ run: { events, problems, state } }: Evidence): Check {
  const gapless = events.every((event, index) => event.seq === index + 1);
  const good = problems.length === 0 && gapless && state.phase === 'finished';
  return {
    what: 'the ledger is whole, the run over',
    found: `${count(events.length, 'event')}${problems[0] ? `; ${problems[0].file}:${problems[0].line}: ${problems[0].detail}` : ''}${good ? '' : `; the run is ${state.phase}`}`,
    good,
  };
}

const attemptsOf = (state: RunState) =>
  [...state.options, ...(state.review ? [state.review] : [])].flatMap((session) => session.attempts);

/** Each session was a process of its own that began with an empty context: its own pid, its own first words. */
function sessions({ run: { events, state, folder }, options }: Evidence): Check {
  const runners = events.flatMap((event) =>
    event.type === 'attempt.started' ? [(event.data as { runner: { pid: number; start: string } }).runner] : [],
  );
  const distinct = new Set(runners.map(({ pid, start }) => `${pid}.${start}`)).size;
  const spoke = state.options.filter(({ number }) =>
    sessionOutput(folder, number).includes('scripted demonstration agent'),
  ).length;
  const good =
    state.options.length >= options && distinct === attemptsOf(state).length && spoke === state.options.length;
  return {
    what: `${options} options or more, each its own process`,
    found: `${count(state.options.length, 'option')}; ${count(distinct, 'process', 'processes')} with the review's`,
    good,
  };
}

function alternation(state: RunState): Check {
  const order = state.options.map(({ agent }) => agent);
  return {
    what: 'strict alternation',
    found: order.join(' → '),
    good: order.length > 1 && order.every((agent, index) => index === 0 || agent !== order[index - 1]),
  };
}

function authors(state: RunState): Check {
  const by = (slot: 'A' | 'B'): number => state.archive.filter(({ author }) => author === slot).length;
  const { experiments } = state.budgets;
  return {
    what: 'accepted experiments by both agents',
    found: `${by('A')} by ${state.terms.agents.A.name}, ${by('B')} by ${state.terms.agents.B.name}; the budget was ${String(experiments)}`,
    good: by('A') > 0 && by('B') > 0 && state.archive.length === experiments,
  };
}

function caps(state: RunState): Check {
  const cap = state.terms.policy.cap ?? Number.POSITIVE_INFINITY;
  const most = Math.max(0, ...state.options.map(({ accepted }) => accepted.length));
  const closed = state.options.filter(({ closure }) => closure === 'cap').length;
  return {
    what: 'the cap held, and ended sessions',
    found: `at most ${most} of ${cap} accepted; ${count(closed, 'session')} ended at it`,
    good: most <= cap && closed > 0,
  };
}

/** A session that goes on from what the other agent left: the point of alternating. */
function worksOn({ run: { folder, state } }: Evidence): Check {
  const took = state.options.flatMap(({ number }) => {
    const from = /I go on from (e\d+) \(peer/.exec(sessionOutput(folder, number))?.[1];
    return from === undefined ? [] : [`option ${number} from ${from}`];
  });
  return { what: "built on the other agent's candidates", found: took.join(', ') || 'none did', good: took.length > 0 };
}

function review(state: RunState): Check {
  const last = standing(state.archive);
  const { review: held } = state;
  const other = held !== null && last !== undefined && held.reviewer !== last.author;
  const found =
    held === null || held.attempts.length === 0
      ? `there was none${held?.outcome ? ` (${held.outcome})` : ''}`
      : `${held.outcome ?? 'no outcome'}, by ${state.terms.agents[held.reviewer].name}; the standing ${last?.id ?? 'candidate'} is by ${last ? authorName(last, state.terms.agents) : 'nobody'}`;
  return {
    what: 'final review by the other agent',
    found,
    good: other && (held.outcome === 'chosen' || held.outcome === 'endorsed'),
  };
}

const finalOf = (state: RunState) => finalCandidate({ ...state.terms, ...state });

function selection({ run: { state }, exit }: Evidence): Check {
  const final = finalOf(state);
  const known = state.archive.some(({ id }) => id === final?.candidate);
  return {
    what: 'a selection, by the reviewer',
    found: `${final ? `${final.candidate}, by ${final.by}` : 'none'}${exit === 0 ? '' : `; hma run ended with ${String(exit)}`}`,
    good: known && final?.by === 'reviewer' && exit === 0,
  };
}

/** Candidates whose hidden grade is known: final, standing, record; each once, with what it is. */
export function gradedOnes(state: RunState): { readonly candidate: Candidate; readonly as: string }[] {
  const named = [
    ['final', state.archive.find(({ id }) => id === finalOf(state)?.candidate)],
    ['standing', standing(state.archive)],
    ['record', record(state.archive, state.terms.metric)],
  ] as const;
  return state.archive.flatMap((candidate) => {
    const as = named.flatMap(([name, one]) => (one?.id === candidate.id ? [name] : []));
    return as.length === 0 ? [] : [{ candidate, as: as.join(', ') }];
  });
}

/** Scores and grades once more, here, from the archived files: what the ledger says is what the files are worth. */
async function recomputed({ run: { folder, state }, place }: Evidence): Promise<Check[]> {
  const labels = (name: string): string => readFileSync(join(place.hidden, name), 'utf8');
  const [validation, test] = [labels('validation.csv'), labels('test.csv')];
  const predictions = await archivedPredictions(folder, state.archive);
  const differs = (candidate: Candidate, against: string, recorded: number | undefined): boolean => {
    const verdict = judge(predictions.get(candidate.id) ?? '', against);
    return !('score' in verdict) || recorded === undefined || Math.abs(verdict.score - recorded) > 1e-9;
  };
  const wrong = state.archive.filter((candidate) => differs(candidate, validation, candidate.score));
  const graded = gradedOnes(state);
  const gradeOf = ({ grade }: Candidate): number | undefined => (grade?.kind === 'graded' ? grade.grade : undefined);
  const badly = graded.filter(({ candidate }) => differs(candidate, test, gradeOf(candidate)));
  const scores = new Set(state.archive.map(({ score }) => score)).size;
  return [
    {
      what: 'scores, once more from archived files',
      found:
        wrong.length > 0
          ? `not the same: ${wrong.map(({ id }) => id).join(', ')}`
          : `the same for ${count(state.archive.length, 'candidate')}; ${count(scores, 'different score')}`,
      good: wrong.length === 0 && scores > 1,
    },
    {
      what: 'hidden grades, once more from the files',
      found:
        badly.length > 0
          ? `missing or not the same: ${badly.map(({ candidate }) => candidate.id).join(', ')}`
          : graded.map(({ candidate }) => `${candidate.id} ${sayScore(gradeOf(candidate) ?? Number.NaN)}`).join(', ') ||
            'none',
      good: graded.length > 0 && badly.length === 0,
    },
  ];
}

async function archivedPredictions(folder: string, archive: readonly Candidate[]): Promise<Map<string, string>> {
  const snapshots = await openSnapshots({ dir: runFiles(folder).snapshots });
  try {
    const found = new Map<string, string>();
    for (const { id, snapshot } of archive)
      found.set(id, (await snapshots.read(snapshot, 'predictions.csv')).toString('utf8'));
    return found;
  } finally {
    await snapshots.close();
  }
}

function gone({ run: { state }, left }: Evidence): Check {
  const survivors = state.options.flatMap((option) => option.survivors);
  const found =
    left.length + survivors.length === 0
      ? 'none left'
      : [...left, ...survivors].map(({ pid, command }) => `${pid} ${command.slice(0, 60)}`).join(', ');
  return { what: 'every process is gone', found, good: left.length + survivors.length === 0 };
}
