import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { commonCases, ended, harnessRig } from '../harnessCases.ts';
import { opencodeUnderTest } from '../opencodeUnderTest.ts';

const rig = harnessRig(opencodeUnderTest);
commonCases(opencodeUnderTest, rig);

const plant = (workspace: string): void => {
  mkdirSync(join(workspace, '.opencode/plugin'), { recursive: true });
  const code = `require('node:fs').writeFileSync(${JSON.stringify(join(workspace, 'planted'))}, '');\nexport default {};\n`;
  writeFileSync(join(workspace, '.opencode/plugin/evil.ts'), code);
};

it('runs no plugin of the workspace, and one is no reason to miss a turn where it can be hidden', async () => {
  const { session } = await rig.start(
    [{ shell: 'ls .opencode/plugin; wc -c .opencode/plugin/evil.ts' }, { text: 'Done.' }],
    {
      files: plant,
    },
  );
  expect(session.failure(await ended(session)), session.output()).toBeNull();
  expect(existsSync(join(session.room.workspace, 'planted'))).toBe(false);
});

it('does not start without a tier where the workspace has plugins, which nothing keeps it from loading', async () => {
  const start = rig.start([{ text: 'Done.' }], { files: plant, tier: 'none' });
  await expect(start).rejects.toThrow(/plugins for opencode \(\.opencode\/plugin\/evil\.ts\).*move them away/u);
});

it('offers the commands of the session as tools when asked to', async () => {
  const { session, name } = await rig.start([{ text: 'Done.' }], { agent: { tools: 'mcp' } });
  await ended(session);
  expect(rig.requestsOf(name)[0]?.tools.join(' '), session.output()).toMatch(/hma.*submit/u);
});

it('limited, works with shell and files without being asked', async () => {
  const { session } = await rig.start([{ shell: 'echo 1 > made.txt' }, { text: 'Done.' }], { tier: 'none' });
  expect(session.failure(await ended(session)), session.output()).toBeNull();
  expect(session.room.read('made.txt'), session.output()).toBe('1\n');
});
