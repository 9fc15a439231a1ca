// Writes docs/commands.md from the command line of src/cli/program.ts. A test fails while it isn't current.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { commandDocs } from '../../src/cli/commandDocs.ts';
import { processDesk } from '../../src/cli/desk.ts';
import { commandLine } from '../../src/cli/program.ts';

const program = commandLine(processDesk(), () => async () => undefined);
writeFileSync(join(import.meta.dirname, '../../docs/commands.md'), commandDocs(program));
