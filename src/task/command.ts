import { ok, refused, type Result } from '../base/result.ts';

/** Why a command text can't be split: what was met, at which character (0-based), and what to write instead. */
export interface SplitRefusal {
  readonly reason: 'shell_syntax' | 'open_quote' | 'empty';
  readonly at: number;
  readonly what: string;
  readonly fix: string;
}

const viaShell = 'No shell is started. Put it into a script, or name the shell yourself: [sh, -c, "…"].';

const operators: Readonly<Record<string, string>> = {
  '|': 'a pipe',
  '&': 'a shell operator',
  ';': 'a shell operator',
  '<': 'a redirection',
  '>': 'a redirection',
  '(': 'a subshell',
  ')': 'a subshell',
};

/** The word for a character that only a shell understands, where it stands, or undefined for an ordinary one. */
function shellMeaning(text: string, at: number, wordStart: boolean): string | undefined {
  const char = text[at]!;
  const operator = operators[char];
  if (operator) return operator;
  if (char === '`' || (char === '$' && text[at + 1] === '(')) return 'a command substitution';
  if (char === '$' && /[A-Za-z_{0-9?@*#]/.test(text[at + 1] ?? '')) return 'a shell variable';
  if (char === '*' || char === '?') return 'a shell wildcard';
  if (char === '~' && wordStart) return 'a home folder for a shell';
  if (char === '#' && wordStart) return 'a shell comment';
  if (char === '\n') return 'a second line';
  return undefined;
}

/** The characters at `at` that the message shows: whole operators, `$(`, or `$NAME`. */
function shown(text: string, at: number): string {
  const rest = text.slice(at);
  return /^(\|\||&&|>>|<<|\$\(|\$\w+|\$\{\w*\}?)/.exec(rest)?.[0] ?? (rest[0] === '\n' ? 'a line break' : rest[0]!);
}

function shellSyntax(text: string, at: number, meaning: string): Result<never, SplitRefusal> {
  const name = /^\$\{?(HMA_\w+)/.exec(text.slice(at))?.[1];
  const fix = name ? `The program finds ${name} in its environment: read it there.` : viaShell;
  return refused({
    reason: 'shell_syntax',
    at,
    what: `\`${shown(text, at)}\` is ${meaning}, which needs a shell`,
    fix,
  });
}

/** State of the splitter: the words so far and the one being read. */
interface Splitting {
  readonly words: string[];
  word: string;
  open: boolean;
}

/** Reads a quoted part from its opening quote; gives the index after the closing one. */
function readQuoted(text: string, start: number, into: Splitting): Result<number, SplitRefusal> {
  const quote = text[start]!;
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at]!;
    if (char === quote) return ok(at + 1);
    if (quote === '"') {
      const meaning = char === '$' || char === '`' ? shellMeaning(text, at, false) : undefined;
      if (meaning) return shellSyntax(text, at, meaning);
      if (char === '\\' && /["\\$`]/.test(text[at + 1] ?? '')) {
        into.word += text[++at]!;
        continue;
      }
    }
    into.word += char;
  }
  return refused({
    reason: 'open_quote',
    at: start,
    what: `the quote ${quote} is never closed`,
    fix: `Close it with ${quote}, or write the command as a list.`,
  });
}

/**
 * Splits a command's text into arguments as a POSIX shell would split plain words: white space separates, quotes and backslashes
 * protect. Whatever only a shell could do (pipes, redirections, variables, wildcards, several commands) is refused.
 */
export function splitCommand(text: string): Result<[string, ...string[]], SplitRefusal> {
  const end = text.trimEnd().length;
  const state: Splitting = { words: [], word: '', open: false };
  const close = (): void => {
    if (state.open) state.words.push(state.word);
    state.word = '';
    state.open = false;
  };
  for (let at = text.length - text.trimStart().length; at < end;) {
    const char = text[at]!;
    if (char === ' ' || char === '\t') {
      close();
      at++;
      continue;
    }
    const meaning = shellMeaning(text, at, !state.open);
    if (meaning) return shellSyntax(text, at, meaning);
    state.open = true;
    if (char === "'" || char === '"') {
      const quoted = readQuoted(text, at, state);
      if (!quoted.ok) return quoted;
      at = quoted.value;
      continue;
    }
    if (char === '\\') at++;
    state.word += text[at] ?? '';
    at++;
  }
  close();
  return checkProgram(state.words, text);
}

function checkProgram(words: readonly string[], text: string): Result<[string, ...string[]], SplitRefusal> {
  const [program, ...rest] = words;
  if (program === undefined || program === '')
    return refused({
      reason: 'empty',
      at: 0,
      what: 'the command is empty',
      fix: 'Write a program and its arguments, such as [python3, evaluate.py].',
    });
  if (/^[A-Za-z_]\w*=/.test(program)) {
    return refused({
      reason: 'shell_syntax',
      at: text.indexOf(program[0]!),
      what: `\`${program}\` sets a variable, which needs a shell`,
      fix: 'Set it inside the program, or pass a variable on by its name under `environment`.',
    });
  }
  return ok([program, ...rest]);
}
