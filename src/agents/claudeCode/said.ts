import { oneLine } from '../../base/oneLine.ts';
import { count } from '../../base/words.ts';
import { countOf, fieldsOf, listOf, numberOf, shortened, textOf, type Fields } from '../fields.ts';
import { parseJsonLine } from '../jsonLine.ts';
import type { SaidLine } from '../port.ts';

/** How Claude Code's last turn failed, in its own words; null and '' = not told. */
export interface ClaudeFailure {
  /** HTTP status of the API. */
  readonly status: number | null;
  /** The API's error type: `rate_limit_error`, `authentication_error` … */
  readonly kind: string;
  /** Claude Code's reason for the turn's end: `api_error`, `prompt_too_long`, `aborted_tools` … */
  readonly terminal: string;
  readonly text: string;
  /** Unix ms at which a rejected limit resets. */
  readonly resetsAt: number | null;
}

/** How a turn failed, from its event `result`; null for one that went well. `resetsAt`: of the last rejected limit, Unix ms. */
export const failureIn = (event: Fields, resetsAt: number | null): ClaudeFailure | null =>
  event['is_error'] === true
    ? {
        status: numberOf(event['api_error_status']),
        kind: textOf(event['api_error_type']),
        terminal: textOf(event['terminal_reason']),
        text: textOf(event['result']) || listOf(event['errors']).map(textOf).join('; '),
        resetsAt,
      }
    : null;

/** When a limit that an event `rate_limit_event` tells of resets, Unix ms; null where it is not reached, or not told. */
export function limitReset(event: Fields): number | null {
  const info = fieldsOf(event['rate_limit_info']);
  const resetsAt = numberOf(info['resetsAt']);
  return info['status'] === 'rejected' && resetsAt !== null ? resetsAt * 1000 : null;
}

/** The driver's last line of a session whose last turn failed; read by `readFailure`. */
export const failureLine = (failure: ClaudeFailure): string =>
  JSON.stringify({ type: 'hma.failed', failure: { ...failure, text: failure.text.slice(0, 2000) } });

/** What a line of `failureLine` says; null for any other. */
export function readFailure(line: string): ClaudeFailure | null {
  const value = fieldsOf(parseJsonLine(line));
  if (value['type'] !== 'hma.failed') return null;
  const failure = fieldsOf(value['failure']);
  return {
    status: numberOf(failure['status']),
    kind: textOf(failure['kind']),
    terminal: textOf(failure['terminal']),
    text: textOf(failure['text']),
    resetsAt: numberOf(failure['resetsAt']),
  };
}

const said = (kind: SaidLine['kind'], text: string): readonly SaidLine[] =>
  text.trim() === '' ? [] : [{ kind, text: text.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/gu, '') }];

/** What one line of a Claude Code session's output says: an event of its stream, a line of our driver, or plain text. Pure. */
export function sayClaude(line: string): readonly SaidLine[] {
  const value = line.startsWith('{') ? parseJsonLine(line) : undefined;
  if (value === undefined) return said('note', line.trimEnd());
  const event = fieldsOf(value);
  switch (event['type']) {
    case 'system':
      return system(event);
    case 'assistant':
      return assistant(event);
    case 'user':
      return user(event);
    case 'result':
      return result(event);
    case 'rate_limit_event':
      return limit(fieldsOf(event['rate_limit_info']));
    case 'hma.delivered':
      return said('person', textOf(event['text']));
    default:
      return [];
  }
}

function system(event: Fields): readonly SaidLine[] {
  switch (event['subtype']) {
    case 'init': {
      const [version, model] = [textOf(event['claude_code_version']), textOf(event['model'])];
      return said('note', [`Claude Code ${version}`.trim(), model].filter(Boolean).join(' · '));
    }
    case 'api_retry': {
      const status = numberOf(event['error_status']);
      const why = [status, textOf(event['error'])].filter(Boolean).join(' ');
      const seconds = Math.ceil(countOf(event['retry_delay_ms']) / 1000);
      return said(
        'note',
        `The model did not answer (${why}); try ${countOf(event['attempt'])} of ${countOf(event['max_retries'])} in ${seconds} s`,
      );
    }
    case 'task_notification':
      return said('note', oneLine(`${textOf(event['status'])}: ${textOf(event['summary'])}`));
    case 'compact_boundary':
      return said('note', 'The context was compacted');
    default:
      return [];
  }
}

