import { count } from '../../base/words.ts';
import { countOf, fieldsOf, numberOf, shortened, textOf, type Fields } from '../fields.ts';
import { parseJsonLine } from '../jsonLine.ts';
import type { SaidLine } from '../port.ts';

const said = (kind: SaidLine['kind'], text: string): readonly SaidLine[] =>
  text.trim() === '' ? [] : [{ kind, text }];

/** How a session of opencode failed: the driver's last line, read by `readFailure`. */
export interface OpencodeFailure {
  /** HTTP status; null = none was told. */
  readonly status: number | null;
  readonly text: string;
}

/** The driver's line about a session that it gave up, or that told an error. */
export const failureLine = (failure: OpencodeFailure): string =>
  JSON.stringify({ type: 'hma.failed', failure: { ...failure, text: failure.text.slice(0, 2000) } });

/** What a line of `failureLine` says; null for any other. */
export function readFailure(line: string): OpencodeFailure | null {
  const value = fieldsOf(parseJsonLine(line));
  if (value['type'] !== 'hma.failed') return null;
  const failure = fieldsOf(value['failure']);
  return { status: numberOf(failure['status']), text: textOf(failure['text']) };
}

/** What one line of an opencode session's output says: an event of `run --format json`, a line of our driver, or plain text. Pure. */
export function sayOpencode(line: string): readonly SaidLine[] {
  const event = parseJsonLine(line);
  if (event === undefined) return line.startsWith('timestamp=') ? [] : said('note', line);
  return sayEvent(fieldsOf(event));
}

function sayEvent(event: Fields): readonly SaidLine[] {
  const part = fieldsOf(event['part']);
  switch (event['type']) {
    case 'text':
      return said('text', textOf(part['text']));
    case 'reasoning':
      return said('thinking', shortened(textOf(part['text']), 3));
    case 'tool_use':
      return sayTool(part);
    case 'step_finish': {
      const tokens = fieldsOf(part['tokens']);
      const input = countOf(tokens['input']) + countOf(fieldsOf(tokens['cache'])['read']);
      const output = countOf(tokens['output']) + countOf(tokens['reasoning']);
      return said('usage', `${count(input, 'token')} in, ${count(output, 'token')} out`);
    }
    case 'error':
      return said('error', errorText(fieldsOf(event['error'])));
    case 'hma.failed':
      return said('error', textOf(fieldsOf(event['failure'])['text']));
    default:
      return [];
  }
}

function sayTool(part: Fields): readonly SaidLine[] {
  const state = fieldsOf(part['state']);
  const input = fieldsOf(state['input']);
  const command = textOf(input['command']);
  const call = command === '' ? `${textOf(part['tool'])} ${JSON.stringify(input).slice(0, 300)}` : `$ ${command}`;
  const failed = state['status'] === 'error';
  return [
    ...said('tool', call),
    ...said(failed ? 'error' : 'result', shortened(textOf(failed ? state['error'] : state['output']))),
  ];
}

/** An error's words: `{name, data: {message, statusCode}}`. */
export const errorText = (error: Fields): string =>
  textOf(fieldsOf(error['data'])['message']) || textOf(error['message']) || textOf(error['name']);
