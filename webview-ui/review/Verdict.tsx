import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { sayScore } from '../../src/base/numbers.ts';
import type { ReviewOutcome } from '../../src/review/model.ts';
import type { ReviewFrame, ReviewRow, ToHost } from '../../src/window/reviewMessages.ts';
import { Ask } from '../kit/Ask.tsx';
import { Agent } from '../kit/icons.tsx';
import { sayAt } from './columns.ts';
import { Night } from './Night.tsx';
import { authorOf, nameOf, valueOf } from './pageModel.ts';

/** What each outcome of the final review means, for people who see the word for the first time. */
const outcomeMeaning: Readonly<Record<ReviewOutcome, string>> = {
  chosen: 'the reviewer nominated another candidate than the standing one',
  endorsed: 'the reviewer nominated the standing candidate',
  silent: 'the reviewer ended without a nomination',
  crashed: 'the reviewer failed before it nominated one',
  late: 'the window closed without a nomination',
  invalid: 'no ballot was valid',
  skipped: 'there was no review',
};

const phaseWords: Readonly<Record<ReviewFrame['phase'], string>> = {
  exploring: 'Exploring',
  reviewing: 'Final review',
  concluding: 'Concluding',
  finished: 'Finished',
};

interface Props {
  readonly frame: ReviewFrame;
  readonly byId: ReadonlyMap<string, ReviewRow>;
  onActive: (id: string) => void;
  post: (message: ToHost) => void;
}

/** What won, who made it and why: to be read in ten seconds. */
export function Verdict({ frame, byId, onActive, post }: Props) {
  const { final, review } = frame;
  const better = frame.metric.direction === 'maximize' ? 'higher is better' : 'lower is better';
  const blind = frame.feedback === 'blind';
  return (
    <header class="verdict">
      <div class="verdict-head">
        <h1>{frame.task}</h1>
        <span class={`phase phase-${frame.phase}`}>{phaseWords[frame.phase]}</span>
        <span class="metric">
          {frame.metric.name}, {better}
          {blind && ' · blind task: values are what the agents reported'}
        </span>
        <RunActions frame={frame} post={post} />
      </div>
      <dl class="facts">
        <Fact title={frame.phase === 'finished' ? 'Final candidate' : 'Final candidate so far'} strong>
          {final ? (
            <>
              <Name {...{ frame, byId, onActive }} id={final.candidate} />
              <Reason text={finalWords(frame)} reason={final.by === 'person' ? final.reason : ''} />
            </>
          ) : (
            <p class="none">None yet: it exists with the first candidate.</p>
          )}
        </Fact>
        <Fact title="Nomination">
          {review ? <Nomination {...{ frame, byId, onActive }} /> : <p class="none">The final review has not begun.</p>}
        </Fact>
        <Fact title="Standing">
          <Name {...{ frame, byId, onActive }} id={frame.standing} />
          {frame.standing !== null && (
            <p class="aside">the latest{frame.standing === frame.record ? ', and the record' : ''}</p>
          )}
        </Fact>
        <Fact title={blind ? 'Record (reported)' : 'Record'}>
          <Name {...{ frame, byId, onActive }} id={frame.record} />
          {frame.record !== null && (
            <p class="aside">the best so far{frame.record === final?.candidate ? ', and final' : ''}</p>
          )}
        </Fact>
      </dl>
      <Night frame={frame} />
      {frame.graders.length > 0 && (
        <p class="aside">
          The grades come from {frame.graders.join(' and ')}: only grades of the same one compare. Grade all again to
          have them from one.
        </p>
      )}
      {frame.errands !== '' && (
        <p class="running" role="status">
          {frame.errands}
        </p>
      )}
    </header>
  );
}

function Fact(props: { readonly title: string; readonly strong?: boolean; readonly children: ComponentChildren }) {
  return (
    <div class={props.strong === true ? 'fact strong' : 'fact'}>
      <dt>{props.title}</dt>
      <dd>{props.children}</dd>
    </div>
  );
}

function Name(props: {
  readonly frame: ReviewFrame;
  readonly byId: ReadonlyMap<string, ReviewRow>;
  readonly id: string | null;
  onActive: (id: string) => void;
}) {
  const { frame, byId, id, onActive } = props;
  const row = id === null ? undefined : byId.get(id);
  if (!row) return <p class="none">{id ?? 'None yet.'}</p>;
  const value = valueOf(row, frame);
  return (
    <p class="named">
      <button type="button" class="link" onClick={() => onActive(row.id)} title="Show in the table">
        {nameOf(row)}
      </button>
      <span class="value">{value === null ? '–' : sayScore(value)}</span>
      <Agent slot={row.author} name={authorOf(row, frame)} />
    </p>
  );
}

