import { useEffect, useState } from 'preact/hooks';
import type { CandidateAct, ReviewFrame, ReviewRow, ToHost } from '../../src/window/reviewMessages.ts';
import { Ask } from '../kit/Ask.tsx';
import { Agent, Star } from '../kit/icons.tsx';
import { columns, sayAt, type Scene } from './columns.ts';
import { authorOf, nameOf, type Place, placeWords, previousOf } from './pageModel.ts';

interface Props {
  readonly frame: ReviewFrame;
  readonly row: ReviewRow | undefined;
  readonly rows: readonly ReviewRow[];
  readonly byId: ReadonlyMap<string, ReviewRow>;
  readonly places: readonly Place[];
  readonly marked: readonly string[];
  readonly wall: number;
  readonly draft: string;
  onDraft: (draft: string) => void;
  post: (message: ToHost) => void;
}

/** The whole story of the active row, and everything that can be done with it. */
export function Details(props: Props) {
  const { row, frame, places, post } = props;
  const [selecting, setSelecting] = useState(false);
  useEffect(() => setSelecting(false), [row?.id]);
  if (!row) {
    return (
      <aside class="details" aria-label="Details">
        <p class="none">Choose a row to see its note, its files and what separates it from others.</p>
      </aside>
    );
  }
  const candidate = row.state === 'accepted';
  const why =
    (candidate ? '' : 'A rejected experiment can’t be selected.') ||
    (row.disqualified === '' ? '' : 'It is disqualified.') ||
    (frame.canSelect ? '' : frame.cannot);
  const toFocus = (): void => document.querySelector<HTMLElement>('.details .select-final')?.focus();
  return (
    <aside class="details" aria-label={`Details of ${nameOf(row)}`}>
      <h2>
        <span class="name">{nameOf(row)}</span> <Agent slot={row.author} name={authorOf(row, frame)} />
      </h2>
      {places.length > 0 && (
        <p class="places">
          {places.map((place) => (
            <span class={`place place-${place}`}>{placeWords[place]}</span>
          ))}
        </p>
      )}
      {row.code !== null && (
        <p class="failure">
          Rejected, {row.code.replaceAll('_', ' ')}: {row.reason}
        </p>
      )}
      {row.disqualified !== '' && <p class="failure">Disqualified {row.disqualified}</p>}
      {row.errand !== '' && (
        <p class="errand" role="status">
          {row.errand}
        </p>
      )}
      {row.note !== null && <p class="note">{row.note}</p>}
      <Values row={row} scene={{ frame, wall: props.wall }} />
      {selecting ? (
        <Ask
          title={`Select ${nameOf(row)} as final?`}
          text={`It holds until you clear it${frame.grades === 'revealed' ? '; it is marked as made after grades were seen' : ''}.`}
          yes="Select as final"
          reason={props.draft}
          onReason={props.onDraft}
          onNo={() => {
            setSelecting(false);
            requestAnimationFrame(toFocus);
          }}
          onYes={() => {
            post({ type: 'select', candidate: row.id, reason: props.draft });
            props.onDraft('');
            setSelecting(false);
            requestAnimationFrame(toFocus);
          }}
        />
      ) : (
        <div class="buttons">
          <button
            type="button"
            class="primary select-final"
            aria-disabled={why !== ''}
            title={why}
            onClick={() => why === '' && setSelecting(true)}
          >
            Select as final…
          </button>
          {why !== '' && <p class="aside">{why}</p>}
        </div>
      )}
      {candidate && <Diffs {...props} row={row} />}
      {candidate && <Acts {...{ frame, row, post }} />}
      <div class="buttons small">
        {candidate && (
          <button type="button" onClick={() => post({ type: 'files', candidate: row.id })}>
            Files
          </button>
        )}
        <button
          type="button"
          aria-pressed={row.starred}
          onClick={() => post({ type: 'star', candidate: row.id, on: !row.starred })}
        >
          <Star on={row.starred} /> {row.starred ? 'Starred' : 'Star'}
        </button>
        <button
          type="button"
          aria-pressed={row.hidden}
          onClick={() => post({ type: 'hide', candidate: row.id, on: !row.hidden })}
        >
          {row.hidden ? 'Show again' : 'Hide'}
        </button>
      </div>
    </aside>
  );
}

