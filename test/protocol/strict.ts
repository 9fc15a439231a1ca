import * as z from 'zod';

/** A schema file as a check that takes no field it doesn't name: what is not described is found. */
export const strict = (schema: object): z.ZodType => z.fromJSONSchema(closed(schema) as never);

function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const own = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner)]));
  return 'properties' in own && own['type'] === 'object' ? { ...own, additionalProperties: false } : own;
}
