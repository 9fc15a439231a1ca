import * as z from 'zod';

import { firstHash, headerLine, sealLine } from '../../src/ledger/format.ts';
import { agentRequests } from '../../src/protocol/agent.ts';
import * as checked from '../../src/protocol/schemas.ts';
import { intents } from './meanings.ts';
import { fieldTable, namedIn, sayType, typeSection, variantsOf } from './schemaText.ts';
import { TypeSchemas, type JsonSchema } from './typeSchemas.ts';

type Definitions = Readonly<Record<string, JsonSchema>>;

/** A schema file: definitions by name, and what the file is about. */
interface SchemaFile {
  readonly $schema: string;
  readonly title: string;
  readonly anyOf?: readonly JsonSchema[];
  readonly $defs: Definitions;
}

/** The generated parts of docs/protocol.md, and the files below docs/schemas; both by name. */
export interface ProtocolDocs {
  readonly parts: Readonly<Record<string, string>>;
  readonly schemas: Readonly<Record<string, SchemaFile>>;
}

const nouns = [
  ['The run', 'run/events.ts', 'RunEvents'],
  ['Options and attempts', 'options/events.ts', 'OptionEvents'],
  ['Experiments', 'experiments/events.ts', 'ExperimentEvents'],
  ['Candidates', 'archive/events.ts', 'ArchiveEvents'],
  ['Review and selection', 'review/events.ts', 'ReviewEvents'],
] as const;

const calls = [
  ['submit', checked.submitRequest, 'SubmitRequest', 'SubmitReply'],
  ['result', checked.resultRequest, 'ResultRequest', 'ResultReply'],
  ['validate', checked.withToken, null, 'ValidateReply'],
  ['status', checked.withToken, null, 'StatusReply'],
  ['archive', checked.withToken, null, 'ArchiveReply'],
  ['file', checked.fileRequest, 'FileRequest', 'FileReply'],
  ['nominate', checked.nominateRequest, 'NominateRequest', 'NominateReply'],
] as const;

const dialect = 'https://json-schema.org/draft/2020-12/schema';

/** Reads the source and answers all that is generated from it. Takes seconds: the whole project is type-checked. */
export function protocolDocs(): ProtocolDocs {
  const types = new TypeSchemas();
  try {
    const maps = nouns.map(([title, file, name]) => ({ title, map: types.of(file, name) }));
    const ofEvents = Object.keys(types.definitions);
    const attached = types.of('protocol/client.ts', 'AttachReply');
    const ofState = Object.keys(types.definitions).filter((name) => !ofEvents.includes(name));
    const agent = calls.map(([name, schema, request, reply]) => ({
      name,
      method: agentRequests[name],
      request: described(schema, request ? types.of('protocol/agent.ts', request) : {}),
      reply: types.of('protocol/agent.ts', reply),
    }));
    const ofAgent = Object.keys(types.definitions).filter((name) => ![...ofEvents, ...ofState].includes(name));
    const client = {
      attach: described(checked.attachRequest, types.of('protocol/client.ts', 'AttachRequest')),
      intent: described(checked.intent, types.of('protocol/client.ts', 'Intent')),
      reply: types.of('protocol/client.ts', 'IntentReply'),
    };
    const table = (file: string, name: string): string => fieldTable(types.of(file, name), types.definitions);
    const keeper = types.of('controller/keeperProtocol.ts', 'KeeperRecord');
    const [endpoint, run, notification] = [
      table('protocol/client.ts', 'Endpoint'),
      table('controller/launch.ts', 'RunRecord'),
      table('controller/notifier.ts', 'Notification'),
    ];
    const all = types.definitions;
    const sections = (names: readonly string[]): string =>
      names.map((name) => typeSection(name, all[name] ?? {}, all)).join('\n\n');
    return {
      parts: {
        chain: chainExample(),
        events: maps.map(({ title, map }) => eventSections(title, map, all)).join('\n\n'),
        'event types': sections(ofEvents),
        attach: `${fieldTable(client.attach, all)}\n\nThe reply:\n\n${fieldTable(attached, all)}`,
        intents: variantsOf(client.intent)
          .map((one) => intentSection(one, all))
          .join('\n\n'),
        'state types': sections(ofState),
        'agent requests': agent.map((one) => callSection(one, all)).join('\n\n'),
        'agent types': sections(ofAgent),
        endpoint,
        'run record': run,
        keeper: variantsOf(keeper)
          .map((one) => `- ${sayType(one)}`)
          .join('\n'),
        notification,
      },
      schemas: {
        'events.json': eventsFile(
          maps.map(({ map }) => map),
          all,
        ),
        'client.json': file('Requests and replies of the client socket', {
          ...reachable(attached, all),
          attach: client.attach,
          attachReply: attached,
          intend: client.intent,
          intendReply: client.reply,
        }),
        'agent.json': file('Requests and replies of the agent socket', {
          ...reachable({ anyOf: agent.map(({ reply }) => reply) }, all),
          ...Object.fromEntries(
            agent.flatMap(({ name, request, reply }) => [
              [name, request],
              [`${name}Reply`, reply],
            ]),
          ),
        }),
      },
    };
  } finally {
    types[Symbol.dispose]();
  }
}

