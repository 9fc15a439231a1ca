import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { systemClock } from '../../src/base/clock.ts';
import type { Desk } from '../../src/cli/desk.ts';
import { runCli } from '../../src/cli/program.ts';
import { gcOutput, statusOutput } from '../../src/cli/schemas.ts';
import { diskItems } from '../../src/client/diskLook.ts';
import { runFiles, runFolderOf } from '../../src/ledger/places.ts';
import { ballastBytes, ensureBallast } from '../../src/machines/disk.ts';
import type { DiskPlace } from '../../src/run/disk.ts';
import type { Contract } from '../../src/task/model.ts';
import { history, opened, wholeRun, type At } from './history.ts';
import { createLedger } from './ledgerOnDisk.ts';

const minute = 60_000;
const GB = 1e9;
let root: string;
let workspace: string;
let home: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'hma-cli-disk-')));
  [workspace, home] = [join(root, 'workspace'), join(root, 'state')];
  for (const folder of [workspace, home]) mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(workspace, 'hma.yaml'), 'objective: x\n');
});
afterEach(() => {
  spawnSync('umount', ['-l', home]);
  rmSync(root, { recursive: true });
});

/** Puts a run on disk. */
function layRun(run: string, facts: readonly At[]): string {
  const folder = runFolderOf(home, workspace, run);
  mkdirSync(folder, { recursive: true });
  writeFileSync(runFiles(folder).run, JSON.stringify({ run, workspace, home, name: 'houses', openedWall: 0 }));
  createLedger(folder, history(...facts));
  return folder;
}

async function hma(...words: string[]): Promise<{ exit: number; out: string; err: string }> {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough(), stdin: new PassThrough() };
  const said = { out: '', err: '' };
  streams.stdout.on('data', (bytes: Buffer) => (said.out += bytes.toString()));
  streams.stderr.on('data', (bytes: Buffer) => (said.err += bytes.toString()));
  const env = { HMA_HOME: home, PATH: process.env['PATH'], COLUMNS: '160' };
  const exit = await runCli({ ...streams, cwd: workspace, env, clock: systemClock } as unknown as Desk, words);
  return { exit, ...said };
}

/** A look every ten minutes: /data loses 6 GB an hour, of which the workspace takes 5. */
const look = (index: number): At => {
  const place = (path: string, holds: DiskPlace['holds'], free: number): DiskPlace => ({
    ...{ path, holds, free, freeFiles: 5000, floor: 2 * GB },
  });
  const bytes = { workspace: GB + (index * 5 * GB) / 6, snapshots: 0, sessions: null, evaluations: 0, ledger: 900 };
  const places = [place('/data', ['workspace'], 20 * GB - index * GB), place('/', ['state'], 9 * GB)];
  return [index * 10 * minute, { type: 'run.measured', data: { bytes, places } }];
};

test('status shows each disk, what grew and when a floor is reached, in words and as JSON', async () => {
  layRun('20261130-181123-ab12', [
    [0, opened({ budgets: { totalMs: 360 * minute } })],
    ...Array.from({ length: 7 }, (_, index) => look(index)),
  ]);
  const { out, exit } = await hma('status');
  expect(exit).toBe(0);
  const lines = out.split('\n').map((line) => line.trim().replaceAll(/ +/g, ' '));
  const first = lines.findIndex((line) => line.startsWith('disk '));
  expect(lines.slice(first, first + 4)).toEqual([
    'disk 14.0 GB free on the disk of the workspace (/data), floor 2.0 GB',
    '9.0 GB free on the disk of the state folder (/), floor 2.0 GB',
    'since the start: the workspace +5.0 GB',
    '/data: at this pace (6.0 GB an hour, mostly the workspace) its floor is reached in 2 h',
  ]);
  const report = statusOutput.parse(JSON.parse((await hma('status', '--json')).out));
  expect(report.disk).toEqual({
    at: 60 * minute,
    places: [
      { path: '/data', holds: ['workspace'], free: 14 * GB, freeFiles: 5000, floor: 2 * GB },
      { path: '/', holds: ['state'], free: 9 * GB, freeFiles: 5000, floor: 2 * GB },
    ],
    bytes: { workspace: 6 * GB, snapshots: 0, sessions: null, evaluations: 0, ledger: 900 },
    grown: { workspace: 5 * GB, snapshots: 0, sessions: null, evaluations: 0, ledger: 0, other: null },
    forecast: { path: '/data', perHour: 6 * GB, reachedAt: 180 * minute, mostly: 'workspace' },
  });
});

test('a run that was not looked at yet says nothing of disks', async () => {
  layRun('20261130-181123-ab12', [[0, opened()]]);
  expect((await hma('status')).out).not.toContain('free on the disk');
  expect(statusOutput.parse(JSON.parse((await hma('status', '--json')).out)).disk).toBeNull();
});

test('gc frees a ballast that a killed run left, and export leaves one out', async () => {
  const folder = layRun('20261130-181123-ab12', wholeRun());
  expect(ensureBallast(folder)).toBeNull();
  const packed = join(root, 'run.tgz');
  expect(await hma('export', '--out', packed)).toMatchObject({ exit: 0 });
  expect(execFileSync('tar', ['-tzf', packed]).toString()).not.toContain('ballast');
  const would = gcOutput.parse(JSON.parse((await hma('gc', '--dry-run', '--json')).out));
  expect([would.freed, existsSync(join(folder, 'ballast'))]).toEqual([ballastBytes, true]);
  expect(gcOutput.parse(JSON.parse((await hma('gc', '--json')).out)).freed).toBe(ballastBytes);
  expect(existsSync(join(folder, 'ballast'))).toBe(false);
});

test.skipIf(process.getuid?.() !== 0)(
  'a look before a start names each disk, a state folder on one of its own, and whether a night like the last fits',
  () => {
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=100m,mode=700', 'hma-test', home]).status).toBe(0);
    const contract = {
      ...{ isolation: { tier: 'auto', ownHome: true, writable: [] }, limits: { diskFloorBytes: 20e6 }, state: null },
      budgets: { totalMs: 360 * minute },
    } as unknown as Contract;
    const items = () => diskItems({ workspace, env: { HMA_HOME: home }, contract });
    expect(items()).toMatchObject([
      { state: 'good', what: expect.stringMatching(/ GB are free on the disk of the workspace \(\/\S*\)$/) },
      { state: 'good', code: null, what: `105 MB are free on the disk of the state folder (${home})` },
    ]);
    writeFileSync(join(home, 'large'), Buffer.alloc(70e6));
    expect(items()[1]).toMatchObject({
      ...{ state: 'warning', code: 'disk_short' },
      what: expect.stringMatching(/^only 3\d\.\d MB/),
    });
    writeFileSync(join(home, 'more'), Buffer.alloc(20e6));
    expect(items()[1]).toMatchObject({ state: 'bad', fix: expect.stringContaining('hma gc --all') });
    rmSync(join(home, 'more'));
    layRun('20261130-181123-ab12', [[0, opened()], ...Array.from({ length: 7 }, (_, index) => look(index))]);
    expect(items()[0]?.what).toMatch(/; a night at the pace of run 20261130-181123-ab12 takes 30\.0 GB$/);
    const week = { ...contract, budgets: { ...contract.budgets, totalMs: 7 * 24 * 60 * minute * 1000 } };
    const [short] = diskItems({ workspace, env: { HMA_HOME: home }, contract: week });
    expect(short).toMatchObject({ state: 'warning', code: 'disk_short' });
  },
);
