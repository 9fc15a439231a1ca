import { bisectCenter, extent } from 'd3-array';
import { scaleLinear, scaleLog } from 'd3-scale';
import { curveStepAfter, line } from 'd3-shape';
import { sayLength, sayScore } from '../../src/base/numbers.ts';
import type { AgentSlot } from '../../src/task/model.ts';
import { isBetter } from '../../src/task/quality.ts';
import type { ReviewFrame, ReviewRow } from '../../src/window/reviewMessages.ts';
import { authorOf, nameOf, valueOf } from './pageModel.ts';

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
  readonly marks: Readonly<Record<AgentSlot | 'other', string>>;
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

/**
 * The outline of an agent's mark: a circle for A, a diamond for B, so that colour is never alone. Plain text, for it is made
 * thousands of times. CSS px.
 */
export function markPath(
  agent: AgentSlot | null,
  { x, y, r }: { readonly x: number; readonly y: number; readonly r: number },
): string {
  const [left, top] = [Math.round((x - r) * 10) / 10, Math.round(y * 10) / 10];
  if (agent === 'A') return `M${left} ${top}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
  if (agent === null) return `M${left} ${Math.round((y - r) * 10) / 10}h${2 * r}v${2 * r}h${-2 * r}Z`;
  const d = r * 1.25;
  return `M${Math.round(x * 10) / 10} ${Math.round((y - d) * 10) / 10}l${d} ${d}l${-d} ${d}l${-d} ${-d}Z`;
}

/** The candidates with a value in order of time. */
const valued = (rows: readonly ReviewRow[], frame: ReviewFrame): { row: ReviewRow; value: number }[] =>
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
  const x = scaleLinear([0, endOf(frame)], [margin.left, width - margin.right]);
  const y = valueScale(values, canLog && given.scale === 'log').range([height - margin.bottom, margin.top]);
  const points = shown.map(({ row, value }) => ({ row, value, x: x(row.at), y: y(value) }));
  const fit = points.filter(({ row }) => row.disqualified === '');
  const path = line<{ x: number; y: number }>(
    (point) => point.x,
    (point) => point.y,
  ).curve(curveStepAfter);
  const now = x(frame.now);
  const extended = (line_: readonly { x: number; y: number }[]): string => {
    const last = line_.at(-1);
    return last ? (path([...line_, { x: Math.max(now, last.x), y: last.y }]) ?? '') : '';
  };
  return {
    ...{ points, canLog },
    standing: extended(fit),
    record: extended(recordPoints(fit, frame)),
    marks: { A: marksOf(points, 'A'), B: marksOf(points, 'B'), other: marksOf(points, null) },
    handoffs: frame.options.map(({ number, agent, from }) => ({ at: x(from), agent, label: String(number) })),
    thresholds: frame.metric.thresholds.map(({ name, score }) => ({ at: y(score), label: name })),
    rejected: rows.filter(({ state }) => state === 'rejected').map((row) => x(row.at)),
    xTicks: timeTicks(x.domain()[1] ?? 0, Math.max(2, Math.floor(width / 90))).map((tick) => ({
      at: x(tick),
      label: sayTick(tick),
    })),
    yTicks: ticksOf(y, height).map((tick) => ({ at: y(tick), label: sayScore(tick) })),
    explorationEnd: x(frame.explorationEnd),
  };
}

/** Where the axis of time ends: while a run explores, a little after now, so that an hour of six doesn't stand in a corner. */
function endOf({ phase, now, explorationEnd }: ReviewFrame): number {
  const whole = Math.max(now, explorationEnd, 1);
  return phase === 'exploring' ? Math.min(whole, Math.max(now * 1.1, 10 * second)) : whole;
}

const second = 1000;
const steps = [1, 5, 15, 30, 60, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400].map(
  (each) => each * second,
);

/** Round times from 0 to the end, at most `most` steps. */
function timeTicks(end: number, most: number): number[] {
  const step = steps.find((each) => end / each <= most) ?? Math.ceil(end / most / 86_400_000) * 86_400_000;
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, index) => index * step);
}

/** A time on the axis: `0`, `30 s`, `15 min`, `2 h`, `2:30 h`. */
export function sayTick(ms: number): string {
  const [hours, minutes] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60];
  if (ms === 0) return '0';
  if (ms < 60_000) return `${Math.round(ms / second)} s`;
  if (hours === 0) return `${ms / 60_000} min`;
  return minutes === 0 ? `${hours} h` : `${hours}:${String(minutes).padStart(2, '0')} h`;
}

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

const marksOf = (points: readonly ChartPoint[], agent: AgentSlot | null): string => {
  const r = points.length > 400 ? 2 : 3.6;
  return points.reduce(
    (path, { row, x, y }) => (row.author === agent ? path + markPath(agent, { x, y, r }) : path),
    '',
  );
};

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
  const failed =
    rejected === 0 ? '' : ` ${rejected} ${rejected === 1 ? 'experiment was' : 'experiments were'} rejected.`;
  if (!first || !last)
    return `No candidate has a ${frame.feedback === 'blind' ? 'reported score' : 'score'} yet.${failed}`;
  const record = shown.find(({ row }) => row.id === frame.record);
  const value = frame.feedback === 'blind' ? 'reported ' : '';
  const best =
    record && record !== last
      ? ` The record is ${sayScore(record.value)}, ${nameOf(record.row)} by ${authorOf(record.row, frame)}.`
      : record
        ? ' It is the record.'
        : '';
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
    const own = rows.filter((row) => row.option === option.number && !row.origin);
    for (const { value } of valued(own, frame)) {
      standing = value;
      if (isBetter(frame.metric, value, record ?? undefined)) record = value;
    }
    const accepted = own.filter(({ state }) => state === 'accepted').length;
    return { ...option, accepted, rejected: own.length - accepted, standing, record };
  });
}
