import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { ReviewFrame, ReviewRow } from '../../src/window/reviewMessages.ts';
import { Agent, Star, Tick } from '../kit/icons.tsx';
import { useVirtualRows } from '../kit/virtualRows.ts';
import { sayChangeOf, type Column, type ColumnId, type Scene } from './columns.ts';
import { nameOf, placeWords, type Place } from './pageModel.ts';
import type { SortKey } from './rowOrder.ts';

/** The cells before the columns: the choice for comparison, the star. */
const leading = ['mark', 'star'] as const;
type CellId = (typeof leading)[number] | ColumnId;

/** Where the keyboard is: a cell of a row, or of the heading (`row` null). */
export interface Cursor {
  readonly row: string | null;
  readonly cell: CellId;
}

export interface GridProps {
  readonly frame: ReviewFrame;
  readonly rows: readonly ReviewRow[];
  readonly columns: readonly Column[];
  readonly sort: readonly SortKey[];
  readonly places: ReadonlyMap<string, readonly Place[]>;
  readonly marked: ReadonlySet<string>;
  readonly cursor: Cursor;
  /** The cursor moves, and takes the focus with it. */
  onCursor: (cursor: Cursor) => void;
  readonly active: string | null;
  readonly hovered: string | null;
  /** Goes up whenever the active row must come into view. */
  readonly reveals: number;
  readonly rowHeight: number;
  readonly wall: number;
  readonly scrollTop: number;
  onScroll: (top: number) => void;
  onSort: (column: ColumnId, shift: boolean) => void;
  onMark: (id: string) => void;
  onStar: (row: ReviewRow) => void;
  onHide: (row: ReviewRow) => void;
  onOpen: (id: string) => void;
  onHover: (id: string | null) => void;
}

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
              <Row
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

/** Roving focus: one cell of the grid is in the order of the Tab key. */
const cellProps = (cell: CellId, row: string | null, { cursor }: Pick<GridProps, 'cursor'>) => ({
  'data-cell': cell,
  'data-row': row ?? '',
  tabIndex: cursor.cell === cell && cursor.row === row ? 0 : -1,
});

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

function Row(
  props: GridProps & {
    readonly row: ReviewRow;
    readonly index: number;
    readonly isMarked: boolean;
    readonly scene: Scene;
  },
) {
  const { row, index, isMarked, rowHeight, columns, active, hovered, scene } = props;
  const classes = [
    'row',
    row.state,
    row.id === active ? 'active' : '',
    row.id === hovered ? 'hovered' : '',
    isMarked ? 'marked' : '',
    row.hidden ? 'is-hidden' : '',
  ];
  const go =
    (cell: CellId) =>
    (event: MouseEvent): void => {
      props.onCursor({ row: row.id, cell });
      if (event.ctrlKey || event.metaKey || cell === 'mark') props.onMark(row.id);
      else if (cell === 'star') props.onStar(row);
    };
  return (
    <div
      class={classes.filter(Boolean).join(' ')}
      role="row"
      data-row={row.id}
      aria-rowindex={index + 2}
      aria-selected={isMarked}
      style={{ top: `${index * rowHeight}px` }}
      onDblClick={() => props.onOpen(row.id)}
    >
      <div
        role="gridcell"
        class="cell icon"
        aria-label={isMarked ? 'chosen for comparison' : 'not chosen'}
        {...cellProps('mark', row.id, props)}
        onClick={go('mark')}
      >
        <Tick on={isMarked} />
      </div>
      <div
        role="gridcell"
        class="cell icon"
        aria-label={row.starred ? 'starred' : 'not starred'}
        {...cellProps('star', row.id, props)}
        onClick={go('star')}
      >
        <Star on={row.starred} />
      </div>
      {columns.map((column) => (
        <div
          role="gridcell"
          class={`cell ${column.numeric ? 'numeric' : ''} cell-${column.id}`}
          {...cellProps(column.id, row.id, props)}
          onClick={go(column.id)}
        >
          <Content column={column} row={row} scene={scene} places={props.places} />
        </div>
      ))}
    </div>
  );
}

