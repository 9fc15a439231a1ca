import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { examine } from '../../../src/controller/doctor.ts';
import { bundleFolder } from '../../../src/controller/runtime.ts';
import { pathWithClis } from '../../rig/agentsRun.ts';
import { startModelServer } from '../../rig/modelServer.ts';
import { layOutTask, testFolders } from '../../rig/task.ts';

const contract = { agents: { A: 'claude-code', B: 'codex' }, isolation: 'auto' };

it('one scripted turn of each agent at a test endpoint, from inside the isolation, without a key of the user', async () => {
  await using server = await startModelServer({ turn: [{ text: 'OK.' }] });
  using folders = testFolders();
  const loaded = await layOutTask(folders, { A: {}, B: {}, contract });
  const env = { ...process.env, PATH: pathWithClis, ANTHROPIC_API_KEY: 'of the user', OPENAI_API_KEY: 'of the user' };
  const given = {
    contract: loaded,
    workspace: folders.workspace,
    home: folders.home,
    tier: 'bubblewrap',
    env,
  } as const;
  const report = await examine({ ...given, endpoint: server.url('turn') });
  expect(report.turns).toEqual([
    { agent: 'claude-code', ok: true, detail: '' },
    { agent: 'codex', ok: true, detail: '' },
  ]);
  expect(report.answers?.programs.map(({ ok, said }) => ({ ok, version: /\d+\.\d+\.\d+/u.exec(said)?.[0] }))).toEqual([
    { ok: true, version: '2.1.332' },
    { ok: true, version: '0.171.0' },
  ]);
  expect(server.requests.length).toBeGreaterThanOrEqual(2);
  expect(new Set(server.requests.map(({ key }) => key))).toEqual(new Set(['scripted-key-of-the-doctor']));
  const nobody = await examine({ ...given, endpoint: 'http://127.0.0.1:9' });
  expect(nobody.turns.map(({ ok }) => ok)).toEqual([false, false]);
});

it('hma doctor says what is missing of an agent, within 30 s', async () => {
  using folders = testFolders();
  await layOutTask(folders, { A: {}, B: {}, contract });
  writeFileSync(join(folders.workspace, '.gitignore'), '');
  const began = performance.now();
  const { status, stdout } = spawnSync(process.execPath, [join(bundleFolder(), 'cli.js'), 'doctor'], {
    cwd: folders.workspace,
    encoding: 'utf8',
    env: { PATH: pathWithClis, HOME: folders.root, HMA_HOME: folders.home, ANTHROPIC_API_KEY: 'x' },
  });
  expect(status).toBe(1);
  expect(stdout).toContain('agent A (claude-code) is Claude Code 2.1.332 (tested), key in ANTHROPIC_API_KEY');
  expect(stdout).toContain('agent B (codex) is not signed in');
  expect(stdout).toContain('hma login codex');
  expect(stdout).toContain("inside, a session can't read the runs' state");
  expect(performance.now() - began).toBeLessThan(60_000); // 6 s where the machine has time; two cores are shared here
});
