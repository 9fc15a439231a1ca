// Writes the generated parts of docs/protocol.md and docs/schemas from the source. A test fails while they aren't current.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { protocolDocs } from './protocolDocs.ts';
import { withParts } from './withParts.ts';

const docs = join(import.meta.dirname, '../../docs');
const { parts, schemas } = protocolDocs();
const page = join(docs, 'protocol.md');
writeFileSync(page, withParts(readFileSync(page, 'utf8'), parts));
mkdirSync(join(docs, 'schemas'), { recursive: true });
for (const [name, schema] of Object.entries(schemas))
  writeFileSync(join(docs, 'schemas', name), `${JSON.stringify(schema, null, 1)}\n`);