/** Who made it final, in words. */
function finalWords({ final, feedback, grades, history }: ReviewFrame): string {
  if (!final) return '';
  if (final.by === 'fallback') return `fallback: the ${final.reason}`;
  const seen =
    history.findLast((each) => each.candidate === final.candidate && each.by === final.by)?.gradesRevealed === true;
  const after = seen && (grades !== 'none' || feedback === 'blind') ? ', after grades were seen' : '';
  return final.by === 'person' ? `selected by ${final.who}${after}` : `nominated by ${final.who}, the reviewer${after}`;
}

function Nomination({ frame, byId, onActive }: Omit<Props, 'post'>) {
  const { review } = frame;
  if (!review) return null;
  const { outcome } = review;
  return (
    <>
      {review.nominated !== null && <Name {...{ frame, byId, onActive }} id={review.nominated} />}
      <p class="aside">
        <b
          class={`outcome outcome-${outcome ?? 'open'}`}
          title={outcome === null ? 'the review goes on' : outcomeMeaning[outcome]}
        >
          {outcome ?? (review.state === 'open' ? 'under review' : 'closing')}
        </b>
        {outcome === null ? ' · reviewer ' : ` · ${outcomeMeaning[outcome]}`}
        {outcome === null && <Agent slot={review.reviewer} name={frame.agents[review.reviewer]} />}
      </p>
      <Reason text="" reason={review.detail} />
    </>
  );
}

/** A text that may be long: its beginning, and the rest when asked. */
function Reason({ text, reason }: { readonly text: string; readonly reason: string }) {
  const [open, setOpen] = useState(false);
  const long = reason.length > 150;
  return (
    <>
      {text !== '' && <p class="aside">{text}</p>}
      {reason !== '' && (
        <p class="reason">
          {long && !open ? `${reason.slice(0, 130).trimEnd()}… ` : `${reason} `}
          {long && (
            <button type="button" class="link" aria-expanded={open} onClick={() => setOpen(!open)}>
              {open ? 'less' : 'more'}
            </button>
          )}
        </p>
      )}
    </>
  );
}

/** What concerns the run as a whole: apply, clear, reveal, history. */
function RunActions({ frame, post }: { readonly frame: ReviewFrame; post: (message: ToHost) => void }) {
  const [asking, setAsking] = useState<'clear' | 'reveal' | null>(null);
  const [reason, setReason] = useState('');
  const no = (): void => {
    setAsking(null);
    document.querySelector<HTMLElement>(`[data-asks="${asking}"]`)?.focus();
  };
  const yes = (message: ToHost) => (): void => {
    post(message);
    setReason('');
    setAsking(null);
    document.querySelector<HTMLElement>('.history > summary, .run-actions button')?.focus();
  };
  return (
    <div class="run-actions">
      <div class="buttons">
        <button type="button" class="primary" disabled={!frame.final} onClick={() => post({ type: 'apply' })}>
          Apply…
        </button>
        {frame.final?.by === 'person' && (
          <button type="button" data-asks="clear" aria-expanded={asking === 'clear'} onClick={() => setAsking('clear')}>
            Clear selection…
          </button>
        )}
        {frame.acts.grade && (
          <button
            type="button"
            title="By the hidden grader, those without a grade"
            onClick={() => post({ type: 'gradeAll' })}
          >
            Grade all…
          </button>
        )}
        {frame.grades === 'hidden' && frame.final && (
          <button
            type="button"
            data-asks="reveal"
            aria-expanded={asking === 'reveal'}
            onClick={() => setAsking('reveal')}
          >
            Reveal grades…
          </button>
        )}
        {frame.grades === 'revealed' && <span class="told">Grades are revealed: later selections say so.</span>}
        <History frame={frame} />
      </div>
      {asking === 'clear' && (
        <Ask
          title="Clear the selection?"
          text="The run's own choice counts again. The history keeps both."
          yes="Clear selection"
          {...{ reason, onReason: setReason, onNo: no, onYes: yes({ type: 'clear', reason }) }}
        />
      )}
      {asking === 'reveal' && (
        <Ask
          title="Reveal the hidden grades?"
          text="This is recorded and can't be undone: every selection from now on is marked as made after grades were seen."
          yes="Reveal and record"
          {...{ onNo: no, onYes: yes({ type: 'reveal' }) }}
        />
      )}
    </div>
  );
}

const byWords = { person: 'a person', reviewer: 'the reviewer', fallback: 'fallback' } as const;

function History({ frame }: { readonly frame: ReviewFrame }) {
  const { history } = frame;
  if (history.length === 0) return null;
  return (
    <details class="history">
      <summary>History of selections ({history.length})</summary>
      <ol>
        {history.map((each) => (
          <li>
            <span class="when">{sayAt(each.active)}</span> <b>{each.candidate ?? 'cleared'}</b> by {each.who} (
            {byWords[each.by]}){each.gradesRevealed && <span class="seen"> after grades were seen</span>}
            <p class="reason">{each.reason}</p>
          </li>
        ))}
      </ol>
    </details>
  );
}
