import { apiFailure } from '../apiFailure.ts';
import { classifyExit } from '../classifyExit.ts';
import { fieldsOf, textOf } from '../fields.ts';
import { parseJsonLine } from '../jsonLine.ts';
import type { AttemptEnd, Failure } from '../port.ts';

/** Why an attempt of Qwen Code is no natural end: its last event says `[API Error: 401 …]`. */
export function classifyQwen(end: AttemptEnd): Failure | null {
  const plain = classifyExit(end);
  if (plain === null || plain.reason !== 'crash') return plain;
  const tail = new TextDecoder().decode(end.outputTail);
  const results = tail
    .split('\n')
    .map((line) => fieldsOf(parseJsonLine(line)))
    .filter((event) => event['type'] === 'result');
  const last = results.at(-1);
  const message = textOf(fieldsOf(last?.['error'])['message']);
  if (last?.['is_error'] !== true || message === '') return plain;
  const words = /^\[API Error: ([\s\S]*?)\]?$/u.exec(message.trim())?.[1] ?? message;
  const [, digits, rest] = /^(?:\D{0,20}?)(\d{3})\b[\s:]*([\s\S]*)$/u.exec(words) ?? [];
  const status = digits === undefined ? null : Number(digits);
  return apiFailure({ title: 'Qwen Code', status, text: rest || words, around: tail.slice(-8000), wall: end.wall });
}
