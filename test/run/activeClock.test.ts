import { expect, it } from 'vitest';

import { activeAfterAbsence, activeAt } from '../../src/run/activeClock.ts';
import { after, at } from '../laws/aState.ts';

const boot = 'boot-1';
const back = (mono: number, active: number, gapMs = 0, name = boot) =>
  [
    { ...at(active), mono },
    { type: 'controller.started', data: { pid: 2, fence: 2, version: '0', boot: name, gapMs } },
  ] as const;
const clock = { running: true, active: 100, mono: 1_000, boot, before: null };

it('runs with the monotonic clock of its boot, and stands for other boots and while paused', () => {
  expect(activeAt(clock, { mono: 1_250, boot })).toBe(350);
  expect(activeAt(clock, { mono: 9_999, boot: 'boot-2' })).toBe(100);
  expect(activeAt({ ...clock, running: false }, { mono: 1_250, boot })).toBe(100);
  expect(activeAt(clock, { mono: 900, boot })).toBe(100);
});

it('a stamp that is older than the controller’s start counts from where the clock ran then', () => {
  const { clock: now } = after([at(10_000)], back(40_000, 40_000));
  expect(activeAt(now, { mono: 25_000, boot })).toBe(25_000);
  expect(activeAt(now, { mono: 41_000, boot })).toBe(41_000);
});

it('a stamp from a stretch that did not count, or from before a reboot, is never later than the clock', () => {
  const gap = after(back(900_000, 30_000, 870_000)).clock;
  expect([20_000, 30_000, 500_000, 900_500].map((mono) => activeAt(gap, { mono, boot }))).toStrictEqual([
    20_000, 30_000, 30_000, 30_500,
  ]);
  const reboot = after(back(5_000, 30_000, 0, 'boot-2')).clock;
  expect(activeAt(reboot, { mono: 20_000, boot })).toBe(20_000);
  expect(activeAt(reboot, { mono: 99_000, boot })).toBe(30_000);
  expect(activeAt(reboot, { mono: 6_000, boot: 'boot-2' })).toBe(31_000);
});

it('a stamp from before the pause keeps its time, one from during it is the pause’s', () => {
  const paused = after([5_000, { type: 'run.paused', data: { reason: 'requested', detail: '', by: 'mina' } }]);
  expect([4_000, 5_000, 90_000].map((mono) => activeAt(paused.clock, { mono, boot }))).toStrictEqual([
    4_000, 5_000, 5_000,
  ]);
});

const absence = (lastAlive: { mono: number; boot: string }, now: { mono: number; boot: string }, over = {}) =>
  activeAfterAbsence({ clock: { ...clock, ...over }, lastAlive, now, toleranceMs: 15_000 });

it('a controller that was away while its session lived counts', () => {
  expect(absence({ mono: 61_000, boot }, { mono: 61_000, boot })).toStrictEqual({ active: 60_100, gapMs: 0 });
  expect(absence({ mono: 50_000, boot }, { mono: 65_000, boot })).toStrictEqual({ active: 64_100, gapMs: 0 });
});

it('a stretch in which nothing lived doesn’t count, nor does a reboot, nor a pause', () => {
  expect(absence({ mono: 50_000, boot }, { mono: 65_001, boot })).toStrictEqual({ active: 49_100, gapMs: 15_001 });
  expect(absence({ mono: 50_000, boot }, { mono: 3_000, boot: 'boot-2' })).toStrictEqual({ active: 49_100, gapMs: 0 });
  expect(absence({ mono: 50_000, boot }, { mono: 90_000, boot }, { running: false })).toStrictEqual({
    active: 100,
    gapMs: 0,
  });
});

it('a sign of life from an earlier boot takes no time back', () => {
  const before = { active: 20, mono: 10, boot: 'boot-0' };
  expect(absence({ mono: 15, boot: 'boot-0' }, { mono: 3_000, boot: 'boot-2' }, { before })).toStrictEqual({
    active: 100,
    gapMs: 0,
  });
});
