import { oneLine } from '../../base/oneLine.ts';
import { countOf, fieldsOf, listOf, numberOf, shortened, textOf, type Fields } from '../fields.ts';
import { parseJsonLine } from '../jsonLine.ts';
import type { SaidLine } from '../port.ts';

/** What one line of a Codex session's output says: a notification of its app-server, a line of our driver, or plain text. Pure. */
export function sayCodex(line: string): readonly SaidLine[] {
  const message = parsed(line);
  if (message === null) return plain(line);
  if (message['type'] === 'hma.delivered') return said('person', textOf(message['text']));
  const method = textOf(message['method']);
  const params = fieldsOf(message['params']);
  if (message['id'] !== undefined && method !== '') return said('note', `Codex asked (${method}); it was declined`);
  switch (method) {
    case 'hma/thread':
      return said(
        'note',
        ['Codex', textOf(params['model']), withWord('effort', textOf(params['effort']))].filter(Boolean).join(' · '),
      );
    case 'item/started':
      return startedItem(fieldsOf(params['item']));
    case 'item/completed':
      return completedItem(fieldsOf(params['item']));
    case 'thread/tokenUsage/updated':
      return usage(fieldsOf(fieldsOf(params['tokenUsage'])['last']));
    case 'error':
      return failure(fieldsOf(params['error']), params['willRetry'] === true);
    case 'turn/completed':
      return ended(fieldsOf(params['turn']));
    case 'thread/compacted':
      return said('note', 'The context was compacted');
    case 'configWarning':
    case 'warning':
    case 'deprecationNotice':
      return said('note', oneLine(textOf(params['message']) || textOf(params['summary'])));
    default:
      return [];
  }
}

const said = (kind: SaidLine['kind'], text: string): readonly SaidLine[] =>
  text.trim() === '' ? [] : [{ kind, text }];

const withWord = (word: string, value: string): string => (value === '' ? '' : `${word} ${value}`);

function parsed(line: string): Fields | null {
  const value = line.startsWith('{') ? parseJsonLine(line) : undefined;
  return value === undefined ? null : fieldsOf(value);
}

/** What Codex writes to its log on stderr, or the driver says. */
function plain(line: string): readonly SaidLine[] {
  const text = line.replace(/\u001b\[[0-9;?]*[A-Za-z]/gu, '').trimEnd();
  return said('note', text);
}

function startedItem(item: Fields): readonly SaidLine[] {
  switch (item['type']) {
    case 'commandExecution':
      return said('tool', `$ ${commandOf(textOf(item['command']))}`);
    case 'mcpToolCall':
      return said(
        'tool',
        `${textOf(item['server'])}.${textOf(item['tool'])} ${oneLine(JSON.stringify(item['arguments'] ?? {}))}`,
      );
    default:
      return [];
  }
}

function completedItem(item: Fields): readonly SaidLine[] {
  switch (item['type']) {
    case 'agentMessage':
    case 'plan':
      return said('text', textOf(item['text']));
    case 'reasoning': {
      const summary = listOf(item['summary']).map(textOf);
      const texts = summary.length > 0 ? summary : listOf(item['content']).map(textOf);
      return said('thinking', shortened(texts.join('\n'), 6));
    }
    case 'commandExecution':
      return commandResult(item);
    case 'mcpToolCall':
      return mcpResult(item);
    case 'fileChange':
      return listOf(item['changes']).flatMap((change) => {
        const { path, kind } = fieldsOf(change);
        return said('tool', `${textOf(fieldsOf(kind)['type']) || 'change'} ${textOf(path)}`);
      });
    case 'webSearch':
      return said('tool', `web search: ${oneLine(textOf(item['query']))}`);
    case 'contextCompaction':
      return said('note', 'The context was compacted');
    default:
      return [];
  }
}

/** The command inside of the shell that Codex wraps around it: `/bin/bash -c 'echo one'`. */
function commandOf(command: string): string {
  const wrapped = /^\S*\/(?:ba|z)?sh -l?c (.*)$/su.exec(command)?.[1];
  if (wrapped === undefined) return command;
  if (/^'.*'$/su.test(wrapped)) return wrapped.slice(1, -1).replaceAll(`'\\''`, "'");
  if (/^".*"$/su.test(wrapped)) return wrapped.slice(1, -1).replaceAll(/\\(["\\$`])/gu, '$1');
  return wrapped;
}

function commandResult(item: Fields): readonly SaidLine[] {
  const output = shortened(textOf(item['aggregatedOutput']));
  const code = numberOf(item['exitCode']);
  const end = item['status'] === 'declined' ? '(declined)' : code === null || code === 0 ? '' : `(exit code ${code})`;
  return said('result', [output, end].filter(Boolean).join('\n'));
}

function mcpResult(item: Fields): readonly SaidLine[] {
  const error = textOf(fieldsOf(item['error'])['message']);
  const texts = listOf(fieldsOf(item['result'])['content']).map((part) => textOf(fieldsOf(part)['text']));
  return said('result', shortened(error === '' ? texts.join('\n') : `failed: ${error}`));
}

function usage(last: Fields): readonly SaidLine[] {
  const [input, cached] = [countOf(last['inputTokens']), countOf(last['cachedInputTokens'])];
  const [output, reasoning] = [countOf(last['outputTokens']), countOf(last['reasoningOutputTokens'])];
  if (input + output === 0) return [];
  const words = (number: number): string => number.toLocaleString('en-US');
  return said(
    'usage',
    `${words(input)} in (${words(cached)} cached), ${words(output)} out (${words(reasoning)} reasoning)`,
  );
}

function failure(error: Fields, willRetry: boolean): readonly SaidLine[] {
  const words = [textOf(error['message']), textOf(error['additionalDetails'])].filter(Boolean).join(': ');
  return said(willRetry ? 'note' : 'error', oneLine(words, 400));
}

/** A failed turn's error was told before it; of an interrupted one nothing was. */
const ended = (turn: Fields): readonly SaidLine[] =>
  turn['status'] === 'interrupted' ? said('note', 'The turn was interrupted') : [];
