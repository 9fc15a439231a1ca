import { meanings } from './meanings.ts';
import type { JsonSchema } from './typeSchemas.ts';

/** What fields of these names mean wherever nothing else is said of them. */
const commonFields: Readonly<Record<string, string>> = {
  acceptedWall: 'Unix ms of its acceptance.',
  active: 'Active runtime, ms.',
  agent: 'Whose turn it is.',
  at: 'Active runtime then, ms.',
  attempt: 'Number of the attempt in its session, from 1.',
  author: 'Whose it is.',
  boot: "The kernel's boot id.",
  by: 'The person.',
  bytes: "Their sizes' sum.",
  cacheWrite: 'Tokens of the input that were written to a cache.',
  cachedInput: 'Tokens of the input that came from a cache.',
  candidate: 'Its id.',
  closedAt: 'Active runtime at which it was over, ms; null = not yet.',
  closure: 'Why it ended; null = not yet.',
  contentHash: 'SHA-256 over paths, modes and contents, hex: equal iff the files are.',
  contractHash: 'As in `run.opened`.',
  controller: 'The present one, and how many there were.',
  detail: 'In words.',
  direction: 'Which scores are better.',
  endReason: 'Why it ended; null = not yet.',
  endedAt: 'Active runtime of its end, ms; null while it runs.',
  endedItself: 'Whether the agent ended it.',
  endingAt: 'Active runtime at which its end was intended, ms; null = not yet.',
  explorationEndedAt: 'Active runtime at which exploration was over, ms; null = not yet.',
  feedback: 'Whether receipts tell scores.',
  files: 'How many.',
  finished: 'How the run ended; null = not yet.',
  flags: 'Remarks that stay with it.',
  gradesRevealed: 'Whether a person has looked at hidden grades.',
  grading: 'The grader that runs; null = none.',
  id: 'Of the experiment, and so of its candidate.',
  invalidReason: 'What is wrong with the last ballot that was not valid.',
  isolation: "The tier, and what it can't protect.",
  kind: 'Which of these.',
  limits: 'What the contract allows.',
  metric: 'What is measured.',
  model: 'As the harness reports it; null = not told.',
  mono: 'CLOCK_MONOTONIC ms.',
  name: 'Its name.',
  nonce: 'Names a start of a program.',
  note: "The agent's note.",
  number: 'From 1, without gaps.',
  openedAt: 'Active runtime of its beginning, ms.',
  openedWall: 'Unix ms of the start.',
  option: 'Number of the option.',
  order: 'Its place in the archive, from 1.',
  outcome: 'In one word; null = not yet.',
  pause: 'Null while the run goes on.',
  paused: 'Whether the run is.',
  pid: 'Process id.',
  reason: 'Why.',
  reasoning: 'Tokens of the output that were reasoning.',
  reevaluating: 'The evaluator that runs once more; null = none.',
  reported: "The score that the agent's own validation gave, in the metric's unit.",
  responses: 'How many.',
  role: 'What the session is for.',
  run: "The run's id.",
  running: 'Whether it goes on.',
  score: "In the metric's unit.",
  seq: 'Number of an event.',
  session: 'An option or the review.',
  since: 'Active runtime of its beginning, ms.',
  sinceWall: 'Unix ms of its beginning.',
  snapshot: "A commit of the run's private repository, 40 hex digits.",
  standing: 'Id of the latest candidate.',
  startedAt: 'Active runtime of its start, ms.',
  state: 'Where it stands.',
  text: 'In words.',
  token: "The session's token (`HMA_TOKEN`).",
  tokenHash: 'SHA-256 of its token, hex.',
  toolCalls: 'Calls of tools.',
  uncachedInput: 'Tokens of the input that no cache had.',
  wall: 'Unix ms.',
  wanted: 'Or no longer.',
  who: 'Who decided.',
  workspace: 'Absolute path of the workspace.',
};

const nameIn = (reference: string): string => reference.split('/').at(-1) ?? reference;

/** A schema as a short type, in one line; named types are links to their own section. */
export function sayType(schema: JsonSchema): string {
  if (schema.$ref) return `[${nameIn(schema.$ref)}](#${nameIn(schema.$ref).toLowerCase()})`;
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return sayValues(schema.enum).join(' or ');
  if (schema.anyOf) return schema.anyOf.map(sayType).toSorted(nullLast).join(' or ');
  if (schema.items) return `list of ${schema.items.anyOf ? `(${sayType(schema.items)})` : sayType(schema.items)}`;
  if (schema.properties) return `{${memberList(schema)}}`;
  return [schema.type ?? 'anything'].flat().join(' or ');
}

