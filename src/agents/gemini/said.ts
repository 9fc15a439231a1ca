import { count } from '../../base/words.ts';
import { countOf, fieldsOf, shortened, textOf, type Fields } from '../fields.ts';
import { parseJsonLine } from '../jsonLine.ts';
import type { SaidLine } from '../port.ts';

const said = (kind: SaidLine['kind'], text: string): readonly SaidLine[] =>
  text.trim() === '' ? [] : [{ kind, text }];

/** Lines that it prints at every start. */
const noise =
  /^(?:Warning: 256-color|YOLO mode is enabled|Ripgrep is not available|Loaded cached credentials|Approval mode|Warning: --allowed-tools)/u;

/** What one line of a Gemini CLI session's output says: an event of its stream, or plain text. Pure. */
export function sayGemini(line: string): readonly SaidLine[] {
  const event = parseJsonLine(line);
  if (event === undefined) return noise.test(line) ? [] : said('note', line);
  return sayEvent(fieldsOf(event));
}

function sayEvent(event: Fields): readonly SaidLine[] {
  switch (event['type']) {
    case 'init':
      return said('note', `Gemini CLI began (${textOf(event['model'])})`);
    case 'message':
      return event['role'] === 'assistant' ? said('text', textOf(event['content'])) : [];
    case 'tool_use':
      return said('tool', callOf(textOf(event['tool_name']), fieldsOf(event['parameters'])));
    case 'tool_result': {
      const failed = event['status'] === 'error';
      const text = textOf(event['output']) || textOf(fieldsOf(event['error'])['message']);
      return said(failed ? 'error' : 'result', shortened(text));
    }
    case 'error':
      return said('error', textOf(event['message']));
    case 'result':
      return sayResult(event);
    default:
      return [];
  }
}

/** A tool's call: a command as it is, anything else by its name and arguments. */
function callOf(name: string, parameters: Fields): string {
  const command = textOf(parameters['command']);
  return command === '' ? `${name} ${shortened(JSON.stringify(parameters), 3).slice(0, 300)}` : `$ ${command}`;
}

function sayResult(event: Fields): readonly SaidLine[] {
  const stats = fieldsOf(event['stats']);
  const tokens = `${count(countOf(stats['input_tokens']), 'token')} in, ${count(countOf(stats['output_tokens']), 'token')} out`;
  return [...said('error', textOf(fieldsOf(event['error'])['message'])), ...said('usage', tokens)];
}
