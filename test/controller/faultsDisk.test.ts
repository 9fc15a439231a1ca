import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { runFiles } from '../../src/ledger/places.ts';
import { readLedger } from '../../src/ledger/readLedger.ts';
import { ballastBytes, ballastIn, fileSystemOf } from '../../src/machines/disk.ts';
import { isAlive, identify } from '../../src/machines/processes.ts';
import { processesOf } from '../rig/run.ts';
import { eventually, holding, powerCut, revive, startFaultRun, type FaultRun } from '../rig/faultRun.ts';
import type { TestFolders } from '../rig/task.ts';

/** Mounts a small file system where a run keeps its state, or works. */
function small(which: 'home' | 'workspace', options: string) {
  return {
    before: (folders: TestFolders): void => {
      mkdirSync(folders[which], { recursive: true });
      const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `${options},mode=700`, 'hma-test', folders[which]]);
      expect(mounted.status).toBe(0);
    },
    after: (folders: TestFolders): void => void spawnSync('umount', ['-l', folders[which]]),
  };
}

/** Writes until nothing more can be. */
const fill = (file: string): void => void spawnSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=64k', 'count=100000']);

const ballastLies = (run: FaultRun): Promise<boolean> =>
  eventually('the ballast', () => ballastIn(run.runFolder) === ballastBytes);

/** An event that is longer than what the ledger's last page still holds. */
const longReason = '長'.repeat(3900);
const select = (run: FaultRun): Promise<unknown> =>
  run.client.intend({ kind: 'select', candidate: 'e1', reason: longReason, by: 'me' });

const isRoot = process.getuid?.() === 0;

