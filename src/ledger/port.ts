/**
 * One thing that happened. `seq` counts from 1 without gaps over all segments of a run; `wall` is Unix ms, `mono` is
 * CLOCK_MONOTONIC ms of the writing boot, `active` is active runtime in ms; `v` is the schema version of this event type.
 */
export interface LedgerEvent<Type extends string = string, Data = unknown> {
  readonly seq: number;
  readonly v: number;
  readonly wall: number;
  readonly mono: number;
  readonly active: number;
  readonly type: Type;
  readonly data: Data;
}

/** An event before the ledger has numbered it. */
export type NewEvent<Type extends string = string, Data = unknown> = Omit<LedgerEvent<Type, Data>, 'seq'>;

/** Something wrong in a ledger's files; reading goes on as far as the chain is whole. `line` is 1-based. */
export interface LedgerProblem {
  readonly file: string;
  readonly line: number;
  readonly reason: 'torn_tail' | 'broken_chain' | 'unparsable' | 'newer_version' | 'bad_seal' | 'unreadable';
  readonly detail: string;
  /** A problem that forbids writing (everything but a torn tail). */
  readonly fatal: boolean;
}
