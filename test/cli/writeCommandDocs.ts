// Writes docs/commands.md and docs/hma.1 from the command line of src/cli/program.ts. A test fails while they aren't current.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { commandDocs } from '../../src/cli/commandDocs.ts';
import { processDesk } from '../../src/cli/desk.ts';
import { commandLine } from '../../src/cli/program.ts';
import { manPage } from './manPage.ts';

const program = commandLine(processDesk(), () => async () => undefined);
const docs = join(import.meta.dirname, '../../docs');
writeFileSync(join(docs, 'commands.md'), commandDocs(program));
writeFileSync(join(docs, 'hma.1'), manPage(program));
