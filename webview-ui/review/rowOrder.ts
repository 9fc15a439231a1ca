import type { ReviewFrame, ReviewRow } from '../../src/window/reviewMessages.ts';
import type { AgentSlot } from '../../src/task/model.ts';
import { columns, flagWords, type ColumnId } from './columns.ts';
import { authorOf } from './pageModel.ts';

/** One key of an order; the first in a list counts most. */
export interface SortKey {
  readonly column: ColumnId;
  readonly down: boolean;
}

/** Which rows are shown. */
export interface RowFilter {
  readonly text: string;
  readonly author: AgentSlot | 'all';
  readonly option: number | null;
  readonly kind: 'all' | 'accepted' | 'rejected' | 'flagged' | 'starred';
  readonly hidden: boolean;
}

export const everything: RowFilter = { text: '', author: 'all', option: null, kind: 'all', hidden: false };

/** The rows that a filter lets through, in their order. All words of the text must be found, in any field, whatever their case. */
export function filterRows(rows: readonly ReviewRow[], filter: RowFilter, frame: ReviewFrame): readonly ReviewRow[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter(
    (row) =>
      (filter.hidden || !row.hidden) &&
      (filter.author === 'all' || row.author === filter.author) &&
      (filter.option === null || (row.option === filter.option && !row.origin)) &&
      isOfKind(row, filter.kind) &&
      (words.length === 0 || hasWords(row, words, frame)),
  );
}

function isOfKind(row: ReviewRow, kind: RowFilter['kind']): boolean {
  switch (kind) {
    case 'all':
      return true;
    case 'accepted':
    case 'rejected':
      return row.state === kind;
    case 'flagged':
      return row.flags.length > 0 || row.disqualified !== '';
    case 'starred':
      return row.starred;
  }
}

function hasWords(row: ReviewRow, words: readonly string[], frame: ReviewFrame): boolean {
  const all = [
    row.id,
    row.order === null ? '' : `#${row.order}`,
    authorOf(row, frame),
    row.origin?.run ?? '',
    row.note ?? '',
    row.reason ?? '',
    ...flagWords(row),
  ];
  const text = all.join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/**
 * Rows in a stable order by several keys. Rejected experiments come after all candidates and rows without a value after those with
 * one, whatever the direction: the failed are last, but there.
 */
export function sortRows(
  rows: readonly ReviewRow[],
  keys: readonly SortKey[],
  frame: ReviewFrame,
): readonly ReviewRow[] {
  const sorters = keys.flatMap(({ column, down }) => {
    const found = columns.find(({ id }) => id === column);
    return found ? [{ key: found.key, sign: down ? -1 : 1 }] : [];
  });
  const entries = rows.map((row, index) => ({ row, index, keys: sorters.map(({ key }) => key(row, frame)) }));
  entries.sort((a, b) => {
    if (a.row.state !== b.row.state) return a.row.state === 'rejected' ? 1 : -1;
    for (const [place, { sign }] of sorters.entries()) {
      const order = compareKeys(a.keys[place] ?? null, b.keys[place] ?? null, sign);
      if (order !== 0) return order;
    }
    return a.index - b.index;
  });
  return entries.map(({ row }) => row);
}

function compareKeys(a: number | string | null, b: number | string | null, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === 'number' && typeof b === 'number') return (a - b) * sign;
  return collator.compare(String(a), String(b)) * sign;
}

/** The order after a click on a heading: alone, turned round when it was first already; with shift it is added or turned in place. */
export function clickHeading(
  keys: readonly SortKey[],
  column: ColumnId,
  given: { readonly shift: boolean; readonly frame: ReviewFrame },
): readonly SortKey[] {
  const downFirst = columns.find(({ id }) => id === column)?.downFirst(given.frame) ?? false;
  const now = keys.find((key) => key.column === column);
  const next: SortKey = { column, down: now ? !now.down : downFirst };
  if (!given.shift) return [now && keys[0]?.column !== column ? { column, down: downFirst } : next];
  return now ? keys.map((key) => (key.column === column ? next : key)) : [...keys, next];
}
