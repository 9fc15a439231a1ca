import type { FactOf, StampedOf } from '../base/fact.ts';
import type { ArchiveEvents } from '../archive/events.ts';
import type { ExperimentEvents } from '../experiments/events.ts';
import type { Tier } from '../machines/port.ts';
import type { OptionEvents } from '../options/events.ts';
import type { PersonMessage } from '../options/model.ts';
import type { ReviewEvents } from '../review/events.ts';
import type { Budgets } from '../task/model.ts';
import type { DiskPlace, DiskSample } from './disk.ts';
import type { EarlierRun, ExplorationEnd, Notice, PauseReason, Terms } from './model.ts';
import type { NoticeCode } from './notices.ts';

/** Facts about the run as a whole. */
export interface RunEvents {
  /** The first event of every ledger. */
  'run.opened': {
    /** The run's id, such as `20261130-181123-ab12`: UTC second of its start and four random hex digits. */
    readonly run: string;
    /** Absolute path of the workspace. */
    readonly workspace: string;
    /** SHA-256 of the frozen contract as JSON with sorted keys and no spaces, hex. */
    readonly contractHash: string;
    /** What decisions and clients need of the contract. */
    readonly terms: Terms;
    readonly budgets: Budgets;
    /** The isolation tier in use. */
    readonly tier: Tier;
    /** What that tier can't protect here, in words. */
    readonly cannot: readonly string[];
    /** Snapshot of the candidate's files at the start; null when there were none. */
    readonly initial: string | null;
    /** The run that this one goes on from; absent when it began afresh. */
    readonly from?: EarlierRun;
  };
  /** A controller took over; `active` on the event's envelope is where the clock stands, gaps in which nothing lived left out. */
  'controller.started': {
    readonly pid: number;
    /** Number of the ledger segment that it writes. */
    readonly fence: number;
    /** Its version of HMA. */
    readonly version: string;
    /** The kernel's boot id, to which `mono` belongs. */
    readonly boot: string;
    /** Time before it in which nothing of the run lived, ms; not counted as active. */
    readonly gapMs: number;
  };
  /** The clock stands and the session is frozen. */
  'run.paused': {
    readonly reason: PauseReason;
    /** In words, with what a person can do. */
    readonly detail: string;
    /** The person, or `hma`. */
    readonly by: string;
    /** Unix ms at which the run goes on by itself. */
    readonly until?: number;
  };
  /** The clock goes on. */
  'run.resumed': {
    /** The person, or `hma`. */
    readonly by: string;
  };
  /** A person wants a pause at the next option boundary, or no longer. */
  'run.pauseAfter': {
    readonly wanted: boolean;
    /** The person. */
    readonly by: string;
  };
  /** A person has changed the budgets. */
  'budget.changed': {
    /** All of them, as they are from here on. */
    readonly budgets: Budgets;
    /** The person. */
    readonly by: string;
  };
  /** From here on no submission is taken; the open option is ended. */
  'exploration.ending': {
    readonly reason: ExplorationEnd;
    /** The person, or `hma`. */
    readonly by: string;
  };
  /** The last option is closed; the review follows. */
  'exploration.ended': { readonly reason: ExplorationEnd };
  /** A person ends the run: no review, undecided submissions are cancelled, the fallback is selected unless something was. */
  'run.stopping': {
    /** The person. */
    readonly by: string;
  };
  /** The run is over; only selection, grading, reevaluation and disqualification can follow. */
  'run.finished': {
    /** Why exploration ended, or `no candidate`. */
    readonly reason: string;
  };
  /** A person's message to a running session; it is handed to the harness after this. */
  'message.sent': Omit<PersonMessage, 'at'>;
  /** Something that a person should know of. */
  'run.noticed': Pick<Notice, 'level' | 'text'> & {
    /** What kind of notice; more may come. */
    readonly code: NoticeCode;
    /** The kind of earlier notices that hold no more: they leave the state. */
    readonly takesBack?: NoticeCode;
  };
  /** How much of the disks the run uses, and what is free: at its start, and every few minutes. */
  'run.measured': {
    /** Bytes on disk by what they belong to; null where they could not be counted. */
    readonly bytes: DiskSample['bytes'];
    /** Each file system that the run needs. */
    readonly places: readonly DiskPlace[];
  };
}

/** All that can happen in a run. */
export type RunEventMap = RunEvents & OptionEvents & ExperimentEvents & ArchiveEvents & ReviewEvents;
/** A fact that has not been stamped yet. */
export type RunFact = FactOf<RunEventMap>;
/** A fact as the ledger gives it back. */
export type RunEvent = StampedOf<RunEventMap>;
