import { isMap, isScalar, isSeq, parseDocument, visit, type Document, type Node, type Pair } from 'yaml';

import type { KeyPath } from './document.ts';
import type { ContractMessage } from './messages.ts';

/** The part of a JSON schema (draft 7) that completion and hovers read. */
export interface EditingSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: string | number | boolean | null;
  readonly anyOf?: readonly EditingSchema[];
  readonly items?: EditingSchema | readonly EditingSchema[];
  readonly properties?: Readonly<Record<string, EditingSchema>>;
  readonly required?: readonly string[];
}

/** Words that a schema can't know, such as the adapters of this version, by the path's text (`agents.A`, `agents.A.adapter`). */
export type ExtraWords = (path: KeyPath) => readonly string[];

/** One thing to offer at a place. Offsets are characters of the text; `from` to `to` is replaced. */
export interface Completion {
  readonly kind: 'key' | 'value';
  readonly label: string;
  readonly insert: string;
  readonly detail: string;
  readonly description: string;
  readonly required: boolean;
  readonly from: number;
  readonly to: number;
}

const marker = 'hmaCursor';

/** What may stand at an offset of a contract's text: keys of the mapping there that it doesn't have yet, or words that a value may be. */
export function completionsAt(
  text: string,
  offset: number,
  given: { readonly schema: EditingSchema; readonly words?: ExtraWords },
): Completion[] {
  const from = offset - (/[\w-]*$/.exec(text.slice(0, offset))?.[0].length ?? 0);
  const to = offset + (/^[\w-]*/.exec(text.slice(offset))?.[0].length ?? 0);
  const line = text.slice(text.lastIndexOf('\n', from - 1) + 1, from);
  if (/(^|\s)#/.test(line)) return [];
  const rest = text.slice(to, (text.indexOf('\n', to) + 1 || text.length + 1) - 1);
  const isKeyAlready = /^\s*:(\s|$)/.test(rest);
  const opens = /^\s*(- +)*$/.test(line);
  const range = { from, to };
  const put = (word: string): string => text.slice(0, from) + word + text.slice(to);
  const asKey =
    opens && !isKeyAlready ? findMarker(put(`${marker}: `)) : isKeyAlready ? findMarker(put(marker)) : undefined;
  const asValue = isKeyAlready ? undefined : findMarker(put(marker));
  const keys = [asKey, asValue].find((place) => place?.at === 'key');
  const found: Completion[] = [];
  if (keys) found.push(...keysFor(keys, given.schema, { ...range, colon: isKeyAlready ? '' : ': ' }));
  if (asValue?.at === 'value') found.push(...valuesFor(asValue.path, given, range));
  return found;
}

interface MarkerPlace {
  readonly at: 'key' | 'value';
  /** Of the mapping for a key, of the value for a value. */
  readonly path: KeyPath;
  /** Keys that the mapping has besides. */
  readonly beside: readonly string[];
}

function findMarker(text: string): MarkerPlace | undefined {
  const parsed = parse(text);
  let found: MarkerPlace | undefined;
  visit(parsed, {
    Scalar(key, node, ancestors) {
      if (node.value !== marker) return undefined;
      const isKey = key === 'key';
      const map = ancestors.findLast((one) => isMap(one));
      const beside =
        isKey && isMap(map)
          ? map.items.flatMap((pair) => (isScalar(pair.key) && pair.key !== node ? [String(pair.key.value)] : []))
          : [];
      found = { at: isKey ? 'key' : 'value', path: pathOf(ancestors, node, isKey), beside };
      return visit.BREAK;
    },
  });
  return found;
}

const parse = (text: string): Document.Parsed =>
  parseDocument(text, { prettyErrors: false, uniqueKeys: false, schema: 'core', logLevel: 'silent' });

/** Path of a node from its ancestors; of a key that of the mapping it stands in. */
function pathOf(ancestors: readonly (Node | Pair | Document)[], node: Node, isKey: boolean): (string | number)[] {
  const path: (string | number)[] = [];
  const chain = [...ancestors, node];
  for (const [index, one] of chain.entries()) {
    const next = chain[index + 1];
    if (isSeq(one)) path.push(one.items.indexOf(next));
    else if (one !== undefined && 'key' in one && isScalar(one.key) && !(isKey && next === node))
      path.push(String(one.key.value));
  }
  return path;
}

/** A schema as its members, unions taken apart. */
const membersOf = (schema: EditingSchema): EditingSchema[] =>
  schema.anyOf ? schema.anyOf.flatMap(membersOf) : [schema];

function stepsDown(schema: EditingSchema, step: string | number): EditingSchema[] {
  return membersOf(schema).flatMap((one) => {
    if (typeof step === 'string')
      return one.properties && Object.hasOwn(one.properties, step) ? [one.properties[step] as EditingSchema] : [];
    const { items } = one;
    if (items === undefined) return [];
    const item = isList(items) ? items[step] : items;
    return item === undefined ? [] : [item];
  });
}

const isList = (items: EditingSchema | readonly EditingSchema[]): items is readonly EditingSchema[] =>
  Array.isArray(items);

/** All that the schema says about a place. */
const schemasAt = (schema: EditingSchema, path: KeyPath): EditingSchema[] =>
  path.reduce<EditingSchema[]>((now, step) => now.flatMap((one) => stepsDown(one, step)), [schema]);

function keysFor(
  place: MarkerPlace,
  schema: EditingSchema,
  given: { from: number; to: number; colon: string },
): Completion[] {
  const keys = new Map<string, Completion>();
  for (const one of schemasAt(schema, place.path).flatMap(membersOf)) {
    for (const [key, inner] of Object.entries(one.properties ?? {})) {
      if (place.beside.includes(key) || keys.has(key)) continue;
      const required = one.required?.includes(key) ?? false;
      keys.set(key, {
        kind: 'key',
        label: key,
        insert: `${key}${given.colon}`,
        detail: sayKind(inner),
        description: inner.description ?? '',
        required,
        from: given.from,
        to: given.to,
      });
    }
  }
  return [...keys.values()];
}

function valuesFor(
  path: KeyPath,
  given: { readonly schema: EditingSchema; readonly words?: ExtraWords },
  range: { from: number; to: number },
): Completion[] {
  const places = schemasAt(given.schema, path);
  const usual = places.find((one) => one.default !== undefined)?.default;
  const description = places.find((one) => one.description !== undefined)?.description ?? '';
  const words = new Set([...places.flatMap(membersOf).flatMap(wordsOf), ...(given.words?.(path) ?? [])]);
  return [...words].map((word) => ({
    kind: 'value',
    label: word,
    insert: word,
    detail: word === String(usual) ? 'default' : '',
    description,
    required: false,
    ...range,
  }));
}

function wordsOf(schema: EditingSchema): string[] {
  if (schema.const !== undefined) return [String(schema.const)];
  if (schema.enum) return schema.enum.map(String);
  if (schema.type === 'boolean') return ['true', 'false'];
  return typeof schema.default === 'string' || typeof schema.default === 'number' ? [String(schema.default)] : [];
}

/** What a value may be, in a few words: `alternate, single or a mapping`. */
function sayKind(schema: EditingSchema): string {
  const kinds = new Set(
    membersOf(schema).flatMap((one) => {
      if (one.const !== undefined) return [String(one.const)];
      if (one.enum) return one.enum.map(String);
      if (one.type === 'object') return ['a mapping'];
      if (one.type === 'array') return ['a list'];
      if (one.type === 'integer') return ['a whole number'];
      if (one.type === 'boolean') return ['true', 'false'];
      return one.type === 'number' ? ['a number'] : one.type === 'string' ? ['text'] : [];
    }),
  );
  const list = [...kinds];
  return list.length <= 1 ? (list[0] ?? '') : `${list.slice(0, -1).join(', ')} or ${list.at(-1)}`;
}

/** What a key means, for a hover: Markdown, and the characters that it belongs to. */
export interface Hover {
  readonly path: KeyPath;
  readonly markdown: string;
  readonly from: number;
  readonly to: number;
}

/** What the schema says about the key, or about the key of the value, at an offset. */
export function hoverAt(text: string, offset: number, schema: EditingSchema): Hover | undefined {
  let found: Hover | undefined;
  visit(parse(text), {
    Scalar(key, node, ancestors) {
      const range = node.range;
      if (!range || offset < range[0] || offset > range[1]) return undefined;
      const path =
        key === 'key' ? [...pathOf(ancestors, node, true), String(node.value)] : pathOf(ancestors, node, false);
      const markdown = explain(path, schema);
      if (markdown !== undefined) found = { path, markdown, from: range[0], to: range[1] };
      return visit.BREAK;
    },
  });
  return found;
}

/** The nearest place on the path that has a description, with what may stand there and the default. */
function explain(path: KeyPath, schema: EditingSchema): string | undefined {
  for (let length = path.length; length > 0; length--) {
    const places = schemasAt(schema, path.slice(0, length));
    const described = places.find((one) => one.description !== undefined);
    if (!described) continue;
    const name = path
      .slice(0, length)
      .filter((step) => typeof step === 'string')
      .join('.');
    const kind = sayKind(described);
    return `**${name}**${kind === '' ? '' : ` — ${kind}`}\n\n${described.description}`;
  }
  return undefined;
}

/** A change that would put a message right: characters replaced on the message's own place, or text put at a line of its own. */
export interface Repair {
  readonly title: string;
  readonly edit:
    | { readonly kind: 'replace'; readonly text: string }
    | { readonly kind: 'insertLine'; readonly text: string }
    | { readonly kind: 'createFile'; readonly path: string };
}

/** What a required key is begun with. */
const beginnings: Readonly<Record<string, string>> = {
  objective: 'objective: Say here what the agents are to achieve, and what they may not change.',
  candidate: 'candidate: [solution]',
  evaluate: 'evaluate: [python3, evaluate.py]',
};

/** The repair of a message, where it is clear. */
export function repairOf(message: Pick<ContractMessage, 'code' | 'what' | 'fix'>): Repair | undefined {
  const meant = /^Did you mean `?([^`?]+)`?\?$/.exec(message.fix)?.[1];
  if (meant !== undefined) return { title: `Change to ${meant}`, edit: { kind: 'replace', text: meant } };
  const missing = message.code === 'missing' ? /^`([a-zA-Z]+)` is missing/.exec(message.what)?.[1] : undefined;
  const beginning = missing === undefined ? undefined : beginnings[missing];
  if (beginning !== undefined) return { title: `Add ${missing}`, edit: { kind: 'insertLine', text: beginning } };
  const file =
    message.code === 'file_missing'
      ? /^`(?:objective|prompts\.\w+)`: (\S+) does not exist/.exec(message.what)?.[1]
      : undefined;
  return file === undefined || file.startsWith('/') || file.startsWith('~') || file.split('/').includes('..')
    ? undefined
    : { title: `Create ${file}`, edit: { kind: 'createFile', path: file } };
}
