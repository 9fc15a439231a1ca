import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { assemble, run } from '../../media/templates/kernel/tests/machine.mjs';
import { exitCodes } from '../../src/cli/exitCodes.ts';
import { tiersHere } from '../machines/machineRoom.ts';
import { ImportRoom } from './importRig.ts';

const [tier] = tiersHere;

/** Two elements in a round, loads first: fewer waits and fewer branches than the template's kernel. */
const better = `
      li   r1, 0
      li   r2, 0
      li   r3, 256
loop: ld   r4, r2, 0
      ld   r5, r2, 256
      ld   r6, r2, 1
      ld   r7, r2, 257
      addi r2, r2, 2
      sub  r4, r4, r5
      mul  r4, r4, r4
      sub  r6, r6, r7
      mul  r6, r6, r6
      add  r1, r1, r4
      add  r1, r1, r6
      blt  r2, r3, loop
      halt
`;

test('the kernel template runs as it is: cycles to be lowered, a wrong sum incorrect, a wrong program invalid, its tests protected', async () => {
  const room = new ImportRoom();
  expect(await room.init(['--template', 'kernel'])).toMatchObject({ exit: 0, err: '' });
  expect(room.files()).toEqual(['OBJECTIVE.md', 'hma.yaml', 'kernel.s', 'tests/evaluate.mjs', 'tests/machine.mjs']);
  const { contract, warnings } = await room.contract();
  expect(warnings).toEqual([]);
  expect(contract).toMatchObject({
    candidate: ['kernel.s'],
    metric: { name: 'cycles', direction: 'minimize', baseline: 4354 },
    budgets: { totalMs: 3_600_000, reviewMs: 180_000 },
  });
  expect(contract.protected).toContain('tests/**');

  const begun = readFileSync(`${room.workspace}/kernel.s`, 'utf8');
  const judged = async (files: Record<string, string>) => (await room.evaluate(files, 'evaluation', tier)).verdict;
  expect(await judged({ 'kernel.s': begun })).toEqual({ kind: 'scored', score: contract.metric.baseline });
  const improved = await judged({ 'kernel.s': better });
  expect(improved).toMatchObject({ kind: 'scored', score: expect.any(Number) });
  expect(improved.kind === 'scored' && improved.score < 3000).toBe(true);
  expect(await judged({ 'kernel.s': better.replace('li   r3, 256', 'li   r3, 254') })).toMatchObject({
    kind: 'incorrect',
  });
  expect(await judged({ 'kernel.s': 'jump r1' })).toMatchObject({
    kind: 'invalid',
    reason: 'kernel.s: line 1: there is no instruction jump',
  });
  for (const [text, reason] of [
    ['jump r1', 'line 1: there is no instruction jump'],
    ['li r32, 1', 'line 1: "r32" can\'t stand there in li'],
    ['li r1', 'line 1: li takes 2 operands'],
    ['li r1, 0', 'it needs a halt'],
    ['here: bne r1, r2, here\nbne r0, r1, here\nli r1, 1\nx: bne r1, r0, x', 'does not halt within'],
    ['ld r1, r0, 9999\nhalt', 'line 1: there is no memory at 9999'],
  ] as const)
    expect(() => run(assemble(text), new Int32Array(576), 10_000)).toThrow(reason);
  const cheat = { 'kernel.s': begun, 'tests/machine.mjs': 'export const run = () => ({ cycles: 1 });' };
  expect(await judged(cheat)).toEqual({ kind: 'scored', score: 4354 });
});

test('a template that is not there is refused with those that are', async () => {
  const room = new ImportRoom();
  expect(await room.init(['--template', 'colonel'])).toMatchObject({
    exit: exitCodes.usage,
    err: expect.stringContaining('Write one of: kernel.'),
  });
});
