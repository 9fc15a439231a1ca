import { count } from '../../base/words.ts';
import { countOf, fieldsOf, listOf, shortened, textOf, type Fields } from '../fields.ts';
import { parseJsonLine } from '../jsonLine.ts';
import type { SaidLine } from '../port.ts';

const said = (kind: SaidLine['kind'], text: string): readonly SaidLine[] =>
  text.trim() === '' ? [] : [{ kind, text }];

/** Lines that it prints at every start. */
const noise = /^(?:Ripgrep not available|Warning: running headless|Approval mode overridden)/u;

/** What one line of a Qwen Code session's output says: an event of its stream, or plain text. Pure. */
export function sayQwen(line: string): readonly SaidLine[] {
  const event = parseJsonLine(line);
  if (event === undefined) return noise.test(line) ? [] : said('note', line);
  return sayEvent(fieldsOf(event));
}

function sayEvent(event: Fields): readonly SaidLine[] {
  const content = listOf(fieldsOf(event['message'])['content']).map(fieldsOf);
  switch (event['type']) {
    case 'system':
      return event['subtype'] === 'init' ? said('note', `Qwen Code began (${textOf(event['model'])})`) : [];
    case 'assistant':
    case 'user':
      return content.flatMap(sayPart);
    case 'result': {
      const usage = fieldsOf(event['usage']);
      const tokens = `${count(countOf(usage['input_tokens']), 'token')} in, ${count(countOf(usage['output_tokens']), 'token')} out`;
      return [...said('error', textOf(fieldsOf(event['error'])['message'])), ...said('usage', tokens)];
    }
    default:
      return [];
  }
}

function sayPart(part: Fields): readonly SaidLine[] {
  switch (part['type']) {
    case 'text':
      return said('text', textOf(part['text']));
    case 'thinking':
      return said('thinking', shortened(textOf(part['thinking']), 3));
    case 'tool_use': {
      const input = fieldsOf(part['input']);
      const command = textOf(input['command']);
      return said(
        'tool',
        command === '' ? `${textOf(part['name'])} ${JSON.stringify(input).slice(0, 300)}` : `$ ${command}`,
      );
    }
    case 'tool_result': {
      const { content } = part;
      const text =
        textOf(content) ||
        listOf(content)
          .map((each) => textOf(fieldsOf(each)['text']))
          .join('\n');
      return said(part['is_error'] === true ? 'error' : 'result', shortened(text));
    }
    default:
      return [];
  }
}
