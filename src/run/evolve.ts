import { archiveAccepted, evolveArchive, evolveErrands } from '../archive/evolve.ts';
import type { ArchiveEvents } from '../archive/events.ts';
import type { StampedOf } from '../base/fact.ts';
import { evolveExperiments } from '../experiments/evolve.ts';
import type { LedgerEvent } from '../ledger/port.ts';
import { evolveOptions } from '../options/evolve.ts';
import { evolveReview, evolveSelections } from '../review/evolve.ts';
import type { RunEvent } from './events.ts';
import type { RunState } from './model.ts';

/** Notices kept in the state; all of them are in the ledger. */
const keptNotices = 100;
/** Looks at the disks kept in the state beside the first. */
const keptLooks = 60;

/**
 * Folds one event into a run's state. Total: an event of an unknown type only moves `seq`. The first event of a ledger is
 * `run.opened`; before it there is no state (null).
 */
export function evolveRun(state: RunState | null, event: LedgerEvent): RunState | null {
  const known = event as RunEvent;
  if (known.type === 'run.opened') return state ?? openRun(known);
  return state === null ? null : { ...change(state, known), seq: event.seq };
}

/** Folds a whole ledger. */
export const replayRun = (events: Iterable<LedgerEvent>): RunState | null => {
  let state: RunState | null = null;
  for (const event of events) state = evolveRun(state, event);
  return state;
};

function openRun(event: Extract<RunEvent, { type: 'run.opened' }>): RunState {
  const { run, workspace, contractHash, terms, budgets, tier, cannot, initial, from } = event.data;
  return {
    seq: event.seq,
    run,
    workspace,
    openedWall: event.wall,
    ...(from === undefined ? {} : { from }),
    contractHash,
    terms,
    budgets,
    isolation: { tier, cannot },
    initial,
    phase: 'exploring',
    clock: { running: true, active: event.active, mono: event.mono, boot: '', before: null },
    controller: { pid: 0, fence: 0, version: '', starts: 0 },
    pause: null,
    pausedMs: 0,
    resumedAt: null,
    pauseAfter: false,
    explorationEnding: null,
    explorationEndingAt: null,
    explorationEndedAt: null,
    options: [],
    experiments: [],
    archive: [],
    review: null,
    selections: [],
    gradesRevealed: from?.gradesRevealed ?? false,
    grading: null,
    finished: null,
    notices: [],
    disk: [],
    errands: [],
    reevaluating: null,
    messages: [],
  };
}

function change(state: RunState, event: Exclude<RunEvent, { type: 'run.opened' }>): RunState {
  switch (event.type) {
    case 'controller.started':
    case 'run.paused':
    case 'run.resumed':
    case 'run.pauseAfter':
    case 'budget.changed':
    case 'exploration.ending':
    case 'exploration.ended':
    case 'run.stopping':
    case 'run.finished':
    case 'run.noticed':
    case 'run.measured':
      return changeRun(state, event);
    case 'option.opened':
    case 'option.ending':
    case 'option.settled':
    case 'option.reaped':
    case 'option.clean':
    case 'option.closed':
    case 'option.capSeen':
      return { ...state, options: evolveOptions(state.options, event) };
    case 'attempt.starting':
    case 'attempt.started':
    case 'attempt.spoke':
    case 'attempt.responded':
    case 'attempt.ending':
    case 'attempt.ended':
      return event.data.session.kind === 'review'
        ? { ...state, review: evolveReview(state.review, event) }
        : { ...state, options: evolveOptions(state.options, event) };
    case 'message.sent':
      return { ...state, messages: [...state.messages, { ...event.data, at: event.wall }] };
    case 'experiment.submitted':
    case 'experiment.accepted':
    case 'experiment.rejected':
    case 'evaluation.starting':
    case 'evaluation.ended':
    case 'submission.refused':
    case 'validation.ended':
      return changeExperiments(state, event);
    case 'grading.starting':
      return { ...state, grading: event.data };
    case 'candidate.carried':
    case 'candidate.graded':
    case 'errands.wanted':
    case 'reevaluation.starting':
    case 'candidate.reevaluated':
    case 'candidate.disqualified':
    case 'candidate.requalified':
      return changeArchive(state, event);
    case 'grades.revealed':
      return { ...state, gradesRevealed: true };
    case 'review.opened':
    case 'review.ending':
    case 'review.reaped':
    case 'review.closed':
    case 'ballot.cast':
      return { ...state, review: evolveReview(state.review, event) };
    case 'candidate.selected':
    case 'selection.cleared':
      return {
        ...state,
        selections: evolveSelections(state.selections, event),
        phase: event.type === 'candidate.selected' && event.data.by !== 'person' ? 'concluding' : state.phase,
      };
    default:
      return state;
  }
}

function changeArchive(state: RunState, event: StampedOf<ArchiveEvents>): RunState {
  const { type, data } = event;
  return {
    ...state,
    archive: evolveArchive(state.archive, event),
    errands: evolveErrands(state.errands, event),
    grading: type === 'candidate.graded' ? null : state.grading,
    reevaluating:
      type === 'reevaluation.starting' ? data : type === 'candidate.reevaluated' ? null : state.reevaluating,
  };
}

