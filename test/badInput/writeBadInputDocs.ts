// Writes docs/bad-input.md from the cases of this folder. A test fails while it isn't current.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { badInputDocs } from './document.ts';

writeFileSync(join(import.meta.dirname, '../../docs/bad-input.md'), await badInputDocs());
