import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { dryRunItem } from '../../src/cli/doctorItems.ts';
import { dryRun } from '../../src/controller/dryRun.ts';
import { loadContract } from '../../src/task/load.ts';
import { tiersHere } from '../machines/machineRoom.ts';
import { layOutTask, testFolders, type TestFolders } from '../rig/task.ts';

const run = async (folders: TestFolders, tier: (typeof tiersHere)[number]) => {
  const loaded = await loadContract({ workspace: folders.workspace, given: { wall: Date.now() } });
  if (!loaded.ok) throw new Error('the contract has errors');
  return await dryRun({ ...folders, contract: loaded.value.contract, tier, env: process.env });
};

it.each(tiersHere)(
  'in tier %s the evaluator runs once on the files as they are, and nothing of it is left',
  async (tier) => {
    using folders = testFolders();
    await layOutTask(folders, { A: {}, B: {}, candidate: '7\n' });
    expect(await run(folders, tier)).toMatchObject({ kind: 'ran', verdict: { kind: 'scored', score: 7 } });
    expect(readdirSync(folders.home)).toEqual(['runtime']);
    expect(existsSync(join(folders.workspace, '.hma'))).toBe(false);
    expect(readFileSync(join(folders.workspace, 'candidate.txt'), 'utf8')).toBe('7\n');
  },
);

it.each([
  ['no candidate yet', null, undefined, 'warning', /^the evaluator was not tried/],
  [
    'a candidate of the wrong form',
    'invalid:no number\n',
    undefined,
    'warning',
    /says invalid of the files as they are/,
  ],
  ['an evaluator that writes nothing', '1\n', 'console.log("oops")', 'bad', /gave no result/],
  ['an evaluator that takes too long', '1\n', 'setTimeout(() => {}, 60000)', 'bad', /was not done after/],
] as const)('%s is told in words', async (_, candidate, script, state, words) => {
  using folders = testFolders();
  await layOutTask(folders, {
    A: {},
    B: {},
    candidate,
    contract: { evaluate: { command: [process.execPath, 'evaluate.mjs'], timeout: '3s' } },
  });
  if (script !== undefined) writeFileSync(join(folders.workspace, 'evaluate.mjs'), script);
  expect(dryRunItem(await run(folders, 'none'))).toMatchObject({
    topic: 'evaluator',
    state,
    what: expect.stringMatching(words),
  });
});

it('a sparse giant would be refused when it is submitted, and is told so without being read', async () => {
  using folders = testFolders();
  await layOutTask(folders, { A: {}, B: {}, candidate: '1\n' });
  execFileSync('truncate', ['-s', '3T', join(folders.workspace, 'candidate.txt')]);
  const item = dryRunItem(await run(folders, 'none'));
  expect(item).toMatchObject({
    state: 'bad',
    code: 'candidate_refused',
    detail: expect.stringContaining('more than the limit'),
  });
});
