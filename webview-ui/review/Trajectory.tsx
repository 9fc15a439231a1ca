import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { sayScore } from '../../src/base/numbers.ts';
import type { ReviewFrame, ReviewRow } from '../../src/window/reviewMessages.ts';
import { Agent } from '../kit/icons.tsx';
import {
  chartModel,
  margin,
  markPath,
  nearest,
  optionLines,
  summary,
  type ChartModel,
  type ChartPoint,
} from './chartModel.ts';
import { sayAt } from './columns.ts';
import { nameOf, placesOf, placeWords } from './pageModel.ts';

interface Props {
  readonly frame: ReviewFrame;
  readonly rows: readonly ReviewRow[];
  readonly scale: 'linear' | 'log';
  readonly active: string | null;
  readonly hovered: string | null;
  onScale: (scale: 'linear' | 'log') => void;
  onHover: (id: string | null) => void;
  onActive: (id: string) => void;
}

/** The trajectory: how the standing candidate and the record went over active runtime, and the same as a table. */
export function Trajectory(props: Props) {
  const { frame, rows, scale, onScale } = props;
  const box = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 640, height: 200 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const watch = new ResizeObserver(() =>
      setSize({ width: Math.max(240, element.clientWidth), height: Math.max(120, element.clientHeight) }),
    );
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const model = useMemo(() => chartModel({ rows, frame, scale, ...size }), [rows, frame, scale, size]);
  const words = useMemo(() => summary(rows, frame), [rows, frame]);
  const blind = frame.feedback === 'blind';
  return (
    <section class="trajectory" aria-labelledby="trajectory-title">
      <div class="section-head">
        <h2 id="trajectory-title">Trajectory{blind ? ' of reported scores' : ''}</h2>
        <ul class="legend">
          <li>
            <svg viewBox="0 0 18 8" aria-hidden="true">
              <path class="line-standing" d="M0 4H18" />
            </svg>
            Standing
          </li>
          <li>
            <svg viewBox="0 0 18 8" aria-hidden="true">
              <path class="line-record" d="M0 4H18" />
            </svg>
            Record
          </li>
          <li>
            <Agent slot="A" name={frame.agents.A} />
          </li>
          <li>
            <Agent slot="B" name={frame.agents.B} />
          </li>
        </ul>
        <label class="inline">
          Scale
          <select
            value={model.canLog ? scale : 'linear'}
            disabled={!model.canLog}
            onChange={(event) => onScale(event.currentTarget.value === 'log' ? 'log' : 'linear')}
          >
            <option value="linear">linear</option>
            <option value="log">logarithmic</option>
          </select>
        </label>
      </div>
      <p class="summary" id="trajectory-summary">
        {words}
      </p>
      <div class="plot" ref={box}>
        <Plot {...props} model={model} size={size} />
        <Hover {...props} model={model} size={size} />
      </div>
      <OptionsTable frame={frame} rows={rows} />
    </section>
  );
}

