import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { freezeContract, thawContract } from '../../src/task/freeze.ts';
import { loadContract } from '../../src/task/load.ts';

async function load(more: string) {
  const workspace = mkdtempSync(join(tmpdir(), 'hma-binds-'));
  onTestFinished(() => rmSync(workspace, { recursive: true, force: true }));
  writeFileSync(join(workspace, 'eval.py'), '');
  writeFileSync(join(workspace, 'model.py'), '');
  const text = `objective: x\ncandidate: model.py\nevaluate:\n  command: [python3, eval.py]\n${more}`;
  const loaded = await loadContract({ workspace, text, given: { wall: 0, home: '/home/me' } });
  return loaded.ok ? loaded.value.contract : loaded.refusal.messages.map(({ code, what }) => `${code} ${what}`);
}

test('what an evaluator finds at absolute paths: the checkout, something elsewhere, an empty folder; it survives freezing', async () => {
  const contract = await load(
    '  binds: [{ from: ., to: /app }, { from: ~/tests, to: /tests/ }, { to: /logs }]\nisolation: { hidden: [/etc/hostname] }\n',
  );
  expect(contract).toMatchObject({
    evaluate: {
      binds: [
        { from: '.', to: '/app' },
        { from: '/home/me/tests', to: '/tests' },
        { from: null, to: '/logs' },
      ],
    },
    isolation: { hidden: ['/etc/hostname'] },
  });
  if (Array.isArray(contract)) return;
  expect(thawContract(freezeContract(contract))).toEqual({ ok: true, value: contract });
});

test('a contract without them has no such keys, so that its hash is what it was', async () => {
  const contract = await load('');
  if (Array.isArray(contract)) throw new Error(contract.join('\n'));
  expect([Object.keys(contract.evaluate), Object.keys(contract.isolation)]).toEqual([
    expect.not.arrayContaining(['binds']),
    expect.not.arrayContaining(['hidden']),
  ]);
});

test.each([
  ['  binds: [{ from: ., to: app }]\n', 'bad_bind `evaluate.binds`: app is no absolute path below /'],
  ['  binds: [{ from: ., to: /usr/src }]\n', 'bad_bind `evaluate.binds`: /usr/src is a folder of the system'],
  ['  binds: [{ from: ../x, to: /app }]\n', 'bad_bind `evaluate.binds`: ../x leaves the checkout'],
  [
    '  binds: [{ from: ., to: /app }]\nisolation: none\n',
    "binds_need_bubblewrap `evaluate.binds` can't be served by isolation none: all programs see the same folders there",
  ],
  ['isolation: { hidden: [/no/such/place] }\n', 'file_missing `isolation.hidden`: /no/such/place does not exist'],
] as const)('%j is refused', async (more, said) => {
  expect(await load(more)).toEqual([said]);
});
