import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished, vi } from 'vitest';

import { diskGrowth } from '../../src/analysis/disk.ts';
import { DiskWatch } from '../../src/controller/diskWatch.ts';
import { Recorder } from '../../src/controller/recorder.ts';
import type { Room } from '../../src/controller/room.ts';
import { openLedger } from '../../src/ledger/openLedger.ts';
import { runFiles } from '../../src/ledger/places.ts';
import { readLedger } from '../../src/ledger/readLedger.ts';
import type { RunEvent } from '../../src/run/events.ts';
import { replayRun } from '../../src/run/evolve.ts';
import { opened } from '../cli/history.ts';

const minute = 60_000;
const MB = 1e6;

/** A run's ledger and a workspace of 100 MiB on a disk of its own, at a clock that the test moves. */
function watched(failed: string[] | null = null) {
  const root = mkdtempSync(join(tmpdir(), 'hma-disk-watch-'));
  const [workspace, folder] = [join(root, 'workspace'), join(root, 'runs', '20261201-000000-aaaa')];
  for (const path of [workspace, folder]) mkdirSync(path, { recursive: true });
  expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=100m', 'hma-test', workspace]).status).toBe(0);
  const reading = { wall: 1_800_000_000_000, mono: 1000, boot: 'a' };
  const ledger = openLedger({ dir: folder, fence: 1, confirmFence: () => true });
  if (!ledger.ok) throw new Error('no ledger');
  const facts = [
    opened({ budgets: { totalMs: 360 * minute } }),
    { type: 'controller.started', data: { pid: 1, fence: 1, version: 'v', boot: 'a', gapMs: 0 } },
  ];
  const history = ledger.value.ledger.append(
    facts.map(({ type, data }) => ({ ...{ v: 1, wall: reading.wall, mono: 1000, active: 0 }, type, data })),
  );
  const state = replayRun(history);
  if (!state) throw new Error('no state');
  const recorder = new Recorder({
    ...{ ledger: ledger.value.ledger, clock: { now: () => reading }, state, history, whenFull: () => null },
    shut: (error) => {
      throw error;
    },
  });
  const room = {
    ...{ recorder, workspace, folder, files: runFiles(folder), env: process.env, isolation: { tier: 'bubblewrap' } },
    contract: { limits: { diskFloorBytes: 20 * MB }, isolation: { ownHome: true, writable: [] } },
    log: (line: string) => {
      if (failed === null) throw new Error(line);
      failed.push(line);
    },
  } as unknown as Room;
  const watch = new DiskWatch(room);
  onTestFinished(() => {
    watch[Symbol.dispose]();
    spawnSync('umount', ['-l', workspace]);
    rmSync(root, { recursive: true });
  });
  const after = async (ms: number): Promise<void> => {
    reading.wall += ms;
    reading.mono += ms;
    await watch.measure();
  };
  return { root, workspace, folder, recorder, watch, after };
}

const notices = (events: readonly unknown[]): unknown[] =>
  (events as readonly RunEvent[]).flatMap((event) =>
    event.type === 'run.noticed' ? [[event.data.level, event.data.code]] : [],
  );

it.skipIf(process.getuid?.() !== 0)(
  'counts what grew, warns once before the floor is reached, and takes it back when it no longer will be',
  async () => {
    const { workspace, folder, recorder, after } = watched();
    await after(0);
    for (let look = 1; look <= 6; look++) {
      writeFileSync(join(workspace, `grown-${look}`), Buffer.alloc(5 * MB, 1));
      await after(20 * minute);
    }
    const growth = diskGrowth(recorder.state.disk);
    expect(growth?.by.workspace).toBeGreaterThanOrEqual(30 * MB);
    expect(growth?.by.workspace).toBeLessThan(31 * MB);
    expect(recorder.state.disk).toHaveLength(7);
    const [notice, ...more] = recorder.state.notices;
    expect(more).toEqual([]);
    expect(notice).toMatchObject({ level: 'person', code: 'disk_forecast' });
    expect(notice?.text).toMatch(
      new RegExp(
        `^the disk of the workspace \\(${workspace}\\): at this pace \\(1[45]\\.\\d MB an hour, mostly the workspace\\) its floor is reached in \\d h.*, before the run's end; free some space`,
      ),
    );
    for (const name of readdirSync(workspace)) rmSync(join(workspace, name));
    for (let look = 0; look < 8; look++) await after(20 * minute);
    expect(recorder.state.notices).toMatchObject([{ level: 'info', code: 'disk_forecast_over' }]);
    const { events } = readLedger(folder);
    expect(notices(events)).toEqual([
      ['person', 'disk_forecast'],
      ['info', 'disk_forecast_over'],
    ]);
    expect(replayRun(events)).toEqual(recorder.state);
  },
);

it.skipIf(process.getuid?.() !== 0)(
  'a pause at the floor names what grew, and earlier runs with their sizes',
  async () => {
    const { root, workspace, recorder, watch, after } = watched();
    const earlier = join(root, 'runs', '20261130-000000-bbbb');
    mkdirSync(earlier);
    writeFileSync(join(earlier, 'large'), Buffer.alloc(3 * MB, 1));
    await after(0);
    writeFileSync(join(workspace, 'grown'), Buffer.alloc(70 * MB, 1));
    await after(20 * minute);
    watch.look();
    expect(recorder.state.pause).toBeNull();
    writeFileSync(join(workspace, 'more'), Buffer.alloc(20 * MB, 1));
    watch.look();
    expect(recorder.state.pause).toMatchObject({ reason: 'disk_low', by: 'hma' });
    expect(recorder.state.pause?.detail).toMatch(
      new RegExp(
        `^1\\d\\.\\d MB are free on the disk of the workspace \\(${workspace}\\), the floor is 20.0 MB\\. Since the run's start it has taken: the workspace \\+70\\.\\d MB\\. Free some space: hma gc --all, or hma remove an earlier run \\(20261130-000000-bbbb 3\\.\\d MB\\);.* The run goes on by itself when 25.0 MB are free\\.$`,
      ),
    );
  },
);

it.skipIf(process.getuid?.() !== 0)(
  'counts on after a count that failed, and no more once it is disposed of',
  async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const failed: string[] = [];
    const { folder, recorder, watch } = watched(failed);
    renameSync(folder, `${folder}.away`);
    watch.start();
    vi.advanceTimersByTime(2 * minute);
    await vi.waitFor(() => expect(failed).toEqual([expect.stringMatching(/^disk watch: .*ENOENT/)]), 10_000);
    renameSync(`${folder}.away`, folder);
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1), 10_000);
    vi.advanceTimersByTime(10 * minute);
    await vi.waitFor(() => expect(recorder.state.disk).toHaveLength(1), 10_000);
    const counting = watch.measure();
    watch[Symbol.dispose]();
    await counting;
    expect(recorder.state.disk).toHaveLength(1);
  },
);
