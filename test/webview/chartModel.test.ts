import { describe, expect, test } from 'vitest';
import { reviewFrame, reviewRows } from '../../src/window/reviewModel.ts';
import type { RunState } from '../../src/run/model.ts';
import { chartModel, nearest, optionLines, sayTick, summary } from '../../webview-ui/review/chartModel.ts';
import { sayAge } from '../../webview-ui/review/columns.ts';
import { at, present, scene, unmarked } from './scenes.ts';

const pageOf = (state: RunState) => {
  const made = reviewRows(state, unmarked, null);
  return {
    rows: [...made.all.values()],
    frame: reviewFrame(state, { prices: {}, given: at(345), presence: present, recordId: made.record }),
  };
};

// 345 minutes over 690 px from 56, scores 0…100 over 156 px from 20: one minute is 2 px.
const size = { width: 690 + 56 + 14, height: 200 };
const state = scene([
  { score: 0, minute: 0 },
  { score: 100, minute: 100, by: 'B', option: 2 },
  { score: null, minute: 150, by: 'B', option: 2 },
  { score: 50, minute: 200, option: 3 },
]);

describe('the chart', () => {
  const model = chartModel({ ...pageOf(state), scale: 'linear', ...size });
  const [low, mid, high] = [model.points[0]!.y, model.points[2]!.y, model.points[1]!.y];

  test('places candidates by active time and value', () => {
    expect(model.points.map(({ row, x }) => [row.id, x])).toEqual([
      ['e1', 56],
      ['e2', 256],
      ['e4', 456],
    ]);
    expect(mid).toBeCloseTo((low + high) / 2);
    expect(low).toBeGreaterThan(high);
  });

  test('the standing line steps to each candidate and goes on to the present; the record only rises', () => {
    const text = (...parts: (string | number)[]) =>
      parts.map((part) => (typeof part === 'number' ? Math.round(part * 1000) / 1000 : part)).join('');
    expect(model.standing).toBe(
      text('M56,', low, 'L256,', low, 'L256,', high, 'L456,', high, 'L456,', mid, 'L746,', mid, 'L746,', mid),
    );
    expect(model.record).toBe(text('M56,', low, 'L256,', low, 'L256,', high, 'L746,', high, 'L746,', high));
  });

  test('handoffs, failures and the end of exploration have their places', () => {
    expect(model.handoffs.map(({ at: x, label, agent }) => [Math.round(x), label, agent])).toEqual([
      [56, '1', 'A'],
      [256, '2', 'B'],
      [456, '3', 'A'],
    ]);
    expect(model.rejected).toEqual([356]);
    expect(model.explorationEnd).toBe(746);
  });

  test('an agent is a shape: circles for A, diamonds for B', () => {
    expect(model.marks.A.match(/a/g)).toHaveLength(4); // two arcs each
    expect(model.marks.B).toMatch(/^M256 [\d.]+l[^a]+Z$/);
  });

  test('a logarithmic axis needs values above zero', () => {
    expect(model.canLog).toBe(false);
    const positive = pageOf(
      scene([
        { score: 1, minute: 0 },
        { score: 10, minute: 10 },
        { score: 100, minute: 20 },
      ]),
    );
    const log = chartModel({ ...positive, scale: 'log', ...size });
    const [one, ten, hundred] = log.points.map(({ y }) => y);
    expect(log.canLog).toBe(true);
    expect(one! - ten!).toBeCloseTo(ten! - hundred!);
  });

  test('what gains no more than the noise is on no record line', () => {
    const noisy = pageOf(
      scene(
        [
          { score: 0, minute: 0 },
          { score: 0.4, minute: 10 },
          { score: 2, minute: 20 },
        ],
        { metric: { noise: 0.5 } },
      ),
    );
    expect(chartModel({ ...noisy, scale: 'linear', ...size }).record.match(/L/g)).toHaveLength(4); // one step, and on to the present
  });

  test('the nearest point is found by distance, not by time alone', () => {
    expect(nearest(model.points, 250, high)?.row.id).toBe('e2');
    expect(nearest(model.points, 10, 10)?.row.id).toBe('e1');
    expect(nearest([], 10, 10)).toBeUndefined();
  });

  test('an empty run draws nothing and breaks nothing', () => {
    const empty = chartModel({ ...pageOf(scene([])), scale: 'log', ...size });
    expect(empty).toMatchObject({ points: [], standing: '', record: '', marks: { A: '', B: '' }, canLog: false });
  });
});

describe('in words', () => {
  test('a sentence says how far it went, what is best and what failed', () => {
    const { rows, frame } = pageOf(state);
    expect(summary(rows, frame)).toBe(
      '3 candidates in 3 options and 5 h 45 min: accuracy of the standing candidate went from 0 to 50 (higher is better). The record is 100, #2 e2 by beta. 1 experiment was rejected.',
    );
    const none = pageOf(scene([{ score: null }]));
    expect(summary(none.rows, none.frame)).toBe('No candidate has a score yet. 1 experiment was rejected.');
    const blind = pageOf(
      scene([{ score: 9, reported: 3 }, { score: 8 }], { feedback: 'blind', metric: { direction: 'minimize' } }),
    );
    expect(summary(blind.rows, blind.frame)).toBe(
      '1 candidate in 1 option and 5 h 45 min: reported accuracy of the standing candidate went from 3 to 3 (lower is better). It is the record.',
    );
  });

  test('the table tells of each option what stood and what was best at its end', () => {
    const { rows, frame } = pageOf(state);
    expect(
      optionLines(rows, frame).map(({ number, accepted, rejected, standing, record }) => [
        number,
        accepted,
        rejected,
        standing,
        record,
      ]),
    ).toEqual([
      [1, 1, 0, 0, 0],
      [2, 1, 1, 100, 100],
      [3, 1, 0, 50, 100],
    ]);
  });
});

test('times on the axis are round, ages are coarse', () => {
  const second = 1000;
  expect([0, 30, 900, 3600, 9000, 86_400].map((each) => sayTick(each * second))).toEqual([
    '0',
    '30 s',
    '15 min',
    '1 h',
    '2:30 h',
    '24 h',
  ]);
  expect([-5, 59, 60, 3599, 3600, 172_799, 172_800].map((each) => sayAge(each * second))).toEqual([
    'just now',
    'just now',
    '1 min',
    '59 min',
    '1 h',
    '47 h',
    '2 d',
  ]);
});
