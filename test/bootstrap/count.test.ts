import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { countReport, sum } from './count.mjs';
import { nodeBinary, root } from './environment.mjs';

test('a report of vitest is counted whole: passed, failed, skipped, and a file that could not be loaded', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hma-count-'));
  try {
    const report = join(folder, 'report.json');
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const args = ['run', '--root', 'test/bootstrap/fixtures', '--reporter=json', `--outputFile=${report}`];
    const env = { PATH: process.env['PATH'], HOME: folder };
    expect(spawnSync(nodeBinary, [vitest, ...args], { cwd: root, env, timeout: 60_000 }).status).toBe(1);
    expect(countReport(JSON.parse(readFileSync(report, 'utf8')))).toEqual({
      passed: 1,
      failures: expect.toSatisfy(
        (names: string[]) =>
          names.toSorted().join() === [join(root, 'test/bootstrap/fixtures/broken.case.ts'), 'a layer fails'].join(),
      ),
      skipped: ['a layer is skipped', 'a layer is to come'],
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const rules = { ci: false, tests: true, allowedSkips: {} };

test('the closing line sums all layers', () => {
  const counts = [
    { passed: 3, failures: [], skipped: [] },
    { passed: 4, failures: ['a', 'b'], skipped: [] },
    { passed: 0, failures: ['typecheck'], skipped: [] },
  ];
  expect(sum(counts, rules)).toEqual({ good: false, line: '7 passed, 3 failed', forbidden: [] });
  expect(sum(counts.slice(0, 1), rules)).toEqual({ good: true, line: '3 passed, 0 failed', forbidden: [] });
});

test('nothing passed is not good, unless only checks were asked for', () => {
  expect(sum([], { ...rules, tests: false }).good).toBe(true);
  expect(sum([], rules)).toEqual({ good: false, line: '0 passed, 0 failed', forbidden: [] });
});

test('in CI a skipped test fails unless its reason is on the list', () => {
  const counts = [{ passed: 2, failures: [], skipped: ['without a reason', 'with a reason'] }];
  expect(sum(counts, rules)).toEqual({ good: true, line: '2 passed, 0 failed, 2 skipped', forbidden: [] });
  expect(sum(counts, { ...rules, ci: true, allowedSkips: { 'with a reason': 'needs a GPU' } })).toEqual({
    good: false,
    line: '2 passed, 1 failed, 1 skipped',
    forbidden: ['without a reason'],
  });
});
