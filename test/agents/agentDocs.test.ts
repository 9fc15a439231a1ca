import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { adapters } from '../../src/agents/adapters.ts';
import { agentDocs } from '../../src/cli/agentDocs.ts';

const docs = join(import.meta.dirname, '../../docs');

it('docs/agents.md is current (node test/agents/writeAgentDocs.ts), and each CLI has its page', () => {
  expect(readFileSync(join(docs, 'agents.md'), 'utf8')).toBe(agentDocs());
  const pages = Object.values(adapters).flatMap(({ name, harness }) => (harness ? [`agents/${name}.md`] : []));
  expect(pages.filter((page) => !existsSync(join(docs, page)))).toEqual([]);
});
