import { mkdirSync } from 'node:fs';
import { text } from 'node:stream/consumers';

import { readSecrets, writeSecret } from '../../agents/secrets.ts';
import { failure } from '../../client/failure.ts';
import { fail, remark, sayJson, sayLines, type Desk } from '../desk.ts';
import { exitCodes } from '../exitCodes.ts';
import { secretsOutput } from '../schemas.ts';
import { homeFor } from './agents.ts';

const isName = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);

const badName = (desk: Desk, name: string): Promise<number> =>
  fail(
    desk,
    failure('usage', 'bad_name', {
      // it may be the value, which must not be said
      what: `${JSON.stringify(`${name.slice(0, 3)}…`)} is no variable's name`,
      fix: 'Name the variable, such as hma secrets set ANTHROPIC_API_KEY; its value is asked for, or read from standard input.',
    }),
    false,
  );

/** `hma secrets set NAME`: keeps a value for runs that are taken up again where the variable is not set, such as after a reboot. */
export async function setSecret(desk: Desk, name: string): Promise<number> {
  if (!isName(name)) return badName(desk, name);
  if (desk.stdin.isTTY)
    remark(desk, `hma: type the value of ${name}, then Enter and Ctrl-D; better: hma secrets set ${name} < file`);
  const value = (await text(desk.stdin)).trim();
  if (value === '' || /[\r\n\0]/.test(value))
    return fail(
      desk,
      failure('usage', 'bad_value', {
        what: `the value of ${name} is ${value === '' ? 'empty' : 'more than one line'}`,
        fix: `Give it on standard input: hma secrets set ${name} < file.`,
      }),
      false,
    );
  const home = await homeFor(desk);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeSecret(home, name, value);
  await sayLines(desk, [`${name} is kept in ${home}/secrets.json, for runs that are started where it is not set.`]);
  return exitCodes.ok;
}

/** `hma secrets remove NAME`. */
export async function removeSecret(desk: Desk, name: string): Promise<number> {
  if (!isName(name)) return badName(desk, name);
  const home = await homeFor(desk);
  const there = name in readSecrets(home);
  if (there) writeSecret(home, name, null);
  await sayLines(desk, [there ? `${name} is forgotten.` : `${name} was not kept.`]);
  return exitCodes.ok;
}

/** `hma secrets`: the names that are kept, and never a value. */
export async function listSecrets(desk: Desk, options: { readonly json?: boolean }): Promise<number> {
  const home = await homeFor(desk);
  const names = Object.keys(readSecrets(home)).toSorted();
  if (options.json) await sayJson(desk, secretsOutput.parse({ home, names }));
  else await sayLines(desk, names.length === 0 ? ['No value is kept. hma secrets set NAME keeps one.'] : names);
  return exitCodes.ok;
}
