/** What an option of a command takes: nothing, or a value. */
export type OptionKind = 'flag' | 'value';

/** A command's words, sorted: `--name value`, `--name=value` and `--flag`; `--` ends the options. */
export interface Words {
  readonly positionals: readonly string[];
  readonly values: Readonly<Record<string, string>>;
  readonly flags: ReadonlySet<string>;
}

/** Sorts the words after a command by the options it knows; a text says what is wrong. */
export function sortWords(words: readonly string[], known: Readonly<Record<string, OptionKind>>): Words | string {
  const positionals: string[] = [];
  const values: Record<string, string> = {};
  const flags = new Set<string>();
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] as string;
    if (word === '--') {
      positionals.push(...words.slice(index + 1));
      break;
    }
    if (!word.startsWith('--')) {
      if (/^-[A-Za-z]/.test(word)) return unknownOption(word, known);
      positionals.push(word);
      continue;
    }
    const equals = word.indexOf('=');
    const name = equals < 0 ? word.slice(2) : word.slice(2, equals);
    const kind = Object.hasOwn(known, name) ? known[name] : undefined;
    if (kind === undefined) return unknownOption(word, known);
    if (name in values || flags.has(name)) return `--${name} is given twice; give it once`;
    if (kind === 'flag') {
      if (equals >= 0) return `--${name} takes no value`;
      flags.add(name);
      continue;
    }
    const value = equals < 0 ? words[(index += 1)] : word.slice(equals + 1);
    if (value === undefined) return `--${name} needs a value after it`;
    values[name] = value;
  }
  return { positionals, values, flags };
}

function unknownOption(word: string, known: Readonly<Record<string, OptionKind>>): string {
  const names = Object.keys(known).map((name) => `--${name}`);
  return `unknown option ${JSON.stringify(word)}; known here: ${names.join(', ') || 'none'}`;
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A finite decimal number as people write it (`0.83`, `-1e-4`); undefined for anything else, `nan` and `0x10` included. */
export function parseScore(text: string): number | undefined {
  const value = decimal.test(text.trim()) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}

/** Longest wait that may be asked for, seconds. */
export const longestWaitSeconds = 86_400;

/** A wait in seconds as ms; undefined when it is none, negative or longer than a day. */
export function parseWait(text: string): number | undefined {
  const seconds = parseScore(text);
  return seconds === undefined || seconds < 0 || seconds > longestWaitSeconds ? undefined : Math.round(seconds * 1000);
}
