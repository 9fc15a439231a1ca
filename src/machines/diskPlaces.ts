import { tmpdir } from 'node:os';

import { errorCode } from '../base/files.ts';
import type { DiskHolding, DiskPlace } from '../run/disk.ts';
import type { Contract } from '../task/model.ts';
import { fileSystemOf, mountOf, type FileSystem, type Fullness } from './disk.ts';
import type { Tier } from './port.ts';

/** What of a run lies where. */
export interface DiskNeeds {
  readonly workspace: string;
  /** The run's folder, or the state folder that it will be in. */
  readonly state: string;
  readonly contract: {
    readonly isolation: Pick<Contract['isolation'], 'ownHome' | 'writable'>;
    readonly limits: Pick<Contract['limits'], 'diskFloorBytes'>;
  };
  readonly tier: Tier;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A floor for inodes: so many, or this share of a file system that has few. */
const [floorFiles, floorFilesShare] = [1000, 0.01];
/** Elsewhere than in the workspace and the state folder a run keeps at most this share of a file system free: `/tmp` may be small by design. */
const elsewhereShare = 0.05;

/** Each file system that a run needs, once, with what lies on it. Folders that aren't there, or don't answer, are left out. */
export function diskPlaces({ workspace, state, contract, tier, env }: DiskNeeds): readonly DiskPlace[] {
  const { limits, isolation } = contract;
  const wanted: readonly (readonly [DiskHolding, string | undefined])[] = [
    ['workspace', workspace],
    ['state', state],
    ['home', isolation.ownHome ? undefined : env['HOME']],
    // with mounts a session's /tmp is a folder of ours
    ['tmp', tier === 'bubblewrap' ? undefined : tmpdir()],
    ...isolation.writable.map((path) => ['writable', path] as const),
  ];
  const places = new Map<number, { path: string; holds: DiskHolding[]; system: FileSystem }>();
  for (const [holding, path] of wanted) {
    const system = path === undefined ? null : systemOf(path);
    if (path === undefined || system === null) continue;
    const known = places.get(system.device);
    if (!known) places.set(system.device, { path: mountOf(path), holds: [holding], system });
    else if (!known.holds.includes(holding)) known.holds.push(holding);
  }
  return [...places.values()].map(({ path, holds, system }) => ({
    ...{ path, holds, free: system.free, freeFiles: system.files?.free ?? null },
    floor: holds.some((one) => one === 'workspace' || one === 'state')
      ? limits.diskFloorBytes
      : Math.min(limits.diskFloorBytes, system.total * elsewhereShare),
  }));
}

/** The file system of a path; null where it isn't there, or doesn't answer for now (a network's). */
function systemOf(path: string): FileSystem | null {
  try {
    return fileSystemOf(path);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return null;
  }
}

/** What of a file system is below its floor, times `factor`, where anything is. */
export function lowOf(place: DiskPlace, factor: number): Fullness | null {
  if (place.free < place.floor * factor) return 'space';
  const files = systemOf(place.path)?.files;
  return files && files.free < Math.min(floorFiles, files.total * floorFilesShare) * factor ? 'files' : null;
}
