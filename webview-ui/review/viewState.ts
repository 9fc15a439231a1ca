import { columnIds, type ColumnId } from './columns.ts';
import { everything, type RowFilter, type SortKey } from './rowOrder.ts';

/** Everything about the page that is the person's own and outlives a reload. */
export interface ViewState {
  readonly run: string;
  readonly sort: readonly SortKey[];
  readonly filter: RowFilter;
  /** Columns taken away. */
  readonly without: readonly ColumnId[];
  /** The row that details are shown of. */
  readonly active: string | null;
  /** Rows chosen for comparison, in the order they were chosen. */
  readonly marked: readonly string[];
  readonly scale: 'linear' | 'log';
  readonly comparing: boolean;
  /** An unsent reason for a selection. */
  readonly draft: string;
  readonly scrollTop: number;
}

export const freshView: ViewState = {
  run: '',
  sort: [{ column: 'candidate', down: true }],
  filter: everything,
  without: [],
  active: null,
  marked: [],
  scale: 'linear',
  comparing: false,
  draft: '',
  scrollTop: 0,
};

const isColumn = (value: unknown): value is ColumnId => columnIds.some((id) => id === value);
const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];

/** What was kept, made whole: an older version of the page may have kept something else. */
export function readView(kept: unknown): ViewState {
  const view = record(kept);
  const sort = (Array.isArray(view['sort']) ? view['sort'] : [])
    .map(record)
    .flatMap(({ column, down }) => (isColumn(column) && typeof down === 'boolean' ? [{ column, down }] : []));
  return {
    run: typeof view['run'] === 'string' ? view['run'] : '',
    sort: sort.length > 0 ? sort : freshView.sort,
    filter: readFilter(record(view['filter'])),
    without: texts(view['without']).filter(isColumn),
    active: typeof view['active'] === 'string' ? view['active'] : null,
    marked: texts(view['marked']),
    scale: view['scale'] === 'log' ? 'log' : 'linear',
    comparing: view['comparing'] === true,
    draft: typeof view['draft'] === 'string' ? view['draft'] : '',
    scrollTop: typeof view['scrollTop'] === 'number' ? view['scrollTop'] : 0,
  };
}

function readFilter({ text, author, option, kind, hidden }: Readonly<Record<string, unknown>>): RowFilter {
  const kinds = ['all', 'accepted', 'rejected', 'flagged', 'starred'] as const;
  return {
    text: typeof text === 'string' ? text : '',
    author: author === 'A' || author === 'B' ? author : 'all',
    option: typeof option === 'number' ? option : null,
    kind: kinds.find((each) => each === kind) ?? 'all',
    hidden: hidden === true,
  };
}

/** The view for a run: what belongs to candidates is forgotten when it is another one; columns and scale stay. */
export const viewFor = (view: ViewState, run: string): ViewState =>
  view.run === run ? view : { ...freshView, run, sort: view.sort, without: view.without, scale: view.scale };
