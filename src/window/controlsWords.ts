import type { Given } from '../base/fact.ts';
import { count } from '../base/words.ts';
import { isUndecided } from '../experiments/model.ts';
import { latestAttempt } from '../options/evolve.ts';
import { pin } from '../review/selection.ts';
import { decideBudget, type BudgetWish } from '../run/budget.ts';
import type { RunState } from '../run/model.ts';
import { explorationEndsAt } from '../run/schedule.ts';
import { parseDateTime, parseDuration, sayDuration } from '../task/quantities.ts';
import type { Presence } from './runModel.ts';
import { agentName, sayElapsed } from './runWords.ts';

/** One thing that can be done now. */
export interface MenuEntry {
  readonly command: string;
  /** `$(icon) Title`. */
  readonly label: string;
  /** What it does. */
  readonly detail: string;
}

/** How things are when the menu is opened. */
export interface MenuScene {
  readonly state: RunState | null;
  readonly presence: Presence;
  readonly trusted: boolean;
  readonly hasContract: boolean;
}

/** Everything that can be done now, the likeliest first; nothing that would be refused. */
export function menuEntries(scene: MenuScene): readonly MenuEntry[] {
  const { state, presence, trusted, hasContract } = scene;
  const running = state !== null && state.phase !== 'finished';
  const start: readonly MenuEntry[] = [
    ...(trusted && hasContract ? [{ command: 'hma.start', label: '$(play) Start Alternation', detail: 'Begins a new run on this folder, as hma.yaml says' }] : []),
    ...(hasContract ? [{ command: 'hma.check', label: '$(checklist) Check the Task', detail: 'Checks hma.yaml, the agents and the evaluator without starting anything' }] : []),
    ...(hasContract || !trusted ? [] : [{ command: 'hma.setUp', label: '$(new-file) Set Up a Task', detail: 'Writes an hma.yaml for this folder, in a few questions' }]),
  ];
  if (!running) return [...(state ? afterwards(state, trusted) : []), ...start, ...(state ? looking : [])];
  if (presence === 'lost') return [...(trusted ? [lostResume] : []), ...afterwards(state, trusted), ...looking];
  return [...controls(state, trusted), ...afterwards(state, trusted), ...looking];
}

const lostResume: MenuEntry = { command: 'hma.resume', label: '$(debug-continue) Resume', detail: 'Brings the run’s controller back and goes on' };

const looking: readonly MenuEntry[] = [
  { command: 'hma.showTerminal', label: '$(terminal) Show the Session’s Terminal', detail: 'What the agent prints, from its recorded output' },
  { command: 'hma.chooseRun', label: '$(history) Show Another Run', detail: 'Any run of this folder; nothing of a running one changes' },
  { command: 'hma.showLog', label: '$(output) Show the Controller’s Log', detail: 'What the controller did, for when something went wrong' },
];

function controls(state: RunState, trusted: boolean): MenuEntry[] {
  const exploring = state.phase === 'exploring' && state.explorationEnding === null;
  const open = exploring && state.options.at(-1)?.state === 'open';
  const pause: MenuEntry[] = state.pause
    ? trusted ? [{ command: 'hma.resume', label: '$(debug-continue) Resume', detail: 'Thaws the session; the clock runs again' }] : []
    : [
        { command: 'hma.pause', label: '$(debug-pause) Pause', detail: 'Freezes the session and stops the clock; a running evaluation finishes' },
        ...(state.pauseAfter ? [{ command: 'hma.resume', label: '$(debug-continue) Don’t Pause at the Next Handoff', detail: 'Takes back that the run pauses there' }] : []),
        ...(exploring && !state.pauseAfter ? [{ command: 'hma.pauseAfter', label: '$(debug-pause) Pause at the Next Handoff', detail: 'The session ends as it would; the next one waits for you' }] : []),
      ];
  return [
    ...pause,
    ...(open ? [{ command: 'hma.handOff', label: '$(arrow-swap) Hand Off Now', detail: 'Ends this session; the other agent starts with an empty context. Workspace and archive stay' }] : []),
    ...(exploring ? [{ command: 'hma.beginReview', label: '$(law) Begin the Final Review Now', detail: 'Ends exploration early; the time left of it is given up' }] : []),
    ...(exploring || state.phase === 'reviewing' ? [{ command: 'hma.editBudget', label: '$(watch) Edit the Remaining Budget…', detail: 'More or less time or experiments' }] : []),
    { command: 'hma.stop', label: '$(debug-stop) Stop the Run…', detail: 'Ends the run for good, without a final review' },
  ];
}

function afterwards(state: RunState, trusted: boolean): MenuEntry[] {
  if (state.archive.length === 0) return [];
  return [
    { command: 'hma.openReview', label: '$(star-full) Open the Final Review', detail: 'All candidates side by side; the final one is yours to select' },
    ...(trusted ? [{ command: 'hma.applyFinal', label: '$(check-all) Apply the Final Candidate…', detail: 'To the workspace, a new folder or a git branch, after a preview' }] : []),
    ...(pin(state.selections) ? [{ command: 'hma.clearSelection', label: '$(pinned-dirty) Clear My Selection…', detail: 'The run’s own selection counts again' }] : []),
  ];
}

/** What a confirmation says. Null = nothing is lost, so nothing is asked. */
export interface Confirmation {
  readonly message: string;
  readonly detail: string;
  readonly button: string;
}

