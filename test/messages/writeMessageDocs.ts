// Writes docs/messages.md from the tables of src/cli/explain. A test fails while it isn't current.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { messageDocs } from './document.ts';

writeFileSync(join(import.meta.dirname, '../../docs/messages.md'), messageDocs());
