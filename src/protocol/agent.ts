import type { RejectionCode } from '../experiments/model.ts';

/**
 * What a session may ask, over the agent socket (vscode-jsonrpc). Types and names only: this file is on the `hma submit` path.
 * Every request carries the session's token; authorship comes from it alone (invariant 5).
 */
export const agentRequests = {
  submit: 'agent/submit',
  result: 'agent/result',
  validate: 'agent/validate',
  status: 'agent/status',
  archive: 'agent/archive',
  file: 'agent/file',
  nominate: 'agent/nominate',
} as const;

/** Notification: the receipt of this experiment has reached the session. */
export const receiptSeen = 'agent/seen';

interface WithToken {
  readonly token: string;
}

export interface SubmitRequest extends WithToken {
  /** Names this call, however often it is sent again: a call whose answer was lost is answered with the same id, whatever became of it. */
  readonly request?: string;
  /** What the agent says of it; kept up to 4,000 characters. */
  readonly note?: string;
  /** The agent's own validation score. */
  readonly reported?: number;
}

/** The submission is on disk under this id, or was turned away before that. */
export type SubmitReply =
  | { readonly id: string }
  | { readonly refused: { readonly code: RejectionCode; readonly reason: string } };

export interface ResultRequest extends WithToken {
  /** Of the experiment. */
  readonly id: string;
  /** How long to wait for the verdict, ms; 0 = answer at once. */
  readonly waitMs: number;
}

/** What is left, as far as the task allows an agent to know it. The cap is not told unless the task says so. */
export interface Remaining {
  /** Active time until exploration ends, ms. */
  readonly timeMs: number;
  /** Accepted experiments left in the whole run; null = no limit. */
  readonly experiments: number | null;
  /** Accepted experiments left in this session; only where the task tells the cap. */
  readonly inSession?: number | null;
}

/** The answer for one experiment. In blind tasks `reason` is one fixed sentence per code and `score` is absent. */
export type Receipt =
  | { readonly id: string; readonly outcome: 'pending'; readonly place: number; readonly remaining: Remaining }
  | {
      readonly id: string;
      readonly outcome: 'accepted';
      readonly score?: number;
      readonly improved?: boolean;
      readonly remaining: Remaining;
    }
  | {
      readonly id: string;
      readonly outcome: 'rejected';
      readonly code: RejectionCode;
      readonly reason: string;
      readonly remaining: Remaining;
    };

/** `unknown`: no such experiment of this session. */
export type ResultReply =
  | Receipt
  | { readonly refused: { readonly code: 'unknown' | RejectionCode; readonly reason: string } };

export type ValidateReply =
  | { readonly outcome: 'valid' | 'invalid'; readonly text: string }
  | { readonly refused: { readonly code: 'no_validator' | RejectionCode; readonly reason: string } };

export interface AgentStatus {
  readonly role: 'explore' | 'review';
  /** Its name. */
  readonly agent: string;
  /** Number of the option; null in the review. */
  readonly option: number | null;
  /** Whether receipts tell scores. */
  readonly feedback: 'score' | 'blind';
  readonly paused: boolean;
  /** Accepted experiments of this session so far. */
  readonly accepted: number;
  readonly remaining: Remaining;
  /** Last active time left, ms, at which a submission can still be judged, by the longest evaluation seen so far. */
  readonly lastSafeSubmitMs: number;
  /** Id of the latest candidate. */
  readonly standing: string | null;
  /** Ids of this session's experiments that wait for their verdict. */
  readonly pending: readonly string[];
}
export type StatusReply = AgentStatus | { readonly refused: { readonly code: RejectionCode; readonly reason: string } };

/** One candidate as a session may see it. */
export interface AgentCandidate {
  readonly id: string;
  readonly order: number;
  readonly author: 'you' | 'peer';
  readonly option: number;
  /** The earlier run whose option it was; absent for this run's own. */
  readonly run?: string;
  /** Absent in blind tasks. */
  readonly score?: number;
  readonly reported: number | null;
  readonly note: string | null;
  readonly files: number;
  readonly bytes: number;
}
export interface AgentArchive {
  readonly metric: { readonly name: string; readonly direction: 'maximize' | 'minimize' };
  readonly feedback: 'score' | 'blind';
  readonly standing: string | null;
  readonly candidates: readonly AgentCandidate[];
}
export type ArchiveReply =
  | AgentArchive
  | { readonly refused: { readonly code: RejectionCode; readonly reason: string } };

export interface FileRequest extends WithToken {
  /** A candidate's id, `initial` or `protected`. */
  readonly id: string;
  /** Path inside it; absent = the list of its files. */
  readonly path?: string;
}
export type FileReply =
  | {
      readonly entries: readonly {
        readonly path: string;
        readonly kind: 'file' | 'executable' | 'link';
        readonly bytes: number;
      }[];
    }
  | { readonly path: string; readonly kind: 'file' | 'executable' | 'link'; readonly base64: string }
  | { readonly refused: { readonly code: 'unknown' | 'too_large' | RejectionCode; readonly reason: string } };

export interface NominateRequest extends WithToken {
  /** Its id. */
  readonly candidate: string;
  /** Why this one; kept up to 4,000 characters. */
  readonly reason: string;
}
export type NominateReply =
  | { readonly nominated: string }
  | { readonly refused: { readonly code: 'invalid' | RejectionCode; readonly reason: string } };

/** Exit codes of the commands inside a session; documented and stable. */
export const sessionExit = {
  accepted: 0,
  failed: 1,
  rejected: 2,
  pending: 3,
  refused: 4,
  unreachable: 5,
  usage: 64,
} as const;
