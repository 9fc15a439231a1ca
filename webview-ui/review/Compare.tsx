import type { ReviewFrame, ReviewRow, ToHost } from '../../src/window/reviewMessages.ts';
import { Agent } from '../kit/icons.tsx';
import { columns, sayAt, type Column, type Scene } from './columns.ts';
import { authorOf, nameOf, placesOf, placeWords } from './pageModel.ts';

interface Props {
  readonly frame: ReviewFrame;
  /** The chosen rows in the order they were chosen. */
  readonly rows: readonly ReviewRow[];
  readonly wall: number;
  post: (message: ToHost) => void;
  onUnmark: (id: string) => void;
}

/** Which of the rows have the best value of a column; none where all are equal or the column has no better. */
function bestOf(column: Column, rows: readonly ReviewRow[], frame: ReviewFrame): ReadonlySet<string> {
  if (column.id === 'grade' && frame.graders.length > 0) return new Set(); // of several graders: they don't compare
  if (!['score', 'reported', 'quality', 'change', 'grade'].includes(column.id)) return new Set();
  const keys = rows.flatMap((row) => {
    const key = column.key(row, frame);
    return typeof key === 'number' ? [{ id: row.id, key }] : [];
  });
  const values = keys.map(({ key }) => key);
  const best = column.downFirst(frame) ? Math.max(...values) : Math.min(...values);
  const winners = keys.filter(({ key }) => key === best);
  return winners.length === rows.length ? new Set() : new Set(winners.map(({ id }) => id));
}

/** The chosen candidates side by side; where they differ is told by weight, the best value by a word as well. */
export function Compare({ frame, rows, wall, post, onUnmark }: Props) {
  const scene: Scene = { frame, wall };
  const shown = columns.filter(({ id, there }) => id !== 'candidate' && id !== 'author' && there(frame, rows));
  const places = placesOf(frame);
  const [first] = rows;
  return (
    <section class="compare" aria-labelledby="compare-title">
      <div class="section-head">
        <h2 id="compare-title">Side by side</h2>
      </div>
      <div class="table-box" tabIndex={0} role="region" aria-label="Comparison">
        <table>
          <thead>
            <tr>
              <td />
              {rows.map((row) => (
                <th scope="col">
                  <span class="name">{nameOf(row)}</span> <Agent slot={row.author} name={authorOf(row, frame)} />
                  <span class="places">
                    {(places.get(row.id) ?? []).map((place) => (
                      <span class={`place place-${place}`}>{placeWords[place]}</span>
                    ))}
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((column) => {
              const best = bestOf(column, rows, frame);
              const texts = rows.map((row) => column.text(row, scene));
              const differ = new Set(texts).size > 1;
              return (
                <tr class={differ ? 'differ' : ''}>
                  <th scope="row">{column.label(frame)}</th>
                  {rows.map((row, index) => (
                    <td>
                      {texts[index] || '–'}
                      {best.has(row.id) && <span class="best">best</span>}
                    </td>
                  ))}
                </tr>
              );
            })}
            <tr>
              <th scope="row">At</th>
              {rows.map((row) => (
                <td>{sayAt(row.at)}</td>
              ))}
            </tr>
            <tr>
              <td />
              {rows.map((row) => (
                <td>
                  <div class="buttons small">
                    {first && first.id !== row.id && row.state === 'accepted' && first.state === 'accepted' && (
                      <button type="button" onClick={() => post({ type: 'diff', before: first.id, after: row.id })}>
                        Diff with {nameOf(first)}
                      </button>
                    )}
                    <button type="button" class="quiet" onClick={() => onUnmark(row.id)}>
                      Take out
                    </button>
                  </div>
                </td>
              ))}
            </tr>
          </tbody>
        </table>
      </div>
    </section>
  );
}
