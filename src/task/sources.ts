import type { ContractDocument, KeyPath, Problem } from './document.ts';
import type { ContractMessage } from './messages.ts';

type Mapping = Record<string, unknown>;

const isMapping = (value: unknown): value is Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The contract's file and its private one, as one value, with places in whichever file a key stands. */
export interface MergedSource {
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Whether a place stands in the contract's own file, which agents may be able to read. */
  standsInMain(path: KeyPath): boolean;
  /** Whether a place stands in either file; else its value is a default. */
  isWritten(path: KeyPath): boolean;
  message(problem: Problem): ContractMessage;
}

/** Merges the private file into the contract: mappings key by key; a key that stands in both is a problem. */
export function mergeSources(main: ContractDocument, secret?: ContractDocument): MergedSource {
  const problems: Problem[] = [];
  const value =
    secret && isMapping(main.value) && isMapping(secret.value)
      ? merge(main.value, secret.value, { path: [], problems, main: main.file })
      : main.value;
  const message = (problem: Problem): ContractMessage => {
    const path = concretePath(value, problem.path);
    const inSecret = secret !== undefined && (secret.depth(path) > main.depth(path) || problem.code === 'key_in_both');
    return (inSecret ? secret : main).message({ ...problem, path });
  };
  const standsIn = (document: ContractDocument | undefined, path: KeyPath): boolean =>
    document?.depth(path) === path.length;
  return {
    value,
    problems,
    standsInMain: (path) => standsIn(main, path),
    isWritten: (path) => standsIn(main, path) || standsIn(secret, path),
    message,
  };
}

interface Merging {
  readonly path: KeyPath;
  readonly problems: Problem[];
  readonly main: string;
}

function merge(main: Mapping, secret: Mapping, at: Merging): Mapping {
  const merged = Object.assign(Object.create(null) as Mapping, main);
  for (const [key, value] of Object.entries(secret)) {
    const path = [...at.path, key];
    if (!Object.hasOwn(main, key)) merged[key] = value;
    else if (isMapping(main[key]) && isMapping(value)) merged[key] = merge(main[key], value, { ...at, path });
    else
      at.problems.push({
        severity: 'error',
        code: 'key_in_both',
        path,
        at: 'key',
        what: `\`${path.join('.')}\` stands in ${at.main} too`,
        fix: fixOf(key, main[key], value),
      });
  }
  return merged;
}

function fixOf(key: string, main: unknown, secret: unknown): string {
  return isMapping(secret) && !isMapping(main) && ['evaluate', 'validate', 'grade'].includes(key)
    ? `Write \`${key}: {command: …}\` in the contract, so that further keys can be added here.`
    : 'Keep it in one of the two files.';
}

/**
 * A problem's path as the user's file has it: checks name places in the long form (`evaluate.command[1]`, `candidate[0]`,
 * `metric.thresholds[0:gold]`), the file may have the short one.
 */
function concretePath(value: unknown, path: KeyPath): KeyPath {
  const concrete: (string | number)[] = [];
  let current = value;
  for (const step of path) {
    if ((step === 'command' || step === 'adapter') && !isMapping(current)) continue;
    if (typeof step === 'number' && !Array.isArray(current)) continue;
    const either = typeof step === 'string' ? /^(\d+):(.*)$/s.exec(step) : null;
    const real =
      either && !(isMapping(current) && Object.hasOwn(current, step))
        ? Array.isArray(current)
          ? Number(either[1])
          : either[2]!
        : step;
    concrete.push(real);
    current =
      typeof current === 'object' && current !== null ? (current as Record<string | number, unknown>)[real] : undefined;
  }
  return concrete;
}
