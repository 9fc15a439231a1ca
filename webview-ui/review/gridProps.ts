import type { ReviewFrame, ReviewRow } from '../../src/window/reviewMessages.ts';
import type { Column, ColumnId } from './columns.ts';
import type { Place } from './pageModel.ts';
import type { SortKey } from './rowOrder.ts';

/** The cells before the columns: the choice for comparison, the star. */
export const leading = ['mark', 'star'] as const;
/** A cell's place in its row. */
export type CellId = (typeof leading)[number] | ColumnId;

/** Where the keyboard is: a cell of a row, or of the heading (`row` null). */
export interface Cursor {
  readonly row: string | null;
  readonly cell: CellId;
}

/** What the table shows, and what it says. */
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

/** Roving focus: one cell of the grid is in the order of the Tab key. */
export const cellProps = (cell: CellId, row: string | null, { cursor }: Pick<GridProps, 'cursor'>) => ({
  'data-cell': cell,
  'data-row': row ?? '',
  tabIndex: cursor.cell === cell && cursor.row === row ? 0 : -1,
});
