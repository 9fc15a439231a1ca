import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import * as z from 'zod';

import { contractSource } from './schema.ts';

/** Where the generated schema lies. */
export const jsonSchemaFile = fileURLToPath(new URL('../../media/hma.schema.json', import.meta.url));

type Json = Record<string, unknown>;

/** The JSON schema (draft 7, which YAML editors read) of `hma.yaml` as users write it, for completion, hover and checks in an editor. */
export function contractJsonSchema(): Json {
  const generated = z.toJSONSchema(contractSource, {
    io: 'input',
    target: 'draft-7',
    override: ({ jsonSchema }) => tidy(jsonSchema as Json),
  }) as Json;
  const { $schema, ...rest } = generated;
  return {
    $schema,
    title: 'HMA task contract',
    description:
      'The task that two agents take turns on: what is to be improved, how it is evaluated, and within which bounds.',
    ...rest,
  };
}

/** Drops what only makes hovers longer: the bounds of safe integers, and the empty default of whole sections. */
function tidy(schema: Json): void {
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
  const value = schema['default'];
  if (typeof value === 'object' && value !== null && Object.keys(value).length === 0) delete schema['default'];
}

/** The text of the generated file. */
export const contractJsonSchemaText = (): string => `${JSON.stringify(contractJsonSchema(), null, 2)}\n`;

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (process.argv.includes('--write')) {
    mkdirSync(dirname(jsonSchemaFile), { recursive: true });
    writeFileSync(jsonSchemaFile, contractJsonSchemaText());
  } else process.stdout.write(contractJsonSchemaText());
}
