import { expect, test } from 'vitest';

import { diskForecast, diskGrowth, diskNews } from '../../src/analysis/disk.ts';
import { sayDiskPlace, sayForecast, sayGrowth } from '../../src/analysis/diskWords.ts';
import type { DiskPlace, DiskSample } from '../../src/run/disk.ts';
import type { RunState } from '../../src/run/model.ts';

const minute = 60_000;
const GB = 1e9;
const data: DiskPlace = { path: '/data', holds: ['workspace'], free: 0, freeFiles: 1e6, floor: 1 * GB };
const home: DiskPlace = { path: '/home', holds: ['state'], free: 0, freeFiles: null, floor: 1 * GB };

/** A look at the disks: what is free on /data and /home, and the bytes of workspace and snapshots. */
const look = (
  at: number,
  free: readonly [number, number],
  bytes: { readonly workspace: number | null; readonly snapshots: number },
): DiskSample => ({
  active: at * minute,
  bytes: { sessions: 0, evaluations: 0, ledger: 0, ...bytes },
  places: [
    { ...data, free: free[0] },
    { ...home, free: free[1] },
  ],
});

/** One look every ten minutes in which /data loses `perHour` bytes to the workspace. */
const steady = (count: number, perHour: number): DiskSample[] =>
  Array.from({ length: count }, (_, index) => {
    const used = (perHour / 6) * index;
    return look(index * 10, [20 * GB - used, 50 * GB], { workspace: 2 * GB + used, snapshots: 0 });
  });

const runOf = (disk: readonly DiskSample[], notices: RunState['notices'] = []): RunState =>
  ({
    ...{ disk, notices, terms: { policy: { mode: 'alternate' } } },
    budgets: { totalMs: 360 * minute, reviewMs: 15 * minute, experiments: null, until: null },
  }) as unknown as RunState;
const given = (at: number) => ({ wall: 0, mono: 0, boot: 'b', active: at * minute });

test('growth is told by cause, and what the disks lost beyond it is others', () => {
  const first = look(0, [20 * GB, 50 * GB], { workspace: 2 * GB, snapshots: 0 });
  const last = look(60, [16.5 * GB, 49 * GB], { workspace: 5 * GB, snapshots: 0.8 * GB });
  const growth = diskGrowth([first, look(30, [1, 1], { workspace: null, snapshots: 9 }), last]);
  expect(growth).toEqual({
    at: 60 * minute,
    by: { workspace: 3 * GB, snapshots: 0.8 * GB, sessions: 0, evaluations: 0, ledger: 0 },
    other: 3.5 * GB + 1 * GB - 3.8 * GB,
  });
  expect(growth && sayGrowth(growth)).toBe('the workspace +3.0 GB, snapshots +800 MB, others +700 MB');
  expect(diskGrowth([first])).toBeNull();
  const uncounted = diskGrowth([first, look(60, [1, 1], { workspace: null, snapshots: 0 })]);
  expect([uncounted?.by.workspace, uncounted?.other]).toEqual([null, null]);
  const shrunk = diskGrowth([first, look(60, [21 * GB, 50 * GB], { workspace: 1 * GB, snapshots: 0 })]);
  expect(shrunk && sayGrowth(shrunk)).toBe('the workspace −1.0 GB');
});

test('a steady pace: 3 GB an hour from 20 GB reach the floor of 1 GB after 6 h 20 min', () => {
  const forecast = diskForecast(steady(7, 3 * GB)); // an hour is over, 17 GB are left
  expect(forecast?.reachedAt).toBeCloseTo(380 * minute, -2);
  expect(forecast?.perHour).toBeCloseTo(3 * GB, -2);
  expect([forecast?.place.path, forecast?.mostly]).toEqual(['/data', 'workspace']);
  expect(forecast && sayForecast(forecast, 60 * minute)).toBe(
    'at this pace (3.0 GB an hour, mostly the workspace) its floor is reached in 5 h 20 min',
  );
  expect(sayDiskPlace({ ...data, holds: ['workspace', 'state'] })).toBe('the workspace and the state folder (/data)');
});

test('a checkpoint that comes and goes does not move it; a start, a standstill and a shrinking one say nothing', () => {
  const disturbed = steady(13, 3 * GB).map((sample, index) =>
    index === 5 || index === 12
      ? { ...sample, places: sample.places.map((place) => ({ ...place, free: place.free - 8 * GB })) }
      : sample,
  );
  expect(diskForecast(disturbed)?.reachedAt).toBeGreaterThan(350 * minute);
  expect(diskForecast(disturbed)?.reachedAt).toBeLessThan(400 * minute);
  expect(diskForecast(steady(3, 3 * GB))).toBeNull();
  expect(diskForecast(steady(10, 0))).toBeNull();
  expect(diskForecast(steady(10, -1 * GB))).toBeNull();
  const close = steady(10, 3 * GB).map((sample) => ({ ...sample, active: sample.active / 10 }));
  expect(diskForecast(close)).toBeNull(); // nine minutes are no night
});

test('the first disk to be full counts, and somebody else’s growth is named as such', () => {
  const samples = Array.from({ length: 7 }, (_, index) =>
    look(index * 10, [20 * GB - index * 0.1 * GB, 5 * GB - index * 0.5 * GB], {
      workspace: index * 0.1 * GB,
      snapshots: index * 0.1 * GB,
    }),
  );
  expect(diskForecast(samples)).toMatchObject({ place: { path: '/home' }, mostly: 'other' });
  expect(diskForecast(samples)?.reachedAt).toBeCloseTo(80 * minute, -2);
});

test('it is told once when it comes before the end, and taken back when it clearly does not', () => {
  const fast = steady(7, 4 * GB); // 19 GB last 4 h 45 min of six hours
  const told = [{ seq: 9, wall: 0, level: 'person', code: 'disk_forecast', text: '' }] as const;
  expect(diskNews(runOf(fast), given(60))).toMatchObject({ kind: 'warn', forecast: { place: { path: '/data' } } });
  expect(diskNews(runOf(fast, told), given(60))).toBeNull();
  expect(diskNews(runOf(steady(7, 3 * GB)), given(60))).toBeNull(); // at 6 h 20 min
  expect(diskNews(runOf(steady(7, 3 * GB), told), given(60))).toBeNull(); // not clearly beyond the end
  expect(diskNews(runOf(steady(7, 2 * GB), told), given(60))).toEqual({ kind: 'over' });
  expect(diskNews(runOf(steady(7, 0), told), given(60))).toEqual({ kind: 'over' });
  expect(diskNews(runOf(steady(7, 0)), given(60))).toBeNull();
});
