import { canonicalJson } from '../base/canonicalJson.ts';
import type { Contract } from './model.ts';

/** One thing by which scores of two contracts can't be compared. */
export interface Difference {
  /** Key of hma.yaml, such as `evaluate.repeats`. */
  readonly key: string;
  /** Both values in short, as JSON; `nothing` where there is none. */
  readonly before: string;
  readonly after: string;
}

/** What is measured, on which files, and by what. Everything else of a contract may change from run to run. */
const measured = [
  'metric',
  'feedback',
  'candidate',
  'evaluate',
  'grade',
] as const satisfies readonly (keyof Contract)[];

/**
 * In what two contracts measure differently, key by key; empty when a score of one is a score of the other. `feedback` counts: a blind
 * task's candidates were made without sight of their scores, and those that come over would be shown. The order of candidate patterns
 * doesn't.
 */
export function incomparable(before: Contract, after: Contract): readonly Difference[] {
  return measured.flatMap((key) => differing(key, ordered(before[key]), ordered(after[key])));
}

const isGroup = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `candidate` is a set; the evaluator's lists are not. */
const ordered = (value: unknown): unknown =>
  Array.isArray(value) ? [...new Set(value as readonly string[])].toSorted() : value;

function differing(key: string, before: unknown, after: unknown): Difference[] {
  if (isGroup(before) && isGroup(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => differing(`${key}.${name}`, before[name], after[name]));
  }
  const [one, other] = [say(before), say(after)];
  return one === other ? [] : [{ key: said[key] ?? key, before: one, after: other }];
}

/** Keys whose name in hma.yaml is another one. */
const said: Readonly<Record<string, string>> = {
  'evaluate.timeoutMs': 'evaluate.timeout (ms)',
  'grade.timeoutMs': 'grade.timeout (ms)',
};

const say = (value: unknown): string => (value === undefined || value === null ? 'nothing' : canonicalJson(value));