/** What a stop loses; always something. */
export function stopConfirmation(state: RunState): Confirmation {
  const session = workingSession(state);
  const judged = state.experiments.filter(isUndecided).length;
  const lost = [
    ...(session ? [`The session of ${session} is ended where it is.`] : []),
    ...(judged > 0 ? [`${count(judged, 'experiment')} being evaluated ${judged === 1 ? 'is' : 'are'} cancelled.`] : []),
    state.phase === 'exploring' || state.phase === 'reviewing' ? 'There is no final review, and the run can’t be resumed.' : 'The run can’t be resumed.',
    state.archive.length === 0 ? 'There is no candidate yet.' : `${count(state.archive.length, 'candidate')} and the workspace stay.`,
  ];
  return { message: 'Stop the run?', detail: lost.join(' '), button: 'Stop the Run' };
}

/** What is lost by beginning the review now: a session in mid-work; null when none is at work. */
export function reviewConfirmation(state: RunState, given: Given): Confirmation | null {
  const session = workingSession(state);
  if (session === null) return null;
  const left = Math.max(0, explorationEndsAt(state, given) - given.active);
  const skipped = state.archive.length < 2 ? ' With fewer than two candidates there is nothing to review, and the run ends.' : '';
  const detail = `The session of ${session} is ended in mid-work; what it has submitted is still evaluated. ${sayElapsed(left, true)} of exploration are given up.${skipped}`;
  return { message: 'Begin the final review now?', detail, button: 'Begin the Final Review' };
}

/** The session whose work would be cut off, in words; null when none is at work. */
function workingSession(state: RunState): string | null {
  if (state.phase === 'reviewing' && state.review?.state === 'open' && latestAttempt(state.review)?.state !== 'ended')
    return `the reviewer ${agentName(state, state.review.reviewer)}`;
  const option = state.options.at(-1);
  const latest = option && latestAttempt(option);
  if (state.phase !== 'exploring' || option?.state !== 'open' || latest?.state === 'ended') return null;
  return `${agentName(state, option.agent)} in option ${option.number}`;
}

/** One of the budgets that a person may change. */
export type BudgetField = 'totalMs' | 'reviewMs' | 'experiments' | 'until';

/** A budget, its value now, and how to write a new one. */
export interface BudgetEntry {
  readonly field: BudgetField;
  readonly label: string;
  /** The value now, in words. */
  readonly now: string;
  /** The value now as it would be typed. */
  readonly typed: string;
  readonly prompt: string;
}

/** The budgets that can still be changed. In the review only its end can be moved. */
export function budgetEntries({ budgets, phase, archive, terms }: RunState): readonly BudgetEntry[] {
  const { totalMs, reviewMs, experiments, until } = budgets;
  const used = `${archive.length} accepted so far`;
  const all: readonly BudgetEntry[] = [
    { field: 'totalMs', label: 'Total Time', now: sayDuration(totalMs), typed: typeDuration(totalMs), prompt: 'Active runtime of the whole run, such as 6h or 1h30m' },
    ...(terms.policy.mode === 'single' ? [] : [{ field: 'reviewMs', label: 'Time for the Final Review', now: sayDuration(reviewMs), typed: typeDuration(reviewMs), prompt: 'Reserved for the final review, such as 15m' } as const]),
    { field: 'experiments', label: 'Experiments', now: `${experiments === null ? 'no limit' : experiments}, ${used}`, typed: experiments === null ? 'none' : String(experiments), prompt: `Most accepted experiments of the run, or none for no limit; ${used}` },
    { field: 'until', label: 'End by the Clock', now: until === null ? 'none' : new Date(until).toLocaleString(), typed: until === null ? 'none' : typeDateTime(until), prompt: 'When everything must be over, such as 2026-12-01 18:00 (local time), or none' },
  ];
  return phase === 'exploring' ? all : all.filter(({ field }) => field === 'totalMs' || field === 'until');
}

/** A duration as people type it: `1h30m`. */
function typeDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const parts: readonly (readonly [number, string])[] = [[Math.floor(seconds / 3600), 'h'], [Math.floor(seconds / 60) % 60, 'm'], [seconds % 60, 's']];
  return parts.filter(([amount]) => amount > 0).map(([amount, unit]) => `${amount}${unit}`).join('') || '0s';
}

function typeDateTime(wall: number): string {
  const at = new Date(wall);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Reads a new value for a budget: the wish, or why it can't be, in words. The controller judges it once more. */
export function readBudget(state: RunState, typed: { readonly field: BudgetField; readonly text: string }, given: Given): { readonly wish: BudgetWish } | { readonly why: string } {
  const wish = wishOf(typed.field, typed.text.trim());
  if (typeof wish === 'string') return { why: wish };
  const decided = decideBudget(state, { ...wish, by: '' }, given);
  return 'facts' in decided ? { wish } : { why: `${decided.text[0]?.toUpperCase() ?? ''}${decided.text.slice(1)}.` };
}

function wishOf(field: BudgetField, text: string): BudgetWish | string {
  const none = text === 'none';
  switch (field) {
    case 'totalMs':
    case 'reviewMs': {
      const ms = parseDuration(text);
      return ms === undefined ? 'Write a duration, such as 90m, 6h or 1h30m.' : { [field]: ms };
    }
    case 'experiments':
      if (none) return { experiments: null };
      return /^[1-9]\d{0,6}$/.test(text) ? { experiments: Number(text) } : 'Write a whole number from 1, or none.';
    case 'until': {
      const until = none ? null : parseDateTime(text);
      return until === undefined ? 'Write a date and time, such as 2026-12-01 18:00, or none.' : { until };
    }
  }
}
