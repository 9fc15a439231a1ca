import { expect, test } from 'vitest';

import type { RunState } from '../../src/run/model.ts';
import { candidateRows, noFilter, type CandidateView, type OwnMarks } from '../../src/window/candidateRows.ts';
import { candidateTooltip } from '../../src/window/candidateRowsTooltips.ts';
import { redrawOf } from '../../src/window/treeRow.ts';
import { accepted, goneOn, history, opened, optionFacts, stateOf, wholeRun, type At } from '../cli/history.ts';
import { quickest } from './quickest.ts';

const run = '20261130-181123-ab12';

const marked = (starred: readonly string[] = [], hidden: readonly string[] = []): OwnMarks => ({
  isStarred: (of, id) => of === run && starred.includes(id),
  isHidden: (of, id) => of === run && hidden.includes(id),
});

const latest: CandidateView = { order: 'time', filter: noFilter, most: 200 };

const seen = (state: RunState, own: OwnMarks, view: CandidateView): string[] =>
  candidateRows(state, own, view).rows.map(({ icon, label, description }) => `[${icon.id}] ${label} | ${description}`);

const over = stateOf(history(...wholeRun()));

test('what a candidate is can be told by icon and by word', () => {
  expect(seen(over, marked(['e4']), latest)).toEqual([
    '[git-commit] e6 | 0.35 · standing · ada, option 3',
    '[check-all] e5 | 0.3 · final, nominated, record · bob, option 2',
    '[star-full] e4 | 0.45 · starred · bob, option 2 · a tree',
    '[circle-outline] e3 | 0.4 · ada, option 1',
    '[circle-outline] e1 | 0.5 · ada, option 1 · ridge',
  ]);
});

test('a person’s pin is the final candidate, and the reviewer’s nomination stays to be seen', () => {
  const pinned = stateOf(
    history(...wholeRun(), [
      70_000,
      {
        type: 'candidate.selected',
        data: { candidate: 'e3', by: 'person', who: 'kim', reason: 'simpler', gradesRevealed: false },
      },
    ]),
  );
  expect(seen(pinned, marked(), latest).slice(1, 4)).toEqual([
    '[law] e5 | 0.3 · nominated, record · bob, option 2',
    '[circle-outline] e4 | 0.45 · bob, option 2 · a tree',
    '[check-all] e3 | 0.4 · final · ada, option 1',
  ]);
});

test('nothing is final before somebody or the fallback has decided', () => {
  const before = stateOf(history(...wholeRun().filter(([, { type }]) => type !== 'candidate.selected')));
  expect(seen(before, marked(), latest)[1]).toBe('[law] e5 | 0.3 · nominated, record · bob, option 2');
});

test('a whole row', () => {
  expect(candidateRows(over, marked([], ['e5']), { ...latest, filter: { ...noFilter, hidden: true } }).rows[1]).toEqual(
    {
      id: `${run}/e5`,
      label: 'e5',
      description: '0.3 · final, nominated, record · hidden · bob, option 2',
      icon: { id: 'check-all', color: 'charts.green' },
      context: 'candidate unstarred hidden graded final nominated record',
      spoken: 'Candidate e5, 0.3, final, nominated, record, hidden, bob, option 2',
      expand: 'none',
      children: [],
      candidate: 'e5',
      session: null,
      command: { command: 'hma.showFiles', title: 'Show the candidate’s files', arguments: ['e5'] },
      marks: ['hidden', 'final', 'nominated', 'record'],
    },
  );
});

const ids = (view: Partial<CandidateView>, own = marked()): string[] =>
  candidateRows(over, own, { ...latest, ...view }).rows.map(({ label }) => label);

test('orders: latest first, best first, by author', () => {
  expect(ids({ order: 'time' })).toEqual(['e6', 'e5', 'e4', 'e3', 'e1']);
  expect(ids({ order: 'score' })).toEqual(['e5', 'e6', 'e3', 'e4', 'e1']);
  expect(ids({ order: 'author' })).toEqual(['e6', 'e3', 'e1', 'e5', 'e4']);
});

test('filters: wishes of one kind add up, those of different kinds must all be met', () => {
  expect(ids({ filter: { ...noFilter, authors: ['B'] } })).toEqual(['e5', 'e4']);
  expect(ids({ filter: { ...noFilter, options: [1, 3] } })).toEqual(['e6', 'e3', 'e1']);
  expect(ids({ filter: { ...noFilter, options: [1, 2], authors: ['A'] } })).toEqual(['e3', 'e1']);
  expect(ids({ filter: { ...noFilter, starred: true } }, marked(['e1', 'e5']))).toEqual(['e5', 'e1']);
  expect(ids({ filter: { ...noFilter, flagged: true } })).toEqual([]);
  expect(ids({}, marked([], ['e4', 'e6']))).toEqual(['e5', 'e3', 'e1']);
  const { passing, all } = candidateRows(over, marked([], ['e4']), latest);
  expect({ passing, all }).toEqual({ passing: 4, all: 5 });
});

