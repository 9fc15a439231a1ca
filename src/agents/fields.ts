// Readers for what harnesses print and keep: their formats are theirs and change, so each field is taken for itself, and one that is
// missing or of another type is as good as absent. For lines that a person sees or that are counted; what decides something is checked
// where it is read.

/** A JSON object of which nothing is known yet. */
export type Fields = Readonly<Record<string, unknown>>;

const empty: Fields = {};

/** An object's fields; none of what is no object. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : empty;

/** A text; empty when it is none. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A finite number; null when it is none. */
export const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

/** A count of tokens: a whole number from 0 on; 0 when it is none. */
export const countOf = (value: unknown): number => Math.max(0, Math.round(numberOf(value) ?? 0));

/** A list's members; none of what is no list. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** At most so many lines of a text, the first ones and the last one, and what was left out between them. */
export function shortened(text: string, lines = 10): string {
  const all = text.replace(/\s+$/u, '').split('\n');
  if (all.length <= lines) return all.join('\n');
  return [...all.slice(0, lines - 2), `… ${all.length - lines + 1} more lines …`, all.at(-1)].join('\n');
}
