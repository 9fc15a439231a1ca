import { sayScore } from '../../src/base/numbers.ts';
import type { ReviewFrame } from '../../src/window/reviewMessages.ts';
import { margin, markPath, nearest, type ChartModel, type ChartPoint } from './chartModel.ts';
import { labelSpots, type LabelSpot } from './labelSpot.ts';
import { sayAt } from './columns.ts';
import { authorOf, nameOf, placesOf, placeWords } from './pageModel.ts';

/** CSS px. */
interface Size {
  readonly width: number;
  readonly height: number;
}

/** A drawn trajectory and what is chosen in it. */
interface Props {
  readonly model: ChartModel;
  readonly size: Size;
  readonly frame: ReviewFrame;
  readonly active: string | null;
  readonly hovered: string | null;
  onHover: (id: string | null) => void;
  onActive: (id: string) => void;
}

/** The chart itself: a slider over the candidates in order of time. */
export function Plot(props: Props) {
  const { model, size, frame, active, hovered, onHover, onActive } = props;
  const { width, height } = size;
  const { points } = model;
  const labelled = placesOfPoints(model, frame);
  const spots = labelSpots(labelled, { points, size });
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
      <path class="mark mark-other" d={model.marks.other} />
      {labelled.map(({ point, words }, nth) => (
        <Ring point={point} label={{ words, ...(spots[nth] as LabelSpot) }} kind="place" />
      ))}
      {current && <Ring point={current} kind="active" />}
      {points
        .filter(({ row }) => row.id === hovered)
        .map((point) => (
          <Ring point={point} kind="hover" />
        ))}
    </svg>
  );
}

/** What the point under the mouse is, beside it; a screen reader hears the same as the slider's value. */
export function Hover({ model, size, frame, hovered }: Props) {
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
  `${nameOf(row)} by ${authorOf(row, frame)}: ${frame.feedback === 'blind' ? 'reported ' : ''}${sayScore(value)} at ${sayAt(row.at)}`;

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
  readonly kind: string;
  /** The words beside it, and where they stand. */
  readonly label?: { readonly words: string } & LabelSpot;
}) {
  const { point, kind, label } = props;
  return (
    <g class={`ring ring-${kind}`}>
      <circle cx={point.x} cy={point.y} r={7.5} />
      {kind !== 'place' && (
        <path
          class={`mark mark-${point.row.author ?? 'other'}`}
          d={markPath(point.row.author, { x: point.x, y: point.y, r: 4.4 })}
        />
      )}
      {label && (
        <text x={label.x} y={label.y} text-anchor={label.anchor}>
          {label.words}
        </text>
      )}
    </g>
  );
}

function Axes({ model, size }: Pick<Props, 'model' | 'size'>) {
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
