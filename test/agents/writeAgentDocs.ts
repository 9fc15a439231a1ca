// Writes docs/agents.md from the adapters and presets. A test fails while it isn't current.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { agentDocs } from '../../src/cli/agentDocs.ts';

writeFileSync(join(import.meta.dirname, '../../docs/agents.md'), agentDocs());