describe.skipIf(!isRoot)('a disk with nothing left', () => {
  it('the controller is killed while the ballast is free: what was told is there, the cap stays exact, and the run goes on by itself', async () => {
    const place = mkdtempSync(join(tmpdir(), 'hma-plan-'));
    const plan = join(place, 'plan');
    const disk = small('home', 'size=300m');
    await using run = await startFaultRun(
      { ...holding, contract: { limits: { diskFloor: '40MB' } } },
      { ...disk, env: { HMA_CRASH_PLAN: plan } },
    );
    await run.open(1);
    await ballastLies(run);
    expect(await run.submit(1, '1')).toMatchObject({ outcome: 'accepted' });
    const first = identify(run.pids().controller);
    const filler = join(run.folders.home, 'filler');
    fill(filler);
    // the first write meets the full disk, the second one has the ballast's room
    writeFileSync(plan, 'ledger.beforeWrite@candidate.selected#2\n');
    select(run).catch(() => undefined); // its answer dies with the controller
    await eventually('the controller to be killed', () => first && !isAlive(first));
    expect(readFileSync(`${plan}.done`, 'utf8')).toMatch(/#2/);
    expect(ballastIn(run.runFolder)).toBe(0);
    const paused = await run.client.until('the pause', ({ pause }) => pause !== null);
    expect(paused.pause).toMatchObject({ reason: 'disk_low', by: 'hma' });
    expect(paused.pause?.detail).toContain('the state folder');
    rmSync(filler);
    await run.client.until('the run to go on by itself', ({ pause }) => pause === null, 90_000);
    expect(await run.submit(1, '2')).toMatchObject({ outcome: 'accepted' });
    const state = await run.client.until('the cap', ({ options }) => options[0]?.state === 'closed');
    expect(state.options[0]).toMatchObject({ closure: 'cap', accepted: ['e1', 'e2'] });
    expect(state.selections).toEqual([]); // never told, never done
    const { events, problems } = readLedger(run.runFolder);
    expect(problems).toEqual([]);
    const told = run.client.events;
    expect(events.filter(({ seq }) => told.some((one) => one.seq === seq))).toEqual(told);
    rmSync(place, { recursive: true });
  });

  it('with the ballast used up too: a restart waits for room, hma resume says why, and nothing is lost', async () => {
    const disk = small('home', 'size=300m');
    await using run = await startFaultRun({ ...holding, contract: { limits: { diskFloor: '1MB' } } }, disk);
    await run.open(1);
    await ballastLies(run);
    expect(await run.submit(1, '1')).toMatchObject({ outcome: 'accepted' });
    const [filler, more] = [join(run.folders.home, 'filler'), join(run.folders.home, 'more')];
    const { controller } = run.pids();
    let tries = 0;
    const tried = watch(run.runFolder, (_, name) => void (tries += name === 'room.tmp' ? 1 : 0));
    process.kill(controller, 'SIGSTOP');
    fill(filler);
    rmSync(join(run.runFolder, 'ballast'));
    fill(more);
    process.kill(controller, 'SIGKILL');
    const waiting = await eventually('another controller', () =>
      processesOf(run.folders.root).find((one) => one.command.includes('controller.js') && one.pid !== controller),
    );
    await eventually('it to have looked for room twice', () => tries >= 4);
    tried.close();
    rmSync(filler);
    rmSync(more);
    expect(await run.submit(1, '2')).toMatchObject({ outcome: 'accepted' });
    expect(run.pids().controller).toBe(waiting.pid); // it did not die over it
    await powerCut(run);
    rmSync(join(run.runFolder, 'ballast'), { force: true });
    fill(filler);
    expect(await revive(run)).toMatch(/^unwritable: nothing can be written in the state folder .*hma gc --all/);
    rmSync(filler);
    expect(await revive(run)).toBe('taken up');
    expect(readLedger(run.runFolder).problems).toEqual([]);
    expect(run.client.state?.archive.map(({ id }) => id)).toEqual(['e1', 'e2']);
  });

  it('inodes that are used up are told as such', async () => {
    const disk = small('home', 'size=300m,nr_inodes=4000');
    await using run = await startFaultRun(
      { ...holding, contract: { policy: { cap: 'none' }, limits: { diskFloor: '1MB' } } },
      disk,
    );
    await run.open(1);
    const many = join(run.folders.home, 'many');
    mkdirSync(many);
    execFileSync('bash', ['-c', 'i=0; while : > "$0/$i" 2>/dev/null; do i=$((i+1)); done', many]);
    expect(fileSystemOf(run.folders.home).free).toBeGreaterThan(100e6);
    expect(await run.submit(1, '1')).not.toHaveProperty('outcome', 'accepted');
    const { pause } = await run.client.until('the pause', (state) => state.pause !== null);
    expect(pause).toMatchObject({ reason: 'disk_low' });
    expect(pause?.detail).toMatch(/inodes left.*, though \d+ MB are free.*when there are inodes again/);
    rmSync(many, { recursive: true });
    await run.client.until('the run to go on by itself', (state) => state.pause === null, 90_000);
    expect(await run.submit(1, '2')).toMatchObject({ outcome: 'accepted' });
    expect(readLedger(run.runFolder).problems).toEqual([]);
  });

  it('a quota that is used up is told apart from a full disk, though the disk says that half of it is free', async () => {
    const place = mkdtempSync(join(tmpdir(), 'hma-quota-'));
    const quota = join(place, 'quota.so');
    execFileSync('gcc', ['-shared', '-fPIC', '-o', quota, join(import.meta.dirname, '../rig/quota.c'), '-ldl']);
    const disk = small('home', 'size=300m');
    await using run = await startFaultRun(
      { ...holding, contract: { policy: { cap: 'none' } } },
      { ...disk, env: { LD_PRELOAD: quota } },
    );
    await run.open(1);
    await ballastLies(run);
    expect(await run.submit(1, '1')).toMatchObject({ outcome: 'accepted' });
    const filler = join(run.folders.home, 'filler');
    fill(filler);
    expect(await select(run)).toMatchObject({ done: true });
    const { pause, selections } = await run.client.until('the pause', (state) => state.pause !== null);
    expect(pause?.detail).toMatch(
      /^the run's ledger could not be written: your quota on the disk of the state folder .* is used up, though 1\d\d MB are free there\..*when 33.6 MB more can be written\.$/,
    );
    expect([pause?.reason, ballastIn(run.runFolder)]).toEqual(['disk_low', 0]);
    expect(selections).toMatchObject([{ candidate: 'e1', reason: longReason }]);
    rmSync(filler);
    await run.client.until('the run to go on by itself', (state) => state.pause === null, 90_000);
    expect(ballastIn(run.runFolder)).toBe(ballastBytes);
    expect(await run.submit(1, '2')).toMatchObject({ outcome: 'accepted' });
    expect(readLedger(run.runFolder).problems).toEqual([]);
    rmSync(place, { recursive: true });
  });

  it('a workspace on a disk of its own is watched for itself, and the ballast is gone at the end', async () => {
    const disk = small('workspace', 'size=60m');
    await using run = await startFaultRun(
      { ...holding, contract: { limits: { diskFloor: '30MB' } } },
      {
        before: (folders) => {
          rmSync(folders.workspace, { recursive: true });
          disk.before(folders);
        },
        after: disk.after,
      },
    );
    await run.open(1);
    await ballastLies(run);
    fill(join(run.folders.workspace, 'filler'));
    const { pause } = await run.client.until('the pause', (state) => state.pause !== null, 90_000);
    expect(pause?.detail).toMatch(
      new RegExp(
        `^\\d+ B are free on the disk of the workspace \\(${run.folders.workspace}\\), the floor is 30.0 MB\\.`,
      ),
    );
    expect(ballastIn(run.runFolder)).toBe(ballastBytes);
    rmSync(join(run.folders.workspace, 'filler'));
    await run.client.until('the run to go on by itself', (state) => state.pause === null, 90_000);
    expect(await run.person('stop', '--yes')).toMatchObject({ exit: 0 });
    await run.finished();
    await eventually('the ballast to go', () => ballastIn(run.runFolder) === 0);
    expect(existsSync(runFiles(run.runFolder).log)).toBe(true);
  });
});
