import { userInfo } from 'node:os';

import { processClock, type Clock } from '../base/clock.ts';
import { errorCode } from '../base/files.ts';
import { exitCodes } from './exitCodes.ts';
import type { Failure } from '../client/failure.ts';
import type { Paper } from './render/scene.ts';
import { styleFor } from './render/style.ts';

/** Everything a person's command is given: where it runs, what it writes to, who asks. */
export interface Desk {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

/** Where this process works; a folder that was deleted has only the name that the shell remembers. */
function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    return process.env['PWD'] ?? '.';
  }
}

/** The desk of this process. */
export const processDesk = (): Desk => ({
  cwd: workingFolder(),
  env: process.env,
  clock: processClock(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});

/** Whether a person sits there: both ends are a terminal. */
export const isForPeople = (desk: Desk): boolean => desk.stdin.isTTY && desk.stdout.isTTY;

/** What to draw on: the terminal's width; elsewhere lines as long as they are, since nothing scrolls there (`COLUMNS` overrides). */
export function paperOf(desk: Desk): Paper {
  const wanted = Number(desk.env['COLUMNS']);
  const columns = desk.stdout.isTTY ? desk.stdout.columns : Number.isInteger(wanted) && wanted > 0 ? wanted : 1000;
  return { columns: Math.max(20, columns || 80), style: styleFor(desk.stdout.isTTY, desk.env) };
}

/** Writes the answer. A reader that has gone (`hma log | head`) is no failure; throws where it can't be written, as to a full disk. */
export function say(desk: Desk, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    if (desk.stdout.destroyed || !desk.stdout.writable) return resolve();
    desk.stdout.write(text, (error) => {
      const lost = error && ['ENOSPC', 'EDQUOT', 'EIO', 'EFBIG'].includes(errorCode(error) ?? '');
      if (lost) reject(Object.assign(error, { path: 'the output' }));
      else resolve();
    });
  });
}

/** Writes lines. */
export const sayLines = (desk: Desk, lines: readonly string[]): Promise<void> =>
  lines.length === 0 ? Promise.resolve() : say(desk, `${lines.join('\n')}\n`);

/** Writes a value as JSON, indented for people's eyes. */
export const sayJson = (desk: Desk, value: unknown): Promise<void> => say(desk, `${JSON.stringify(value, null, 2)}\n`);

/** A remark beside the answer, on stderr. */
export const remark = (desk: Desk, text: string): void => void desk.stderr.write(`${text}\n`);

/** Tells a failure, as words on stderr, with `--json` as an object on stdout too; answers the exit code. */
export async function fail(desk: Desk, failed: Failure, json: boolean): Promise<number> {
  if (json) await sayJson(desk, { error: { code: failed.code, what: failed.what, fix: failed.fix } });
  remark(desk, `hma: ${failed.what}\n     ${failed.fix}`);
  return exitCodes[failed.exit];
}

/** The person's name for the record. */
export function personOf(desk: Desk): string {
  try {
    return userInfo().username;
  } catch {
    return desk.env['USER'] ?? 'somebody'; // a uid without an entry, as in many containers
  }
}