function Plot(
  props: Props & { readonly model: ChartModel; readonly size: { readonly width: number; readonly height: number } },
) {
  const { model, size, frame, active, hovered, onHover, onActive } = props;
  const { width, height } = size;
  const { points } = model;
  const index = points.findIndex(({ row }) => row.id === active);
  const at = (event: MouseEvent & { currentTarget: SVGElement }): ChartPoint | undefined => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    return nearest(points, event.clientX - left, event.clientY - top);
  };
  const keys = (event: KeyboardEvent): void => {
    const now = index < 0 ? points.length : index;
    const steps: Record<string, number> = {
      ArrowLeft: now - 1,
      ArrowDown: now - 1,
      ArrowRight: now + 1,
      ArrowUp: now + 1,
      PageDown: now - 10,
      PageUp: now + 10,
      Home: 0,
      End: points.length - 1,
    };
    const wanted = steps[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    const point = points[Math.max(0, Math.min(points.length - 1, wanted))];
    if (point) onActive(point.row.id);
  };
  const current = points[index];
  const said = current ? sayPoint(current, frame) : 'No candidate chosen';
  const bottom = height - margin.bottom;
  return (
    <svg
      class="chart"
      width={width}
      height={height}
      role="slider"
      tabindex={0} // an SVG attribute: its case counts
      aria-label="Trajectory: candidates in order of time"
      aria-describedby="trajectory-summary"
      aria-valuemin={1}
      aria-valuemax={Math.max(1, points.length)}
      aria-valuenow={index < 0 ? 1 : index + 1}
      aria-valuetext={said}
      onMouseMove={(event) => onHover(at(event)?.row.id ?? null)}
      onMouseLeave={() => onHover(null)}
      onClick={(event) => {
        const point = at(event);
        if (point) onActive(point.row.id);
      }}
      onKeyDown={keys}
    >
      <Axes model={model} size={size} />
      <path class="line-record" d={model.record} />
      <path class="line-standing" d={model.standing} />
      <path
        class="rejected-mark"
        d={[...spaced(model.rejected, 3)]
          .map((each) => model.rejected[each] ?? 0)
          .map((x) => `M${x - 3} ${bottom - 7}l6 6m0-6l-6 6`)
          .join('')}
      />
      <path class="mark mark-A" d={model.marks.A} />
      <path class="mark mark-B" d={model.marks.B} />
      {placesOfPoints(model, frame).map(({ point, words }) => (
        <Ring point={point} label={words} width={width} kind="place" />
      ))}
      {current && <Ring point={current} label="" width={width} kind="active" />}
      {points
        .filter(({ row }) => row.id === hovered)
        .map((point) => (
          <Ring point={point} label="" width={width} kind="hover" />
        ))}
    </svg>
  );
}

/** What the point under the mouse is, beside it; a screen reader hears the same as the slider's value. */
function Hover({
  model,
  size,
  frame,
  hovered,
}: Props & { readonly model: ChartModel; readonly size: { readonly width: number; readonly height: number } }) {
  const point = hovered === null ? undefined : model.points.find(({ row }) => row.id === hovered);
  if (!point) return null;
  const left = point.x > size.width / 2;
  const low = point.y > size.height / 2;
  const style = {
    ...(left ? { right: `${size.width - point.x + 12}px` } : { left: `${point.x + 12}px` }),
    ...(low ? { bottom: `${size.height - point.y + 10}px` } : { top: `${point.y + 10}px` }),
  };
  return (
    <div class="hover" aria-hidden="true" style={style}>
      {sayPoint(point, frame)}
    </div>
  );
}

const sayPoint = ({ row, value }: ChartPoint, frame: ReviewFrame): string =>
  `${nameOf(row)} by ${frame.agents[row.author]}: ${frame.feedback === 'blind' ? 'reported ' : ''}${sayScore(value)} at ${sayAt(row.at)}`;

/** The final and the nominated candidate are named on the chart; the others have their lines. */
function placesOfPoints({ points }: ChartModel, frame: ReviewFrame): { point: ChartPoint; words: string }[] {
  const places = placesOf(frame);
  return points.flatMap((point) => {
    const words = (places.get(point.row.id) ?? []).filter((place) => place === 'final' || place === 'nominated');
    return words.length === 0 ? [] : [{ point, words: words.map((place) => placeWords[place]).join(' · ') }];
  });
}

function Ring(props: {
  readonly point: ChartPoint;
  readonly label: string;
  readonly width: number;
  readonly kind: string;
}) {
  const { point, label, width, kind } = props;
  const left = point.x > width * 0.6;
  const up = point.y > 44;
  return (
    <g class={`ring ring-${kind}`}>
      <circle cx={point.x} cy={point.y} r={7.5} />
      {kind !== 'place' && (
        <path
          class={`mark mark-${point.row.author}`}
          d={markPath(point.row.author, { x: point.x, y: point.y, r: 4.4 })}
        />
      )}
      {label !== '' && (
        <text x={point.x + (left ? -11 : 11)} y={point.y + (up ? -9 : 17)} text-anchor={left ? 'end' : 'start'}>
          {label}
        </text>
      )}
    </g>
  );
}

