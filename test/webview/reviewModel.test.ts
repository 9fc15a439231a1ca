import { describe, expect, test } from 'vitest';
import { accepted, goneOn, history, optionFacts, stateOf, wholeRun, type At } from '../cli/history.ts';
import { archiveAccepted } from '../../src/archive/evolve.ts';
import { record } from '../../src/archive/order.ts';
import { reviewFrame, reviewRows, type ReviewRows } from '../../src/window/reviewModel.ts';
import type { ReviewRow } from '../../src/window/reviewMessages.ts';
import type { RunState } from '../../src/run/model.ts';
import { at, began, minute, present, review, scene, selection, unmarked, type Entry } from './scenes.ts';

const rowsOf = (state: RunState): ReviewRow[] => [...reviewRows(state, unmarked, null).all.values()];
const frameOf = (state: RunState, active = 100) =>
  reviewFrame(state, {
    prices: {},
    given: at(active),
    presence: present,
    recordId: reviewRows(state, unmarked, null).record,
  });
const column = <Key extends keyof ReviewRow>(state: RunState, key: Key) => rowsOf(state).map((row) => row[key]);

describe('rows', () => {
  test('hold all that a decided experiment has to say', () => {
    const state = scene(
      [
        { score: 0.5, reported: 0.55, note: 'first', grade: 0.4 },
        { score: null, by: 'B', option: 2, code: 'incorrect', reason: 'row 3 is wrong', reported: 0.9 },
      ],
      { metric: { baseline: 0.4, reference: 0.9 } },
    );
    expect(rowsOf(state)).toEqual([
      {
        ...{ id: 'e1', order: 1, state: 'accepted', author: 'A', option: 1, score: 0.5, reported: 0.55 },
        ...{
          quality: (0.5 - 0.4) / (0.9 - 0.4),
          change: null,
          bytes: 1000,
          files: 3,
          at: minute,
          wall: began + minute,
        },
        ...{ note: 'first', flags: [], code: null, reason: null, grade: 'hidden', starred: false, hidden: false },
        ...{ again: null, grader: '', disqualified: '', errand: '' },
      },
      {
        ...{ id: 'e2', order: null, state: 'rejected', author: 'B', option: 2, score: null, reported: 0.9 },
        ...{ quality: null, change: null, bytes: 2000, files: 3, at: 2 * minute, wall: began + 2 * minute },
        ...{
          note: null,
          flags: [],
          code: 'incorrect',
          reason: 'row 3 is wrong',
          ...{ again: null, grader: '', disqualified: '', errand: '' },
          grade: null,
          starred: false,
          hidden: false,
        },
      },
    ]);
  });

  test('candidates that came over stand first, with their run and their author’s name there', () => {
    const own = accepted(2000, { id: 'e7', option: 1, agent: 'B', score: 0.2 });
    const state = stateOf(history(...goneOn(), optionFacts.open(1000, 1, 'B'), ...own));
    const rows = rowsOf(state);
    expect(
      rows.map(({ id, order, author, option, origin, at: when, change }) => [
        id,
        order,
        author,
        option,
        origin?.agent,
        when,
        change,
      ]),
    ).toEqual([
      ['e1', 1, 'A', 1, 'ada', 0, null],
      ['e3', 2, 'A', 1, 'ada', 0, expect.closeTo(0.1)],
      ['e4', 3, null, 2, 'bob', 0, expect.closeTo(-0.05)],
      ['e5', 4, null, 2, 'bob', 0, expect.closeTo(0.1)],
      ['e6', 5, 'A', 3, 'ada', 0, expect.closeTo(-0.05)],
      ['e7', 6, 'B', 1, undefined, 2000, expect.closeTo(0.1)],
    ]);
    const [first] = rows;
    expect(first?.origin).toEqual({ run: '20261130-181123-ab12', agent: 'ada' });
    const again = reviewRows(state, unmarked, reviewRows(state, unmarked, null));
    expect(again.changed).toEqual([]);
  });

  test('the change is against the record before, positive is better, in either direction', () => {
    const scores: Entry[] = [{ score: 4 }, { score: 6 }, { score: 5 }, { score: 6 }, { score: 9 }];
    expect(column(scene(scores), 'change')).toEqual([null, 2, -1, 0, 3]);
    expect(column(scene(scores, { metric: { direction: 'minimize' } }), 'change')).toEqual([null, -2, -1, -2, -5]);
  });

  test('a tie or a gain within the noise is no record: the earliest holds it', () => {
    const state = scene([{ score: 1 }, { score: 1 }, { score: 1.4 }, { score: 1.6 }, { score: 2.05 }], {
      metric: { noise: 0.5 },
    });
    expect(column(state, 'change')).toEqual([null, 0, expect.closeTo(0.4), expect.closeTo(0.6), expect.closeTo(0.45)]);
    expect(reviewRows(state, unmarked, null).record).toBe('e4');
    expect(reviewRows(state, unmarked, null).record).toBe(record(state.archive, state.terms.metric)?.id);
  });

  test('a score that is not finite is no number on the page and no record', () => {
    const state = scene([{ score: Number.NaN }, { score: 3 }, { score: Infinity }]);
    expect(column(state, 'score')).toEqual([null, 3, null]);
    expect(column(state, 'change')).toEqual([null, null, null]);
    expect(reviewRows(state, unmarked, null).record).toBe('e2');
  });

  test('an undecided experiment is no row', () => {
    const state = scene([{ score: 1 }, { score: null }]);
    const [first, second] = state.experiments;
    const { captured } = second!;
    const queued = { ...first!, id: 'e2', captured, state: 'queued' } as RunState['experiments'][number];
    expect(rowsOf({ ...state, experiments: [first!, queued] }).map(({ id }) => id)).toEqual(['e1']);
  });

  describe('of a blind task', () => {
    const entries: Entry[] = [{ score: 0.9, reported: 0.3 }, { score: 0.1, reported: 0.5 }, { score: 0.95 }];
    const state = scene(entries, { feedback: 'blind', metric: { baseline: 0, reference: 1 } });

    test('keep the scores back; record, change and quality are by what was reported', () => {
      expect(column(state, 'score')).toEqual([null, null, null]);
      expect(column(state, 'reported')).toEqual([0.3, 0.5, null]);
      expect(column(state, 'quality')).toEqual([0.3, 0.5, null]);
      expect(column(state, 'change')).toEqual([null, expect.closeTo(0.2), null]);
      expect(frameOf(state)).toMatchObject({ record: 'e2', standing: 'e3', feedback: 'blind', grades: 'hidden' });
      expect(JSON.stringify([rowsOf(state), frameOf(state)])).not.toContain('0.95');
    });

    test('show them once a person has revealed grades', () => {
      expect(column({ ...state, gradesRevealed: true }, 'score')).toEqual([0.9, 0.1, 0.95]);
    });
  });

  test('grades of several graders name theirs; more runs of the evaluator and a disqualification go with the row', () => {
    const grade = (id: string, grader: string): At => [
      70_000,
      { type: 'candidate.graded', data: { id, nonce: 'g', result: { kind: 'graded', grade: 0.4, grader } } },
    ];
    const again = { kind: 'scored', score: 0.46 } as const;
    const facts: readonly At[] = [
      ...wholeRun(),
      [66_000, { type: 'grades.revealed', data: { who: 'kim' } }],
      ...[grade('e5', 'aaaaaaaa11'), grade('e4', 'bbbbbbbb22')],
      [70_000, { type: 'candidate.reevaluated', data: { id: 'e4', nonce: 'n', verdict: again } }],
      [70_000, { type: 'candidate.disqualified', data: { id: 'e6', reason: 'forged', who: 'kim' } }],
    ];
    const state = stateOf(history(...facts));
    const of = (id: string) => rowsOf(state).find((row) => row.id === id);
    expect(of('e5')).toMatchObject({ grade: 0.4, grader: 'grader aaaaaaa', again: null, disqualified: '' });
    expect(of('e4')).toMatchObject({ grader: 'grader bbbbbbb', again: { scored: 1, mean: 0.46, error: null } });
    expect(of('e6')).toMatchObject({ grade: null, grader: '', disqualified: 'by kim: forged' });
    expect(frameOf(state, 1)).toMatchObject({ graders: ['grader bbbbbbb', 'grader aaaaaaa'], standing: 'e5' });
  });

  test('a disqualified candidate is no record', () => {
    const state = scene([{ score: 1 }, { score: 3 }]);
    const [one, other] = state.archive;
    const disqualified = { reason: 'forged', who: 'kim', wall: 0 };
    expect(reviewRows({ ...state, archive: [one!, { ...other!, disqualified }] }, unmarked, null).record).toBe('e1');
  });

  test('grades are on the page only after they were revealed', () => {
    const state = scene([{ score: 1, grade: 0.123 }, { score: 2 }]);
    expect(column(state, 'grade')).toEqual(['hidden', null]);
    expect(column({ ...state, gradesRevealed: true }, 'grade')).toEqual([0.123, null]);
  });
});

