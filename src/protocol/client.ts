import type { LedgerEvent } from '../ledger/port.ts';
import type { BudgetWish } from '../run/budget.ts';
import type { RunState } from '../run/model.ts';

/** What a person's tools may ask, over the client socket (vscode-jsonrpc). */
export const clientRequests = { attach: 'client/attach', intend: 'client/intend' } as const;
/** Notification after `attach`: one event, in order, without gaps. */
export const clientEvent = 'client/event';

/** Raised when a request or reply changes shape. */
export const protocolVersion = 1;

export interface AttachRequest {
  /** The number that the client speaks. */
  readonly protocol: number;
  /** Continue after this event number; absent = begin with the state as it is. */
  readonly after?: number;
}

/** The state to fold later events into with `evolveRun`, or the events missed since `after`. */
export interface AttachReply {
  /** The number that the controller speaks. */
  readonly protocol: number;
  /** The controller's version of HMA. */
  readonly version: string;
  /** Absolute path. */
  readonly runFolder: string;
  /** Number of the last event so far. */
  readonly seq: number;
  /** As of event `seq`; null where `after` was given. */
  readonly state: RunState | null;
  /** The events after `after`, up to `seq`. */
  readonly missed: readonly LedgerEvent[];
}

/** Everything a person can want of a running run. `by` names the person for the record. */
export type Intent =
  | {
      readonly kind: 'pause';
      /** Only at the next option boundary. */
      readonly after: boolean;
      readonly by: string;
    }
  | { readonly kind: 'resume'; readonly by: string }
  | { readonly kind: 'handoff'; readonly by: string }
  /** A message to the running session, where its harness can take one. */
  | {
      readonly kind: 'message';
      /** What to say. */
      readonly text: string;
      readonly by: string;
    }
  | { readonly kind: 'review'; readonly by: string }
  | { readonly kind: 'stop'; readonly by: string }
  | ({ readonly kind: 'budget'; readonly by: string } & BudgetWish)
  | {
      readonly kind: 'select';
      /** Its id. */
      readonly candidate: string;
      readonly reason: string;
      readonly by: string;
    }
  | { readonly kind: 'revealGrades'; readonly by: string }
  /** Hidden grading after the end; no candidates named = all; `again` grades also what has a grade. */
  | {
      readonly kind: 'grade';
      /** Their ids. */
      readonly candidates: readonly string[];
      /** Also those that have a grade. */
      readonly again: boolean;
      readonly by: string;
    }
  /** More runs of the evaluator on one candidate, after the end. */
  | {
      readonly kind: 'reevaluate';
      /** Its id. */
      readonly candidate: string;
      /** How often. */
      readonly times: number;
      readonly by: string;
    }
  | {
      readonly kind: 'disqualify';
      /** Its id. */
      readonly candidate: string;
      /** Take it back. */
      readonly undo: boolean;
      readonly reason: string;
      readonly by: string;
    }
  | { readonly kind: 'clearSelection'; readonly reason: string; readonly by: string };

/** `seq` is the event that carries it out, or already did. */
export type IntentReply =
  | { readonly done: true; readonly seq: number }
  | { readonly done: false; readonly reason: string; readonly text: string };

/** Where a run's controller listens: `endpoint.json` in the run folder, written after both sockets are open. */
export interface Endpoint {
  /** Of the sockets; another number is another language. */
  readonly protocol: number;
  /** The controller's version of HMA. */
  readonly version: string;
  /** The controller's. */
  readonly pid: number;
  /** Number of the ledger segment that it writes. */
  readonly fence: number;
  /** Path of the client socket. */
  readonly clientSocket: string;
  /** Path of the agent socket. */
  readonly agentSocket: string;
}