type OfRun = Extract<
  RunEvent,
  {
    type:
      | 'controller.started'
      | 'run.paused'
      | 'run.resumed'
      | 'run.pauseAfter'
      | 'budget.changed'
      | 'exploration.ending'
      | 'exploration.ended'
      | 'run.stopping'
      | 'run.finished'
      | 'run.noticed'
      | 'run.measured';
  }
>;

function changeRun(state: RunState, event: OfRun): RunState {
  const { active, mono, wall } = event;
  switch (event.type) {
    case 'controller.started': {
      const { pid, fence, version, boot } = event.data;
      const clock = { running: state.clock.running, active, mono, boot, before: ranFrom(state) };
      return { ...state, clock, controller: { pid, fence, version, starts: state.controller.starts + 1 } };
    }
    case 'run.paused': {
      const { reason, detail, by, until } = event.data;
      return {
        ...state,
        pause: { reason, detail, by, since: active, sinceWall: wall, ...(until === undefined ? {} : { until }) },
        pauseAfter: state.pauseAfter && reason !== 'requested',
        clock: { ...state.clock, running: false, active, mono, before: ranFrom(state) },
      };
    }
    case 'run.resumed': {
      const own = event.data.by === 'hma' && state.pause?.reason === 'usage_limit';
      const options = state.options.map((option) =>
        option.state === 'open' ? afterResume(option, { active, own }) : option,
      );
      return {
        ...state,
        pause: null,
        pauseAfter: state.pauseAfter && event.data.by === 'hma',
        pausedMs: pausedUntil(state, wall),
        options,
        resumedAt: active,
        clock: { ...state.clock, running: true, active, mono, before: ranFrom(state) },
      };
    }
    case 'run.pauseAfter':
      return { ...state, pauseAfter: event.data.wanted };
    case 'budget.changed':
      return { ...state, budgets: event.data.budgets };
    case 'exploration.ending':
      return state.explorationEnding
        ? state
        : {
            ...state,
            explorationEnding: event.data.reason,
            explorationEndingAt: active,
            ...(event.data.reason === 'requested' ? { endedBy: event.data.by } : {}),
          };
    case 'exploration.ended':
      return { ...state, explorationEnding: event.data.reason, explorationEndedAt: active, phase: 'reviewing' };
    case 'run.stopping':
      return { ...state, explorationEnding: 'stopped', endedBy: event.data.by };
    case 'run.finished':
      return {
        ...state,
        phase: 'finished',
        pause: null,
        pauseAfter: false,
        pausedMs: pausedUntil(state, wall),
        finished: { reason: event.data.reason, wall, active },
        clock: { ...state.clock, running: false, active, mono, before: ranFrom(state) },
      };
    case 'run.noticed': {
      const { takesBack, ...notice } = event.data;
      const left = state.notices.filter(({ code }) => code !== takesBack);
      return { ...state, notices: [...left, { seq: event.seq, wall, ...notice }].slice(-keptNotices) };
    }
    case 'run.measured': {
      const [first, ...later] = [...state.disk, { active, ...event.data }];
      return { ...state, disk: first ? [first, ...later.slice(-keptLooks)] : [] };
    }
  }
}

/** Paused time so far, wall ms. */
const pausedUntil = ({ pausedMs, pause }: RunState, wall: number): number =>
  pausedMs + (pause ? Math.max(0, wall - pause.sinceWall) : 0);

/** Where the clock has run from so far; null when it stands. */
function ranFrom({ clock: { running, active, mono, boot } }: RunState): RunState['clock']['before'] {
  return running ? { active, mono, boot } : null;
}

type OfExperiments = Extract<
  RunEvent,
  {
    type:
      | 'experiment.submitted'
      | 'experiment.accepted'
      | 'experiment.rejected'
      | 'evaluation.starting'
      | 'evaluation.ended'
      | 'submission.refused'
      | 'validation.ended';
  }
>;

function changeExperiments(state: RunState, event: OfExperiments): RunState {
  const experiments = evolveExperiments(state.experiments, event);
  if (event.type === 'experiment.submitted') {
    return {
      ...state,
      experiments,
      options: ofOption(state, event.data.option, (o) => ({ ...o, submissions: o.submissions + 1 })),
    };
  }
  if (event.type !== 'experiment.accepted') return { ...state, experiments };
  const before = state.experiments.findLast((experiment) => experiment.id === event.data.id);
  if (!before || before.state === 'accepted' || before.state === 'rejected') return state;
  return {
    ...state,
    experiments,
    archive: archiveAccepted(state.archive, before, event),
    options: ofOption(state, event.data.option, (o) => ({
      ...o,
      accepted: [...o.accepted, event.data.id],
      capSeenAt: null,
    })),
  };
}

const ofOption = (
  state: RunState,
  number: number,
  to: (option: RunState['options'][number]) => RunState['options'][number],
) => state.options.map((option) => (option.number === number ? to(option) : option));

/**
 * A person's resume grants an open option that had failed a new set of attempts, the first at once. Where the run goes on by itself after
 * a usage limit (`own`), another attempt begins too, but it is one of those that the policy grants.
 */
function afterResume(
  option: RunState['options'][number],
  { active, own }: { active: number; own: boolean },
): RunState['options'][number] {
  const latest = option.attempts.at(-1);
  const retryAt = latest?.state === 'ended' && latest.failure ? active : option.retryAt;
  return { ...option, failures: own ? option.failures : 0, retryAt };
}
