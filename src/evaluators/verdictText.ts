import { assertNever } from '../base/assertNever.ts';
import { oneLine } from '../base/oneLine.ts';
import type { Verdict } from './port.ts';

/** What a result's text can say; how a program ended is judged elsewhere. */
export type TextVerdict = Extract<Verdict, { kind: 'scored' | 'invalid' | 'incorrect' | 'non_finite' | 'no_result' }>;

/** A value of a result, as far as a verdict needs to know it. Python writes NaN and Infinity as bare words, which JSON lacks. */
type Value =
  | { readonly is: 'number'; readonly value: number; readonly text: string }
  | { readonly is: 'string'; readonly value: string }
  | { readonly is: 'boolean'; readonly value: boolean }
  | { readonly is: 'null' | 'list' }
  | { readonly is: 'object'; readonly entries: readonly (readonly [string, Value])[] };

const forms = '{"score": 0.5}, {"score": 0.5, "correct": true} or {"invalid": "reason"}';

class Unreadable extends Error {}

/**
 * A reader of JSON that, other than JSON.parse, keeps duplicate keys apart and knows NaN, Infinity and -Infinity. Lists are
 * checked but not kept, since no result has one.
 */
class Reader {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  document(): Value {
    const value = this.value(0);
    this.space();
    if (this.at < this.text.length) {
      const rest = this.text.slice(this.at);
      throw new Unreadable(
        /^[{[]/u.test(rest)
          ? 'it holds more than one JSON document; write exactly one'
          : `unexpected ${glimpse(rest)} after the JSON document`,
      );
    }
    return value;
  }

  private space(): void {
    while (/[ \t\r\n]/u.test(this.text[this.at] ?? '')) this.at += 1;
  }

  private take(expression: RegExp): string | null {
    expression.lastIndex = this.at;
    const found = expression.exec(this.text);
    if (!found) return null;
    this.at += found[0].length;
    return found[0];
  }

  private value(depth: number): Value {
    if (depth > 32) throw new Unreadable('it is nested deeper than 32 levels');
    this.space();
    const next = this.text[this.at];
    if (next === undefined) throw new Unreadable('it ends too early');
    if (next === '{') return this.object(depth);
    if (next === '[') return this.list(depth);
    if (next === '"') return { is: 'string', value: this.string() };
    const number = this.take(/-?(?:Infinity|(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])|NaN(?!\w)/uy);
    if (number !== null) return { is: 'number', value: Number(number), text: number };
    const word = this.take(/(?:true|false|null)(?!\w)/uy);
    if (word === 'null') return { is: 'null' };
    if (word !== null) return { is: 'boolean', value: word === 'true' };
    throw new Unreadable(`unexpected ${glimpse(this.text.slice(this.at))}`);
  }

  private string(): string {
    const literal = this.take(/"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy);
    if (literal === null)
      throw new Unreadable(`a string that is not closed or not JSON: ${glimpse(this.text.slice(this.at))}`);
    return JSON.parse(literal) as string;
  }

  private object(depth: number): Value {
    const entries: [string, Value][] = [];
    this.at += 1;
    this.space();
    if (this.take(/\}/uy)) return { is: 'object', entries };
    for (;;) {
      this.space();
      if (this.text[this.at] !== '"' && this.text[this.at] !== undefined)
        throw new Unreadable(`a key must stand in double quotes, not ${glimpse(this.text.slice(this.at))}`);
      const key = this.string();
      this.space();
      if (!this.take(/:/uy)) throw new Unreadable(`a colon is missing after the key "${key}"`);
      entries.push([key, this.value(depth + 1)]);
      this.space();
      if (this.take(/\}/uy)) return { is: 'object', entries };
      if (!this.take(/,/uy)) throw new Unreadable(`a comma or } is missing after the key "${key}"`);
    }
  }

  private list(depth: number): Value {
    this.at += 1;
    this.space();
    if (this.take(/\]/uy)) return { is: 'list' };
    for (;;) {
      this.value(depth + 1);
      this.space();
      if (this.take(/\]/uy)) return { is: 'list' };
      if (!this.take(/,/uy)) throw new Unreadable('a comma or ] is missing in a list');
    }
  }
}

