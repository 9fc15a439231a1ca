import type { Given } from '../base/fact.ts';
import { diskCauses, type DiskCause, type DiskHolding, type DiskPlace, type DiskSample } from '../run/disk.ts';
import type { RunState } from '../run/model.ts';
import { runEndsAt } from '../run/schedule.ts';
import { quantile } from './quantile.ts';

/** Bytes that the run, and others on its file systems, have added since the run's first look at the disks. */
export interface DiskGrowth {
  /** Active time of the latest look, ms. */
  readonly at: number;
  /** By what they belong to; negative where something was removed, null where it could not be counted. */
  readonly by: Readonly<Record<DiskCause, number | null>>;
  /** What the file systems lost beyond that: somebody else's, or what a program has written elsewhere. Null where a part of ours is unknown. */
  readonly other: number | null;
}

/** When a file system reaches its floor if it goes on as it did. */
export interface DiskForecast {
  readonly place: DiskPlace;
  /** Bytes an hour of active runtime. */
  readonly perHour: number;
  /** Active time at which the floor is reached, ms. */
  readonly reachedAt: number;
  /** What grew most on it within the time that was looked at. */
  readonly mostly: DiskCause | 'other';
}

/** How much of the past a forecast is made from, ms of active runtime. */
const windowMs = 3 * 3_600_000;
/** Looks, and time between the first and the last of them, without which there is none: a start says nothing of a night. */
const [leastLooks, leastMs] = [4, 15 * 60_000];
const hour = 3_600_000;
const median = (values: readonly number[]): number => quantile(values, 0.5) ?? 0;

/** Growth since the first look, on all file systems or on the one mounted at `path`; null before the second. */
export function diskGrowth(samples: readonly DiskSample[], path?: string): DiskGrowth | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || samples.length === 1) return null;
  return growthBetween(first, last, (place) => path === undefined || place.path === path);
}

function growthBetween(first: DiskSample, last: DiskSample, counts: (place: DiskPlace) => boolean): DiskGrowth {
  const by = Object.fromEntries(
    diskCauses.map((cause) => {
      const place = last.places.find(({ holds }) => holds.includes(cause === 'workspace' ? 'workspace' : 'state'));
      const [from, to] = [first.bytes[cause], last.bytes[cause]];
      return [cause, place && !counts(place) ? 0 : from === null || to === null ? null : to - from];
    }),
  ) as Record<DiskCause, number | null>;
  const lost = last.places.filter(counts).reduce((sum, { path, free }) => {
    const before = first.places.find((place) => place.path === path);
    return before ? sum + before.free - free : sum;
  }, 0);
  const ours = Object.values(by).reduce((sum, one) => (sum === null || one === null ? null : sum + one), 0);
  return { at: last.active, by, other: ours === null ? null : lost - ours };
}

/**
 * The file system that reaches its floor first at the present pace; null while nothing shrinks, or too little is known. The pace is the
 * median of the slopes between all pairs of looks (Theil and Sen), which a checkpoint that comes and goes does not move.
 */
export function diskForecast(samples: readonly DiskSample[]): DiskForecast | null {
  const last = samples.at(-1);
  const seen = samples.filter(({ active }) => last !== undefined && active >= last.active - windowMs);
  const [first] = seen;
  if (!last || !first || seen.length < leastLooks || last.active - first.active < leastMs) return null;
  const all = last.places.flatMap((place): DiskForecast[] => {
    const points = seen.flatMap(({ active, places }) => {
      const then = places.find(({ path }) => path === place.path);
      return then ? [{ x: active, y: then.free }] : [];
    });
    const slope = median(slopesOf(points));
    if (slope >= 0) return [];
    const free = median(points.map(({ x, y }) => y - slope * x)) + slope * last.active;
    const growth = growthBetween(first, last, ({ path }) => path === place.path);
    return [
      {
        place,
        perHour: -slope * hour,
        reachedAt: last.active + Math.max(0, (free - place.floor) / -slope),
        mostly: mostlyOf(growth),
      },
    ];
  });
  return all.toSorted((a, b) => a.reachedAt - b.reachedAt)[0] ?? null;
}

const slopesOf = (points: readonly { readonly x: number; readonly y: number }[]): number[] =>
  points.flatMap(({ x, y }, index) =>
    points.slice(index + 1).flatMap((later) => (later.x > x ? [(later.y - y) / (later.x - x)] : [])),
  );

/** What grew most. */
function mostlyOf({ by, other }: DiskGrowth): DiskCause | 'other' {
  const causes: readonly (DiskCause | 'other')[] = [...diskCauses, 'other'];
  const of = (cause: DiskCause | 'other'): number => (cause === 'other' ? other : by[cause]) ?? 0;
  return causes.toSorted((a, b) => of(b) - of(a))[0] ?? 'other';
}

/** Code of the notice that a floor will be reached. */
export const diskForecastCode = 'disk_forecast';

/** What a forecast is worth saying: `warn` where a floor comes before the run's planned end and nobody was told, `over` where that holds no more. */
export type DiskNews = { readonly kind: 'warn'; readonly forecast: DiskForecast } | { readonly kind: 'over' };

/** Decides it; null where nothing is new. */
export function diskNews(state: RunState, given: Given): DiskNews | null {
  const told = state.notices.some(({ code }) => code === diskForecastCode);
  const forecast = diskForecast(state.disk);
  // once told it holds until the floor is clearly beyond the end: a pace near the line must not be told and taken back by turns
  const end = runEndsAt(state, given) + (told ? state.budgets.totalMs / 10 : 0);
  if (forecast === null || forecast.reachedAt >= end) return told ? { kind: 'over' } : null;
  return told ? null : { kind: 'warn', forecast };
}

/** Bytes by which a run grew that a place with these holdings had to bear, `others` left out; null while a part isn't known. */
export function grownOn(holds: readonly DiskHolding[], { by }: Pick<DiskGrowth, 'by'>): number | null {
  const parts = diskCauses.filter((cause) => holds.includes(cause === 'workspace' ? 'workspace' : 'state'));
  return parts.reduce<number | null>((sum, cause) => {
    const bytes = by[cause];
    return sum === null || bytes === null ? null : sum + bytes;
  }, 0);
}
