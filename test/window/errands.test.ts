import { expect, test } from 'vitest';

import type { RunState } from '../../src/run/model.ts';
import { errandWords, sayErrands } from '../../src/window/candidateStory.ts';
import {
  disqualifyPrompt,
  gradeAll,
  gradeConfirmation,
  readTimes,
  reevaluationPrompt,
  sayDone,
} from '../../src/window/errandsDecide.ts';
import { agentRows, type AgentSeen } from '../../src/window/signInRows.ts';
import { accepted, history, opened, optionFacts, stateOf, wholeRun, type At } from '../cli/history.ts';

const state = (...more: readonly At[]): RunState => stateOf(history(...wholeRun(), ...more));
const over = state();
const graded = (id: string, grade: number | null, grader = 'a'.repeat(16)): At => [
  80_000,
  {
    type: 'candidate.graded',
    data: {
      ...{ id, nonce: 'g' },
      result: grade === null ? { kind: 'ungraded', reason: 'it crashed', grader } : { kind: 'graded', grade, grader },
    },
  },
];
const again = (id: string, score: number): At => [
  80_000,
  { type: 'candidate.reevaluated', data: { id, nonce: 'n', verdict: { kind: 'scored', score } } },
];
const revealed: At = [70_000, { type: 'grades.revealed', data: { who: 'kim' } }];

test('how often the evaluator runs again: a whole number within the controller’s bounds', () => {
  expect(['5', ' 12 ', '1000'].map((text) => readTimes(text))).toEqual([{ times: 5 }, { times: 12 }, { times: 1000 }]);
  for (const text of ['', '0', '-1', '1.5', '1e2', 'five', '1001'])
    expect(readTimes(text)).toEqual({ why: 'A whole number from 1 to 1000.' });
});

test('what re-evaluating costs is said from how long the evaluator took, where that is known', () => {
  const timed = stateOf(
    history(
      [0, opened()],
      optionFacts.open(1000, 1, 'A'),
      ...accepted(20_000, { id: 'e1', option: 1, agent: 'A', score: 0.5 }).slice(0, 1),
      [8000, { type: 'evaluation.starting', data: { id: 'e1', nonce: 'n', kind: 'evaluate' } }],
      [
        20_000,
        {
          type: 'evaluation.ended',
          data: { id: 'e1', nonce: 'n', at: 20_000, verdict: { kind: 'scored', score: 0.5 } },
        },
      ],
    ),
  );
  expect(reevaluationPrompt(timed, ['e1'])).toContain('Five: about 1 min, as one took 12.0 s.');
  expect(reevaluationPrompt(over, ['e3'])).toContain('Five: each takes as long as the evaluator.');
});

test('grading says how much is to be done and what stays hidden; all again only where all have a grade', () => {
  expect(gradeConfirmation(over, ['e1', 'e3'], false)).toMatchObject({
    message: 'Grade e1, e3?',
    detail:
      'The hidden grader runs 2 times, one after the other; nothing else of the run changes. Grades stay hidden until somebody reveals them.',
    wish: { kind: 'grade', candidates: ['e1', 'e3'], again: false },
  });
  expect(gradeAll(over)).toMatchObject({
    message: 'Grade e1, e3, e4, e6?',
    wish: { candidates: [], again: false },
  });
  const mixed = state(graded('e1', 0.5));
  expect(gradeAll(mixed)).toMatchObject({
    message: 'There are grades of several graders. Grade all again?',
    wish: { candidates: [], again: true },
  });
  const all = state(revealed, ...['e1', 'e3', 'e4', 'e5', 'e6'].map((id) => graded(id, 0.5)));
  expect(gradeAll(all)).toMatchObject({
    message: 'All 5 candidates have a grade. Grade all again?',
    button: 'Grade Again',
    wish: { candidates: [], again: true },
  });
  expect(gradeAll(all)?.detail).not.toContain('hidden until');
});

test('disqualifying the final candidate says that another takes its place', () => {
  expect(disqualifyPrompt(over, ['e5'])).toContain('e5 is the final candidate: another takes its place.');
  expect(disqualifyPrompt(over, ['e3'])).not.toContain('final');
});

test('what came of it: mean beside the score, grades only once they are revealed, graders told apart', () => {
  const wish = { kind: 'reevaluate', candidate: 'e4', times: 2 } as const;
  expect(sayDone(state(again('e4', 0.44), again('e4', 0.48)), over, wish)).toBe(
    'e4: 0.46 ± 0.02 over 2 more runs; its score stays 0.45.',
  );
  const grade = { kind: 'grade', candidates: ['e3', 'e4'], again: false } as const;
  expect(sayDone(state(graded('e3', 0.4), graded('e4', null)), over, grade)).toBe(
    '1 candidate graded, 1 without a grade: the grader failed. The run has grades of several versions of the grader, which don’t compare.',
  );
  expect(sayDone(state(revealed, graded('e5', 0.31)), over, { ...grade, candidates: ['e5'] })).toBe('e5: grade 0.31.');
});

test('errands: the first in line is at work, the others wait', () => {
  const errands = (['reevaluate', 'reevaluate', 'grade', 'grade', 'reevaluate'] as const).map((kind, index) => ({
    kind,
    candidate: ['e1', 'e1', 'e1', 'e3', 'e4'][index] ?? '',
  }));
  const asked = state([70_000, { type: 'errands.wanted', data: { errands, by: 'kim' } }]);
  expect([...errandWords(asked)]).toEqual([
    ['e1', 'evaluating again, 2 to go, waits to be graded'],
    ['e3', 'waits to be graded'],
    ['e4', 'waits for 1 more run'],
  ]);
  expect(sayErrands(asked)).toBe('e1 is being evaluated again; 5 runs left.');
  expect(sayErrands(over)).toBe('');
});

test('agents in the list of those to sign in: the installed first, each with how it is let in', () => {
  const agent = (adapter: string, program: string | null, signedIn: AgentSeen['signedIn']): AgentSeen => ({
    ...{ adapter, title: adapter, install: '', program, signedIn },
  });
  const nothing = { by: 'nothing', variables: ['ITS_KEY'] } as const;
  const rows = agentRows([
    agent('gone', null, { ...nothing, canLogin: true }),
    agent('fresh', '/bin/fresh', { ...nothing, canLogin: true }),
    agent('keyed', '/bin/keyed', { ...nothing, canLogin: false }),
    agent('kept', '/bin/kept', { by: 'login', heldBy: null }),
    agent('held', '/bin/held', { by: 'login', heldBy: '20261130-181123-ab12' }),
    agent('set', '/bin/set', { by: 'key', variable: 'SET_KEY' }),
  ]);
  expect(rows.map(({ label, description }) => `${label} | ${description}`)).toEqual([
    '$(circle-slash) fresh | not signed in',
    '$(circle-slash) keyed | not signed in; it takes a key in ITS_KEY',
    '$(pass) kept | signed in',
    '$(pass) held | signed in; run 20261130-181123-ab12 has it now',
    '$(key) set | with the key in SET_KEY',
    '$(circle-slash) gone | not installed',
  ]);
});