test('a candidate that came over says of which run it is, and belongs to no option of this one', () => {
  const facts = [
    ...goneOn(),
    optionFacts.open(1000, 1, 'B'),
    ...accepted(2000, { id: 'e7', option: 1, agent: 'B', score: 0.2 }),
  ];
  const state = stateOf(history(...facts));
  expect(seen(state, marked(), latest).slice(0, 3)).toEqual([
    '[arrow-circle-up] e7 | 0.2 · record, standing · cat, option 1',
    `[circle-outline] e6 | 0.35 · ada, option 3 of run ${run}`,
    `[circle-outline] e5 | 0.3 · bob, option 2 of run ${run}`,
  ]);
  const shown = (filter: Partial<CandidateView['filter']>) =>
    candidateRows(state, marked(), { ...latest, filter: { ...noFilter, ...filter } }).rows.map(({ label }) => label);
  expect(shown({ options: [1] })).toEqual(['e7']);
  expect(shown({ authors: ['A'] })).toEqual(['e6', 'e3', 'e1']);
  const [tooltip] = state.archive.slice(3, 4).map((candidate) => candidateTooltip(state, candidate, []));
  expect(tooltip).toContain(String.raw`**Author** bob in option 2 of run 20261130\-181123\-ab12`);
  expect(tooltip).toContain(String.raw`at 0\:40\.0 of active runtime`);
});

const blindFacts: readonly At[] = [
  [0, opened({ terms: { feedback: 'blind' } })],
  optionFacts.open(1000, 1, 'A'),
  ...(
    [
      ['e1', 0.7, 0.111_11],
      ['e2', null, 0.222_22],
      ['e3', 0.6, 0.333_33],
    ] as const
  ).flatMap(([id, reported, score]): At[] => [
    [
      9000,
      {
        type: 'experiment.submitted',
        data: {
          id,
          option: 1,
          agent: 'A',
          attempt: 1,
          note: null,
          reported,
          captured: { snapshot: 's', contentHash: `hash-${id}`, files: 1, bytes: 10 },
        },
      },
    ],
    [10_000, { type: 'experiment.accepted', data: { id, option: 1, score, verdictAt: 10_000, flags: [] } }],
  ]),
];

test('blind tasks: reported and labelled so, ordered by it, those without last; scores stay back until grades are revealed', () => {
  const blind = stateOf(history(...blindFacts));
  expect(seen(blind, marked(), { ...latest, order: 'score' })).toEqual([
    '[arrow-circle-up] e3 | reported 0.6 · record, standing · ada, option 1',
    '[circle-outline] e1 | reported 0.7 · ada, option 1',
    '[circle-outline] e2 | nothing reported · ada, option 1',
  ]);
  const tip = (state: RunState): string => state.archive.map((one) => candidateTooltip(state, one, [])).join('\n');
  expect(tip(blind)).not.toMatch(/0\\?\.(11111|22222|33333)/);
  const revealed = stateOf(history(...blindFacts, [20_000, { type: 'grades.revealed', data: { who: 'kim' } }]));
  expect(tip(revealed)).toMatch(/\*\*Score\*\* 0\\\.33333/);
});

const revealed: At = [70_000, { type: 'grades.revealed', data: { who: 'kim' } }];
const graded = (id: string, grade: number, grader: string): At => [
  80_000,
  { type: 'candidate.graded', data: { id, nonce: 'g', result: { kind: 'graded', grade, grader } } },
];
const tooltip = (state: RunState, id: string): string => {
  const candidate = state.archive.find((one) => one.id === id);
  if (!candidate) throw new Error(`the history has no ${id}`);
  return candidateTooltip(state, candidate, []);
};

test('a hidden grade is told only after it was revealed', () => {
  expect(tooltip(over, 'e5')).toContain('**Grade** hidden until a person reveals grades');
  expect(seen(over, marked(), latest)[1]).not.toContain('grade');
  const told = stateOf(history(...wholeRun(), revealed));
  expect(tooltip(told, 'e5')).toContain(String.raw`**Grade** 0\.33`);
  expect(seen(told, marked(), latest)[1]).toBe(
    '[check-all] e5 | 0.3 · final, nominated, record · grade 0.33 · bob, option 2',
  );
});

