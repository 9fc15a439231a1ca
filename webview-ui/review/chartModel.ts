import { bisectCenter, extent } from 'd3-array';
import { scaleLinear, scaleLog } from 'd3-scale';
import { curveStepAfter, line, symbol, symbolCircle, symbolDiamond } from 'd3-shape';
import { sayClock, sayLength, sayScore } from '../../src/base/numbers.ts';
import type { AgentSlot } from '../../src/task/model.ts';
import { isBetter } from '../../src/task/quality.ts';
import type { ReviewFrame, ReviewRow } from '../../src/window/reviewMessages.ts';
import { nameOf, valueOf } from './pageModel.ts';

/** A candidate on the chart, CSS px. */
export interface ChartPoint {
  readonly row: ReviewRow;
  readonly value: number;
  readonly x: number;
  readonly y: number;
}

/** A line across the chart with its words. */
export interface ChartRule {
  readonly at: number;
  readonly label: string;
}

/** Everything that is drawn, CSS px. */
export interface ChartModel {
  readonly points: readonly ChartPoint[];
  /** Path of the standing candidate's value: the main line. */
  readonly standing: string;
  readonly record: string;
  /** All points of an agent in one path: five thousand elements would be slow. */
  readonly marks: Readonly<Record<AgentSlot, string>>;
  readonly handoffs: readonly (ChartRule & { readonly agent: AgentSlot })[];
  readonly thresholds: readonly ChartRule[];
  readonly rejected: readonly number[];
  readonly xTicks: readonly ChartRule[];
  readonly yTicks: readonly ChartRule[];
  readonly explorationEnd: number;
  /** False where a value of 0 or less can't be shown on a logarithmic axis. */
  readonly canLog: boolean;
}

/** Room inside the drawing for axes and labels, CSS px. */
export const margin = { top: 20, right: 14, bottom: 24, left: 56 } as const;

const shapes = { A: symbolCircle, B: symbolDiamond } as const;

/** The outline of an agent's mark around (0, 0): a circle for A, a diamond for B, so that colour is never alone. `area` in px². */
export const markPath = (agent: AgentSlot, area: number): string => symbol(shapes[agent], area)() ?? '';

/** The candidates with a value in order of time. */
export const valued = (rows: readonly ReviewRow[], frame: ReviewFrame): { row: ReviewRow; value: number }[] =>
  rows.flatMap((row) => {
    const value = row.state === 'accepted' ? valueOf(row, frame) : null;
    return value === null ? [] : [{ row, value }];
  });

/** Lays out the trajectory: the standing candidate as the main line, the record as a thin one, over active runtime. */
export function chartModel(given: {
  readonly rows: readonly ReviewRow[];
  readonly frame: ReviewFrame;
  readonly scale: 'linear' | 'log';
  readonly width: number;
  readonly height: number;
}): ChartModel {
  const { rows, frame, width, height } = given;
  const shown = valued(rows, frame);
  const values = [...shown.map(({ value }) => value), ...frame.metric.thresholds.map(({ score }) => score)];
  const canLog = values.length > 0 && values.every((value) => value > 0);
  const x = scaleLinear([0, Math.max(frame.now, frame.explorationEnd, 1)], [margin.left, width - margin.right]);
  const y = valueScale(values, canLog && given.scale === 'log').range([height - margin.bottom, margin.top]);
  const points = shown.map(({ row, value }) => ({ row, value, x: x(row.at), y: y(value) }));
  const path = line<{ x: number; y: number }>((point) => point.x, (point) => point.y).curve(curveStepAfter);
  const now = x(frame.now);
  const extended = (line_: readonly { x: number; y: number }[]): string => {
    const last = line_.at(-1);
    return last ? (path([...line_, { x: Math.max(now, last.x), y: last.y }]) ?? '') : '';
  };
  return {
    ...{ points, canLog },
    standing: extended(points),
    record: extended(recordPoints(points, frame)),
    marks: { A: marksOf(points, 'A'), B: marksOf(points, 'B') },
    handoffs: frame.options.map(({ number, agent, from }) => ({ at: x(from), agent, label: String(number) })),
    thresholds: frame.metric.thresholds.map(({ name, score }) => ({ at: y(score), label: name })),
    rejected: rows.filter(({ state }) => state === 'rejected').map((row) => x(row.at)),
    xTicks: x.ticks(Math.max(2, Math.floor(width / 130))).map((tick) => ({ at: x(tick), label: sayTime(tick) })),
    yTicks: ticksOf(y, height).map((tick) => ({ at: y(tick), label: sayScore(tick) })),
    explorationEnd: x(frame.explorationEnd),
  };
}

const sayTime = (ms: number): string => sayClock(ms).replace(/\.\d$/, '');

