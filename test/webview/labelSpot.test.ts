import { expect, test } from 'vitest';
import type { ChartPoint } from '../../webview-ui/review/chartModel.ts';
import type { ReviewRow } from '../../src/window/reviewMessages.ts';
import { labelSpots, type LabelSpot } from '../../webview-ui/review/labelSpot.ts';

const size = { width: 600, height: 200 };
const points = (...places: readonly (readonly [number, number])[]) =>
  places.map(([x, y], index) => ({ x, y, value: 0, row: { id: `e${index + 1}` } as ReviewRow }));

const labelSpot = (point: ChartPoint, words: string, chart: Parameters<typeof labelSpots>[1]): LabelSpot =>
  labelSpots([{ point, words }], chart)[0]!;

test('a label stands at the upper right of its point where nothing is in the way', () => {
  const all = points([100, 150], [200, 100]);
  expect(labelSpot(all[0]!, 'Final', { points: all, size })).toEqual({ x: 111, y: 141, anchor: 'start' });
});

test('it gives way to the line that leaves the point upwards', () => {
  const all = points([300, 150], [320, 60], [500, 60]);
  expect(labelSpot(all[0]!, 'Final · Nominated', { points: all, size }).anchor).toBe('end');
});

test('it gives way to the line that comes to the point from above, and stays in the chart', () => {
  const all = points([100, 100], [500, 112], [530, 60]);
  const spot = labelSpot(all[1]!, 'Final · Nominated', { points: all, size });
  expect(spot).toEqual({ x: 489, y: 129, anchor: 'end' });
});

test('near the edge the least bad place is taken', () => {
  const all = points([60, 22]);
  expect(labelSpot(all[0]!, 'Final', { points: all, size })).toEqual({ x: 71, y: 39, anchor: 'start' });
});

test('two labels of near points don’t lie on each other', () => {
  const all = points([100, 150], [118, 154]);
  const [final, nominated] = labelSpots(
    [
      { point: all[0]!, words: 'Final' },
      { point: all[1]!, words: 'Nominated' },
    ],
    { points: all, size },
  );
  const apart = Math.abs(final!.y - nominated!.y) >= 14 || final!.anchor !== nominated!.anchor;
  expect(apart, JSON.stringify([final, nominated])).toBe(true);
});
