export type { LedgerEvent, NewEvent } from '../base/fact.ts';

/** Something wrong in a ledger's files; reading goes on as far as the chain is whole. `line` is 1-based; 0 is the file as a whole. */
export interface LedgerProblem {
  readonly file: string;
  readonly line: number;
  readonly reason: 'torn_tail' | 'broken_chain' | 'unparsable' | 'newer_version' | 'bad_seal' | 'unreadable';
  readonly detail: string;
  /** A problem that forbids writing (everything but a torn tail). */
  readonly fatal: boolean;
}

/** A problem in words: `ledger-1.jsonl:12: event 11 is expected, event 12 is here`; line 0 is the file as a whole. */
export const sayProblem = ({ file, line, detail }: Pick<LedgerProblem, 'file' | 'line' | 'detail'>): string =>
  `${file}${line > 0 ? `:${line}` : ''}: ${detail}`;
