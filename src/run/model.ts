import type { Candidate, Errand } from '../archive/model.ts';
import type { Experiment } from '../experiments/model.ts';
import type { Tier } from '../machines/port.ts';
import type { Option, PersonMessage } from '../options/model.ts';
import type { Review, Selection } from '../review/model.ts';
import type { AgentSlot, Budgets, Contract } from '../task/model.ts';
import type { DiskSample } from './disk.ts';

/**
 * Where a run stands (Algorithm 1).
 *
 *   exploring ──exploration.ended──▶ reviewing ──selection──▶ concluding ──run.finished──▶ finished
 */
export type Phase = 'exploring' | 'reviewing' | 'concluding' | 'finished';

/** Why exploration is over. */
export type ExplorationEnd = 'deadline' | 'budget' | 'barren' | 'requested' | 'stopped';

/** Why a run is paused; what a person can do is told by `detail`. */
export type PauseReason =
  | 'requested'
  | 'disk_low'
  | 'agent_failed'
  | 'usage_limit'
  | 'agents_end_at_once'
  | 'evaluator_broken'
  | 'survivors'
  | 'workspace_gone'
  | 'start_failed'
  | 'state_unwritable';

export interface Pause {
  readonly reason: PauseReason;
  readonly detail: string;
  readonly by: string;
  readonly since: number;
  readonly sinceWall: number;
  /** Unix ms at which the run goes on by itself (a usage limit's reset); absent = when a person says so, or what it paused for is over. */
  readonly until?: number;
}

/** Active runtime: stands at `active` when not running; else `active` at `mono` of `boot`, going on with CLOCK_MONOTONIC. */
export interface ActiveClock {
  readonly running: boolean;
  readonly active: number;
  readonly mono: number;
  readonly boot: string;
  /** Where it ran from until then, for stamps that are older than `mono`; null when it stood. */
  readonly before: { readonly active: number; readonly mono: number; readonly boot: string } | null;
}

/** The part of the contract that decisions and clients need; frozen in the first event of the ledger. */
export type Terms = Pick<
  Contract,
  | 'name'
  | 'metric'
  | 'feedback'
  | 'policy'
  | 'lateRule'
  | 'fallback'
  | 'failures'
  | 'stallMs'
  | 'stopAfterBarren'
  | 'limits'
> & {
  /** Both agents by slot: the name that people see, and the adapter. */
  readonly agents: Readonly<Record<AgentSlot, { readonly name: string; readonly adapter: string }>>;
  /** Runs per submission, whether the session is frozen meanwhile, and the limit of each run. */
  readonly evaluate: { readonly repeats: number; readonly exclusive: boolean; readonly timeoutMs: number };
  /** Whether the task has a validator. */
  readonly validates: boolean;
  /** Whether the task has a hidden grader. */
  readonly grades: boolean;
};

/** The finished run that a run goes on from (decision 6). */
export interface EarlierRun {
  readonly run: string;
  /** Number of the last event of its ledger when this run was opened. */
  readonly seq: number;
  /** Hash of that event's line, which vouches for all before it: the link can be checked as long as that ledger is there. */
  readonly hash: string;
  /** How many candidates came over. */
  readonly candidates: number;
  /** Highest number of an experiment there, accepted or not; this run's own are numbered on from it. */
  readonly experiments: number;
  /** Snapshot of the candidate's files at the start of the first run of the chain; null when there were none. */
  readonly initial: string | null;
  /** Whether a person had looked at hidden grades there. */
  readonly gradesRevealed: boolean;
}

/** Something a person should know of, or do something about. */
export interface Notice {
  readonly seq: number;
  readonly wall: number;
  /** `person`: somebody must do something. */
  readonly level: 'info' | 'warning' | 'person';
  /** For programs; more may come. */
  readonly code: string;
  /** In words. */
  readonly text: string;
}

/** Everything a client sees of a run; plain JSON, folded from the ledger by `evolveRun` alone. */
export interface RunState {
  /** Number of the last event folded in. */
  readonly seq: number;
  readonly run: string;
  readonly workspace: string;
  readonly openedWall: number;
  /** Absent for a run that began afresh. */
  readonly from?: EarlierRun;
  readonly contractHash: string;
  readonly terms: Terms;
  readonly budgets: Budgets;
  readonly isolation: { readonly tier: Tier; readonly cannot: readonly string[] };
  /** Candidate files as they were at the start, null when there were none. */
  readonly initial: string | null;
  readonly phase: Phase;
  readonly clock: ActiveClock;
  readonly controller: {
    readonly pid: number;
    readonly fence: number;
    readonly version: string;
    readonly starts: number;
  };
  readonly pause: Pause | null;
  /** Total paused time so far, wall ms. */
  readonly pausedMs: number;
  /** Active time of the last thaw; a session that dies within a minute of it gets another attempt. */
  readonly resumedAt: number | null;
  /** Pause at the next option boundary. */
  readonly pauseAfter: boolean;
  /** Set once exploration must end; it has ended when `explorationEndedAt` is set. */
  readonly explorationEnding: ExplorationEnd | null;
  /** Active time at which that was so, ms: a deadline that was met stays met, whatever the wall clock does. */
  readonly explorationEndingAt: number | null;
  readonly explorationEndedAt: number | null;
  /** The person who ended exploration or the run, where one did. */
  readonly endedBy?: string;
  readonly options: readonly Option[];
  readonly experiments: readonly Experiment[];
  readonly archive: readonly Candidate[];
  readonly review: Review | null;
  readonly selections: readonly Selection[];
  readonly gradesRevealed: boolean;
  readonly grading: { readonly id: string; readonly nonce: string } | null;
  readonly finished: { readonly reason: string; readonly wall: number; readonly active: number } | null;
  readonly notices: readonly Notice[];
  /** Looks at the disks: the first of the run, and the latest ones. */
  readonly disk: readonly DiskSample[];
  /** What a person wants done about candidates once the run is over, in order. */
  readonly errands: readonly Errand[];
  readonly reevaluating: { readonly id: string; readonly nonce: string } | null;
  /** What people said to sessions, in order. */
  readonly messages: readonly PersonMessage[];
}
