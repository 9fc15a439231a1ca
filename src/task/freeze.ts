import { createHash } from 'node:crypto';

import * as z from 'zod';

import { canonicalJson } from '../base/canonicalJson.ts';
import { ok, refused, type Result } from '../base/result.ts';
import { sayPath } from './issues.ts';
import type { Contract } from './model.ts';

/** The number of the contract's form that this version writes, and the highest that it reads. */
export const contractSchemaNumber = 1;

const command = z.tuple([z.string()], z.string());
const strings = z.array(z.string());
const span = z.int().nonnegative();
const amount = z.int().positive();
const variables = strings;

const metric = z.strictObject({
  name: z.string(),
  direction: z.enum(['maximize', 'minimize']),
  baseline: z.number().exactOptional(),
  reference: z.number().exactOptional(),
  thresholds: z.array(z.strictObject({ name: z.string(), score: z.number() })),
  range: z.strictObject({ min: z.number().exactOptional(), max: z.number().exactOptional() }).exactOptional(),
  noise: z.number().nonnegative(),
});

const agent = z.strictObject({
  name: z.string(),
  adapter: z.string(),
  command: command.exactOptional(),
  prompt: z.enum(['file', 'argument', 'stdin']),
  model: z.string().exactOptional(),
  effort: z.string().exactOptional(),
  environment: variables,
  program: z.string().exactOptional(),
  preset: z.string().exactOptional(),
  baseUrl: z.string().exactOptional(),
  keyVariable: z.string().exactOptional(),
  permissions: z.enum(['auto', 'limited', 'bypass']).exactOptional(),
  tools: z.enum(['shell', 'mcp']).exactOptional(),
});

const result = z.discriminatedUnion('from', [
  z.strictObject({ from: z.literal('file') }),
  z.strictObject({ from: z.literal('lastLine') }),
  z.strictObject({ from: z.literal('pattern'), pattern: z.string() }),
]);

const notify = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({ kind: z.literal('command'), command }),
  z.strictObject({ kind: z.literal('url'), url: z.string() }),
]);

const frozen: z.ZodType<Contract> = z.strictObject({
  schema: z.literal(contractSchemaNumber),
  name: z.string(),
  objective: z.string(),
  candidate: strings.min(1),
  protected: strings,
  evaluate: z.strictObject({
    command,
    cwd: z.string(),
    timeoutMs: amount,
    exclusive: z.boolean(),
    repeats: amount,
    result,
    hidden: strings,
    binds: z.array(z.strictObject({ from: z.string().nullable(), to: z.string() })).exactOptional(),
  }),
  validate: z.strictObject({ command, cwd: z.string(), timeoutMs: amount }).nullable(),
  grade: z.strictObject({ command, cwd: z.string(), timeoutMs: amount, hidden: strings }).nullable(),
  metric,
  feedback: z.enum(['score', 'blind']),
  agents: z.strictObject({ A: agent, B: agent }),
  policy: z.strictObject({
    mode: z.enum(['alternate', 'single']),
    cap: amount.nullable(),
    first: z.enum(['A', 'B']),
    tellCap: z.boolean(),
  }),
  budgets: z.strictObject({
    totalMs: amount,
    reviewMs: span,
    experiments: amount.nullable(),
    tokens: amount.exactOptional(),
    cost: z.number().positive().exactOptional(),
    until: z.int().nullable(),
  }),
  lateRule: z.discriminatedUnion('rule', [
    z.strictObject({ rule: z.literal('finished') }),
    z.strictObject({ rule: z.literal('submitted'), graceMs: span }),
  ]),
  fallback: z.enum(['standing', 'record']),
  failures: z.strictObject({
    attempts: amount,
    waitMs: span,
    then: z.enum(['handover', 'pause']),
    usageLimit: z
      .strictObject({ then: z.enum(['wait', 'handover', 'pause']), pauseClock: z.boolean() })
      .exactOptional(),
  }),
  stallMs: amount,
  stopAfterBarren: amount.nullable(),
  notify,
  limits: z.strictObject({
    candidateBytes: amount,
    candidateFiles: amount,
    outputBytes: amount,
    diskFloorBytes: amount,
    queue: amount,
  }),
  isolation: z.strictObject({
    tier: z.enum(['auto', 'bubblewrap', 'uid', 'none']),
    network: z.enum(['open', 'none']),
    ownHome: z.boolean(),
    readable: strings,
    writable: strings,
    hidden: strings.exactOptional(),
  }),
  prompts: z.strictObject({
    exploration: z.string().exactOptional(),
    review: z.string().exactOptional(),
    recordKeeping: z.boolean().exactOptional(),
  }),
  environment: variables,
  state: z.string().nullable(),
});

/** Names a contract's content: SHA-256 over its canonical JSON, 64 hex digits. Equal contracts have equal hashes. */
export const contractHash = (contract: Contract): string =>
  createHash('sha256').update(canonicalJson(contract)).digest('hex');

/** The text of a run's `contract.json`. */
export const freezeContract = (contract: Contract): string => `${JSON.stringify(contract, null, 2)}\n`;

/** Why a frozen contract can't be used. `what` and `fix` are words for a person. */
export interface ThawRefusal {
  readonly reason: 'not_json' | 'newer' | 'invalid';
  readonly what: string;
  readonly fix: string;
}

/** Reads a frozen contract back. Refuses text that isn't JSON, a form of a newer version, and whatever isn't exactly a contract. */
export function thawContract(text: string): Result<Contract, ThawRefusal> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    return refused({
      reason: 'not_json',
      what: `the frozen contract is not JSON: ${(cause as Error).message}`,
      fix: 'The file was cut or changed; restore it from a backup. Its hash stands in the ledger.',
    });
  }
  const number = typeof value === 'object' && value !== null ? (value as { schema?: unknown }).schema : undefined;
  if (typeof number === 'number' && number > contractSchemaNumber) {
    return refused({
      reason: 'newer',
      what: `the frozen contract has form ${number}; this version of HMA reads up to ${contractSchemaNumber}`,
      fix: 'Update HMA, or go on with the version that started the run.',
    });
  }
  const parsed = frozen.safeParse(value);
  if (parsed.success) return ok(parsed.data);
  const first = parsed.error.issues[0]!;
  const where =
    first.path.length === 0
      ? 'the frozen contract'
      : `the frozen contract’s \`${sayPath(first.path.map((step) => (typeof step === 'symbol' ? String(step) : step)))}\``;
  return refused({
    reason: 'invalid',
    what: `${where} is wrong: ${first.message}`,
    fix: 'The file was changed by hand or by another program; restore it from a backup.',
  });
}
