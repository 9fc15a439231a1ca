export type { LedgerEvent, NewEvent } from '../base/fact.ts';

/** Something wrong in a ledger's files; reading goes on as far as the chain is whole. `line` is 1-based. */
export interface LedgerProblem {
  readonly file: string;
  readonly line: number;
  readonly reason: 'torn_tail' | 'broken_chain' | 'unparsable' | 'newer_version' | 'bad_seal' | 'unreadable';
  readonly detail: string;
  /** A problem that forbids writing (everything but a torn tail). */
  readonly fatal: boolean;
}