describe('what changed', () => {
  const ids = ({ changed }: ReviewRows): string[] => changed.map(({ id }) => id);
  const state = scene([{ score: 1 }, { score: null }, { score: 3 }]);
  const first = reviewRows(state, unmarked, null);

  test('is everything at first, and nothing when nothing happened', () => {
    expect(ids(first)).toEqual(['e1', 'e2', 'e3']);
    const again = reviewRows({ ...state, seq: 9, notices: [] }, unmarked, first);
    expect(ids(again)).toEqual([]);
    expect([...again.all.values()].every((row) => first.all.get(row.id) === row)).toBe(true);
  });

  test('is the one new row, the graded one, the marked one', () => {
    const more = scene([{ score: 1 }, { score: null }, { score: 3 }, { score: 2 }]);
    const grown: RunState = {
      ...state,
      experiments: [...state.experiments, more.experiments[3]!],
      archive: [...state.archive, more.archive[2]!],
    };
    const second = reviewRows(grown, unmarked, first);
    expect(second.changed).toEqual([expect.objectContaining({ id: 'e4', order: 3, change: -1 })]);
    const starred = { ...unmarked, starred: (id: string) => id === 'e2' };
    const third = reviewRows(grown, starred, second);
    expect(third.changed).toEqual([{ ...first.all.get('e2'), starred: true }]);
    const revealed = reviewRows({ ...grown, gradesRevealed: true }, starred, third);
    expect(ids(revealed)).toEqual(['e1', 'e2', 'e3', 'e4']);
    const graded = grown.archive.map((each) =>
      each.id === 'e3' ? { ...each, grade: { kind: 'graded', grade: 7, wall: 0 } as const } : each,
    );
    const last = reviewRows({ ...grown, gradesRevealed: true, archive: graded }, starred, revealed);
    expect(last.changed.map(({ id, grade }) => [id, grade])).toEqual([['e3', 7]]);
  });

  test('is everything when another run is shown', () => {
    expect(ids(reviewRows({ ...state, run: 'other' }, unmarked, first))).toEqual(['e1', 'e2', 'e3']);
  });

  test('costs little in an archive of 5,000', () => {
    const many = scene(Array.from({ length: 5001 }, (_, index) => ({ score: Math.sin(index) })));
    const all = reviewRows(
      { ...many, experiments: many.experiments.slice(0, -1), archive: many.archive.slice(0, -1) },
      unmarked,
      null,
    );
    const times = Array.from({ length: 5 }, () => {
      const start = process.cpuUsage();
      const next = reviewRows(many, unmarked, all);
      const { user, system } = process.cpuUsage(start); // of this process only: other work on the machine doesn't count
      expect(ids(next)).toEqual(['e5001']);
      return (user + system) / 1000;
    });
    expect(Math.min(...times), 'ms of CPU for one more row').toBeLessThan(50);
  });

  test('the archive it is folded from is the product’s own', () => {
    const [experiment] = state.experiments;
    const event = {
      type: 'experiment.accepted',
      seq: 1,
      v: 1,
      wall: began + minute,
      mono: 0,
      active: minute,
      data: { id: 'e1', option: 1, score: 1, flags: [] },
    };
    expect(archiveAccepted([], experiment!, event as unknown as Parameters<typeof archiveAccepted>[2])).toEqual([
      state.archive[0],
    ]);
  });
});

