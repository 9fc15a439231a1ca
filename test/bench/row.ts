/** One row of `npm run bench`: what was measured, beside its reference from the same run, in words. */
export interface Row {
  readonly what: string;
  readonly ours: string;
  readonly reference: string;
  readonly result: string;
  readonly aim: string;
  readonly met: boolean;
}

/** A length of time: `0.4 ms`, `12 ms`. */
export const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
