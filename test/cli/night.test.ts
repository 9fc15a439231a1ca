import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';

import { adapters } from '../../src/agents/adapters.ts';
import { inTime } from '../../src/base/inTime.ts';
import { budgetItem, nightOf } from '../../src/cli/night.ts';
import { preflight, type PreflightItem } from '../../src/client/preflight.ts';
import { gitItem, gpuItems, mountItems, placeItems } from '../../src/client/preflightLooks.ts';
import { fitPlace } from '../../src/controller/startPlace.ts';
import type { DryRun } from '../../src/controller/dryRun.ts';
import { liesOn, silentMounts } from '../../src/machines/silentMounts.ts';
import type { Contract } from '../../src/task/model.ts';

function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hma-night-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

const item = (state: PreflightItem['state'], what: string): PreflightItem => ({
  ...{ topic: 'run', state, what, code: null, detail: '', fix: null },
});

describe('whether a night would work', () => {
  test('is answered by the worst that was found, by name up to three', () => {
    const all = (...states: PreflightItem['state'][]) => nightOf(states.map((state, at) => item(state, `${at}`)));
    expect(all('good')).toEqual({ night: 'works', words: 'A night would work.' });
    expect(all('good', 'warning')).toEqual({ night: 'might', words: 'A night might work: 1 thing (1).' });
    expect(all('warning', 'bad', 'bad')).toEqual({
      night: 'fails',
      words: 'A night would not work: 2 things (1; 2).',
    });
    expect(all('bad', 'bad', 'bad', 'bad').words).toBe('A night would not work: 4 things (0; 1; 2; …).');
  });

  test('an evaluation’s time is held against the budgets', () => {
    const told = (given: { ms: number; repeats?: number; experiments?: number | null; cap?: number | null }) => {
      const { ms, repeats = 1, experiments = null, cap = 5 } = given;
      const budgets = { totalMs: 3_600_000, reviewMs: 600_000, experiments, until: null };
      const contract = { budgets, evaluate: { repeats }, policy: { mode: 'alternate', cap } } as unknown as Contract;
      const run: DryRun = { kind: 'ran', verdict: { kind: 'scored', score: 1 }, ms, lastWords: '' };
      return budgetItem(contract, run).map(({ state, what, code }) => [state, what, code]);
    };
    expect(told({ ms: 20_000, experiments: 40 })).toEqual([
      ['good', 'at 20.0 s an evaluation, all 40 experiments need at least 13 min 20 s of evaluation', null],
    ]);
    expect(told({ ms: 42_000, experiments: 40 })).toEqual([
      [
        'warning',
        'at 42.0 s an evaluation, all 40 experiments need at least 28 min of evaluation',
        'evaluations_take_long',
      ],
    ]);
    expect(told({ ms: 1000, repeats: 3 })[0]?.[1]).toBe(
      "at 3.00 s an evaluation, a session's 5 experiments need at least 15.0 s of evaluation",
    );
    expect(told({ ms: 1000, cap: null })[0]?.[1]).toBe(
      'at 1.00 s an evaluation, one experiment needs at least 1.00 s of evaluation',
    );
    expect(told({ ms: 3_100_000 })[0]?.[2]).toBe('evaluations_do_not_fit');
    const none: DryRun = { kind: 'not_run', reason: 'no_candidate', detail: '' };
    expect(budgetItem({} as Contract, none)).toEqual([]);
  });
});