describe('the frame', () => {
  test('of an empty run has no candidate, and says why none can be selected', () => {
    expect(frameOf(scene([]), 1)).toEqual({
      ...{ run: '20261130-090000-ab12', task: 'digits', phase: 'exploring', feedback: 'score' },
      metric: { name: 'accuracy', direction: 'maximize', noise: 0, baseline: null, reference: null, thresholds: [] },
      ...{ agents: { A: 'alpha', B: 'beta' }, options: [], explorationEnd: 345 * minute, now: minute },
      ...{ standing: null, record: null, review: null, final: null, history: [], grades: 'hidden' },
      ...{ canSelect: false, cannot: 'There is no candidate yet.', banner: '' },
      ...{ told: [{ name: 'Time', words: '1 min so far, 0 options', warns: false }], graders: [], errands: '' },
      work: (['A', 'B'] as const).map((agent) => ({
        ...{ agent, options: 0, accepted: 0, rejected: 0, records: 0, tokens: '', cost: '' },
      })),
      acts: { reevaluate: false, grade: false, disqualify: false },
    });
  });

  test('tells how the night went: the gain, who did what, what it cost, and what needs an eye', () => {
    const usage = {
      responses: 2,
      uncachedInput: 1_000_000,
      cachedInput: 0,
      cacheWrite: 0,
      output: 0,
      reasoning: 0,
      toolCalls: 0,
    };
    const night = stateOf(
      history(...wholeRun(), [
        65_000,
        { type: 'run.noticed', data: { level: 'warning', code: 'asleep', text: 'the disk was nearly full' } },
      ]),
    );
    const [first, ...others] = night.options;
    const told = frameOf({ ...night, options: [{ ...first!, usage: [{ ...usage, model: 'opus' }] }, ...others] }, 1);
    expect(told.told).toEqual([
      { name: 'Gain', words: 'rmse 0.5 → 0.3 (−40 %) from the first candidate, e1', warns: false },
      {
        ...{ name: 'Time', warns: false },
        words: '1 min 5 s, 3 options; exploration ended: the experiments are used up',
      },
      { name: 'Cost', words: '— for 1.00M tokens; no price is known for opus (hma prices)', warns: false },
      { name: 'Notice', words: 'the disk was nearly full', warns: true },
    ]);
    expect(told.work).toEqual([
      { agent: 'A', options: 2, accepted: 3, rejected: 1, records: 2, tokens: '1.00M', cost: '—' },
      { agent: 'B', options: 1, accepted: 2, rejected: 0, records: 1, tokens: '—', cost: '—' },
    ]);
  });

  test('what a person can have done now is offered, and what goes on is said', () => {
    const finished = stateOf(history(...wholeRun()));
    expect(frameOf(finished, 1).acts).toEqual({ reevaluate: true, grade: true, disqualify: true });
    expect(frameOf({ ...finished, phase: 'exploring' }, 1).acts).toEqual({
      ...{ reevaluate: false, grade: false, disqualify: true },
    });
    const errands = [{ kind: 'grade', candidate: 'e1' }] as const;
    expect(frameOf({ ...finished, errands }, 1).errands).toBe('e1 is being graded; 1 run left.');
  });

  const entries: Entry[] = [{ score: 1 }, { score: 3, by: 'B', option: 2 }, { score: 2, option: 3 }];

  test('falls back to the standing candidate until someone decides', () => {
    expect(frameOf(scene(entries))).toMatchObject({
      ...{
        standing: 'e3',
        record: 'e2',
        final: { candidate: 'e3', by: 'fallback', who: 'hma', reason: 'standing candidate' },
      },
      ...{ canSelect: true, cannot: '' },
      options: [
        { number: 1, agent: 'A', from: 0, to: 2 * minute - 1000 },
        { number: 2, agent: 'B', from: 2 * minute - 1000, to: 3 * minute - 1000 },
        { number: 3, agent: 'A', from: 3 * minute - 1000, to: null },
      ],
    });
  });

  test('an open review says who looks; a nomination is told before the window closes', () => {
    const open = scene(entries, { state: { phase: 'reviewing', review: review({ state: 'open' }) } });
    expect(frameOf(open).review).toEqual({
      reviewer: 'B',
      state: 'open',
      outcome: null,
      detail: 'beta is looking through the archive.',
      nominated: null,
    });
    const nomination = { candidate: 'e2', reason: 'most stable', at: 350 * minute };
    const cast = scene(entries, { state: { review: review({ state: 'open', nomination }) } });
    expect(frameOf(cast).review).toMatchObject({ outcome: null, detail: 'most stable', nominated: 'e2' });
  });

  test.each([
    ['silent', {}, 'the reviewer ended without a nomination'],
    ['late', { endReason: 'deadline' }, 'the window closed without a nomination'],
    ['invalid', { invalidBallots: 2, invalidReason: 'there is no candidate "e9"' }, 'there is no candidate "e9"'],
  ] as const)('a review that came out %s says why', (outcome, parts, detail) => {
    const state = scene(entries, { state: { review: review({ ...parts, outcome }) } });
    expect(frameOf(state).review).toMatchObject({ outcome, detail, nominated: null });
  });

  test('a skipped review says why', () => {
    const state = scene([{ score: 1 }], { state: { review: review({ outcome: 'skipped' }) } });
    expect(frameOf(state).review?.detail).toBe('there is only one candidate');
  });

  test('a person’s word beats the reviewer’s until it is cleared', () => {
    const own = selection({ candidate: 'e2', by: 'reviewer', who: 'beta', reason: 'most stable' });
    const person = selection({ candidate: 'e1', by: 'person', who: 'Mara', reason: 'smallest', gradesRevealed: true });
    const cleared = selection({ candidate: null, by: 'person', who: 'Mara' });
    const final = (...selections: (typeof own)[]) => frameOf(scene(entries, { state: { selections } })).final;
    expect(final(own)).toEqual({ candidate: 'e2', by: 'reviewer', who: 'beta', reason: 'most stable' });
    expect(final(own, person)).toEqual({ candidate: 'e1', by: 'person', who: 'Mara', reason: 'smallest' });
    expect(final(own, person, cleared)).toEqual({
      candidate: 'e2',
      by: 'reviewer',
      who: 'beta',
      reason: 'most stable',
    });
  });

  test('an absent controller is told, and why nothing can be selected', () => {
    const presence = { canIntend: false, cannot: 'The controller is away.', banner: 'Trying to reach it.' };
    const frame = reviewFrame(scene(entries), { prices: {}, given: at(5), presence, recordId: null });
    expect(frame).toMatchObject({ canSelect: false, cannot: 'The controller is away.', banner: 'Trying to reach it.' });
  });

  test('time stands still when the run is over', () => {
    const state = scene(entries, {
      state: {
        phase: 'finished',
        explorationEndedAt: 50 * minute,
        finished: { reason: 'deadline', wall: 0, active: 60 * minute },
      },
    });
    expect(frameOf(state, 999)).toMatchObject({ now: 60 * minute, explorationEnd: 50 * minute });
  });
});
