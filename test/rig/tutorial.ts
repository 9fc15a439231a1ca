import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a tutorial asks its reader to do, in order. */
export type TutorialStep =
  | { readonly kind: 'write'; readonly path: string; readonly text: string }
  | { readonly kind: 'edit'; readonly path: string; readonly changes: readonly Change[] }
  | TutorialCommand;

/** A command, and what it is said to print. */
export interface TutorialCommand {
  readonly kind: 'command';
  readonly command: string;
  readonly shown: readonly string[];
  /** What it has printed when Ctrl-C is pressed; null = it ends by itself. */
  readonly before: readonly string[] | null;
}

/** Lines next to each other that stand in a file, and what is to stand there instead. */
export interface Change {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Three kinds of fenced blocks mean something: a file (its name in code alone above it), a `diff` of one, and `console`. Others are prose. */
const block = /(?:^`([^`\n]+)`\n\n)?^```(\w+)\n([^]*?)^```$/gmu;

/** The steps of a tutorial's text. */
export function stepsOf(markdown: string): TutorialStep[] {
  return [...markdown.matchAll(block)].flatMap(([, path, language = '', text = '']): TutorialStep[] => {
    if (language === 'console') return commandsOf(text);
    if (path === undefined) return [];
    return [language === 'diff' ? { kind: 'edit', path, changes: changesOf(text) } : { kind: 'write', path, text }];
  });
}

/** A console block: `$ ` begins a command, what follows is what it prints; `^C` stands where Ctrl-C is pressed. */
function commandsOf(text: string): TutorialStep[] {
  return text
    .split(/^\$ /mu)
    .slice(1)
    .map((one) => {
      const [command = '', printed = ''] = one.split(/\n([^]*)/u);
      const lines = printed.split('\n').filter((line) => line.trim() !== '');
      const pressed = lines.indexOf('^C');
      return {
        kind: 'command',
        command,
        shown: lines.filter((line) => line !== '^C'),
        before: pressed < 0 ? null : lines.slice(0, pressed),
      };
    });
}

/** A diff without line numbers; an empty line parts places that lie apart. */
const changesOf = (text: string): Change[] =>
  text
    .trimEnd()
    .split('\n\n')
    .map((part) => {
      const lines = part.split('\n');
      const side = (sign: string): string[] => lines.filter((line) => line[0] !== sign).map((line) => line.slice(1));
      return { before: side('+'), after: side('-') };
    });

/** Makes the changes in a text. Throws when one's lines do not stand there exactly once. */
export function edited(text: string, changes: readonly Change[]): string {
  return changes.reduce((sofar, { before, after }) => {
    const parts = `\n${sofar}`.split(`\n${before.join('\n')}\n`);
    if (parts.length !== 2)
      throw new Error(`these lines stand ${parts.length - 1} times in it:\n${before.join('\n')}\n--\n${sofar}`);
    return parts.join(`\n${after.join('\n')}\n`).slice(1);
  }, text);
}

/** What differs between two plays of the same tutorial: versions, ids, moments, lengths of time, bytes, counts of tokens. */
const masks: readonly (readonly [RegExp, string])[] = [
  [/\b\d+\.\d+\.\d+\b/gu, 'VERSION'],
  [/\b\d{8}-\d{6}-[0-9a-f]{4}\b/gu, 'RUN'],
  [/(workspaces\/[\w.-]+)-[0-9a-f]{10}/gu, '$1-ID'],
  [/\b(\d{4}-\d\d-\d\d )?\d{1,2}:\d\d(\.\d)?\b/gu, 'TIME'],
  [/\b\d+(\.\d+)? (ms|s|min|h)\b( \d+ (s|min)\b)?/gu, 'LENGTH'],
  [/\b\d+(\.\d+)? (B|kB|MB|GB)\b/gu, 'SIZE'],
  [/\b\d+(\.\d+)?k\b/gu, 'MANY'],
  [/\s+/gu, ' '],
];

const masked = (line: string): string => masks.reduce((sofar, [what, by]) => sofar.replace(what, by), line.trimEnd());

/**
 * The first line that a tutorial shows and a command did not print in this order; null when all is there. A line `…` stands for
 * any lines, `…` inside of one for any text; times, ids and sizes may be others.
 */
export function missing(shown: readonly string[], printed: string): string | null {
  const lines = printed
    .split('\n')
    .map(masked)
    .filter((line) => line.trim() !== '');
  let at = 0;
  let free = false;
  for (const line of shown) {
    if (line.trim() === '…') {
      free = true;
      continue;
    }
    const wanted = new RegExp(`^${masked(line).split('…').map(escaped).join('.*')}$`, 'u');
    const found = lines.findIndex((each, index) => index >= at && wanted.test(each));
    if (found < 0 || (!free && found > at)) return line;
    at = found + 1;
    free = false;
  }
  return !free && at < lines.length ? `(nothing more, but there is: ${lines[at] ?? ''})` : null;
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, '\\$&');

/** What a command came to: its exit code, and both streams in the order in which they came. */
export interface Printed {
  readonly code: number;
  readonly text: string;
}

/** One shell that stays, as a reader's does: folders and variables that a command sets are there for the next. */
export interface TutorialShell extends AsyncDisposable {
  /** Runs one command to its end. With `enough`, presses Ctrl-C as soon as what is printed fulfils it. Bounded. */
  run(command: string, enough?: (text: string) => boolean): Promise<Printed>;
}

/** Longest time of one command, ms. */
const patienceMs = 180_000;

/** Opens a shell; what is printed goes through a file in `folder`. */
export function openShell(
  folder: string,
  given: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): TutorialShell {
  const bash = spawn('bash', ['--noprofile', '--norc'], { ...given, stdio: ['pipe', 'ignore', 'inherit'] });
  const [output, done] = [join(folder, 'printed'), join(folder, 'done')];
  return {
    async run(command, enough) {
      writeFileSync(output, '');
      writeFileSync(done, '');
      bash.stdin.write(`{ ${command}\n} >'${output}' 2>&1 </dev/null; echo "$?" >'${done}'\n`);
      let pressed = enough === undefined;
      for (const end = performance.now() + patienceMs; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
        const [code, text] = [readFileSync(done, 'utf8').trim(), readFileSync(output, 'utf8')];
        if (code !== '') return { code: Number(code), text };
        if (!pressed && enough?.(text) === true) {
          pressed = true;
          for (const pid of childrenOf(bash.pid ?? 0)) process.kill(pid, 'SIGINT');
        }
        if (performance.now() > end)
          throw new Error(`waited ${patienceMs / 1000} s for the end of: ${command}\n${text}`);
      }
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => bash.once('close', resolve));
      for (const pid of childrenOf(bash.pid ?? 0)) process.kill(pid, 'SIGKILL');
      bash.stdin.end();
      await closed;
    },
  };
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