/** A folder for PATH with programs that hang, each with a child that holds its output. */
function hanging(...names: readonly string[]): string {
  const folder = tempFolder();
  for (const name of names) {
    writeFileSync(join(folder, name), '#!/bin/sh\nsleep 15\n');
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

test('a state folder and a workspace that lie in one another are no place for a night', () => {
  const folder = tempFolder();
  expect(placeItems(folder, join(folder, 'state'))).toMatchObject([{ state: 'bad', code: 'state_in_workspace' }]);
  expect(placeItems(join(folder, 'work'), folder)).toMatchObject([{ state: 'bad', code: 'state_in_workspace' }]);
  expect(placeItems(join(folder, 'work'), join(folder, 'work-state'))).toEqual([]);
});

test('no run starts there, nor where there is no git', async () => {
  const folder = realpathSync(tempFolder());
  symlinkSync(folder, join(folder, 'link'));
  const start = (home: string, env: NodeJS.ProcessEnv = process.env) =>
    fitPlace({ workspace: join(folder, 'work'), home: join(folder, home), env });
  for (const home of ['work/new/state', 'link/work/state', 'link'])
    expect(await start(home)).toMatchObject({ refusal: { reason: 'state_in_workspace' } });
  expect(await start('link/work-state')).toMatchObject({ ok: true });
  expect(await start('state', { PATH: folder })).toMatchObject({ refusal: { reason: 'git' } });
});

describe('what hangs is told, and keeps nothing waiting', () => {
  test('a driver that does not answer; none at all is no news', async () => {
    const before = process.env['PATH'];
    onTestFinished(() => void (process.env['PATH'] = before));
    process.env['PATH'] = tempFolder();
    expect(await gpuItems(200)).toEqual([]);
    process.env['PATH'] = `${hanging('nvidia-smi')}:${before}`;
    expect(await gpuItems(200)).toMatchObject([{ state: 'warning', code: 'gpus_silent' }]);
  });

  test('a git that says nothing, one that is too old, and one that is not there', async () => {
    const folder = tempFolder();
    const told = (text: string | null) => {
      if (text !== null) writeFileSync(join(folder, 'git'), `#!/bin/sh\n${text}\n`);
      if (text !== null) chmodSync(join(folder, 'git'), 0o755);
      return gitItem({ workspace: folder, env: { PATH: folder } });
    };
    expect(await told(null)).toMatchObject({ state: 'bad', code: 'git_missing' });
    expect(await told('echo git version 2.35.9')).toMatchObject({ state: 'bad', code: 'git_old' });
    expect(await told('echo git version 2.36.0')).toMatchObject({ state: 'good', code: null });
    expect(await told('exit 1')).toMatchObject({ state: 'bad', code: 'git_silent' });
  });

  test('one look that hangs is an item of its own; the others are made', async () => {
    const workspace = tempFolder();
    writeFileSync(join(workspace, 'hma.yaml'), contractText);
    writeFileSync(join(workspace, 'eval.sh'), '');
    const env = { PATH: `${hanging('claude')}:/usr/bin:/bin`, HMA_HOME: tempFolder(), ANTHROPIC_API_KEY: 'x' };
    const found = await preflight({ workspace, wall: 0, adapters: Object.keys(adapters), env, patience: 6000 });
    const codes = found.items.map(({ topic, code, what }) => [topic, code, what]);
    expect(codes).toContainEqual(['agent', 'look_too_slow', 'agent A could not be looked at within 6.00 s']);
    expect(codes).toContainEqual(['agent', null, 'agent B is b']);
    expect(codes).toContainEqual(['git', null, 'git is there, which keeps the candidates']);
  });

  test('a work that fails after its time is nobody’s any more', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    expect(await inTime(promise, 1)).toBe('late');
    reject(new Error('too late'));
    expect(await inTime(Promise.resolve('in time'), 1000)).toBe('in time');
  });
});

const contractText = `name: t
objective: Do it.
candidate: [a.txt]
evaluate: { command: [sh, eval.sh] }
metric: { name: s, direction: maximize }
agents:
  A: { name: a, adapter: claude-code }
  B: { name: b, adapter: command, command: [sh, -c, 'true'] }
budgets: { total: 6h }
`;

/** Whether this machine lets a program make a file system. */
function canMount(): boolean {
  try {
    execFileSync('unshare', ['-m', 'test', '-w', '/dev/fuse']);
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
}

describe.runIf(canMount())('a mounted file system whose server is gone', () => {
  test('is found, and told with who would hang by it; nothing looks there', async () => {
    const folder = tempFolder();
    const [program, mount] = [join(folder, 'silentMount'), join(folder, 'dead disk')];
    execFileSync('gcc', ['-o', program, join(import.meta.dirname, '../rig/silentMount.c')]);
    mkdirSync(mount);
    const server = spawn(program, [mount], { stdio: ['pipe', 'pipe', 'inherit'] });
    const gone = once(server, 'exit');
    try {
      await once(server.stdout, 'data');
      const silent = await silentMounts(300);
      const ours = silent.filter(({ path }) => path === mount);
      expect(ours).toEqual([{ path: mount, type: 'fuse.silent' }]);
      expect(liesOn(ours, `${mount}/data/x`)).toBe(ours[0]);
      expect(liesOn(ours, `${mount}s`)).toBeUndefined();
      const told = (workspace: string, path = '/bin') => mountItems(ours, { workspace, env: { PATH: path } })[0];
      expect(told(folder)).toMatchObject({ state: 'warning', code: 'mount_silent' });
      expect(told(`${mount}/work`)).toMatchObject({ state: 'bad', detail: expect.stringContaining('this folder') });
      expect(told(folder, `/bin:${mount}/bin`)).toMatchObject({
        state: 'bad',
        detail: expect.stringContaining('PATH'),
      });
      writeFileSync(join(folder, 'hma.yaml'), `isolation: { hidden: ["${mount}/answers"] }\n`);
      expect(told(folder)).toMatchObject({ state: 'bad', detail: expect.stringContaining('hma.yaml') });
    } finally {
      server.stdin.end();
      await gone;
    }
  });
});
