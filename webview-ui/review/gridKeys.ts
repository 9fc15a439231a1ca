import { type CellId, type Cursor, type GridProps } from './gridProps.ts';

/** What keys act on. */
export type KeyScene = GridProps & {
  readonly cells: readonly CellId[];
  readonly place: number;
  readonly page: number;
  focus: (cursor: Cursor) => void;
};

/** The keys of the grid: arrows, Home, End, Page Up and Down; Space chooses, Enter opens or sorts, s stars, h hides. */
export function handleKey(event: KeyboardEvent, scene: KeyScene): void {
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
