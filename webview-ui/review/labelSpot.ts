import { margin, type ChartPoint } from './chartModel.ts';

/** Where a label stands, CSS px: the start, middle or end of its base line. */
export interface LabelSpot {
  readonly x: number;
  readonly y: number;
  readonly anchor: 'start' | 'middle' | 'end';
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Where a label may stand from its point, the best place first. */
const offsets = [
  [11, -9, 'start'],
  [-11, -9, 'end'],
  [11, 17, 'start'],
  [-11, 17, 'end'],
  [0, -14, 'middle'],
  [0, 22, 'middle'],
  [-11, -24, 'end'],
  [11, -24, 'start'],
] as const;

/** About the width of a character and the height of a line, CSS px. */
const [character, ascent, descent] = [6.6, 11, 3];

/** The chart that labels stand in. */
interface Chart {
  readonly points: readonly ChartPoint[];
  readonly size: { readonly width: number; readonly height: number };
}

/** A place for each point's label in which it lies on no label before it, crosses the line of the standing candidate least and stays in the chart. */
export function labelSpots(
  labels: readonly { readonly point: ChartPoint; readonly words: string }[],
  chart: Chart,
): LabelSpot[] {
  const taken: Box[] = [];
  return labels.map(({ point, words }) => {
    const spots = offsets.map(([dx, dy, anchor]): LabelSpot => ({ x: point.x + dx, y: point.y + dy, anchor }));
    const boxes = spots.map((spot) => boxOf(spot, words.length * character));
    const costs = boxes.map((box) => costOf(box, chart) + 1000 * taken.filter((other) => overlap(box, other)).length);
    const best = costs.indexOf(Math.min(...costs));
    taken.push(boxes[best] as Box);
    return spots[best] as LabelSpot;
  });
}

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

function boxOf({ x, y, anchor }: LabelSpot, width: number): Box {
  const left = anchor === 'start' ? x : anchor === 'end' ? x - width : x - width / 2;
  return { left, right: left + width, top: y - ascent, bottom: y + descent };
}

function costOf(box: Box, { points, size }: Chart): number {
  const outside =
    box.left < margin.left ||
    box.right > size.width - margin.right ||
    box.top < margin.top ||
    box.bottom > size.height - margin.bottom;
  // the line goes on at a point's height to the next one, and there up or down
  const crossed = points.filter((point, index) => {
    const next = points[index + 1] ?? { x: size.width - margin.right, y: point.y };
    const across = within(point.y, box.top, box.bottom) && point.x < box.right && next.x > box.left;
    const along =
      within(next.x, box.left, box.right) &&
      Math.min(point.y, next.y) < box.bottom &&
      Math.max(point.y, next.y) > box.top;
    return across || along;
  });
  return crossed.length + (outside ? 100_000 : 0);
}

const within = (value: number, from: number, to: number): boolean => value > from && value < to;
