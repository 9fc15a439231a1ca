import type { ContractCode } from './codes.ts';
import { splitCommand } from './command.ts';
import type { KeyPath, Problem } from './document.ts';
import type {
  Command,
  EvaluateBind,
  EvaluateContract,
  GradeContract,
  Notify,
  ResultSource,
  ValidateContract,
} from './model.ts';
import { absolutePath, plainPath } from './paths.ts';
import { parseDuration } from './quantities.ts';
import type { ContractSource } from './schema.ts';
import { evaluateObject, gradeObject, validateObject } from './sections.ts';

/** Takes problems as they are found. */
export type Report = (problem: Problem) => void;

/** The command that stands in for one that can't be read; a contract with it is never given out. */
export const unreadable: Command = ['false'];

/** The folders that paths of the contract start from. */
type Folders = Parameters<typeof absolutePath>[1];

const ms = (value: number | string): number => parseDuration(value)!;

/** Reads a command; `path` is where it stands. */
export function resolveCommand(value: string | readonly string[], path: KeyPath, report: Report): Command {
  const wrong = (code: ContractCode, what: string, fix: string, offset?: number): Command => {
    report({
      severity: 'error',
      code,
      path,
      what: `\`${String(path[0])}\`: ${what}`,
      fix,
      ...(offset === undefined ? {} : { offset }),
    });
    return unreadable;
  };
  if (typeof value === 'string') {
    const split = splitCommand(value);
    return split.ok
      ? split.value
      : wrong(
          split.refusal.reason === 'shell_syntax' ? 'shell_syntax' : 'bad_command',
          split.refusal.what,
          split.refusal.fix,
          split.refusal.at,
        );
  }
  const [program, ...rest] = value;
  if (program === undefined || program.trim() === '')
    return wrong(
      'bad_command',
      'the program’s name is empty',
      'Write a program and its arguments, such as [python3, evaluate.py].',
    );
  if (rest.length === 0 && /\s/.test(program) && !program.includes('/')) {
    return wrong(
      'bad_command',
      `the list has one item, ${JSON.stringify(program)}, which would be the name of the program`,
      `Write one item per argument: [${program.trim().split(/\s+/).join(', ')}].`,
    );
  }
  const operator = rest.findIndex((argument) => /^(\||\|\||&|&&|;|>|>>|<|<<|2>|2>&1|&>)$/.test(argument));
  if (operator >= 0) {
    report({
      severity: 'warning',
      code: 'shell_operator',
      path: [...path, operator + 1],
      what: `\`${String(path[0])}\`: \`${rest[operator]}\` is handed to the program as it is; no shell reads it`,
      fix: 'Put the line into a script, or name the shell yourself: [sh, -c, "…"].',
    });
  }
  return [program, ...rest];
}

/** Whether a command stands in its short form (list or text) rather than as a mapping. */
const isShort = (value: unknown): value is string | string[] => typeof value === 'string' || Array.isArray(value);

/** `evaluate` in either form, with its defaults; hidden paths become absolute. */
export function resolveEvaluate(source: ContractSource, facts: Folders, report: Report): EvaluateContract {
  const short = isShort(source.evaluate);
  const long = short
    ? evaluateObject.parse({ command: source.evaluate })
    : (source.evaluate as Exclude<ContractSource['evaluate'], string | string[]>);
  return {
    command: resolveCommand(long.command, short ? ['evaluate'] : ['evaluate', 'command'], report),
    cwd: plainPath(long.cwd),
    timeoutMs: ms(long.timeout),
    exclusive: long.exclusive,
    repeats: long.repeats,
    result: resultSource(long.result),
    hidden: long.hidden.map((path) => absolutePath(path, facts)),
    ...(long.binds.length === 0 ? {} : { binds: long.binds.map((one) => resolveBind(one, facts)) }),
  };
}

function resolveBind({ from, to }: { from?: string | undefined; to: string }, facts: Folders): EvaluateBind {
  if (from === undefined) return { from: null, to: plainPath(to) };
  const outside = from.startsWith('/') || from === '~' || from.startsWith('~/');
  return { from: outside ? absolutePath(from, facts) : plainPath(from), to: plainPath(to) };
}

function resultSource(result: 'file' | 'last-line' | { pattern: string }): ResultSource {
  if (typeof result === 'object') return { from: 'pattern', pattern: result.pattern };
  return result === 'file' ? { from: 'file' } : { from: 'lastLine' };
}

/** `validate` in either form, or null where the task has none. */
export function resolveValidate(source: ContractSource, report: Report): ValidateContract | null {
  if (source.validate === undefined) return null;
  const short = isShort(source.validate);
  const long = short
    ? validateObject.parse({ command: source.validate })
    : (source.validate as Exclude<ContractSource['validate'], string | string[] | undefined>);
  return {
    command: resolveCommand(long.command, short ? ['validate'] : ['validate', 'command'], report),
    cwd: plainPath(long.cwd),
    timeoutMs: ms(long.timeout),
  };
}

/** `grade` in either form, or null where the task has none; hidden paths become absolute. */
export function resolveGrade(source: ContractSource, facts: Folders, report: Report): GradeContract | null {
  if (source.grade === undefined) return null;
  const short = isShort(source.grade);
  const long = short
    ? gradeObject.parse({ command: source.grade })
    : (source.grade as Exclude<ContractSource['grade'], string | string[] | undefined>);
  return {
    command: resolveCommand(long.command, short ? ['grade'] : ['grade', 'command'], report),
    cwd: plainPath(long.cwd),
    timeoutMs: ms(long.timeout),
    hidden: long.hidden.map((path) => absolutePath(path, facts)),
  };
}

/** `notify`: nothing, a command, or an http(s) URL; any other address is a problem. */
export function resolveNotify({ notify }: ContractSource, report: Report): Notify {
  if (notify === 'none') return { kind: 'none' };
  if (Array.isArray(notify)) return { kind: 'command', command: resolveCommand(notify, ['notify'], report) };
  if (typeof notify === 'object' && 'command' in notify)
    return { kind: 'command', command: resolveCommand(notify.command, ['notify', 'command'], report) };
  const url = typeof notify === 'string' ? notify : notify.url;
  return checkedUrl(url, typeof notify === 'string' ? ['notify'] : ['notify', 'url'], report);
}

function checkedUrl(text: string, path: KeyPath, report: Report): Notify {
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (parsed && (parsed.protocol === 'http:' || parsed.protocol === 'https:') && parsed.hostname !== '')
    return { kind: 'url', url: parsed.href };
  const what =
    parsed && text.includes('://')
      ? `\`notify\` can't call ${parsed.protocol}//; only http and https are called`
      : `\`notify\` is neither a list nor a URL: ${JSON.stringify(text)}`;
  report({
    severity: 'error',
    code: 'bad_url',
    path,
    what,
    fix: 'Write https://example.org/hook, a command as a list such as [my-notifier, --quiet], or none.',
  });
  return { kind: 'none' };
}
