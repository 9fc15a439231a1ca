import type { FactOf, StampedOf } from '../base/fact.ts';
import type { ArchiveEvents } from '../archive/events.ts';
import type { ExperimentEvents } from '../experiments/events.ts';
import type { Tier } from '../machines/port.ts';
import type { OptionEvents } from '../options/events.ts';
import type { PersonMessage } from '../options/model.ts';
import type { ReviewEvents } from '../review/events.ts';
import type { Budgets } from '../task/model.ts';
import type { ExplorationEnd, Notice, PauseReason, Terms } from './model.ts';

/** Facts about the run as a whole. */
export interface RunEvents {
  'run.opened': {
    readonly run: string;
    readonly workspace: string;
    readonly contractHash: string;
    readonly terms: Terms;
    readonly budgets: Budgets;
    readonly tier: Tier;
    readonly cannot: readonly string[];
    readonly initial: string | null;
  };
  /** A controller took over; `active` on the event's envelope is where the clock stands, gaps in which nothing lived left out. */
  'controller.started': {
    readonly pid: number;
    readonly fence: number;
    readonly version: string;
    readonly boot: string;
    readonly gapMs: number;
  };
  'run.paused': {
    readonly reason: PauseReason;
    readonly detail: string;
    readonly by: string;
    /** Unix ms at which the run goes on by itself. */
    readonly until?: number;
  };
  'run.resumed': { readonly by: string };
  'run.pauseAfter': { readonly wanted: boolean; readonly by: string };
  'budget.changed': { readonly budgets: Budgets; readonly by: string };
  /** From here on no submission is taken; the open option is ended. */
  'exploration.ending': { readonly reason: ExplorationEnd; readonly by: string };
  'exploration.ended': { readonly reason: ExplorationEnd };
  /** A person ends the run: no review, undecided submissions are cancelled, the fallback is selected unless something was. */
  'run.stopping': { readonly by: string };
  'run.finished': { readonly reason: string };
  /** A person's message to a running session; it is handed to the harness after this. */
  'message.sent': Omit<PersonMessage, 'at'>;
  'run.noticed': Pick<Notice, 'level' | 'code' | 'text'>;
}

/** All that can happen in a run. */
export type RunEventMap = RunEvents & OptionEvents & ExperimentEvents & ArchiveEvents & ReviewEvents;
/** A fact that has not been stamped yet. */
export type RunFact = FactOf<RunEventMap>;
/** A fact as the ledger gives it back. */
export type RunEvent = StampedOf<RunEventMap>;
