import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { sayScore } from '../../src/base/numbers.ts';
import type { ReviewFrame, ReviewRow } from '../../src/window/reviewMessages.ts';
import { Agent } from '../kit/icons.tsx';
import { chartModel, optionLines, summary } from './chartModel.ts';
import { sayAt } from './columns.ts';
import { Hover, Plot } from './TrajectoryPlot.tsx';

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
          <span class="unseen">Scale</span>
          <select
            title="Scale"
            value={model.canLog ? scale : 'linear'}
            disabled={!model.canLog}
            onChange={(event) => onScale(event.currentTarget.value === 'log' ? 'log' : 'linear')}
          >
            <option value="linear">linear</option>
            <option value="log">log</option>
          </select>
        </label>
      </div>
      <p class="summary" id="trajectory-summary">
        {words}
      </p>
      <div class={model.points.length > 0 ? 'plot' : 'plot bare'} ref={box}>
        {model.points.length > 0 && <Plot {...props} model={model} size={size} />}
        <Hover {...props} model={model} size={size} />
      </div>
      {model.points.length > 0 && <OptionsTable frame={frame} rows={rows} />}
    </section>
  );
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
