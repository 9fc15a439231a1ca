import type { ReviewRow } from '../../src/window/reviewMessages.ts';
import { Agent, Star, Tick } from '../kit/icons.tsx';
import { sayChangeOf, type Column, type Scene } from './columns.ts';
import { cellProps, type CellId, type GridProps } from './gridProps.ts';
import { authorOf, nameOf, type Place, placeWords } from './pageModel.ts';

/** One candidate or rejected experiment in the table. */
export function CandidateRow(
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
    row.disqualified === '' ? '' : 'is-disqualified',
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
  if (column.id === 'author') return <Agent slot={row.author} name={authorOf(row, scene.frame)} />;
  if (column.id === 'candidate') {
    return (
      <>
        <span class="name">{nameOf(row)}</span>
        {(places.get(row.id) ?? []).map((each) => (
          <span class={`place place-${each}`}>{placeWords[each]}</span>
        ))}
        {row.disqualified !== '' && <span class="place">Disqualified</span>}
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
