import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import type { Verdict } from '../../src/evaluators/port.ts';
import { parseVerdict } from '../../src/evaluators/verdictText.ts';
import { loadContract } from '../../src/task/load.ts';
import { codeIn } from '../protocol/codeIn.ts';
import { aFolder, write } from './folders.ts';

const repository = join(import.meta.dirname, '../..');
const page = readFileSync(join(repository, 'docs/extending.md'), 'utf8');

/** What an evaluator of the page says of a candidate's files. */
function verdict(program: string, name: string, candidate: Readonly<Record<string, string>>): Verdict {
  const root = aFolder();
  write(root, { [name]: codeIn(page, name) });
  const result = join(root, 'result.json');
  const { status, stderr } = spawnSync(program, [join(root, name)], {
    env: { PATH: process.env['PATH'], HMA_CANDIDATE: write(join(root, 'candidate'), candidate), HMA_RESULT: result },
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return parseVerdict(readFileSync(result, 'utf8'));
}

it('the evaluator in Python scores, and tells what is wrong in form from what is not correct', () => {
  const of = (code: string) => verdict('python3', 'evaluate.py', { 'solve.py': code });
  expect(of('for n in range(1, 6): print(n * n)')).toEqual({ kind: 'scored', score: 0 });
  expect(of('for n in range(1, 6): print(n * n + 2)')).toEqual({ kind: 'scored', score: 2 });
  expect(of('for n in range(5): print(1e6)')).toMatchObject({ kind: 'incorrect', score: expect.closeTo(999_989, 0) });
  expect(of('print("much")')).toEqual({ kind: 'invalid', reason: 'solve.py printed something that is no number' });
  expect(of('print(1)')).toEqual({ kind: 'invalid', reason: 'solve.py printed 1 numbers instead of 5' });
  expect(of('raise SystemExit(3)')).toEqual({ kind: 'invalid', reason: 'solve.py ended with code 3' });
  expect(verdict('python3', 'evaluate.py', {})).toEqual({ kind: 'invalid', reason: 'there is no solve.py' });
  expect(of('import os; print(1 / ("HMA_RESULT" not in os.environ), 4, 9, 16, 25)')).toEqual({
    kind: 'scored',
    score: 0,
  });
});

it('the evaluator in shell scores, and tells what is wrong in form from what is not correct', () => {
  const of = (code: string) => verdict('sh', 'evaluate.sh', { 'sort.sh': code });
  expect(of('sort\n')).toEqual({ kind: 'scored', score: 5 });
  expect(of('cat\n')).toMatchObject({ kind: 'incorrect' });
  expect(of('exit 1\n')).toEqual({ kind: 'invalid', reason: 'sort.sh failed' });
  expect(of('')).toEqual({ kind: 'invalid', reason: 'sort.sh is missing or empty' });
  expect(of('[ -z "$HMA_RESULT" ] && sort\n')).toMatchObject({ kind: 'scored' });
});

it('the metric and the agents of the page are a contract', async () => {
  const metric = /`(metric: \{[^`]*\})`/.exec(page)?.[1] ?? '';
  const agents = /```yaml\n([^]*?)```/.exec(page)?.[1] ?? '';
  const workspace = write(aFolder(), {
    'hma.yaml': `objective: x\ncandidate: a.txt\nevaluate: ["true"]\n${metric}\n${agents}`,
  });
  expect(await loadContract({ workspace, given: { wall: 0 } })).toMatchObject({
    ok: true,
    value: { contract: { metric: { baseline: 8, noise: 0.01 }, agents: { A: { adapter: 'command' } } } },
  });
});

it('the least adapter of the page is the one that is type-checked', () => {
  const checked = readFileSync(join(repository, 'test/agents/minimalAdapter.ts'), 'utf8');
  expect(codeIn(page, 'adapter.ts')).toBe(
    checked.replaceAll("'../../src/agents/", "'../").replaceAll("'../../src/", "'../../"),
  );
});
