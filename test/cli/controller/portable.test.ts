import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { applyCandidate } from '../../../src/client/apply.ts';
import { findRun } from '../../../src/client/lookup.ts';
import { exportRun, importRun } from '../../../src/client/portable.ts';
import { viewRun } from '../../../src/client/readRun.ts';
import { tidyRun } from '../../../src/client/tidy.ts';
import { startTestRun, type TestRun } from '../../rig/run.ts';

const placeOf = ({ folders }: TestRun, home = folders.home) => {
  const place = findRun({ cwd: folders.workspace, env: { HMA_HOME: home } });
  if (!place.ok) throw new Error(place.refusal.what);
  return place.value;
};

/** Repacks what was exported after a change. */
function repack(file: string, to: string, change: (folder: string) => void): string {
  const folder = `${to}.d`;
  mkdirSync(folder);
  execFileSync('tar', ['-xzf', file, '-C', folder]);
  change(folder);
  execFileSync('tar', ['-czf', to, '-C', folder, '.']);
  return to;
}

test('a run goes into one file and is whole elsewhere: same state, same bytes, no token; a damaged one is refused', async () => {
  await using run = await startTestRun({
    A: { 1: [{ submit: 1 }], review: [{ nominate: 'e1' }] },
    B: { 2: [{ submit: 2 }, { submit: 'nonsense' }], review: [{ nominate: 'e1' }] },
    contract: { budgets: { total: '5m', review: '30s', experiments: 2 } },
  });
  const state = await run.finished();
  run.client[Symbol.dispose]();
  const { root, workspace } = run.folders;
  const file = join(root, 'night.tgz');
  for (const scratch of ['sessions/option-1', 'evaluations/e1-x/runner']) {
    mkdirSync(join(run.runFolder, scratch), { recursive: true });
    writeFileSync(join(run.runFolder, scratch, 'passwd'), 'somebody:x:1000:1000::/home/somebody:/bin/sh\n');
  }
  expect(await exportRun(placeOf(run), file)).toMatchObject({ ok: true });
  expect(await exportRun(placeOf(run), file)).toMatchObject({ ok: false, refusal: { code: 'exists' } });
  const cutOff = AbortSignal.abort();
  expect(await exportRun(placeOf(run), join(root, 'cut.tgz'), cutOff)).toMatchObject({ ok: false });
  expect(await importRun(file, { home: join(root, 'cut'), workspace, signal: cutOff })).toMatchObject({ ok: false });
  expect([...readdirSync(root).filter((name) => name.startsWith('cut.')), ...readdirSync(join(root, 'cut'))]).toEqual(
    [],
  );
  const listed = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' });
  expect(listed).toMatch(/ledger-1\.jsonl/);
  expect(listed).not.toMatch(/token|keeper\.json|endpoint|passwd/);
  const secret = readFileSync(join(run.runFolder, 'sessions/option-1/token'), 'utf8');
  expect(execFileSync('tar', ['-xzOf', file], { maxBuffer: 1e9 }).includes(secret)).toBe(false);

  const home = join(root, 'elsewhere');
  const taken = await importRun(file, { home, workspace });
  expect(taken).toMatchObject({ ok: true, value: { run: state.run, from: workspace, candidates: 2 } });
  expect(await importRun(file, { home, workspace })).toMatchObject({ ok: false, refusal: { code: 'exists' } });
  const place = placeOf(run, home);
  const view = await viewRun(place);
  if (!view.ok) throw new Error(view.refusal.what);
  expect(view.value.state).toEqual(state);
  expect(await tidyRun(place, false)).toMatchObject({ kind: 'collected' });
  const folder = join(root, 'applied');
  const applied = await applyCandidate(view.value, {
    ...{ candidate: 'e2', target: { to: 'folder', folder }, dryRun: false, overwrite: false, env: process.env },
  });
  expect(applied).toMatchObject({ ok: true });
  expect(readFileSync(join(folder, 'candidate.txt'), 'utf8').trim()).toBe('2');

  const refusal = async (name: string, change: (folder: string) => void): Promise<string> => {
    const into = join(root, `home-${name}`);
    const done = await importRun(repack(file, join(root, `${name}.tgz`), change), { home: into, workspace });
    expect(readdirSync(into)).toEqual([]);
    return done.ok ? 'taken in' : done.refusal.what;
  };
  const ledger = (of: string): string => join(of, 'ledger-1.jsonl');
  const forged = await refusal('forged', (of) =>
    writeFileSync(ledger(of), readFileSync(ledger(of), 'utf8').replace('"score":1', '"score":9')),
  );
  expect(forged).toMatch(/its ledger is broken at .*ledger-1\.jsonl:\d+/);
  expect(await refusal('linked', (of) => symlinkSync('/etc/passwd', join(of, 'odd')))).toContain('neither a file nor');
  expect(await refusal('bare', (of) => execFileSync('rm', ['-r', join(of, 'snapshots')]))).toContain('e1 are missing');
  writeFileSync(join(root, 'noise.tgz'), 'no archive at all');
  expect(await importRun(join(root, 'noise.tgz'), { home: join(root, 'h'), workspace })).toMatchObject({ ok: false });
});