function Axes({
  model,
  size,
}: {
  readonly model: ChartModel;
  readonly size: { readonly width: number; readonly height: number };
}) {
  const { width, height } = size;
  const bottom = height - margin.bottom;
  const labelled = spaced(
    model.handoffs.map(({ at }) => at),
    28 + 8 * String(model.handoffs.length).length,
  );
  const crowded = model.handoffs.length > 80; // then lines would be all that is seen
  return (
    <g class="axes" aria-hidden="true">
      <rect
        class="after"
        x={model.explorationEnd}
        y={margin.top}
        width={Math.max(0, width - margin.right - model.explorationEnd)}
        height={bottom - margin.top}
      />
      {model.yTicks.map(({ at, label }) => (
        <g>
          <path class="gridline" d={`M${margin.left} ${at}H${width - margin.right}`} />
          <text x={margin.left - 8} y={at} dy="0.32em" text-anchor="end">
            {label}
          </text>
        </g>
      ))}
      {model.xTicks.map(({ at, label }) => (
        <text x={at} y={height - 7} text-anchor="middle">
          {label}
        </text>
      ))}
      {model.handoffs.map(({ at, label, agent }, index) => (
        <g class={`handoff agent-${agent}`}>
          {(!crowded || labelled.has(index)) && <path d={`M${at} ${margin.top}V${bottom}`} />}
          {labelled.has(index) && (
            <>
              <path class={`mark mark-${agent}`} d={markPath(agent, { x: at + 5, y: margin.top - 9, r: 3 })} />
              <text x={at + 12} y={margin.top - 5}>
                {label}
              </text>
            </>
          )}
        </g>
      ))}
      {model.thresholds.map(({ at, label }) => (
        <g class="threshold">
          <path d={`M${margin.left} ${at}H${width - margin.right}`} />
          <text x={width - margin.right - 2} y={at - 4} text-anchor="end">
            {label}
          </text>
        </g>
      ))}
      <path class="axis" d={`M${margin.left} ${bottom}H${width - margin.right}`} />
    </g>
  );
}

/** Which of the places are at least `gap` px after the one before that has a label. */
function spaced(places: readonly number[], gap: number): ReadonlySet<number> {
  const kept = new Set<number>();
  let last = -Infinity;
  for (const [index, place] of places.entries()) {
    if (place - last < gap) continue;
    kept.add(index);
    last = place;
  }
  return kept;
}

function OptionsTable({ frame, rows }: { readonly frame: ReviewFrame; readonly rows: readonly ReviewRow[] }) {
  const [open, setOpen] = useState(false);
  const say = (value: number | null): string => (value === null ? '–' : sayScore(value));
  return (
    <details class="as-table" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The chart as a table</summary>
      {open && (
        <div class="table-box" tabIndex={0} role="region" aria-label="Trajectory by option">
          <table>
            <caption>
              By option: what stood and what was best when it ended. Single candidates are in the table of candidates.
            </caption>
            <thead>
              <tr>
                {['Option', 'Agent', 'From', 'To', 'Accepted', 'Rejected', 'Standing', 'Record'].map((title) => (
                  <th scope="col">{title}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {optionLines(rows, frame).map((option) => (
                <tr>
                  <th scope="row">{option.number}</th>
                  <td>
                    <Agent slot={option.agent} name={frame.agents[option.agent]} />
                  </td>
                  <td>{sayAt(option.from)}</td>
                  <td>{option.to === null ? 'open' : sayAt(option.to)}</td>
                  <td>{option.accepted}</td>
                  <td>{option.rejected}</td>
                  <td>{say(option.standing)}</td>
                  <td>{say(option.record)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
