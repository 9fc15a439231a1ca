import type { ReviewFrame } from '../../src/window/reviewMessages.ts';
import type { Column, ColumnId } from './columns.ts';
import { everything, type RowFilter } from './rowOrder.ts';

interface Props {
  readonly frame: ReviewFrame;
  readonly filter: RowFilter;
  /** Columns that this run has something in. */
  readonly offered: readonly Column[];
  readonly without: readonly ColumnId[];
  readonly shown: number;
  readonly all: number;
  readonly hiddenRows: number;
  readonly marked: number;
  readonly comparing: boolean;
  onFilter: (filter: RowFilter) => void;
  onColumns: (without: readonly ColumnId[]) => void;
  onCompare: () => void;
  onUnmark: () => void;
}

const kinds = {
  all: 'All experiments',
  accepted: 'Candidates only',
  rejected: 'Rejected only',
  flagged: 'With flags',
  starred: 'Starred',
} as const;

/** Filters, the choice of columns, and what can be done with the chosen rows. */
export function Toolbar(props: Props) {
  const { frame, filter, onFilter, shown, all, marked, comparing, hiddenRows } = props;
  const change = (part: Partial<RowFilter>): void => onFilter({ ...filter, ...part });
  const kind = (value: string): RowFilter['kind'] =>
    (Object.keys(kinds) as RowFilter['kind'][]).find((each) => each === value) ?? 'all';
  const filtered = filter.text !== '' || filter.author !== 'all' || filter.option !== null || filter.kind !== 'all';
  return (
    <div class="toolbar" role="group" aria-label="Filters and columns">
      <input
        type="search"
        aria-label="Filter by text"
        placeholder="Filter"
        title="Filter by id, author, note or flag"
        value={filter.text}
        onInput={(event) => change({ text: event.currentTarget.value })}
      />
      <select
        aria-label="Author"
        value={filter.author}
        onChange={({ currentTarget: { value } }) => change({ author: value === 'A' || value === 'B' ? value : 'all' })}
      >
        <option value="all">Both authors</option>
        <option value="A">{frame.agents.A}</option>
        <option value="B">{frame.agents.B}</option>
      </select>
      <select
        aria-label="Option"
        value={filter.option ?? ''}
        onChange={({ currentTarget: { value } }) => change({ option: value === '' ? null : Number(value) })}
      >
        <option value="">All options</option>
        {frame.options.map(({ number, agent }) => (
          <option value={number}>{`Option ${number}: ${frame.agents[agent]}`}</option>
        ))}
      </select>
      <select
        aria-label="Kind"
        value={filter.kind}
        onChange={({ currentTarget: { value } }) => change({ kind: kind(value) })}
      >
        {Object.entries(kinds).map(([value, words]) => (
          <option value={value}>{words}</option>
        ))}
      </select>
      {(hiddenRows > 0 || filter.hidden) && (
        <label class="check">
          <input
            type="checkbox"
            checked={filter.hidden}
            onChange={({ currentTarget: { checked } }) => change({ hidden: checked })}
          />
          Show hidden ({hiddenRows})
        </label>
      )}
      <Columns {...props} />
      <span class="count">{shown === all ? `${all} ${all === 1 ? 'row' : 'rows'}` : `${shown} of ${all} rows`}</span>
      {filtered && (
        <button type="button" class="quiet" onClick={() => onFilter({ ...everything, hidden: filter.hidden })}>
          Clear filters
        </button>
      )}
      <span class="spring" />
      {marked > 0 && (
        <button type="button" class="quiet" onClick={props.onUnmark}>
          Choose none
        </button>
      )}
      <button
        type="button"
        aria-pressed={comparing}
        disabled={marked < 2 && !comparing}
        title={marked < 2 ? 'Choose two rows or more (Space) to compare them' : ''}
        onClick={props.onCompare}
      >
        {comparing ? 'Back to the chart' : `Compare${marked > 0 ? ` (${marked})` : ''}`}
      </button>
    </div>
  );
}

function Columns({ offered, without, onColumns, frame }: Props) {
  const toggle = (id: ColumnId, on: boolean): void =>
    onColumns(on ? without.filter((each) => each !== id) : [...without, id]);
  return (
    <details
      class="columns"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.currentTarget.open = false;
        event.currentTarget.querySelector('summary')?.focus();
      }}
      onFocusOut={(event) => {
        if (event.relatedTarget instanceof Node && !event.currentTarget.contains(event.relatedTarget))
          event.currentTarget.open = false;
      }}
    >
      <summary>Columns</summary>
      <div class="menu" role="group" aria-label="Columns shown">
        {offered
          .filter(({ id }) => id !== 'candidate')
          .map(({ id, label }) => (
            <label class="check">
              <input
                type="checkbox"
                checked={!without.includes(id)}
                onChange={({ currentTarget: { checked } }) => toggle(id, checked)}
              />
              {label(frame)}
            </label>
          ))}
      </div>
    </details>
  );
}
