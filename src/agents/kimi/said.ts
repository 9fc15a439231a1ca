import { oneLine } from '../../base/oneLine.ts';
import { fieldsOf, listOf, shortened, textOf, type Fields } from '../fields.ts';
import { parseJsonLine } from '../jsonLine.ts';
import type { SaidLine } from '../port.ts';

/** What one line of `kimi --output-format stream-json` says: messages as the model's protocol has them, or plain text. Pure. */
export function sayKimi(line: string): readonly SaidLine[] {
  const value = line.startsWith('{') ? parseJsonLine(line) : undefined;
  if (value === undefined) return plain(line.replace(/\u001b\[[0-9;?]*[A-Za-z]/gu, '').trimEnd());
  const message = fieldsOf(value);
  switch (message['role']) {
    case 'assistant':
      return [
        ...said('thinking', shortened(textOf(message['reasoning_content']), 6)),
        ...said('text', contentOf(message['content'])),
        ...listOf(message['tool_calls']).flatMap((call) => toolCall(fieldsOf(fieldsOf(call)['function']))),
      ];
    case 'tool':
      return said('result', shortened(contentOf(message['content'])));
    case 'meta':
      return message['type'] === 'turn.step.retrying'
        ? said('note', `Trying again: ${oneLine(textOf(message['error_message']), 300)}`)
        : [];
    default:
      return [];
  }
}

const said = (kind: SaidLine['kind'], text: string): readonly SaidLine[] =>
  text.trim() === '' ? [] : [{ kind, text }];

const plain = (text: string): readonly SaidLine[] => said(text.startsWith('error: ') ? 'error' : 'note', text);

/** A text, or parts of which some are texts. */
const contentOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : listOf(content)
        .map((part) => textOf(fieldsOf(part)['text']))
        .join('');

function toolCall(called: Fields): readonly SaidLine[] {
  const args = fieldsOf(parseJsonLine(textOf(called['arguments'])));
  const command = textOf(args['command']);
  if (command !== '') return said('tool', `$ ${command}`);
  const what = textOf(args['path']) || oneLine(JSON.stringify(args));
  return said('tool', `${textOf(called['name'])} ${what}`);
}
