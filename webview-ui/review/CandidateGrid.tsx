import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { useVirtualRows } from '../kit/virtualRows.ts';
import { CandidateRow } from './CandidateRow.tsx';
import type { Column } from './columns.ts';
import { handleKey } from './gridKeys.ts';
import { cellProps, leading, type CellId, type Cursor, type GridProps } from './gridProps.ts';

/** The table of all rows: only the visible ones are in the document. Roles and keys of the ARIA grid. */
export function CandidateGrid(props: GridProps) {
  const { rows, columns, rowHeight, active, reveals, frame, marked, cursor } = props;
  const grid = useRef<HTMLDivElement>(null);
  const span = useVirtualRows(grid, { rowHeight, count: rows.length });
  const place = active === null ? -1 : rows.findIndex(({ id }) => id === active);
  const cells: readonly CellId[] = [...leading, ...columns.map(({ id }) => id)];
  useRestoredScroll(grid, props);
  useLayoutEffect(() => {
    if (grid.current && place >= 0) bringIntoView(grid.current, place, rowHeight);
  }, [reveals]);
  const focus = (next: Cursor): void => {
    props.onCursor(next);
    requestAnimationFrame(() => {
      const all = [...(grid.current?.querySelectorAll<HTMLElement>('[data-cell]') ?? [])];
      all
        .find(({ dataset }) => dataset['cell'] === next.cell && dataset['row'] === (next.row ?? ''))
        ?.focus({ preventScroll: next.row !== null });
    });
  };
  const drawn = indexes(span, place);
  const crowded = Math.max(0, ...[...props.places.values()].map(({ length }) => length - 2)) * 6; // each further badge, in em
  const widths = columns.map(({ width, id }) =>
    id === 'note' ? `minmax(${width}em, 1fr)` : `${id === 'candidate' ? width + crowded : width}em`,
  );
  const style = {
    '--columns': `2.2em 2.2em ${widths.join(' ')}`,
    '--least': `${columns.reduce((sum, { width }) => sum + width, 4.4 + crowded)}em`,
    '--row': `${rowHeight}px`,
  };
  return (
    <div
      class="grid"
      ref={grid}
      role="grid"
      aria-label="Candidates"
      aria-rowcount={rows.length + 1}
      aria-colcount={cells.length}
      aria-multiselectable="true"
      style={style}
      onKeyDown={(event) => handleKey(event, { ...props, cells, place, focus, page: pageOf(grid.current, rowHeight) })}
      onMouseOver={(event) => props.onHover(rowIdOf(event.target))}
      onMouseLeave={() => props.onHover(null)}
      onScroll={(event) => props.onScroll(event.currentTarget.scrollTop)}
    >
      <div class="head" role="row" aria-rowindex={1}>
        <div role="columnheader" class="cell" {...cellProps('mark', null, props)} aria-label="Chosen for comparison" />
        <div role="columnheader" class="cell" {...cellProps('star', null, props)} aria-label="Star" />
        {columns.map((column) => (
          <Heading column={column} {...props} />
        ))}
      </div>
      <div class="body" role="rowgroup" style={{ height: `${rows.length * rowHeight}px` }}>
        {drawn.map((index) => {
          const row = rows[index];
          return (
            row && (
              <CandidateRow
                key={row.id}
                row={row}
                index={index}
                isMarked={marked.has(row.id)}
                scene={{ frame, wall: props.wall }}
                {...props}
              />
            )
          );
        })}
      </div>
      {rows.length === 0 && <p class="nothing">No candidate fits the filter.</p>}
      <span class="unseen">
        {cursor.row === null ? 'Enter sorts by this column, Shift+Enter adds it to the order.' : ''}
      </span>
    </div>
  );
}

/** The rows of the span, and the active one wherever it is: the focus must not vanish when it is scrolled away. */
function indexes({ first, last }: { readonly first: number; readonly last: number }, active: number): number[] {
  const all = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  if (active >= 0 && active < first) return [active, ...all];
  return active >= last ? [...all, active] : all;
}

function useRestoredScroll(grid: { readonly current: HTMLElement | null }, { scrollTop, rows }: GridProps): void {
  const done = useRef(false);
  useEffect(() => {
    if (done.current || rows.length === 0 || !grid.current) return;
    grid.current.scrollTop = scrollTop;
    done.current = true;
  }, [rows.length > 0]);
}

function bringIntoView(grid: HTMLElement, index: number, rowHeight: number): void {
  const top = index * rowHeight;
  const visible = grid.clientHeight - rowHeight; // the heading stays on top
  if (top < grid.scrollTop) grid.scrollTop = top;
  else if (top + rowHeight > grid.scrollTop + visible) grid.scrollTop = top + rowHeight - visible;
}

const pageOf = (grid: HTMLElement | null, rowHeight: number): number =>
  Math.max(1, Math.floor((grid?.clientHeight ?? 0) / rowHeight) - 2);

const rowIdOf = (target: EventTarget | null): string | null =>
  target instanceof Element ? (target.closest<HTMLElement>('[data-row]')?.dataset['row'] ?? null) || null : null;

function Heading(props: GridProps & { readonly column: Column }) {
  const { column, sort, frame, onSort, onCursor } = props;
  const at = sort.findIndex((key) => key.column === column.id);
  const key = sort[at];
  const sorted = key ? (key.down ? 'descending' : 'ascending') : 'none';
  return (
    <div
      role="columnheader"
      class={`cell heading ${column.numeric ? 'numeric' : ''}`}
      aria-sort={sorted}
      title={`${column.label(frame)}: click sorts, Shift+click adds to the order`}
      {...cellProps(column.id, null, props)}
      onClick={(event) => {
        onCursor({ row: null, cell: column.id });
        onSort(column.id, event.shiftKey);
      }}
    >
      <span class="heading-text">{column.label(frame)}</span>
      {key && (
        <span class="arrow" aria-hidden="true">
          {key.down ? '↓' : '↑'}
          {sort.length > 1 && <sub>{at + 1}</sub>}
        </span>
      )}
    </div>
  );
}
