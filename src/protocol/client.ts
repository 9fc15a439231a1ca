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
  readonly protocol: number;
  /** Continue after this event number; absent = begin with the state as it is. */
  readonly after?: number;
}

/** The state to fold later events into with `evolveRun`, or the events missed since `after`. */
export interface AttachReply {
  readonly protocol: number;
  readonly version: string;
  readonly runFolder: string;
  readonly seq: number;
  readonly state: RunState | null;
  readonly missed: readonly LedgerEvent[];
}

/** Everything a person can want of a running run. `by` names the person for the record. */
export type Intent =
  | { readonly kind: 'pause'; readonly after: boolean; readonly by: string }
  | { readonly kind: 'resume'; readonly by: string }
  | { readonly kind: 'handoff'; readonly by: string }
  /** A message to the running session, where its harness can take one. */
  | { readonly kind: 'message'; readonly text: string; readonly by: string }
  | { readonly kind: 'review'; readonly by: string }
  | { readonly kind: 'stop'; readonly by: string }
  | ({ readonly kind: 'budget'; readonly by: string } & BudgetWish)
  | { readonly kind: 'select'; readonly candidate: string; readonly reason: string; readonly by: string }
  | { readonly kind: 'revealGrades'; readonly by: string }
  /** Hidden grading after the end; no candidates named = all; `again` grades also what has a grade. */
  | { readonly kind: 'grade'; readonly candidates: readonly string[]; readonly again: boolean; readonly by: string }
  /** More runs of the evaluator on one candidate, after the end. */
  | { readonly kind: 'reevaluate'; readonly candidate: string; readonly times: number; readonly by: string }
  | {
      readonly kind: 'disqualify';
      readonly candidate: string;
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
  readonly protocol: number;
  readonly version: string;
  readonly pid: number;
  readonly fence: number;
  readonly clientSocket: string;
  readonly agentSocket: string;
}
