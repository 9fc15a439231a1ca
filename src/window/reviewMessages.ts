import type { Repeats } from '../analysis/repeats.ts';
import type { Flag, RejectionCode } from '../experiments/model.ts';
import type { ReviewOutcome, Selection } from '../review/model.ts';
import type { AgentSlot } from '../task/model.ts';

/**
 * What the final-review page and its host say to each other. Types only: both halves import this file. Times are active runtime in ms
 * unless they are called wall (Unix ms).
 */

/** One row of the table: an accepted experiment (a candidate) or a rejected one. */
export interface ReviewRow {
  readonly id: string;
  /** Place in the archive from 1; null for a rejected experiment. */
  readonly order: number | null;
  readonly state: 'accepted' | 'rejected';
  /** Null: an agent of an earlier run that is none of this run's; `origin` names it. */
  readonly author: AgentSlot | null;
  /** Of this run, or of the one that `origin` names. */
  readonly option: number;
  /** The earlier run that made it, and its author's name there; absent for this run's own. */
  readonly origin?: { readonly run: string; readonly agent: string };
  /** The evaluator's score; null when there is none, and in blind tasks until a person reveals grades. */
  readonly score: number | null;
  /** The author's own estimate (`--score`). */
  readonly reported: number | null;
  /** Quality in [0, 1], where the metric's anchors define it. */
  readonly quality: number | null;
  /**
   * Score (in blind tasks: reported) less the record before it, in the score's unit; positive is better whatever the direction.
   * Null for the first and the rejected.
   */
  readonly change: number | null;
  readonly bytes: number | null;
  readonly files: number | null;
  readonly at: number;
  readonly wall: number;
  readonly note: string | null;
  readonly flags: readonly Flag[];
  readonly code: RejectionCode | null;
  readonly reason: string | null;
  /** Hidden grade: that there is one until a person reveals grades, that its grader failed, or null where there is none. */
  readonly grade: number | 'hidden' | 'failed' | null;
  /** The grader's version where the run has grades of several, which don't compare; empty otherwise. */
  readonly grader: string;
  /** Later runs of the evaluator; null without any, and in blind tasks until a person reveals grades. */
  readonly again: Repeats | null;
  /** Who said that it must not be chosen, and why; empty where nobody did. */
  readonly disqualified: string;
  /** What is still to be done about it after the end, in words; empty when nothing is. */
  readonly errand: string;
  readonly starred: boolean;
  readonly hidden: boolean;
}

/** An agent's part in a run. Tokens and cost are empty where no harness of the run tells, `—` where this one doesn't. */
export interface AgentWork {
  readonly agent: AgentSlot;
  readonly options: number;
  readonly accepted: number;
  readonly rejected: number;
  /** How often it improved the record. */
  readonly records: number;
  readonly tokens: string;
  readonly cost: string;
}

/** What can be asked about a candidate from the page; each is confirmed in VS Code's own dialogs. */
export type CandidateAct = 'reevaluate' | 'grade' | 'regrade' | 'disqualify' | 'requalify';

/** The page's whole content but for the rows. */
export interface ReviewFrame {
  readonly run: string;
  readonly task: string;
  readonly phase: 'exploring' | 'reviewing' | 'concluding' | 'finished';
  readonly metric: {
    readonly name: string;
    readonly direction: 'maximize' | 'minimize';
    /** Differences up to this are no improvement. */
    readonly noise: number;
    readonly baseline: number | null;
    readonly reference: number | null;
    readonly thresholds: readonly { readonly name: string; readonly score: number }[];
  };
  readonly feedback: 'score' | 'blind';
  readonly agents: Readonly<Record<AgentSlot, string>>;
  /** Options in order, for the chart: who, from when to when (null = still open). */
  readonly options: readonly {
    readonly number: number;
    readonly agent: AgentSlot;
    readonly from: number;
    readonly to: number | null;
  }[];
  readonly explorationEnd: number;
  readonly now: number;
  readonly standing: string | null;
  /** The best so far, by the value that is shown: the score, in blind tasks what the agents reported. */
  readonly record: string | null;
  readonly review: {
    readonly reviewer: AgentSlot;
    readonly state: 'open' | 'ending' | 'closed';
    readonly outcome: ReviewOutcome | null;
    /** The nomination's reason, or why there is none. */
    readonly detail: string;
    readonly nominated: string | null;
  } | null;
  /** `who`: the person's or the agent's name, `hma` for the fallback. */
  readonly final: {
    readonly candidate: string;
    readonly by: 'person' | 'reviewer' | 'fallback';
    readonly who: string;
    readonly reason: string;
  } | null;
  readonly history: readonly Selection[];
  readonly grades: 'none' | 'hidden' | 'revealed';
  /** What the night came to beside its candidates: how it ended, what was tried, what a person should know of. */
  readonly told: readonly { readonly name: string; readonly words: string; readonly warns: boolean }[];
  /** What each agent did and what that cost, in words. */
  readonly work: readonly AgentWork[];
  /** Versions of the grader where there are several. */
  readonly graders: readonly string[];
  /** What is being done about candidates after the end; empty when nothing is. */
  readonly errands: string;
  /** What a person can have done about candidates now. */
  readonly acts: { readonly reevaluate: boolean; readonly grade: boolean; readonly disqualify: boolean };
  /** Whether a selection can be made now, and why not. */
  readonly canSelect: boolean;
  readonly cannot: string;
  /** Words about the run when its controller is away; empty when all is well. */
  readonly banner: string;
}

/** Host → page. `rows` replaces the rows named; `model` replaces everything; `empty` says why there is nothing to show. */
export type ToPage =
  | { readonly type: 'model'; readonly frame: ReviewFrame; readonly rows: readonly ReviewRow[] }
  | { readonly type: 'rows'; readonly frame: ReviewFrame; readonly rows: readonly ReviewRow[] }
  | { readonly type: 'empty'; readonly text: string }
  | { readonly type: 'focus'; readonly candidate: string }
  | { readonly type: 'refused'; readonly text: string };

/** Page → host. */
export type ToHost =
  | { readonly type: 'ready' }
  | { readonly type: 'select'; readonly candidate: string; readonly reason: string }
  | { readonly type: 'clear'; readonly reason: string }
  | { readonly type: 'reveal' }
  | { readonly type: 'star'; readonly candidate: string; readonly on: boolean }
  | { readonly type: 'hide'; readonly candidate: string; readonly on: boolean }
  | { readonly type: 'diff'; readonly before: string; readonly after: string }
  | { readonly type: 'files'; readonly candidate: string }
  | { readonly type: 'act'; readonly act: CandidateAct; readonly candidate: string }
  | { readonly type: 'gradeAll' }
  | { readonly type: 'apply' };
