import { apiFailure } from '../apiFailure.ts';
import { classifyExit } from '../classifyExit.ts';
import { fieldsOf, textOf } from '../fields.ts';
import { parseJsonLine } from '../jsonLine.ts';
import type { AttemptEnd, Failure } from '../port.ts';

/** Exit codes are HTTP statuses modulo 256. */
const statuses = [400, 401, 403, 404, 429, 500, 502, 503, 504, 529];

/** Its own exit codes: no login, an input it refuses, its configuration, too many turns. Source: its `ExitCodes`. */
const own: Readonly<Record<number, Failure>> = {
  41: { reason: 'login_expired', detail: 'Gemini CLI: it was not let in; set the key anew' },
};

/**
 * Why an attempt of Gemini CLI is no natural end: from its last event, from what it prints of a failed call (`status: 401`) and, where
 * that is cut off, from its exit code.
 */
export function classifyGemini(end: AttemptEnd): Failure | null {
  const plain = classifyExit(end);
  if (plain === null || plain.reason !== 'crash') return plain;
  const tail = new TextDecoder().decode(end.outputTail);
  const error = errorIn(tail);
  const code = end.exit.code ?? 0;
  if (error === null) return own[code] ?? plain;
  const printed = tail.slice(Math.max(0, tail.lastIndexOf('Error when talking to Gemini API')));
  const status = statusIn(`${error}\n${printed}`) ?? statuses.find((each) => (each & 255) === code) ?? null;
  return apiFailure({ title: 'Gemini CLI', status, text: wordsOf(error), around: printed, wall: end.wall });
}

/** The message of the last event, when that is a failure. */
function errorIn(tail: string): string | null {
  const results = tail
    .split('\n')
    .map((line) => fieldsOf(parseJsonLine(line)))
    .filter((event) => event['type'] === 'result');
  const last = results.at(-1);
  return last?.['status'] === 'error' ? textOf(fieldsOf(last['error'])['message']) : null;
}

function statusIn(text: string): number | null {
  const found = [...text.matchAll(/(?:status|code)["']?:\s*(\d{3})\b/gu)].map(([, digits]) => Number(digits));
  return found.find((status) => status >= 400 && status < 600) ?? null;
}

/** `[API Error: {"error":{"message":…}}]` and `[API Error: …]` without what surrounds the words. */
function wordsOf(message: string): string {
  const inner = /^\[API Error: ([\s\S]*?)\]?(?:\n|$)/u.exec(message)?.[1] ?? message;
  const told = fieldsOf(fieldsOf(parseJsonLine(inner))['error'])['message'];
  return textOf(told) || inner;
}
