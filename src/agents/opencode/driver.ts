import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { endOf, type Driver } from '../driver.ts';
import { fieldsOf, numberOf } from '../fields.ts';
import { parseJsonLine } from '../jsonLine.ts';
import { errorText, failureLine, type OpencodeFailure } from './said.ts';

/**
 * Failed calls of the model in a row, or errors with no tool used in between, after which the session is given up: opencode itself would
 * try for ever, and compact a context that stays full for ever.
 */
const mostFailures = 4;

/** Time from the polite signal to opencode until it is killed, ms: of what it leaves behind, the runner takes care. */
const patienceMs = 3000;

/**
 * Runs `opencode run` with the prompt on its stdin. Its events go through unchanged; of its log (stderr) only what is no line of a log.
 * What is added: an end to its endless retries, and a last line that tells how the session failed.
 */
export const opencodeDriver: Driver = async (drive, session) => {
  const [file, ...args] = drive.argv;
  const child = spawn(file, args, { cwd: drive.cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  const end = endOf(child);
  child.stdin.on('error', () => undefined); // it ended while we wrote: its exit tells
  child.stdin.end(drive.prompt);
  let failures = 0;
  let errors = 0;
  let failure: OpencodeFailure | null = null;
  const stop = (): void => {
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), patienceMs).unref();
  };
  createInterface({ input: child.stdout, crlfDelay: Infinity }).on('line', (line) => {
    session.print(line);
    const event = fieldsOf(parseJsonLine(line));
    if (event['type'] === 'step_finish') failures = 0;
    if (event['type'] === 'tool_use') errors = 0;
    if (event['type'] !== 'error') return;
    failure = failureOf(event);
    errors += 1;
    if (errors >= mostFailures) stop();
  });
  createInterface({ input: child.stderr, crlfDelay: Infinity }).on('line', (line) => {
    const error = streamError(line);
    if (error === null) {
      if (!line.startsWith('timestamp=')) process.stderr.write(`${line}\n`);
      return;
    }
    failures += 1;
    if (failures < mostFailures) return;
    failure ??= { status: null, text: error };
    stop();
  });
  session.ending.addEventListener('abort', stop);
  if (session.ending.aborted) stop();
  const code = await end;
  if (failure === null || session.ending.aborted) return code;
  session.print(failureLine(failure));
  return code === 0 ? 1 : code;
};

function failureOf(event: Readonly<Record<string, unknown>>): OpencodeFailure {
  const error = fieldsOf(event['error']);
  return { status: numberOf(fieldsOf(error['data'])['statusCode']), text: errorText(error) };
}

/** The words of a log line about a failed call of the model: `… message="stream error" … error.error="AI_APICallError: …"`. */
export function streamError(line: string): string | null {
  if (!/^timestamp=\S+ level=ERROR .*message="stream error"/u.test(line)) return null;
  const quoted = /\berror\.error=("(?:[^"\\]|\\.)*"|\S+)/u.exec(line)?.[1] ?? '';
  const text = quoted.startsWith('"') ? parseJsonLine(quoted) : quoted;
  return (typeof text === 'string' ? text : quoted).replace(/^AI_APICallError: /u, '');
}
