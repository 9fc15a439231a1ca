import * as z from 'zod';

import { sessionExit } from '../protocol/agent.ts';
import { exitCodes, exitMeanings } from './exitCodes.ts';
import { outputs } from './schemas.ts';

const sessionMeanings: Readonly<Record<keyof typeof sessionExit, string>> = {
  accepted: 'accepted, valid, or done',
  failed: 'the controller could not answer, or a file could not be written',
  rejected: 'the experiment was rejected, or the files are invalid',
  pending: 'received, not judged yet: ask with hma result',
  refused: 'the gate refused: not this session’s turn, cap or budget reached, paused, too late, unknown id',
  unreachable: 'no controller, or not inside a session',
  usage: 'wrong usage of the command line',
};

const rows = (codes: Readonly<Record<string, number>>, meanings: Readonly<Record<string, string>>): string =>
  Object.entries(codes)
    .map(([name, code]) => `| ${code} | ${meanings[name]} |`)
    .join('\n');

interface Shape {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Shape[];
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
}

/** A value's shape in a few words: `number`, `"A" or "B"`, `list of …`. */
function sayShape(shape: Shape): string {
  if (shape.const !== undefined) return `\`${JSON.stringify(shape.const)}\``;
  if (shape.enum) return shape.enum.map((value) => `\`${JSON.stringify(value)}\``).join(' or ');
  if (shape.anyOf) return [...new Set(shape.anyOf.map(sayShape))].join(' or ');
  if (shape.items) return `list of ${sayShape(shape.items)}`;
  return typeof shape.type === 'string' ? shape.type : 'any value';
}

/** The objects inside a shape whose fields are listed below it. */
const innerOf = (shape: Shape): Shape | undefined =>
  shape.properties
    ? shape
    : shape.items
      ? innerOf(shape.items)
      : shape.anyOf?.map(innerOf).find((one) => one !== undefined);

function fields(shape: Shape, indent = ''): string[] {
  return Object.entries(shape.properties ?? {}).flatMap(([name, field]) => {
    const described =
      field.description ?? field.anyOf?.map((one) => one.description).find((text) => text !== undefined);
    const inner = innerOf(field);
    return [
      `${indent}- \`${name}\`: ${sayShape(field)}${described === undefined ? '' : ` (${described})`}`,
      ...(inner ? fields(inner, `${indent}  `) : []),
    ];
  });
}

/** The text of docs/json.md: what `--json` prints and what exit codes mean, from the schemas themselves. */
export function jsonDocs(): string {
  const sections = outputs.map(({ command, lines, schema }) => {
    const shape = z.toJSONSchema(schema) as Shape;
    const form = lines ? 'One JSON object a line:' : 'One JSON object:';
    return `## \`${command}\`\n\n${form}\n\n${fields(shape).join('\n')}\n`;
  });
  return `# JSON output and exit codes of \`hma\`

Made from src/cli/schemas.ts by \`node test/cli/writeJsonDocs.ts\`; do not edit. Fields are added, never renamed; ignore those you don't know.
Times are milliseconds: \`…Wall\` and \`wall\` are Unix time, the others active runtime. Scores are in the metric's unit.

## Exit codes

Of a person's commands:

| code | meaning |
|---|---|
${rows(exitCodes, exitMeanings)}

Of the commands inside a session (\`hma submit\`, \`result\`, \`validate\`, \`status\`, \`archive\`, \`nominate\`):

| code | meaning |
|---|---|
${rows(sessionExit, sessionMeanings)}

\`hma submit --json\` prints \`{"id":"e3"}\` and then, on a line of its own, the receipt: \`{"id", "outcome": "pending" | "accepted" | "rejected", "score"?, "improved"?, "code"?, "reason"?, "remaining"}\`, or \`{"refused": {"code", "reason"}}\`.

${sections.join('\n')}`;
}
