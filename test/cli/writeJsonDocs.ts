// Writes docs/json.md from the schemas of src/cli/schemas.ts. A test fails while it isn't current.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { jsonDocs } from '../../src/cli/jsonDocs.ts';

const docs = join(import.meta.dirname, '../../docs');
mkdirSync(docs, { recursive: true });
writeFileSync(join(docs, 'json.md'), jsonDocs());