test('grades of one grader stand alone; those of several say whose they are', () => {
  const one = [revealed, graded('e5', 0.33, 'aaaaaaaa11'), graded('e4', 0.44, 'aaaaaaaa11')];
  const same = stateOf(history(...wholeRun(), ...one));
  expect(seen(same, marked(), latest)[2]).toBe('[circle-outline] e4 | 0.45 · grade 0.44 · bob, option 2 · a tree');
  const changed = stateOf(history(...wholeRun(), ...one, graded('e3', 0.39, 'bbbbbbbb22')));
  expect(seen(changed, marked(), latest).slice(2, 4)).toEqual([
    '[circle-outline] e4 | 0.45 · grade 0.44 by grader aaaaaaa · bob, option 2 · a tree',
    '[circle-outline] e3 | 0.4 · grade 0.39 by grader bbbbbbb · ada, option 1',
  ]);
  expect(tooltip(changed, 'e4')).toContain(String.raw`**Grade** 0\.44 by grader aaaaaaa`);
});

const wanted = (...errands: readonly ['grade' | 'reevaluate', string][]): At => [
  70_000,
  { type: 'errands.wanted', data: { errands: errands.map(([kind, candidate]) => ({ kind, candidate })), by: 'kim' } },
];
const again = (id: string, score: number): At => [
  80_000,
  { type: 'candidate.reevaluated', data: { id, nonce: 'n', verdict: { kind: 'scored', score } } },
];

test('what is still to be done about a candidate is said, and what came of it stands beside its score', () => {
  const begun = [wanted(['reevaluate', 'e4'], ['reevaluate', 'e4'], ['grade', 'e3']), again('e4', 0.44)];
  const during = stateOf(history(...wholeRun(), ...begun));
  expect(seen(during, marked(), latest).slice(2, 4)).toEqual([
    '[circle-outline] e4 | 0.45 · evaluating again, 1 to go · again 0.44 ± — · bob, option 2 · a tree',
    '[circle-outline] e3 | 0.4 · waits to be graded · ada, option 1',
  ]);
  const done = stateOf(history(...wholeRun(), ...begun, again('e4', 0.48)));
  expect(seen(done, marked(), latest)[2]).toBe(
    '[circle-outline] e4 | 0.45 · again 0.46 ± 0.02 · bob, option 2 · a tree',
  );
  expect(tooltip(done, 'e4')).toContain(String.raw`**Evaluated again** 0\.46 ± 0\.02 over 2 more runs`);
});

test('a disqualified candidate is marked, is no record or standing one, and its menu knows it', () => {
  const facts = (['e5', 'e6'] as const).map((id): At => [
    70_000,
    { type: 'candidate.disqualified', data: { id, reason: 'reads the test set', who: 'kim' } },
  ]);
  const state = stateOf(history(...wholeRun(), ...facts));
  expect(seen(state, marked(), latest).slice(0, 4)).toEqual([
    '[circle-slash] e6 | 0.35 · disqualified · ada, option 3',
    '[circle-slash] e5 | 0.3 · disqualified, nominated · bob, option 2',
    '[check-all] e4 | 0.45 · final, standing · bob, option 2 · a tree',
    '[arrow-circle-up] e3 | 0.4 · record · ada, option 1',
  ]);
  expect(candidateRows(state, marked(), latest).rows[0]?.context).toBe(
    'candidate unstarred shown ungraded disqualified',
  );
  expect(tooltip(state, 'e6')).toContain('**Disqualified** by kim\\: reads the test set');
});

test('blind tasks: more runs of the evaluator stay back with the scores', () => {
  const runs = [wanted(['reevaluate', 'e3']), again('e3', 0.318_18)];
  expect(tooltip(stateOf(history(...blindFacts, ...runs)), 'e3')).not.toMatch(/31818/);
  expect(tooltip(stateOf(history(...blindFacts, revealed, ...runs)), 'e3')).toMatch(/31818/);
});

test('5,000 candidates: a page of them, made in time; a star redraws one row', () => {
  const facts = Array.from({ length: 5000 }, (_, index) =>
    accepted(10_000 + index, { id: `e${index + 1}`, option: 1, agent: 'A', score: 1 / (index + 1) }),
  ).flat();
  const many = stateOf(history([0, opened()], optionFacts.open(1000, 1, 'A'), ...facts));
  const found = candidateRows(many, marked(), { ...latest, order: 'score' });
  expect({ rows: found.rows.length, passing: found.passing, last: found.rows.at(-1)?.description }).toEqual({
    rows: 201,
    passing: 5000,
    last: '4800 candidates not shown yet',
  });
  const starred = candidateRows(many, marked(['e4990']), { ...latest, order: 'score' });
  expect(redrawOf(found.rows, starred.rows)).toEqual(new Set([`${run}/e4990`]));
  expect(quickest(() => candidateRows(many, marked(), { ...latest, order: 'score' }))).toBeLessThan(100);
});
