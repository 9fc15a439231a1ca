import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

import { diskGrowth, grownOn, type DiskGrowth } from '../analysis/disk.ts';
import { sayDiskPlace } from '../analysis/diskWords.ts';
import { sayBytes } from '../base/numbers.ts';
import { stateHome } from '../ledger/places.ts';
import { diskPlaces, lowOf } from '../machines/diskPlaces.ts';
import type { DiskPlace } from '../run/disk.ts';
import type { Contract } from '../task/model.ts';
import { runsOf, stateHomes } from './lookup.ts';
import type { PreflightItem } from './preflight.ts';
import { readOffline } from './readRun.ts';

/** What is looked at: the contract, or null where hma.yaml isn't complete. */
export interface DiskLook {
  readonly workspace: string;
  readonly env: NodeJS.ProcessEnv;
  readonly contract: Contract | null;
}

/** How an earlier run here grew, and how long that took, ms of active runtime. */
interface EarlierGrowth {
  readonly run: string;
  readonly growth: DiskGrowth;
}

/** Earlier runs that are read for how they grew. */
const readRuns = 3;
/** Time without which a run says nothing of a night, ms. */
const leastMs = 15 * 60_000;
const withoutContract = { isolation: { ownHome: true, writable: [] }, limits: { diskFloorBytes: 1e9 } };

/** Each file system that a run needs: what is free, and whether a night like the last one here would fit. */
export function diskItems({ workspace, env, contract }: DiskLook): readonly PreflightItem[] {
  let state = stateHome(env, contract?.state ?? null);
  while (!existsSync(state)) state = dirname(state);
  const wanted = contract?.isolation.tier ?? 'auto';
  const tier = wanted === 'auto' ? 'bubblewrap' : wanted;
  const places = diskPlaces({ workspace, state, env, tier, contract: contract ?? withoutContract });
  const earlier = earlierGrowth(workspace, env);
  return places.map((place) => diskItem(place, { earlier, totalMs: contract?.budgets.totalMs ?? null }));
}

function diskItem(
  place: DiskPlace,
  { earlier, totalMs }: { readonly earlier: EarlierGrowth | null; readonly totalMs: number | null },
): PreflightItem {
  const where = `on the disk of ${sayDiskPlace(place)}`;
  const grown = earlier && grownOn(place.holds, earlier.growth);
  const night = earlier && grown && grown > 0 && totalMs ? (grown / earlier.growth.at) * totalMs : 0;
  const like = night > 1e6 ? `; a night at the pace of run ${earlier?.run} takes ${sayBytes(night)}` : '';
  const low = lowOf(place, 1);
  const short = low ?? lowOf(place, 2) ?? (place.free - place.floor < night ? 'space' : null);
  if (short === null)
    return {
      ...{ topic: 'disk', state: 'good', code: null, what: `${sayBytes(place.free)} are free ${where}${like}` },
      ...{ detail: `A run pauses below ${sayBytes(place.floor)}.`, fix: null },
    };
  return {
    topic: 'disk',
    state: low === null ? 'warning' : 'bad',
    code: 'disk_short',
    what:
      short === 'files'
        ? `only ${place.freeFiles} inodes are free ${where}`
        : `only ${sayBytes(place.free)} are free ${where}${like}`,
    detail: `A run pauses below ${sayBytes(place.floor)}, or with next to no inodes.`,
    fix: place.holds.includes('state')
      ? 'Free some space (hma gc --all, hma remove RUN), or choose another place for the state: state: in hma.yaml.'
      : 'Free some space there.',
  };
}

/** Growth of the latest run of this workspace that was measured for long enough. */
function earlierGrowth(workspace: string, env: NodeJS.ProcessEnv): EarlierGrowth | null {
  for (const place of runsOf(workspace, stateHomes(env, workspace)).slice(0, readRuns)) {
    const read = readOffline(place);
    const growth = read.ok ? diskGrowth(read.value.state.disk) : null;
    if (growth && growth.at >= leastMs) return { run: place.run, growth };
  }
  return null;
}
