import * as z from 'zod';

import type { KeyPath, Problem } from './document.ts';
import { readExpectation } from './expect.ts';
import { meant } from './nearest.ts';

type Issue = z.core.$ZodIssue;

/** Nobody reads more at once, and a hostile file must not cost minutes. */
const mostProblems = 100;

/** Turns what zod found into problems with words: unknown keys with the nearest known one, missing keys, wrong values. */
export function sayIssues(issues: readonly Issue[], schema: z.ZodType, value: unknown): Problem[] {
  const said = new Map<string, Problem>();
  for (const problem of issues.slice(0, mostProblems).flatMap((issue) => sayIssue(issue, [], { schema, value }))) {
    // one value may break several rules that have the same words
    const key = JSON.stringify([problem.path, problem.what]);
    if (!said.has(key)) said.set(key, problem);
  }
  return [...said.values()].slice(0, mostProblems);
}

/** Whether a missing key is there after all, misspelt: then the message about that says enough. */
export const isMisspelt = ({ code, path }: Problem, problems: readonly Problem[]): boolean =>
  code === 'missing' &&
  problems.some(
    (other) =>
      other.code === 'unknown_key' &&
      sayPath(other.path.slice(0, -1)) === sayPath(path.slice(0, -1)) &&
      other.fix === didYouMean(String(path.at(-1))),
  );

const didYouMean = (key: string): string => `Did you mean \`${key}\`?`;

/** Whether an issue of a union's branch lies inside the value: then the value has the branch's kind, and the branch is what was meant. */
function isInside(issue: Issue): boolean {
  if (issue.path.length > 0 || issue.code === 'unrecognized_keys') return true;
  return issue.code === 'invalid_union' && issue.errors.some((errors) => errors.every(isInside));
}

/** The words that would have been right at the issue's own place. */
function wordsOf(issue: Issue): string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  return issue.code === 'invalid_union'
    ? issue.errors
        .flat()
        .filter(({ path }) => path.length === 0)
        .flatMap(wordsOf)
    : [];
}

interface Whole {
  readonly schema: z.ZodType;
  readonly value: unknown;
}

function sayIssue(issue: Issue, base: KeyPath, whole: Whole): Problem[] {
  const path = [...base, ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))];
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, mostProblems).map((key) => unknownKey(key, path, whole.schema));
  if (issue.code === 'invalid_union') {
    const fitting = issue.errors.find((errors) => errors.every(isInside));
    if (fitting) return fitting.flatMap((inner) => sayIssue(inner, path, whole));
  }
  return [wrongValue(issue, path, whole)];
}

function unknownKey(key: string, path: KeyPath, schema: z.ZodType): Problem {
  const known = keysAt(schema, path);
  const near = meant(key, known);
  const where = path.length === 0 ? '' : ` in \`${sayPath(path)}\``;
  const fix = near ? didYouMean(near) : `Known keys here: ${known.join(', ')}.`;
  return {
    severity: 'error',
    code: 'unknown_key',
    path: [...path, key],
    at: 'key',
    what: `unknown key \`${key}\`${where}`,
    fix,
  };
}

function wrongValue(issue: Issue, path: KeyPath, whole: Whole): Problem {
  const expectation = readExpectation(issue.message) ?? { noun: 'something else', fix: issue.message };
  const found = at(whole.value, path);
  if (path.length === 0 && found.value === null)
    return { severity: 'error', code: 'empty', path, what: 'the contract is empty', fix: expectation.fix };
  const name = path.length === 0 ? 'the contract' : `\`${sayPath(path)}\``;
  if (!found.exists)
    return { severity: 'error', code: 'missing', path, at: 'key', what: `${name} is missing`, fix: expectation.fix };
  if (found.value === null && path.length > 0)
    return {
      severity: 'error',
      code: 'empty',
      path,
      what: `${name} is empty; it must be ${expectation.noun}`,
      fix: expectation.fix,
    };
  const written = typeof found.value === 'string' || typeof found.value === 'boolean' ? String(found.value) : undefined;
  const near = written === undefined ? undefined : meant(written, wordsOf(issue));
  return {
    severity: 'error',
    code: issue.code === 'invalid_type' || issue.code === 'invalid_union' ? 'wrong_type' : 'wrong_value',
    path,
    what: `${name} must be ${expectation.noun}, not ${sayValue(found.value)}`,
    fix: near ? `Did you mean ${near}?` : expectation.fix,
  };
}

/** The value at a path, and whether there is one. */
function at(value: unknown, path: KeyPath): { exists: boolean; value: unknown } {
  let current = value;
  for (const step of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, step))
      return { exists: false, value: undefined };
    current = (current as Record<string | number, unknown>)[step];
  }
  return { exists: true, value: current };
}

/** A path in words: `agents.A.environment[0]`. */
export const sayPath = (path: KeyPath): string =>
  path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`)).join('');

/** A value in words, short enough for one line. */
export function sayValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : sayList(value);
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'string')
    return value.trim() === ''
      ? 'an empty text'
      : `the text ${JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)}`;
  return JSON.stringify(value) === 'null' ? `${value as number}` : JSON.stringify(value);
}

function sayList(value: readonly unknown[]): string {
  const written = value.every((item) => typeof item !== 'object' || item === null) ? JSON.stringify(value) : '';
  return written !== '' && written.length <= 40 ? `the list ${written}` : 'a list';
}

/** All keys that mappings at a path may have. */
export function keysAt(schema: z.core.$ZodType, path: KeyPath): string[] {
  let schemas: z.core.$ZodType[] = [schema];
  for (const step of path) schemas = schemas.flatMap(alternatives).flatMap((one) => below(one, step));
  return [
    ...new Set(
      schemas.flatMap(alternatives).flatMap((one) => (one instanceof z.ZodObject ? Object.keys(one.shape) : [])),
    ),
  ];
}

function below(schema: z.core.$ZodType, step: string | number): z.core.$ZodType[] {
  if (schema instanceof z.ZodObject)
    return Object.hasOwn(schema.shape, step) ? [schema.shape[step] as z.core.$ZodType] : [];
  return schema instanceof z.ZodArray && typeof step === 'number' ? [schema.element] : [];
}

/** A schema without its wrappers; a union as its members. */
function alternatives(schema: z.core.$ZodType): z.core.$ZodType[] {
  if (schema instanceof z.ZodUnion) return (schema.options as z.core.$ZodType[]).flatMap(alternatives);
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    return alternatives(schema.def.innerType);
  return [schema];
}