function Values({ row, scene }: { readonly row: ReviewRow; readonly scene: Scene }) {
  const { frame } = scene;
  const shown = columns.filter(
    ({ id, there }) =>
      !['candidate', 'author', 'note', 'size', 'age', 'flags', 'option'].includes(id) && there(frame, [row]),
  );
  const flags = row.flags.map((flag) => flag.replaceAll('_', ' ')).join(', ');
  const size = columns.find(({ id }) => id === 'size')?.text(row, scene) ?? '';
  return (
    <dl class="values">
      {shown.map((column) => (
        <div>
          <dt>{column.label(frame)}</dt>
          <dd>{column.text(row, scene)}</dd>
        </div>
      ))}
      <div>
        <dt>Option</dt>
        <dd>
          {row.option}
          {row.origin ? ` of run ${row.origin.run}` : `, at ${sayAt(row.at)}`}
        </dd>
      </div>
      {row.grade === 'hidden' && (
        <div>
          <dt>Grade</dt>
          <dd>hidden until it is revealed</dd>
        </div>
      )}
      {row.bytes !== null && (
        <div>
          <dt>Size</dt>
          <dd>
            {size}
            {row.files !== null && ` in ${row.files} ${row.files === 1 ? 'file' : 'files'}`}
          </dd>
        </div>
      )}
      {flags !== '' && (
        <div>
          <dt>Flags</dt>
          <dd class="flags">{flags}</dd>
        </div>
      )}
    </dl>
  );
}

/** What can be found out about a candidate, or said of it, now; nothing that would be refused is offered. */
function Acts({ frame, row, post }: Pick<Props, 'frame' | 'post'> & { readonly row: ReviewRow }) {
  const { acts } = frame;
  const [graded, out] = [typeof row.grade === 'number' || row.grade === 'hidden', row.disqualified !== ''];
  const offered: readonly (readonly [act: CandidateAct, words: string, title: string] | false)[] = [
    acts.reevaluate && ['reevaluate', 'Re-evaluate…', 'More runs of the evaluator; their mean stands beside the score'],
    acts.grade && [graded ? 'regrade' : 'grade', graded ? 'Grade again…' : 'Grade…', 'By the hidden grader'],
    acts.disqualify &&
      (out
        ? ['requalify', 'Take back the disqualification…', 'It can be chosen again']
        : ['disqualify', 'Disqualify…', 'It is no longer standing, record or final; the reason stays on record']),
  ];
  const shown = offered.filter((one) => one !== false);
  if (shown.length === 0) return null;
  return (
    <div class="buttons small" role="group" aria-label="Measure and judge">
      <span class="buttons-title">Measure and judge</span>
      {shown.map(([act, words, title]) => (
        <button type="button" title={title} onClick={() => post({ type: 'act', act, candidate: row.id })}>
          {words}
        </button>
      ))}
    </div>
  );
}

/** Native diffs of the row with those it is worth to be compared with. */
function Diffs({ row, rows, frame, byId, marked, post }: Props & { readonly row: ReviewRow }) {
  const against: { readonly id: string | null | undefined; readonly words: string }[] = [
    { id: previousOf(row, rows)?.id, words: 'Previous' },
    { id: frame.standing, words: 'Standing' },
    { id: frame.final?.candidate, words: 'Final' },
    ...marked
      .filter((id) => byId.get(id)?.state === 'accepted')
      .slice(0, 4)
      .map((id) => ({ id, words: nameOf(byId.get(id) ?? { id, order: null }) })),
  ];
  const fitting = against.flatMap(({ id, words }) => (typeof id === 'string' && id !== row.id ? [{ id, words }] : []));
  if (fitting.length === 0) return null;
  return (
    <div class="buttons small" role="group" aria-label="Diff against">
      <span class="buttons-title">Diff against</span>
      {fitting.map(({ id, words }) => (
        <button
          type="button"
          title={`What changed from ${id} to ${row.id}`}
          onClick={() => post({ type: 'diff', before: id, after: row.id })}
        >
          {words}
        </button>
      ))}
    </div>
  );
}