function assistant(event: Fields): readonly SaidLine[] {
  const blocks = listOf(fieldsOf(event['message'])['content']).map(fieldsOf);
  if (event['is_api_error_message'] === true)
    return said('error', oneLine(blocks.map((block) => textOf(block['text'])).join(' '), 400));
  const lines = blocks.flatMap((block) => {
    switch (block['type']) {
      case 'text':
        return said('text', textOf(block['text']));
      case 'thinking':
        return said('thinking', shortened(textOf(block['thinking']), 6));
      case 'tool_use':
      case 'server_tool_use':
        return said('tool', toolCall(textOf(block['name']), fieldsOf(block['input'])));
      default:
        return [];
    }
  });
  return ofSubagent(event, lines);
}

/** What a sub-agent says stands back a little. */
const ofSubagent = (event: Fields, lines: readonly SaidLine[]): readonly SaidLine[] =>
  textOf(event['parent_tool_use_id']) === ''
    ? lines
    : lines.map(({ kind, text }) => ({ kind, text: text.replaceAll(/^/gmu, '    ') }));

function toolCall(name: string, input: Fields): string {
  if (name === 'Bash') {
    const background = input['run_in_background'] === true ? ' &' : '';
    return `$ ${shortened(textOf(input['command']), 20)}${background}`;
  }
  const what = ['file_path', 'notebook_path', 'path', 'pattern', 'query', 'url', 'description', 'skill']
    .map((key) => textOf(input[key]))
    .find((text) => text !== '');
  return oneLine(`${name} ${what ?? (Object.keys(input).length === 0 ? '' : JSON.stringify(input))}`, 300);
}

function user(event: Fields): readonly SaidLine[] {
  const { content } = fieldsOf(event['message']);
  if (event['isReplay'] === true) return [];
  const lines = listOf(content)
    .map(fieldsOf)
    .flatMap((block) => {
      if (block['type'] === 'text' && textOf(block['text']).startsWith('[Request interrupted'))
        return said('note', 'The turn was interrupted');
      if (block['type'] !== 'tool_result') return [];
      const mark = block['is_error'] === true ? 'failed: ' : '';
      return said('result', `${mark}${shortened(textIn(block['content']))}`);
    });
  return ofSubagent(event, lines);
}

/** The text of a tool's result: itself, or its parts. */
const textIn = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : listOf(content)
        .map(fieldsOf)
        .map((part) => (part['type'] === 'text' ? textOf(part['text']) : `(${textOf(part['type'])})`))
        .join('\n');

function result(event: Fields): readonly SaidLine[] {
  const usage = fieldsOf(event['usage']);
  const words = (number: number): string => number.toLocaleString('en-US');
  const cached = countOf(usage['cache_read_input_tokens']);
  const input = countOf(usage['input_tokens']) + countOf(usage['cache_creation_input_tokens']) + cached;
  const output = countOf(usage['output_tokens']);
  const reasoning = countOf(fieldsOf(usage['output_tokens_details'])['thinking_tokens']);
  const turns = count(countOf(event['num_turns']), 'turn');
  const used =
    input + output === 0
      ? []
      : said(
          'usage',
          `${words(input)} in (${words(cached)} cached), ${words(output)} out (${words(reasoning)} reasoning), ${turns}`,
        );
  if (event['is_error'] !== true) return used;
  const aborted = textOf(event['terminal_reason']).startsWith('aborted');
  const errors = textOf(event['result']) || listOf(event['errors']).map(textOf).join('; ');
  return aborted ? used : [...used, ...said('error', oneLine(errors, 400))];
}

function limit(info: Fields): readonly SaidLine[] {
  const resetsAt = numberOf(info['resetsAt']);
  if (info['status'] !== 'rejected') return [];
  const until = resetsAt === null ? '' : `; it resets at ${new Date(resetsAt * 1000).toISOString()}`;
  return said('error', `The usage limit is reached (${textOf(info['rateLimitType']).replaceAll('_', ' ')})${until}`);
}
