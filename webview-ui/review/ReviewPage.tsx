import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ReviewRow, ToHost, ToPage } from '../../src/window/reviewMessages.ts';
import type { Host } from '../kit/messaging.ts';
import { CandidateGrid } from './CandidateGrid.tsx';
import { columns } from './columns.ts';
import { Compare } from './Compare.tsx';
import { Details } from './Details.tsx';
import type { Cursor } from './gridProps.ts';
import { nothingYet, placesOf, tell, withRows, type PageModel } from './pageModel.ts';
import { clickHeading, everything, filterRows, sortRows } from './rowOrder.ts';
import { Toolbar } from './Toolbar.tsx';
import { Trajectory } from './Trajectory.tsx';
import { Verdict } from './Verdict.tsx';
import { readView, viewFor, type ViewState } from './viewState.ts';

type PageHost = Host<ToPage, ToHost>;

/** The final-review page: what the host tells is the model, what the person chose is the view. */
export function ReviewPage({ host }: { readonly host: PageHost }) {
  const [view, setView] = useState<ViewState>(() => readView(host.saved()));
  const { model, said, refusal, dismiss, wanted } = useModel(host);
  const run = model.frame?.run;
  useEffect(() => {
    if (run !== undefined) setView((now) => viewFor(now, run));
  }, [run]);
  const scrolled = useRef(view.scrollTop);
  const keep = (): void => {
    if (run !== undefined && view.run === run) host.save({ ...view, scrollTop: scrolled.current });
  };
  useEffect(keep, [view]);
  return (
    <>
      <p class="unseen" role="status" aria-live="polite">
        {said}
      </p>
      {refusal !== '' && (
        <div class="banner refused" role="alert">
          <p>{refusal}</p>
          <button type="button" class="quiet" onClick={dismiss}>
            Dismiss
          </button>
        </div>
      )}
      {model.frame ? (
        <Review
          frame={model.frame}
          rows={model.rows}
          view={view}
          setView={setView}
          host={host}
          wanted={wanted}
          onScroll={(top) => {
            scrolled.current = top;
            keep();
          }}
        />
      ) : (
        <p class="empty">{model.empty || 'Reading the run…'}</p>
      )}
    </>
  );
}

/** Listens to the host; `said` is for the live region, `wanted` the row to go to. */
function useModel(host: PageHost) {
  const [model, setModel] = useState<PageModel>(nothingYet);
  const [said, setSaid] = useState('');
  const [refusal, setRefusal] = useState('');
  const [wanted, setWanted] = useState<{ readonly id: string } | null>(null);
  const latest = useRef(model);
  useEffect(() => {
    const take = (next: PageModel): void => {
      const words = tell(latest.current, next);
      latest.current = next;
      setModel(next);
      if (words !== '') setSaid(words);
    };
    const end = host.listen({
      model: ({ frame, rows }) => take({ frame, rows, empty: '' }),
      rows: ({ frame, rows }) => take({ frame, rows: withRows(latest.current.rows, rows), empty: '' }),
      empty: ({ text }) => take({ ...nothingYet, empty: text }),
      focus: ({ candidate }) => setWanted({ id: candidate }),
      refused: ({ text }) => setRefusal(text),
    });
    host.post({ type: 'ready' });
    return end;
  }, [host]);
  return { model, said, refusal, wanted, dismiss: () => setRefusal('') };
}

interface ReviewProps {
  readonly frame: NonNullable<PageModel['frame']>;
  readonly rows: readonly ReviewRow[];
  readonly view: ViewState;
  setView: (change: (now: ViewState) => ViewState) => void;
  readonly host: PageHost;
  readonly wanted: { readonly id: string } | null;
  onScroll: (top: number) => void;
}