function Content(props: {
  readonly column: Column;
  readonly row: ReviewRow;
  readonly scene: Scene;
  readonly places: ReadonlyMap<string, readonly Place[]>;
}) {
  const { column, row, scene, places } = props;
  if (column.id === 'author') return <Agent slot={row.author} name={scene.frame.agents[row.author]} />;
  if (column.id === 'candidate') {
    return (
      <>
        <span class="name">{nameOf(row)}</span>
        {(places.get(row.id) ?? []).map((each) => (
          <span class={`place place-${each}`}>{placeWords[each]}</span>
        ))}
      </>
    );
  }
  const text = column.text(row, scene);
  if (column.id === 'change')
    return (
      <span class={row.change === null || row.change === 0 ? '' : row.change > 0 ? 'better' : 'worse'}>
        {sayChangeOf(row.change)}
      </span>
    );
  return column.id === 'note' || column.id === 'flags' ? (
    <span title={text || (row.reason ?? '')}>{text || (column.id === 'note' ? (row.reason ?? '') : '')}</span>
  ) : (
    <>{text}</>
  );
}

type KeyScene = GridProps & {
  readonly cells: readonly CellId[];
  readonly place: number;
  readonly page: number;
  focus: (cursor: Cursor) => void;
};

/** The keys of the grid: arrows, Home, End, Page Up and Down; Space chooses, Enter opens or sorts, s stars, h hides. */
function handleKey(event: KeyboardEvent, scene: KeyScene): void {
  const { cursor } = scene;
  const next = moved(event, scene);
  if (next) scene.focus(next);
  else if (cursor.row === null) {
    if ((event.key !== 'Enter' && event.key !== ' ') || cursor.cell === 'mark' || cursor.cell === 'star') return;
    scene.onSort(cursor.cell, event.shiftKey);
  } else if (!act(event, scene)) return;
  event.preventDefault();
}

function act({ key, ctrlKey, metaKey, altKey }: KeyboardEvent, { cursor, rows, ...does }: KeyScene): boolean {
  const row = rows.find(({ id }) => id === cursor.row);
  if (!row || ctrlKey || metaKey || altKey) return false;
  if (key === ' ') (cursor.cell === 'star' ? () => does.onStar(row) : () => does.onMark(row.id))();
  else if (key === 'Enter') does.onOpen(row.id);
  else if (key === 's') does.onStar(row);
  else if (key === 'h') does.onHide(row);
  else return false;
  return true;
}

/** Where a key moves the cursor; null when it doesn't. */
function moved(
  { key, ctrlKey, metaKey }: KeyboardEvent,
  { cursor, cells, rows, place, page }: KeyScene,
): Cursor | null {
  const column = cells.indexOf(cursor.cell);
  const at = (index: number): Cursor => {
    const row = rows[Math.min(rows.length - 1, index)];
    return { row: index < 0 || !row ? null : row.id, cell: cursor.cell };
  };
  const across = (index: number): Cursor => ({
    row: cursor.row,
    cell: cells[Math.max(0, Math.min(cells.length - 1, index))] ?? cursor.cell,
  });
  const now = cursor.row === null ? -1 : Math.max(0, place);
  const far = ctrlKey || metaKey;
  switch (key) {
    case 'ArrowDown':
      return at(now + 1);
    case 'ArrowUp':
      return at(now - 1);
    case 'PageDown':
      return at(now + page);
    case 'PageUp':
      return at(Math.max(0, now - page));
    case 'ArrowRight':
      return across(column + 1);
    case 'ArrowLeft':
      return across(column - 1);
    case 'Home':
      return far ? { ...at(0), cell: cells[0] ?? cursor.cell } : across(0);
    case 'End':
      return far ? { ...at(rows.length - 1), cell: cells.at(-1) ?? cursor.cell } : across(cells.length - 1);
    default:
      return null;
  }
}
