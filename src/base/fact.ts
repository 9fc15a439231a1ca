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

/** What happened, before it is stamped: one member of the union that a map `{type: data}` describes. */
export type FactOf<Map> = {
  [Type in keyof Map & string]: { readonly type: Type; readonly data: Map[Type] };
}[keyof Map & string];

/** The same fact with its stamps, as it comes out of the ledger. */
export type StampedOf<Map> = { [Type in keyof Map & string]: LedgerEvent<Type, Map[Type]> }[keyof Map & string];

/** What a decision may know of time: the machine's clocks and the run's active runtime (ms). */
export interface Given {
  readonly wall: number;
  readonly mono: number;
  readonly boot: string;
  readonly active: number;
}
