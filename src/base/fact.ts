/** One thing that happened. */
export interface LedgerEvent<Type extends string = string, Data = unknown> {
  /** Counts from 1 without gaps over all segments of a run. */
  readonly seq: number;
  /** Version of this event type's data. */
  readonly v: number;
  /** Unix ms. */
  readonly wall: number;
  /** CLOCK_MONOTONIC ms of the writing boot. */
  readonly mono: number;
  /** Active runtime, ms. */
  readonly active: number;
  /** Its kind. */
  readonly type: Type;
  /** What its kind says. */
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
