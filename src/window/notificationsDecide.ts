import { sayEnd } from '../analysis/words.ts';
import { oneLine } from '../base/oneLine.ts';
import { sayWord } from '../base/words.ts';
import { finalCandidate, ownSelection, pin } from '../review/selection.ts';
import type { RunEvent } from '../run/events.ts';
import type { RunState } from '../run/model.ts';
import { sayOutcome } from './runRowsReview.ts';
import type { RunChange } from './runModel.ts';
import { agentName, expiredLogin } from './runWords.ts';
import type { Settings } from './settings.ts';

/** One thing worth telling: which kind, the words, and commands that are of use now. */
export interface Telling {
  readonly kind: keyof Settings['notify'];
  readonly warns: boolean;
  readonly text: string;
  readonly actions: readonly { readonly title: string; readonly command: string; readonly argument?: string }[];
}

const resume = { title: 'Resume', command: 'hma.resume' };
const openReview = { title: 'Open the Final Review', command: 'hma.openReview' };
const showLog = { title: 'Show Log', command: 'hma.showLog' };
const showTerminal = { title: 'Show Terminal', command: 'hma.showTerminal' };

/** The sign-in of the agent whose login expired, where one did. */
function signIn(state: RunState): Telling['actions'] {
  const adapter = expiredLogin(state);
  return adapter === null ? [] : [{ title: 'Sign In…', command: 'hma.signIn', argument: adapter }];
}

/** Of several tellings at once only the weightiest is told: this is the order, the least first. */
const weights: readonly Telling['kind'][] = ['handoff', 'reviewReady', 'paused', 'finished'];

/** The weightier one of two tellings; the later of equals. */
export const weightier = (a: Telling | null, b: Telling | null): Telling | null =>
  a === null || (b !== null && weights.indexOf(b.kind) >= weights.indexOf(a.kind)) ? b : a;

/** What a change is worth telling, if anything. Events from before `sinceWall` (Unix ms) are history, not news. */
export function tellingOf(
  change: RunChange,
  given: { readonly sinceWall: number; readonly notify: Settings['notify'] },
): Telling | null {
  const { state, events } = change;
  if (!state) return null;
  let told: Telling | null = null;
  for (const event of events) {
    if (event.wall < given.sinceWall) continue;
    const one = tellEvent(state, event as RunEvent);
    if (one && given.notify[one.kind]) told = weightier(told, one);
  }
  return told;
}

function tellEvent(state: RunState, event: RunEvent): Telling | null {
  switch (event.type) {
    case 'option.opened':
      return event.data.option === 1 ? null : handoffTelling(state, event.data.option);
    case 'run.paused':
      return pausedTelling(state, event.data);
    case 'run.noticed':
      return event.data.level === 'person' ? noticeTelling(state, event) : null;
    case 'review.closed':
      return event.data.outcome === 'skipped' ? null : reviewTelling(state);
    case 'run.finished':
      return finishedTelling(state, event.data.reason);
    default:
      return null;
  }
}

function handoffTelling(state: RunState, number: number): Telling | null {
  const option = state.options.find((one) => one.number === number);
  const before = state.options.find((one) => one.number === number - 1);
  if (!option || !before) return null;
  const text = `Option ${before.number} by ${agentName(state, before.agent)} ended (${sayWord(before.closure ?? 'natural')}). Option ${number} begins: ${agentName(state, option.agent)}, with an empty context.`;
  return { kind: 'handoff', warns: false, text, actions: [showTerminal] };
}

function pausedTelling(
  state: RunState,
  { reason, detail, by }: Extract<RunEvent, { type: 'run.paused' }>['data'],
): Telling | null {
  if (state.pause === null) return null; // it went on meanwhile
  // Whoever pauses knows it; that the boundary they asked for has come they don't.
  if (reason === 'requested')
    return by === 'person'
      ? {
          kind: 'paused',
          warns: false,
          text: 'The run has paused at the handoff, as it was asked to.',
          actions: [resume],
        }
      : null;
  return {
    kind: 'paused',
    warns: true,
    text: `The run has paused and needs you: ${oneLine(detail, 300)}`,
    actions: [...signIn(state), resume, showLog],
  };
}

/** Something that a person should do, as long as it holds: a run that was closed meanwhile may have taken it back. */
function noticeTelling(state: RunState, { seq, data }: Extract<RunEvent, { type: 'run.noticed' }>): Telling | null {
  if (!state.notices.some((notice) => notice.seq === seq)) return null;
  const actions = [...signIn(state), showLog];
  return { kind: 'paused', warns: true, text: `The run needs you: ${oneLine(data.text, 300)}`, actions };
}

function reviewTelling(state: RunState): Telling | null {
  const { review } = state;
  if (!review || review.outcome === null) return null;
  const who = agentName(state, review.reviewer);
  const text = review.nomination
    ? `The final review is ready: ${who} nominated ${review.nomination.candidate} (${review.outcome}).`
    : `The final review is over without a nomination (${review.outcome}): ${sayOutcome(state, review)}.`;
  return { kind: 'reviewReady', warns: false, text, actions: [openReview] };
}

function finishedTelling(state: RunState, reason: string): Telling {
  const final = finalCandidate({ ...state.terms, ...state });
  if (!final)
    return {
      kind: 'finished',
      warns: true,
      text: `The run is over without a candidate: ${sayEnd(reason, state.endedBy)}.`,
      actions: [showLog],
    };
  const whose =
    final.by === 'person'
      ? `selected by ${oneLine(pin(state.selections)?.who ?? 'a person', 40)}`
      : final.by === 'reviewer'
        ? `selected by the reviewer ${oneLine(ownSelection(state.selections)?.who ?? '', 40)}`
        : 'selected by fallback';
  return {
    kind: 'finished',
    warns: false,
    text: `The run is over. ${final.candidate} is the final candidate, ${whose}.`,
    actions: [openReview],
  };
}

/** The run lost its controller: nobody brings it back but a person. */
export const lostTelling = (why: string): Telling => ({
  kind: 'paused',
  warns: true,
  text: `No controller looks after the run any more${why === '' ? '' : ` (${oneLine(why, 200)})`}. Nothing is lost; Resume brings it back.`,
  actions: [resume, showLog],
});
