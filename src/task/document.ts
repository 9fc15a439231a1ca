import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
  type Pair,
  type YAMLError,
} from 'yaml';

import { refused, ok, type Result } from '../base/result.ts';
import type { ContractCode } from './codes.ts';
import type { ContractMessage } from './messages.ts';

/** Where in the contract something stands: keys and list indices from the root. */
export type KeyPath = readonly (string | number)[];

/** Something to say about a place of the contract, before it has a line. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly code: ContractCode;
  readonly path: KeyPath;
  /** Whether the key or the value is meant. Default value. */
  readonly at?: 'key' | 'value';
  /** For plain text values: the character (0-based) within it. */
  readonly offset?: number;
  readonly what: string;
  readonly fix: string;
}

/** A parsed YAML file that remembers where everything stands. */
export interface ContractDocument {
  /** The file's name in messages. */
  readonly file: string;
  readonly text: string;
  /** The plain value. */
  readonly value: unknown;
  /** Problems with duplicate keys; the value is usable beside them. */
  readonly messages: readonly ContractMessage[];
  /** How many steps of the path exist in this file. */
  depth(path: KeyPath): number;
  message(problem: Problem): ContractMessage;
}

/** No more messages of one file's syntax are shown; what follows is mostly consequence. */
const mostSyntaxErrors = 20;

/** Lines up to this many characters are kept for showing. */
const longestShownLine = 2_000;

/**
 * Parses the text of a YAML file. Refuses with messages that have places: syntax errors, several documents, unknown tags, aliases
 * that explode, nesting beyond the stack. Duplicate keys are messages beside the value.
 */
export function parseContract(text: string, file: string): Result<ContractDocument, readonly ContractMessage[]> {
  const lines = new LineCounter();
  const place = placeIn({ text, file, lines });
  const whole = (code: ContractCode, what: string, fix: string) =>
    refused([{ ...place([0, 0], { severity: 'error', code, what, fix }), wholeFile: true as const }]);
  const tooDeep = () =>
    whole('too_deep', 'the file is nested too deeply', 'Flatten it; a contract needs no more than five levels.');
  try {
    const parsed = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      uniqueKeys: false,
      schema: 'core',
      logLevel: 'error',
    });
    const faults = firstAtEachPlace([...parsed.errors, ...parsed.warnings]);
    // the library met the end of the stack; where depends on the stack
    if (faults.some(({ code }) => code === 'RESOURCE_EXHAUSTION')) return tooDeep();
    if (faults.length > 0)
      return refused(
        withoutEnclosing(faults, parsed).map((fault) => {
          const line = fault.pos[0] < text.trimEnd().length ? position(lines, fault.pos[0]).line : undefined;
          return place(faultRange(fault, parsed), {
            severity: 'error',
            ...sayFault(fault, { text, line, overLines: spansLines(fault, parsed) }),
          });
        }),
      );
    const dangling = danglingAliases(parsed);
    if (dangling.length > 0)
      return refused(
        dangling.map(({ name, range }) =>
          place(range, {
            severity: 'error',
            code: 'unresolved_alias',
            what: `the alias \`*${name}\` has no anchor \`&${name}\` before it`,
            fix: 'Set the anchor first, or quote a text that begins with *.',
          }),
        ),
      );
    if (parsed.directives?.yaml.explicit && parsed.directives.yaml.version !== '1.2') {
      return whole(
        'yaml_version',
        `the file asks for YAML ${parsed.directives.yaml.version}`,
        'Remove the %YAML line; contracts are YAML 1.2.',
      );
    }
    const messages = duplicateKeys(parsed).map(({ key, name, first }) =>
      place([key.range![0], key.range![1]], {
        severity: 'error',
        code: 'duplicate_key',
        what: `\`${name}\` stands here a second time (first in line ${lines.linePos(first).line})`,
        fix: 'Keep one of the two.',
      }),
    );
    const value: unknown = parsed.toJS({ maxAliasCount: 50 });
    return ok({
      file,
      text,
      value,
      messages,
      depth: (path) => walk(parsed, path).depth,
      message: (problem) => {
        const nowhere = walk(parsed, problem.path).depth === 0 && (problem.path.length > 0 || problem.code === 'empty');
        const said = place(rangeOf(parsed, problem, text), problem);
        return nowhere ? { ...said, wholeFile: true } : said;
      },
    });
  } catch (error) {
    if (error instanceof RangeError) return tooDeep();
    if (error instanceof ReferenceError && /alias count/i.test(error.message))
      return whole(
        'alias_bomb',
        'the file’s aliases (*name) expand to too much',
        'Write the values out instead of aliases.',
      );
    throw error;
  }
}

type Said = Pick<Problem, 'severity' | 'code' | 'what' | 'fix'>;

