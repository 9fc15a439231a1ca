import { describe, expect, test } from 'vitest';
import { reviewFrame, reviewRows } from '../../src/window/reviewModel.ts';
import type { RunState } from '../../src/run/model.ts';
import {
  clickHeading,
  everything,
  filterRows,
  sortRows,
  type RowFilter,
  type SortKey,
} from '../../webview-ui/review/rowOrder.ts';
import { nothingYet, tell, withRows } from '../../webview-ui/review/pageModel.ts';
import { freshView, readView, viewFor } from '../../webview-ui/review/viewState.ts';
import { spanOf } from '../../webview-ui/kit/virtualRows.ts';
import type { Marks } from '../../src/window/reviewModel.ts';
import { at, present, scene, unmarked } from './scenes.ts';

const pageOf = (state: RunState, marks: Marks = unmarked) => {
  const made = reviewRows(state, marks, null);
  return {
    rows: [...made.all.values()],
    frame: reviewFrame(state, { prices: {}, given: at(60), presence: present, recordId: made.record }),
  };
};

const state = scene([
  { score: 0.5, note: 'first try' },
  { score: null, code: 'timeout' },
  { score: 0.9, by: 'B', option: 2, flags: ['out_of_range'], note: 'convnet' },
  { score: 0.5, by: 'B', option: 2 },
  { score: Number.NaN, by: 'B', option: 2 },
  { score: null, by: 'A', option: 3, code: 'incorrect' },
  { score: 0.7, option: 3 },
]);
const { rows, frame } = pageOf(state);
const sorted = (...keys: SortKey[]): string =>
  sortRows(rows, keys, frame)
    .map(({ id }) => id)
    .join(' ');
const filtered = (part: Partial<RowFilter>, given = rows): string =>
  filterRows(given, { ...everything, ...part }, frame)
    .map(({ id }) => id)
    .join(' ');

describe('order', () => {
  test('ties keep the order of submission; NaN and rejected rows are last in both directions, but there', () => {
    expect(sorted({ column: 'score', down: true })).toBe('e3 e7 e1 e4 e5 e2 e6');
    expect(sorted({ column: 'score', down: false })).toBe('e1 e4 e7 e3 e5 e2 e6');
  });

  test('a second key orders ties of the first', () => {
    expect(sorted({ column: 'author', down: false }, { column: 'score', down: true })).toBe('e7 e1 e3 e4 e5 e2 e6');
    expect(sorted({ column: 'score', down: true }, { column: 'candidate', down: true })).toBe('e3 e7 e4 e1 e5 e2 e6');
  });

  test('a click sorts the better way first and turns round at the next; with shift it adds', () => {
    const click = (keys: readonly SortKey[], column: SortKey['column'], shift = false) =>
      clickHeading(keys, column, { shift, frame });
    const once = click([{ column: 'candidate', down: true }], 'score');
    expect(once).toEqual([{ column: 'score', down: true }]);
    expect(click(once, 'score')).toEqual([{ column: 'score', down: false }]);
    expect(click(once, 'author', true)).toEqual([
      { column: 'score', down: true },
      { column: 'author', down: false },
    ]);
    expect(click(click(once, 'author', true), 'score', true)).toEqual([
      { column: 'score', down: false },
      { column: 'author', down: false },
    ]);
    expect(click(click(once, 'author', true), 'author')).toEqual([{ column: 'author', down: false }]);
    const lower = { ...frame, metric: { ...frame.metric, direction: 'minimize' } } as const;
    expect(clickHeading([], 'score', { shift: false, frame: lower })).toEqual([{ column: 'score', down: false }]);
  });
});

