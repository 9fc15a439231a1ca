import type { ContractCode } from './codes.ts';

/** One thing to say about a contract, with its place. Lines and columns count from 1; the end is exclusive. */
export interface ContractMessage {
  readonly severity: 'error' | 'warning';
  /** The file as the user knows it: relative to the workspace where it lies in it. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  /** Stable name of the kind of message, for tests and editors. */
  readonly code: ContractCode;
  /** What is wrong. */
  readonly what: string;
  /** What to do about it. */
  readonly fix: string;
  /** The line of the file, for showing; absent where the file could not be read. */
  readonly source?: string;
  /** The file as a whole is meant, or something that is not in it: the place is only where an editor shows the message. */
  readonly wholeFile?: true;
}

/** Where a message stands, as compilers write it: `hma.yaml:12:3`; the file alone where no place in it is meant. */
export const sayPlace = ({ file, line, column, wholeFile }: ContractMessage): string =>
  wholeFile ? file : `${file}:${line}:${column}`;

/** The order in which people read: by file, line, column; errors before warnings at one place. */
export function sortMessages(messages: readonly ContractMessage[]): ContractMessage[] {
  return messages.toSorted(
    (a, b) =>
      (a.file < b.file ? -1 : a.file > b.file ? 1 : 0) ||
      a.line - b.line ||
      a.column - b.column ||
      (a.severity < b.severity ? -1 : a.severity > b.severity ? 1 : 0),
  );
}

const widest = 160;

/** The source line with a caret line below it; tabs stay tabs so that the carets line up; long lines are cut around the place. */
function excerpt(message: ContractMessage): string[] {
  if (message.source === undefined || message.wholeFile) return [];
  const start = Math.max(0, message.column - 1 - widest / 2);
  const shown = message.source.slice(start, start + widest).replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '\u00b7');
  const gutter = String(message.line);
  const before = shown.slice(0, message.column - 1 - start).replace(/[^\t]/g, ' ');
  const end = message.endLine === message.line ? message.endColumn : message.source.length + 1;
  const length = Math.max(1, Math.min(end - message.column, shown.length - before.length));
  return [`  ${gutter} | ${shown}`, `  ${' '.repeat(gutter.length)} | ${before}${'^'.repeat(length)}`];
}

/**
 * Messages as a compiler writes them: `hma.yaml:12:3: error: …` with the source line, carets and the fix; a count at the end.
 * Empty text for no messages.
 */
export function formatMessages(messages: readonly ContractMessage[]): string {
  if (messages.length === 0) return '';
  const parts = sortMessages(messages).map((message) =>
    [
      `${sayPlace(message)}: ${message.severity}: ${message.what} [${message.code}]`,
      ...excerpt(message),
      `  fix: ${message.fix}`,
    ].join('\n'),
  );
  return `${parts.join('\n\n')}\n\n${sayCounts(messages)}\n`;
}

function sayCounts(messages: readonly ContractMessage[]): string {
  const count = (severity: ContractMessage['severity']): string[] => {
    const number = messages.filter((message) => message.severity === severity).length;
    return number === 0 ? [] : [`${number} ${severity}${number === 1 ? '' : 's'}`];
  };
  return [...count('error'), ...count('warning')].join(', ');
}
