/** One row of `npm run bench`: what was measured, beside its reference from the same run, in words. */
export interface Row {
  readonly what: string;
  readonly ours: string;
  readonly reference: string;
  readonly result: string;
  readonly aim: string;
  /** Null where there is no aim: the row is there to be known. */
  readonly met: boolean | null;
}

/** How much is measured: `long` is what the aims were set for, `short` fits into a few minutes and says where it is less. */
export type Form = 'short' | 'long';

/** A length of time: `0.4 ms`, `12 ms`, `1,234 ms`. */
export const ms = (value: number): string => (value < 10 ? `${value.toFixed(1)} ms` : `${count(Math.round(value))} ms`);

/** A longer one: `12.3 s`. */
export const seconds = (value: number): string => `${(value / 1000).toFixed(1)} s`;

/** An amount of bytes, in decimal megabytes: `41.2 MB`, `2,010 MB`. */
export const megabytes = (bytes: number): string =>
  bytes < 100e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${count(Math.round(bytes / 1e6))} MB`;

/** A whole number with its thousands apart: `100,000`. */
export const count = (value: number): string => value.toLocaleString('en-GB');

/** The middle one; NaN of none. */
export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** A row whose result is how many times the reference ours is. */
export function ratioRow(given: {
  readonly what: string;
  readonly ours: number;
  readonly reference: number;
  readonly called: string;
  readonly unit: (value: number) => string;
  readonly most: number | null;
}): Row {
  const { what, ours, reference, called, unit, most } = given;
  const ratio = ours / reference;
  return {
    what,
    ours: unit(ours),
    reference: `${called}: ${unit(reference)}`,
    result: `${ratio.toFixed(2)}×`,
    aim: most === null ? '—' : `≤ ${most}×`,
    met: most === null ? null : ratio <= most,
  };
}

/** A row whose result is how much longer ours takes than the reference, ms. */
export function differenceRow(given: {
  readonly what: string;
  readonly ours: number;
  readonly reference: number;
  readonly called: string;
  readonly most: number;
}): Row {
  const { what, ours, reference, called, most } = given;
  const more = ours - reference;
  return {
    what,
    ours: ms(ours),
    reference: `${called}: ${ms(reference)}`,
    result: more < 0 ? `−${ms(-more)}` : `+${ms(more)}`,
    aim: `≤ +${ms(most)}`,
    met: more <= most,
  };
}