describe('filter', () => {
  test.each([
    [{}, 'e1 e2 e3 e4 e5 e6 e7'],
    [{ author: 'B' }, 'e3 e4 e5'],
    [{ option: 3 }, 'e6 e7'],
    [{ kind: 'accepted' }, 'e1 e3 e4 e5 e7'],
    [{ kind: 'rejected' }, 'e2 e6'],
    [{ kind: 'flagged' }, 'e3'],
    [{ kind: 'starred' }, ''],
    [{ text: 'CONV' }, 'e3'],
    [{ text: 'beta #3' }, 'e4'],
    [{ text: 'timeout' }, 'e2'],
    [{ text: 'out of range' }, 'e3'],
    [{ text: 'first', author: 'B' }, ''],
  ] as const)('%j lets through %s', (part, ids) => expect(filtered(part)).toBe(ids));

  test('hidden rows are away until they are asked for', () => {
    const marks = { starred: (id: string) => id === 'e4', hidden: (id: string) => id === 'e3' };
    const page = pageOf(state, marks);
    expect(filtered({ author: 'B' }, page.rows)).toBe('e4 e5');
    expect(filtered({ author: 'B', hidden: true }, page.rows)).toBe('e3 e4 e5');
    expect(filtered({ kind: 'starred' }, page.rows)).toBe('e4');
  });
});

describe('the model of the page', () => {
  test('takes changed rows in place and new ones at the end, and keeps the rest', () => {
    const changed = { ...rows[2]!, starred: true };
    const fresh = { ...rows[0]!, id: 'e8' };
    const next = withRows(rows, [changed, fresh]);
    expect(next.map(({ id }) => id)).toEqual(['e1', 'e2', 'e3', 'e4', 'e5', 'e6', 'e7', 'e8']);
    expect(next[2]).toBe(changed);
    expect(next[1]).toBe(rows[1]);
    expect(withRows(rows, [])).toBe(rows);
  });

  test('tells a screen reader what is new, and nothing at first', () => {
    const before = { rows: rows.slice(0, -1), frame, empty: '' };
    const now = { rows, frame: { ...frame, record: 'e7' }, empty: '' };
    expect(tell(nothingYet, now)).toBe('');
    expect(tell(before, now)).toBe('#5 e7 by alpha is standing, a new record.');
    const final = { candidate: 'e3', by: 'person', who: 'Mara', reason: 'x' } as const;
    expect(tell(now, { ...now, frame: { ...now.frame, final } })).toBe('e3 is the final candidate, by Mara.');
    expect(tell(now, now)).toBe('');
  });
});

describe('what is remembered', () => {
  test('comes back as it was, and anything else as the fresh view', () => {
    const view = {
      ...freshView,
      run: 'r',
      sort: [{ column: 'score', down: true }],
      without: ['size'],
      marked: ['e1'],
      active: 'e2',
      scale: 'log',
      draft: 'so far',
    } as const;
    expect(readView(JSON.parse(JSON.stringify(view)))).toEqual(view);
    for (const odd of [undefined, null, 7, 'x', [], { sort: [{ column: 'nope', down: 1 }], filter: 3, marked: [4] }])
      expect(readView(odd)).toEqual(freshView);
  });

  test('columns and order go on to another run; what belongs to its candidates does not', () => {
    const view = { ...freshView, run: 'r', without: ['size'], marked: ['e1'], active: 'e2' } as const;
    expect(viewFor(view, 'r')).toBe(view);
    expect(viewFor(view, 'other')).toEqual({ ...freshView, run: 'other', without: ['size'] });
  });
});

test('a span of rows is what is visible and a few more', () => {
  expect(spanOf({ top: 0, height: 240, rowHeight: 24, count: 5000 })).toEqual({ first: 0, last: 18 });
  expect(spanOf({ top: 2400, height: 240, rowHeight: 24, count: 5000 })).toEqual({ first: 92, last: 118 });
  expect(spanOf({ top: 999_999, height: 240, rowHeight: 24, count: 5000 })).toEqual({ first: 4992, last: 5000 });
  expect(spanOf({ top: 0, height: 0, rowHeight: 24, count: 3 })).toEqual({ first: 0, last: 3 });
});