/** Values, those of a list that has a section of its own by its name. */
function sayValues(values: readonly unknown[]): string[] {
  const list = Object.entries(meanings).find(([, known]) =>
    Object.keys(known).every((value) => values.includes(value)),
  );
  const rest = values.filter((value) => !(list && String(value) in list[1]));
  return [
    ...(list ? [`[${list[0]}](#${list[0].toLowerCase()})`] : []),
    ...rest.map((value) => `\`${JSON.stringify(value)}\``),
  ];
}

const nullLast = (a: string, b: string): number => Number(a === 'null') - Number(b === 'null');

const memberList = (schema: JsonSchema): string =>
  Object.entries(schema.properties ?? {})
    .map(([name, field]) => `${name}${schema.required?.includes(name) ? '' : '?'}: ${sayType(field)}`)
    .join(', ');

const limitsOf = (schema: JsonSchema): string => {
  const { minLength, maxLength, minimum, exclusiveMinimum, maximum } = schema as Readonly<Record<string, number>>;
  return [
    ...(minLength === undefined ? [] : ['not empty']),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(minimum === undefined || minimum < -1e9 ? [] : [`from ${minimum}`]),
    ...(exclusiveMinimum === undefined ? [] : [`more than ${exclusiveMinimum}`]),
    ...(maximum === undefined || maximum > 1e9 ? [] : [`up to ${maximum}`]),
  ].join(', ');
};

/** What a field means: its own docstring, else what every field of its name means, else its type's; with its limits. Throws where nothing says. */
export function meaningOf(name: string, field: JsonSchema, definitions: Readonly<Record<string, JsonSchema>>): string {
  const named = field.$ref ?? field.items?.$ref ?? field.anyOf?.find(({ $ref }) => $ref)?.$ref;
  const text = field.description ?? commonFields[name] ?? (named && definitions[nameIn(named)]?.description);
  if (text === undefined && field.const === undefined)
    throw new Error(`nothing says what the field ${name} means: ${JSON.stringify(field)}`);
  const limits = limitsOf(field);
  return `${text ?? ''}${limits === '' ? '' : ` (${limits})`}`.trim();
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** An object's fields as a table; one that may be absent has a question mark. */
export function fieldTable(schema: JsonSchema, definitions: Readonly<Record<string, JsonSchema>>): string {
  const rows = Object.entries(schema.properties ?? {}).map(
    ([name, field]) =>
      `| \`${name}${schema.required?.includes(name) ? '' : '?'}\` | ${cell(sayType(field))} | ${cell(meaningOf(name, field, definitions))} |`,
  );
  return rows.length === 0 ? 'No fields.' : ['| field | type | meaning |', '|---|---|---|', ...rows].join('\n');
}

/** The variants of a union of objects, or the object itself. */
export const variantsOf = (schema: JsonSchema): readonly JsonSchema[] => schema.anyOf ?? [schema];

/** The whole of a named type: fields, variants, or values with what each means. */
export function typeSection(
  name: string,
  schema: JsonSchema,
  definitions: Readonly<Record<string, JsonSchema>>,
): string {
  return [`### ${name}`, ...(schema.description ? [schema.description] : []), bodyOf(name, schema, definitions)].join(
    '\n\n',
  );
}

function bodyOf(name: string, schema: JsonSchema, definitions: Readonly<Record<string, JsonSchema>>): string {
  if (schema.properties) return fieldTable(schema, definitions);
  if (schema.enum) {
    const known = meanings[name];
    return schema.enum.map((value) => `- \`${String(value)}\`${known ? `: ${known[String(value)]}` : ''}`).join('\n');
  }
  const told = new Set<string>();
  const newOf = (variant: JsonSchema): string[] =>
    fieldLines(variant, definitions).filter((line) => !told.has(line) && told.add(line));
  return variantsOf(schema)
    .map((variant) => [`- ${sayType(variant)}`, ...newOf(variant)].join('\n'))
    .join('\n');
}

/** Fields of a variant with what each means, where something says so. */
const fieldLines = (variant: JsonSchema, definitions: Readonly<Record<string, JsonSchema>>): string[] =>
  Object.entries(variant.properties ?? {}).flatMap(([name, field]) =>
    field.const === undefined && (field.description ?? field.$ref ?? commonFields[name])
      ? [`  - ${name}: ${meaningOf(name, field, definitions)}`]
      : [],
  );

/** Names of all types that a schema names, directly or through others, in order. */
export function namedIn(schema: JsonSchema, definitions: Readonly<Record<string, JsonSchema>>): string[] {
  const found = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (key !== '$ref' || typeof inner !== 'string') walk(inner);
      else if (!found.has(nameIn(inner))) {
        found.add(nameIn(inner));
        walk(definitions[nameIn(inner)]);
      }
    }
  };
  walk(schema);
  return [...found].toSorted();
}