function placeIn(source: { text: string; file: string; lines: LineCounter }) {
  return (range: readonly [number, number], said: Said): ContractMessage => {
    const lastOffset = source.text.length;
    const start = position(source.lines, Math.min(range[0], lastOffset));
    const lineStart = Math.min(range[0], lastOffset) - (start.column - 1);
    const lineBreak = source.text.indexOf('\n', lineStart);
    const line = source.text.slice(lineStart, lineBreak < 0 ? undefined : lineBreak).replace(/\r$/, '');
    // a value of several lines is pointed at by its first one
    const endColumn = Math.max(start.column + 1, Math.min(range[1] - lineStart + 1, line.length + 1));
    const { severity, code, what, fix } = said;
    return {
      severity,
      file: source.file,
      line: start.line,
      column: start.column,
      endLine: start.line,
      endColumn,
      code,
      what,
      fix,
      ...(line.length <= longestShownLine ? { source: line } : {}),
    };
  };
}

function position(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset);
  return line === 0 ? { line: 1, column: offset + 1 } : { line, column: col };
}

const faultWords: Readonly<Record<string, readonly [what: string, fix: string]>> = {
  TAB_AS_INDENT: ['a tab is used for indentation', 'Indent with spaces; YAML allows no tabs there.'],
  MULTIPLE_DOCS: ['a second document begins here', 'Remove the line ---; a contract is one document.'],
  BLOCK_AS_IMPLICIT_KEY: [
    'a second key stands in the same line',
    'Quote a text that contains a colon followed by a space, or begin a new line.',
  ],
  MULTILINE_IMPLICIT_KEY: [
    'a key must lie in one line; perhaps the colon after it is missing',
    'Write `key: value`, with a space after the colon.',
  ],
  BAD_INDENT: [
    'the indentation does not fit the lines above',
    'Indent keys of one mapping alike, with spaces, and close brackets and quotes above.',
  ],
  TAG_RESOLVE_FAILED: [
    'this YAML tag is not known',
    'Remove the tag (the word with !), or quote a text that begins with !.',
  ],
};

/** The bracket that a fault misses; undefined for other faults. */
const missingBracket = (fault: YAMLError): ']' | '}' | undefined =>
  /^Flow (?:sequence|map) .*end with a ([\]}])/.exec(fault.message)?.[1] as ']' | '}' | undefined;

