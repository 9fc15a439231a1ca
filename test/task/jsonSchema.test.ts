import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

import { contractJsonSchema, jsonSchemaFile } from '../../src/task/jsonSchema.ts';

type Json = {
  properties?: Record<string, Json>;
  anyOf?: Json[];
  items?: Json;
  description?: string;
  additionalProperties?: unknown;
  required?: string[];
  type?: unknown;
  default?: unknown;
};

/** Every mapping of the schema with its path. */
function mappings(schema: Json, path: string): [string, Json][] {
  const inner = [
    ...Object.entries(schema.properties ?? {}).map(([key, value]) => mappings(value, `${path}.${key}`)),
    ...(schema.anyOf ?? []).map((one) => mappings(one, path)),
    ...(schema.items ? [mappings(schema.items, `${path}[]`)] : []),
  ].flat();
  return schema.properties ? [[path, schema], ...inner] : inner;
}

it('is current: run `node src/task/jsonSchema.ts --write` after changing the schema', () => {
  expect(JSON.parse(readFileSync(jsonSchemaFile, 'utf8'))).toEqual(contractJsonSchema());
});

it('describes every key, and allows no other', () => {
  const all = mappings(contractJsonSchema(), '');
  const undescribed = all.flatMap(([path, schema]) =>
    Object.entries(schema.properties!).flatMap(([key, value]) => (value.description ? [] : [`${path}.${key}`])),
  );
  expect({
    undescribed,
    open: all.filter(([, schema]) => schema.additionalProperties !== false).map(([path]) => path),
  }).toEqual({ undescribed: [], open: [] });
  expect(all.length).toBeGreaterThan(15);
});

it('requires three keys and carries defaults', () => {
  const schema = contractJsonSchema() as Json;
  expect({
    required: schema.required,
    feedback: schema.properties!['feedback']!.default,
    total: schema.properties!['budgets']!.properties!['total']!.default,
  }).toEqual({ required: ['objective', 'candidate', 'evaluate'], feedback: 'score', total: '6h' });
});