const file = (title: string, $defs: Definitions): SchemaFile => ({ $schema: dialect, title, $defs });

const reachable = (schema: JsonSchema, all: Definitions): Definitions =>
  Object.fromEntries(namedIn(schema, all).map((name) => [name, all[name] ?? {}]));

/** A request as it is checked (zod: limits), with the docstrings of its type. */
function described(schema: z.ZodType, type: JsonSchema): JsonSchema {
  const { oneOf, ...own } = z.toJSONSchema(schema, { io: 'input' }) as JsonSchema & { oneOf?: readonly JsonSchema[] };
  const variants = oneOf ?? own.anyOf;
  if (variants)
    return {
      anyOf: variants.map((one) =>
        withWords(
          one,
          variantsOf(type).find((other) => kindOf(other) === kindOf(one)),
        ),
      ),
    };
  return withWords(own, type);
}

const kindOf = (schema: JsonSchema): unknown => schema.properties?.['kind']?.const;

function withWords(schema: JsonSchema, type: JsonSchema | undefined): JsonSchema {
  const properties = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const description = type?.properties?.[name]?.description;
    return [name, { ...field, ...(description && { description }) }] as const;
  });
  const { required } = schema;
  return { type: 'object', properties: Object.fromEntries(properties), ...(required && { required }) };
}

const eventSections = (title: string, map: JsonSchema, all: Definitions): string =>
  [
    `### ${title}`,
    ...Object.entries(map.properties ?? {}).map(([name, data]) =>
      [
        `#### \`${name}\``,
        ...(data.description ? [data.description] : []),
        variantsOf(data)
          .map((one) => fieldTable(one, all))
          .join('\n\nor\n\n'),
      ].join('\n\n'),
    ),
  ].join('\n\n');

function intentSection(schema: JsonSchema, all: Definitions): string {
  const kind = kindOf(schema) as keyof typeof intents;
  const { does, refusals } = intents[kind];
  const no = refusals.length === 0 ? '' : ` Refused with ${refusals.map((reason) => `\`${reason}\``).join(', ')}.`;
  return `#### \`${kind}\`\n\n${does}${no}\n\n${fieldTable(schema, all)}`;
}

const callSection = (
  { method, request, reply }: { readonly method: string; readonly request: JsonSchema; readonly reply: JsonSchema },
  all: Definitions,
): string =>
  [
    `### \`${method}\``,
    fieldTable(request, all),
    `Replies:\n\n${variantsOf(reply)
      .map((one) => `- ${sayType(one)}`)
      .join('\n')}`,
  ].join('\n\n');

/** One definition for each kind of event: its whole line. */
function eventsFile(maps: readonly JsonSchema[], all: Definitions): SchemaFile {
  const lines = maps.flatMap((map) =>
    Object.entries(map.properties ?? {}).map(([type, data]) => [type, lineOf(type, data)] as const),
  );
  return {
    ...file('Lines of a ledger that hold an event of a known kind', {
      ...reachable({ anyOf: maps }, all),
      ...Object.fromEntries(lines),
    }),
    anyOf: lines.map(([type]) => ({ $ref: `#/$defs/${type}` })),
  };
}

function lineOf(type: string, { description, ...data }: JsonSchema): JsonSchema {
  const number = { type: 'number' };
  const stamps = { seq: number, end: number, v: { const: 1 }, wall: number, mono: number, active: number };
  return {
    ...(description && { description }),
    type: 'object',
    properties: { ...stamps, type: { const: type }, data, hash: { type: 'string' } },
    required: [...Object.keys(stamps), 'type', 'data', 'hash'],
  };
}

/** Two segments in small: what the document works through. */
function chainExample(): string {
  const event = (seq: number, end: number, type: string, data: object): object => {
    const wall = 1_796_083_200_000 + seq * 1000;
    return { seq, end, v: 1, wall, mono: 50_000 + seq * 1000, active: seq * 1000, type, data };
  };
  const first = chained(headerLine(1, null), [
    event(1, 1, 'run.pauseAfter', { wanted: true, by: 'mina' }),
    event(2, 3, 'option.settled', { option: 1 }),
    event(3, 3, 'option.clean', { option: 1, restored: [] }),
  ]);
  const bytes = Buffer.byteLength(first.text);
  const second = chained(headerLine(2, { fence: 1, bytes, hash: first.hash, lastSeq: 3 }), [
    event(4, 4, 'run.resumed', { by: 'mina' }),
  ]);
  const block = (name: string, text: string): string =>
    `\`${name}\` (each line ends with one \`\\n\`):\n\n\`\`\`json\n${text}\`\`\``;
  return [
    block('ledger-1.jsonl', first.text),
    block('ledger-2.jsonl', second.text),
    `The first line's hash is SHA-256 of ${firstHash.length} zeros and the line up to \`,"hash"\`; the first segment has ${bytes} bytes.`,
  ].join('\n\n');
}

function chained(header: { line: string; hash: string }, events: readonly object[]): { text: string; hash: string } {
  let { line: text, hash } = header;
  text += '\n';
  for (const each of events) {
    const sealed = sealLine(each, hash);
    text += `${sealed.line}\n`;
    hash = sealed.hash;
  }
  return { text, hash };
}