function Review({ frame, rows, view, setView, host, wanted, onScroll }: ReviewProps) {
  const [hovered, setHovered] = useState<string | null>(null);
  const [reveals, setReveals] = useState(0);
  const [cell, setCell] = useState<Cursor>({ row: view.active, cell: 'candidate' });
  const wall = useMinute(frame);
  const rowHeight = useRowHeight();
  const change = (part: Partial<ViewState>): void => setView((now) => ({ ...now, ...part }));
  const post = (message: ToHost): void => host.post(message);
  const byId = useMemo(() => new Map(rows.map((row) => [row.id, row])), [rows]);
  const places = useMemo(() => placesOf(frame), [frame]);
  const offered = columns.filter(({ there }) => there(frame, rows));
  const listed = useMemo(() => filterRows(rows, view.filter, frame), [rows, view.filter, frame.agents]);
  const sorted = useMemo(() => sortRows(listed, view.sort, frame), [listed, view.sort, frame.metric.direction]);
  const marked = useMemo(() => new Set(view.marked), [view.marked]);
  const chosen = view.marked.flatMap((id) => byId.get(id) ?? []);
  const go = (id: string): void => {
    if (!byId.has(id)) return;
    setView((now) => ({
      ...now,
      active: id,
      filter: filterRows([byId.get(id)!], now.filter, frame).length > 0 ? now.filter : everything,
    }));
    setCell((now) => ({ ...now, row: id }));
    setReveals((now) => now + 1);
  };
  useEffect(() => {
    if (wanted) go(wanted.id);
  }, [wanted]);
  const isListed = cell.row === null || sorted.some(({ id }) => id === cell.row);
  const comparing = view.comparing && chosen.length > 0;
  const mark = (id: string): void =>
    setView((now) => ({
      ...now,
      marked: now.marked.includes(id) ? now.marked.filter((each) => each !== id) : [...now.marked, id],
    }));
  return (
    <main class="page">
      {frame.banner !== '' && (
        <p class="banner" role="status">
          {frame.banner}
        </p>
      )}
      <Verdict frame={frame} byId={byId} onActive={go} post={post} />
      {comparing ? (
        <Compare frame={frame} rows={chosen} wall={wall} post={post} onUnmark={mark} />
      ) : (
        <Trajectory
          frame={frame}
          rows={rows}
          scale={view.scale}
          active={view.active}
          hovered={hovered}
          onScale={(scale) => change({ scale })}
          onHover={setHovered}
          onActive={go}
        />
      )}
      <section class="candidates" aria-label="Candidates">
        <Toolbar
          {...{ frame, offered, comparing }}
          filter={view.filter}
          without={view.without}
          shown={sorted.length}
          all={rows.length}
          hiddenRows={rows.filter(({ hidden }) => hidden).length}
          marked={chosen.length}
          onFilter={(filter) => change({ filter })}
          onColumns={(without) => change({ without })}
          onCompare={() => change({ comparing: !comparing })}
          onUnmark={() => change({ marked: [], comparing: false })}
        />
        <CandidateGrid
          {...{ frame, places, marked, hovered, reveals, rowHeight, wall }}
          rows={sorted}
          columns={offered.filter(({ id }) => !view.without.includes(id))}
          sort={view.sort}
          cursor={isListed ? cell : { ...cell, row: null }}
          onCursor={(next) => {
            setCell(next);
            if (next.row !== null) change({ active: next.row });
            setReveals((now) => now + 1);
          }}
          active={view.active}
          scrollTop={view.scrollTop}
          onScroll={onScroll}
          onSort={(column, shift) => change({ sort: clickHeading(view.sort, column, { shift, frame }) })}
          onMark={mark}
          onStar={(row) => post({ type: 'star', candidate: row.id, on: !row.starred })}
          onHide={(row) => post({ type: 'hide', candidate: row.id, on: !row.hidden })}
          onOpen={(id) => {
            change({ active: id });
            requestAnimationFrame(() => document.querySelector<HTMLElement>('.details .select-final')?.focus());
          }}
          onHover={setHovered}
        />
        <p class="keys">
          <kbd>Space</kbd> choose <kbd>Enter</kbd> details <kbd>S</kbd> star <kbd>H</kbd> hide <kbd>Shift</kbd>+click
          adds to the order
        </p>
      </section>
      <Details
        {...{ frame, rows, byId, wall, post }}
        row={view.active === null ? undefined : byId.get(view.active)}
        places={places.get(view.active ?? '') ?? []}
        marked={view.marked}
        draft={view.draft}
        onDraft={(draft) => change({ draft })}
      />
    </main>
  );
}

/** The present, Unix ms, anew each half minute and with each frame: ages go on while nothing happens. */
function useMinute(frame: object): number {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((now) => now + 1), 30_000);
    return () => clearInterval(timer);
  }, []);
  return useMemo(() => Date.now(), [frame, Math.floor(Date.now() / 30_000)]);
}

/** Height of a row, CSS px: two lines of the editor's font, as a list of VS Code has it. */
function useRowHeight(): number {
  return useMemo(() => Math.max(22, Math.round(parseFloat(getComputedStyle(document.body).fontSize) * 1.85)), []);
}
