import { diskForecast, diskGrowth } from '../../analysis/disk.ts';
import { sayDiskPlace, sayForecast, sayGrowth } from '../../analysis/diskWords.ts';
import type { Given } from '../../base/fact.ts';
import { sayBytes } from '../../base/numbers.ts';
import { runEndsAt } from '../../run/schedule.ts';
import type { RunState } from '../../run/model.ts';
import type { Paper } from './scene.ts';
import { pad } from './text.ts';

/** What is free on the disks of a run, what grew, and when a floor will be reached; nothing before the first look. */
export function diskLines(state: RunState, given: Given, { style }: Paper): string[] {
  const last = state.disk.at(-1);
  if (!last) return [];
  const places = last.places.map(
    (place) => `${sayBytes(place.free)} free on the disk of ${sayDiskPlace(place)}, floor ${sayBytes(place.floor)}`,
  );
  const growth = diskGrowth(state.disk);
  const forecast = state.phase === 'finished' ? null : diskForecast(state.disk);
  const lines = [
    ...places,
    ...(growth === null ? [] : [`since the start: ${sayGrowth(growth)}`]),
    ...(forecast === null
      ? []
      : [
          (forecast.reachedAt < runEndsAt(state, given) ? style.warn : style.dim)(
            `${forecast.place.path}: ${sayForecast(forecast, given.active)}`,
          ),
        ]),
  ];
  return lines.map((line, index) => `  ${style.dim(pad(index === 0 ? 'disk' : '', 10))}${line}`);
}
