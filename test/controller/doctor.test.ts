import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { doctorItems } from '../../src/cli/doctorItems.ts';
import { examine } from '../../src/controller/doctor.ts';
import { tiersHere } from '../machines/machineRoom.ts';
import { layOutTask, testFolders } from '../rig/task.ts';

/** A task with a hidden grade, and a HOME with a key in it. */
async function place() {
  const folders = testFolders();
  const { root } = folders;
  chmodSync(root, 0o755);
  const [grades, person] = [join(root, 'grades'), join(root, 'person')];
  for (const path of [grades, join(person, '.ssh'), folders.home]) mkdirSync(path, { recursive: true });
  writeFileSync(join(grades, 'truth.csv'), '1,0,1');
  writeFileSync(join(person, '.ssh/id_ed25519'), 'a private key', { mode: 0o600 });
  chmodSync(join(person, '.ssh'), 0o700);
  chmodSync(folders.home, 0o700);
  const contract = await layOutTask(folders, {
    A: {},
    B: {},
    // a hidden file in a hidden folder leaves its empty stand-in there, which is no leak
    contract: {
      grade: { command: [process.execPath, 'evaluate.mjs'], hidden: [grades, join(grades, 'truth.csv')] },
    },
  });
  return { folders, contract, grades, key: join(person, '.ssh'), env: { ...process.env, HOME: person } };
}

it.each(tiersHere)('inside tier %s: what is closed, what can be done, and nothing is left', async (tier) => {
  const { folders, contract, grades, key, env } = await place();
  using all = folders;
  const report = await examine({ contract, workspace: all.workspace, home: all.home, tier, env });
  expect(report.detail).toBe('');
  const { answers } = report;
  expect(answers).toMatchObject({ writable: true, network: true });
  expect(answers?.hma['PATH']).toMatch(/\/runtime\/[0-9a-f]+\/bin\/hma$/u);
  expect(answers?.hma['bash -l']).toBe(answers?.hma['PATH']);
  expect(answers?.hma['sh -l']).toBe(answers?.hma['PATH']);
  const { open } = answers ?? { open: { state: [], hidden: [], homes: [] } };
  if (tier === 'none') {
    // what no tier closes is open: the look itself can tell the difference
    expect(open.hidden).toEqual(expect.arrayContaining([grades, join(all.workspace, 'hma.yaml')]));
    expect(open.homes).toContain(key);
    expect(open.state.length).toBeGreaterThan(0);
  } else {
    expect({ state: open.state, hidden: open.hidden }).toEqual({ state: [], hidden: [] });
    expect(open.homes).not.toContain(key);
  }
  const states = doctorItems(report, tier).map(({ state }) => state);
  expect(states).not.toContain('bad');
  expect(report.agents.map(({ agent, ok }) => ({ name: agent.name, ok }))).toEqual([
    { name: 'alpha', ok: true },
    { name: 'beta', ok: true },
  ]);
  expect(readdirSync(all.home)).toEqual(['runtime']);
  expect(existsSync(join(all.workspace, '.hma'))).toBe(false);
});

it('what is open inside a tier stops the start, and words say what', async () => {
  const report = {
    agents: [],
    detail: '',
    gpus: 2,
    turns: [{ agent: 'ada', ok: false, detail: 'network: refused' }],
    tried: { hidden: 1, homes: 3 },
    answers: {
      open: { state: [], hidden: ['/data/truth.csv'], homes: [] },
      writable: false,
      hma: { PATH: null },
      gpus: 1,
      network: false,
      programs: [{ ok: false, said: 'cannot execute' }],
    },
  } as const;
  const items = doctorItems(report, 'bubblewrap');
  expect(items.map(({ state, code }) => `${state} ${code}`)).toEqual([
    'bad inside_open',
    'bad workspace_not_writable',
    'bad hma_not_found',
    'bad network_closed',
    'bad gpus_missing',
    'bad program_does_not_start',
    'bad turn_failed',
  ]);
  expect(items[0]?.what).toBe('inside, a session can read /data/truth.csv');
  expect(doctorItems({ ...report, turns: [], answers: null, detail: 'bwrap: no' }, 'bubblewrap')).toMatchObject([
    { topic: 'inside', state: 'bad', detail: 'bwrap: no' },
  ]);
});