const glimpse = (text: string): string => JSON.stringify(oneLine(text.slice(0, 200), 40));

const nothing = (detail: string): TextVerdict => ({ kind: 'no_result', detail });

const asNumber = (value: number, text: string): TextVerdict =>
  Number.isFinite(value) ? { kind: 'scored', score: value } : { kind: 'non_finite', text: oneLine(text, 40) };

function notANumber(value: Exclude<Value, { is: 'number' }>): string {
  switch (value.is) {
    case 'string':
      return `"score" is the string ${glimpse(value.value)}; write a number without quotes`;
    case 'null':
      return '"score" is null (JavaScript writes NaN as null); write a finite number, or {"invalid": "reason"}';
    case 'boolean':
    case 'list':
    case 'object':
      return `"score" is ${value.is === 'object' ? 'an' : 'a'} ${value.is}; write a number`;
    default:
      return assertNever(value);
  }
}

function judge(entries: readonly (readonly [string, Value])[]): TextVerdict {
  const fields = new Map<string, Value>();
  for (const [key, value] of entries) {
    if (fields.has(key)) return nothing(`the result has the key ${glimpse(key)} twice; write it once`);
    fields.set(key, value);
  }
  const unknown = [...fields.keys()].find((key) => !['score', 'correct', 'invalid'].includes(key));
  if (unknown !== undefined) return nothing(`the result has the unknown key ${glimpse(unknown)}; write ${forms}`);
  const invalid = fields.get('invalid');
  if (invalid) {
    if (fields.size > 1) return nothing('the result has "invalid" beside a score; write one or the other');
    if (invalid.is !== 'string') return nothing('"invalid" must be a string: the reason');
    return { kind: 'invalid', reason: oneLine(invalid.value, 500) || 'no reason given' };
  }
  const correct = fields.get('correct');
  if (correct && correct.is !== 'boolean') return nothing('"correct" must be true or false');
  const score = fields.get('score');
  if (correct?.value === false) {
    const finite = score?.is === 'number' && Number.isFinite(score.value) ? { score: score.value } : {};
    return { kind: 'incorrect', reason: 'the evaluator says that it is not correct', ...finite };
  }
  if (!score) return nothing(`the result has no "score"; write ${forms}`);
  return score.is === 'number' ? asNumber(score.value, score.text) : nothing(notANumber(score));
}

/**
 * Reads a result's text: one JSON object `{score}`, `{score, correct}` or `{invalid}`. NaN, Infinity and numbers beyond a double
 * (1e999) are `non_finite`; everything else that isn't exactly one of the three forms is `no_result` with a detail for the task's
 * author. `correct: false` is `incorrect`, with or without a finite score. Never throws.
 */
export function parseVerdict(text: string): TextVerdict {
  const body = text.replace(/^\uFEFF/u, '');
  if (body.trim() === '') return nothing(`the result is empty; write ${forms}`);
  try {
    const value = new Reader(body).document();
    if (value.is === 'object') return judge(value.entries);
    return nothing(`the result is a ${value.is}, not an object; write ${forms}`);
  } catch (cause) {
    if (cause instanceof Unreadable)
      return nothing(
        `the result is not JSON: ${cause.message}${cause.message.includes('; ') ? '' : `; write ${forms}`}`,
      );
    throw cause;
  }
}

/**
 * Reads a score written plainly, as the last line of an output or a pattern's group: a decimal number, or nan and inf in any
 * case and sign (`non_finite`); null when it is neither.
 */
export function parsePlainScore(text: string): TextVerdict | null {
  const trimmed = text.trim();
  if (/^[+-]?(?:nan|inf(?:inity)?)$/iu.test(trimmed)) return { kind: 'non_finite', text: oneLine(trimmed, 40) };
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/iu.test(trimmed)) return null;
  return asNumber(Number(trimmed), trimmed);
}
