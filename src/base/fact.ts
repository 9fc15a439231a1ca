import type { LedgerEvent } from '../ledger/port.ts';

/** What happened, before it is stamped: one member of the union that a map `{type: data}` describes. */
export type FactOf<Map> = { [Type in keyof Map & string]: { readonly type: Type; readonly data: Map[Type] } }[keyof Map & string];

/** The same fact with its stamps, as it comes out of the ledger. */
export type StampedOf<Map> = { [Type in keyof Map & string]: LedgerEvent<Type, Map[Type]> }[keyof Map & string];

/** What a decision may know of time: the machine's clocks and the run's active runtime (ms). */
export interface Given {
  readonly wall: number;
  readonly mono: number;
  readonly boot: string;
  readonly active: number;
}
