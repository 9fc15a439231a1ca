import { existsSync } from 'node:fs';
import { join } from 'node:path';

import * as z from 'zod';

import { readJson, writeJsonAtomic } from '../base/files.ts';

/** Names as environment variables have them; values are one line. */
const schema = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().regex(/^[^\r\n\0]+$/));

const fileOf = (home: string): string => join(home, 'secrets.json');

/** The file of secrets is there and can't be read. Its message names the file and never a value. */
export class SecretsError extends Error {
  override readonly name = 'SecretsError';
}

/**
 * Values kept for variables that are not set where a run is started or taken up again: after a reboot nobody is there who has them.
 * One private file (0600) in the state folder, which no session sees. Throws a SecretsError where it is there and can't be read.
 */
export function readSecrets(home: string): Readonly<Record<string, string>> {
  const file = fileOf(home);
  if (!existsSync(file)) return {};
  const read = readJson(file, { followLinks: false });
  const known = read.ok ? schema.safeParse(read.value) : undefined;
  if (!known?.success) throw new SecretsError(`${file} can't be read as names and values`);
  return known.data;
}

/** Keeps a value, or with null forgets it. */
export function writeSecret(home: string, name: string, value: string | null): void {
  const others = Object.fromEntries(Object.entries(readSecrets(home)).filter(([other]) => other !== name));
  writeJsonAtomic(fileOf(home), schema.parse(value === null ? others : { ...others, [name]: value }), 0o600);
}

/** An environment with the kept values where it has none of its own. */
export const withSecrets = (home: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...readSecrets(home),
  ...env,
});
