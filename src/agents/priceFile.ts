import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';

import type { Prices } from '../analysis/usage.ts';
import { errorCode } from '../base/files.ts';
import { ok, refused, type Result } from '../base/result.ts';
import { defaultPrices } from './prices.ts';

/** What is wrong with a user's price file; nothing of such a file counts. */
export interface PriceProblem {
  readonly file: string;
  readonly what: string;
  readonly fix: string;
}

/** The prices in force. */
export interface PriceTable {
  readonly prices: Prices;
  /** The file that a price comes from, by model, where it is the user's. */
  readonly from: Readonly<Record<string, string>>;
  /** Files that are looked at, the strongest last. */
  readonly files: readonly string[];
  readonly problems: readonly PriceProblem[];
}

const expects = (noun: string) => ({
  error: ({ input }: { readonly input?: unknown }) => (input === undefined ? 'is missing' : `must be ${noun}`),
});
const fromZero = expects('a number from 0');
const amount = z.number(fromZero).nonnegative(fromZero);
const entry = z.strictObject({
  input: amount,
  cachedInput: amount,
  cacheWrite: amount.exactOptional(),
  output: amount,
  asOf: z
    .string(expects('a date such as 2026-11-30'))
    .regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a date such as 2026-11-30'),
  source: z.string(expects('a text')).min(1, 'must say where the price stands'),
});
const priceFile = z.strictObject(
  { models: z.record(z.string().min(1), entry, expects('a mapping of models')) },
  expects('a mapping with the key models'),
);

/** An example for messages and the documentation. */
const example =
  '{"models": {"my-model": {"input": 2, "cachedInput": 0.2, "output": 10, "asOf": "2026-11-30", "source": "https://…"}}}';

/** Where a user's prices may stand: the configuration folder, and above it the state folder. */
export const priceFiles = (home: string, env: Readonly<Record<string, string | undefined>>): readonly string[] => [
  join(env['XDG_CONFIG_HOME'] || join(env['HOME'] ?? homedir(), '.config'), 'hma', 'prices.json'),
  join(home, 'prices.json'),
];

/** Reads the table: the built-in prices, then those of `$XDG_CONFIG_HOME/hma/prices.json`, then those of `prices.json` in the state folder. */
export function loadPrices(home: string, env: Readonly<Record<string, string | undefined>>): PriceTable {
  const files = priceFiles(home, env);
  const prices = { ...defaultPrices };
  const from: Record<string, string> = {};
  const problems: PriceProblem[] = [];
  for (const file of files) {
    const read = readPrices(file);
    if (!read.ok) problems.push(read.refusal);
    else
      for (const [name, price] of Object.entries(read.value)) {
        prices[name.toLowerCase()] = price;
        from[name.toLowerCase()] = file;
      }
  }
  return { prices, from, files, problems };
}

function readPrices(file: string): Result<Prices, PriceProblem> {
  const wrong = (what: string, fix: string) => refused({ file, what, fix });
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return ok({});
    return wrong(`it can't be read: ${(error as Error).message}`, 'Make it readable, or remove it.');
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return wrong(`it is no JSON: ${(error as Error).message}`, `Write it like ${example}`);
  }
  const parsed = priceFile.safeParse(value);
  if (parsed.success) return ok(parsed.data.models);
  const said = parsed.error.issues.slice(0, 3).map(({ path, message, ...issue }) => {
    const words = issue.code === 'unrecognized_keys' ? `unknown key ${issue.keys.join(', ')}` : message;
    return `${path.length > 0 ? path.join('.') : 'the file'}: ${words}`;
  });
  return wrong(said.join('; '), `Amounts are USD per million tokens: ${example}`);
}