function sayFault(
  fault: YAMLError,
  given: { readonly text: string; readonly line: number | undefined; readonly overLines: boolean },
): Pick<Problem, 'code' | 'what' | 'fix'> {
  const { text, line } = given;
  const quote = /^Missing closing (["'])quote/.exec(fault.message)?.[1];
  if (quote !== undefined)
    return {
      code: 'yaml_not_closed',
      what: `this \`${quote}\` is not closed`,
      fix: `Close the text with \`${quote}\`, or quote it by the other kind of quotes.`,
    };
  if (fault.code === 'BLOCK_AS_IMPLICIT_KEY' && given.overLines)
    return {
      code: 'yaml_bad_indent',
      what: 'the line below this value is indented as if it belonged to it',
      fix: 'Begin its key in the same column as the keys above.',
    };
  const bracket = missingBracket(fault);
  if (bracket !== undefined)
    return {
      code: 'yaml_not_closed',
      what: `this \`${bracket === ']' ? '[' : '{'}\` is not closed before ${line === undefined ? 'the end of the file' : `line ${line}`}`,
      fix: `Close it with \`${bracket}\`; where it goes over several lines, indent them.`,
    };
  const indentedByTab = /^[ ]*\t/.test(text.slice(text.lastIndexOf('\n', fault.pos[0] - 1) + 1));
  const code = indentedByTab && fault.code !== 'TAG_RESOLVE_FAILED' ? 'TAB_AS_INDENT' : fault.code;
  const words = faultWords[code];
  if (words) return { code: `yaml_${code.toLowerCase()}`, what: words[0], fix: words[1] };
  const first = fault.message.split('\n')[0]!.replace(/(["'])quote/, '$1 quote');
  return {
    code: `yaml_${code.toLowerCase()}`,
    what: `not valid YAML: ${first}`,
    fix: 'Correct the YAML here; quote texts with special characters.',
  };
}

/** Whether a key at a fault's place goes over several lines: then the lines after it are indented, not a second key in one line. */
const spansLines = (fault: YAMLError, parsed: Document.Parsed): boolean =>
  parsed.errors.some(({ code, pos }) => code === 'MULTILINE_IMPLICIT_KEY' && pos[0] === fault.pos[0]);

/** What follows at the same place is a consequence. */
function firstAtEachPlace(faults: readonly YAMLError[]): YAMLError[] {
  return faults
    .filter((fault, index) => faults.findIndex((other) => other.pos[0] === fault.pos[0]) === index)
    .slice(0, mostSyntaxErrors);
}

/** Where a fault is shown: an unclosed quote or bracket where it opens, not at the end of the file. */
function faultRange(fault: YAMLError, parsed: Document.Parsed): readonly [number, number] {
  const bracket = missingBracket(fault);
  if (bracket !== undefined) return openingOf(bracket, fault, parsed);
  if (fault.code !== 'MISSING_CHAR' || !fault.message.includes('quote')) return fault.pos;
  let opened: readonly [number, number] = fault.pos;
  visit(parsed, {
    Scalar(_, scalar) {
      if (scalar.type?.startsWith('QUOTE_') && scalar.range && scalar.range[0] < fault.pos[0])
        opened = [scalar.range[0], scalar.range[0] + 1];
    },
  });
  return opened;
}

/** Faults without brackets around one that is not closed: its end was taken for theirs. */
function withoutEnclosing(faults: readonly YAMLError[], parsed: Document.Parsed): readonly YAMLError[] {
  let innermost = -1;
  return faults.filter((fault) => {
    if (missingBracket(fault) === undefined) return true;
    const [from] = faultRange(fault, parsed);
    if (from < innermost) return false;
    innermost = from;
    return true;
  });
}

/** The innermost list or mapping in brackets that begins before a fault and reaches it. */
function openingOf(bracket: ']' | '}', fault: YAMLError, parsed: Document.Parsed): readonly [number, number] {
  let opened: readonly [number, number] = fault.pos;
  visit(parsed, {
    Collection(_, node) {
      const [from, to] = node.range ?? [0, 0];
      const fits = node.flow === true && isSeq(node) === (bracket === ']');
      if (fits && from < fault.pos[0] && to >= fault.pos[0]) opened = [from, from + 1];
    },
  });
  return opened;
}

function danglingAliases(parsed: Document.Parsed): { name: string; range: readonly [number, number] }[] {
  const anchors = new Set<string>();
  const found: { name: string; range: readonly [number, number] }[] = [];
  visit(parsed, {
    Node(_, node) {
      if (!isAlias(node)) {
        if (node.anchor) anchors.add(node.anchor);
      } else if (!anchors.has(node.source) && node.range)
        found.push({ name: node.source, range: [node.range[0], node.range[1]] });
    },
  });
  return found.slice(0, mostSyntaxErrors);
}

interface Duplicate {
  readonly key: Node;
  readonly name: string;
  readonly first: number;
}

/** Keys that stand twice in one mapping. Our own walk, since the library's is quadratic in the number of keys. */
function duplicateKeys(parsed: Document.Parsed): Duplicate[] {
  const found: Duplicate[] = [];
  visit(parsed, {
    Map(_, map) {
      const seen = new Map<string, number>();
      for (const { key } of map.items) {
        if (!isScalar(key) || !key.range) continue;
        const name = String(key.value);
        const first = seen.get(name);
        if (first === undefined) seen.set(name, key.range[0]);
        else if (found.length < mostSyntaxErrors) found.push({ key, name, first });
      }
    },
  });
  return found;
}

interface Walked {
  readonly depth: number;
  readonly pair: Pair | undefined;
  readonly node: Node | undefined;
}

/** Follows a path as far as it exists: the deepest key (if any) and node on it. */
function walk(parsed: Document.Parsed, path: KeyPath): Walked {
  let node: Node | undefined = parsed.contents ?? undefined;
  let pair: Pair | undefined;
  for (let depth = 0; depth < path.length; depth++) {
    const inside: unknown = isAlias(node) ? node.resolve(parsed) : node;
    const step = path[depth]!;
    if (isMap(inside)) {
      const next: Pair | undefined = inside.items.find(
        ({ key }) => isScalar(key) && String(key.value) === String(step),
      );
      if (!next) return { depth, pair, node };
      pair = next;
      node = (next.value as Node | null) ?? undefined;
    } else if (isSeq(inside) && inside.items[Number(step)]) {
      pair = undefined;
      node = inside.items[Number(step)] as Node;
    } else return { depth, pair, node };
  }
  return { depth: path.length, pair, node };
}

function rangeOf(parsed: Document.Parsed, problem: Problem, text: string): [number, number] {
  const { depth, pair, node } = walk(parsed, problem.path);
  const key = (pair?.key as Node | undefined)?.range;
  const value = node?.range;
  const empty = !value || value[0] === value[1];
  if (key && (problem.at === 'key' || depth < problem.path.length || empty)) return [key[0], key[1]];
  if (!value || depth === 0) return [0, 1];
  if (problem.offset !== undefined && isScalar(node) && typeof node.value === 'string') {
    const start = value[0] + (node.type?.startsWith('QUOTE_') ? 1 : 0);
    if (text.startsWith(node.value, start)) return [start + problem.offset, start + problem.offset + 1];
  }
  return [value[0], value[1]];
}