/** About one tick for each 32 px; a logarithmic axis gives more than it is asked for, so every so many are taken. */
function ticksOf(y: ReturnType<typeof valueScale>, height: number): number[] {
  const wanted = Math.max(2, Math.floor(height / 32));
  const ticks = y.ticks(wanted);
  const step = Math.ceil(ticks.length / (wanted + 2));
  return ticks.filter((_, index) => index % step === 0);
}

function valueScale(values: readonly number[], log: boolean) {
  const [least = 0, most = 1] = extent(values) as [number | undefined, number | undefined];
  const pad = least === most ? Math.abs(least) * 0.1 || 1 : (most - least) * 0.06;
  return log ? scaleLog([least / 1.1, most * 1.1], [0, 1]) : scaleLinear([least - pad, most + pad], [0, 1]);
}

/** The candidates that were a record when they came. */
function recordPoints(points: readonly ChartPoint[], { metric }: ReviewFrame): ChartPoint[] {
  const kept: ChartPoint[] = [];
  for (const point of points) if (isBetter(metric, point.value, kept.at(-1)?.value)) kept.push(point);
  return kept;
}

const marksOf = (points: readonly ChartPoint[], agent: AgentSlot): string => {
  const outline = markPath(agent, points.length > 400 ? 16 : 44);
  return points
    .filter(({ row }) => row.author === agent)
    .map(({ x, y }) => moved(outline, x, y))
    .join('');
};

/** An outline moved: d3's symbols begin with one absolute M; what follows is absolute, too, so it is written anew with offsets. */
function moved(outline: string, dx: number, dy: number): string {
  return outline.replace(/([MLA])([^MLAZ]*)/g, (_, command: string, text: string) => {
    const numbers = text.split(',').map(Number);
    const at = numbers.length - 2; // the end point stands last in M, L and A
    return command + numbers.map((each, index) => (index < at ? each : round(each + (index === at ? dx : dy)))).join(',');
  });
}

const round = (value: number): number => Math.round(value * 100) / 100;

/** The point nearest to a place: the nearest in time among its neighbours by distance. */
export function nearest(points: readonly ChartPoint[], x: number, y: number): ChartPoint | undefined {
  const centre = bisectCenter(
    points.map((point) => point.x),
    x,
  );
  const near = points.slice(Math.max(0, centre - 12), centre + 13);
  return near.toSorted((a, b) => (a.x - x) ** 2 + (a.y - y) ** 2 - ((b.x - x) ** 2 + (b.y - y) ** 2))[0];
}

/** The chart in a sentence. */
export function summary(rows: readonly ReviewRow[], frame: ReviewFrame): string {
  const shown = valued(rows, frame);
  const [first, last] = [shown[0], shown.at(-1)];
  const rejected = rows.filter(({ state }) => state === 'rejected').length;
  const failed = rejected === 0 ? '' : ` ${rejected} ${rejected === 1 ? 'experiment was' : 'experiments were'} rejected.`;
  if (!first || !last) return `No candidate has a ${frame.feedback === 'blind' ? 'reported score' : 'score'} yet.${failed}`;
  const record = shown.find(({ row }) => row.id === frame.record);
  const value = frame.feedback === 'blind' ? 'reported ' : '';
  const best = record && record !== last ? ` The record is ${sayScore(record.value)}, ${nameOf(record.row)} by ${frame.agents[record.row.author]}.` : record ? ' It is the record.' : '';
  const many = `${shown.length} ${shown.length === 1 ? 'candidate' : 'candidates'} in ${frame.options.length} ${frame.options.length === 1 ? 'option' : 'options'} and ${sayLength(frame.now)}`;
  return `${many}: ${value}${frame.metric.name} of the standing candidate went from ${sayScore(first.value)} to ${sayScore(last.value)} (${frame.metric.direction === 'maximize' ? 'higher' : 'lower'} is better).${best}${failed}`;
}

/** One option in the chart's table: what stood and what was best at its end. */
export interface OptionLine {
  readonly number: number;
  readonly agent: AgentSlot;
  readonly from: number;
  readonly to: number | null;
  readonly accepted: number;
  readonly rejected: number;
  readonly standing: number | null;
  readonly record: number | null;
}

/** The chart as a table, an option a line. */
export function optionLines(rows: readonly ReviewRow[], frame: ReviewFrame): OptionLine[] {
  let standing: number | null = null;
  let record: number | null = null;
  return frame.options.map((option) => {
    const own = rows.filter((row) => row.option === option.number);
    for (const { value } of valued(own, frame)) {
      standing = value;
      if (isBetter(frame.metric, value, record ?? undefined)) record = value;
    }
    const accepted = own.filter(({ state }) => state === 'accepted').length;
    return { ...option, accepted, rejected: own.length - accepted, standing, record };
  });
}
