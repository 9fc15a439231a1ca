import { lstatSync } from 'node:fs';

import { diskGrowth } from '../analysis/disk.ts';
import { sayDiskPlace, sayGrowth } from '../analysis/diskWords.ts';
import { errorCode } from '../base/files.ts';
import { sayBytes } from '../base/numbers.ts';
import {
  ballastBytes,
  ballastIn,
  ensureBallast,
  fullnessOf,
  releaseBallast,
  tryRoom,
  type Fullness,
} from '../machines/disk.ts';
import { diskPlaces, lowOf } from '../machines/diskPlaces.ts';
import type { DiskHolding, DiskPlace } from '../run/disk.ts';
import type { RunFact } from '../run/events.ts';
import type { RunState } from '../run/model.ts';
import { workspaceFolder } from './lease.ts';
import type { WhenFull } from './recorder.ts';
import type { Room } from './room.ts';

/** What of a room says which disks matter. */
export type DiskRoom = Pick<Room, 'folder' | 'workspace' | 'contract' | 'env' | 'isolation'>;

/** An earlier run whose files lie in the same state folder, and their size, bytes. */
export interface EarlierRunSize {
  readonly run: string;
  readonly bytes: number;
}

/** Room a run paused by its disks needs to go on by itself, as a multiple of the floor. */
const recoveredAt = 1.25;
/** What is written and removed to see whether it can be, bytes. */
const triedBytes = 256 * 1024;

/** Each file system that the run needs. */
export const diskPlacesOf = ({ folder, workspace, contract, env, isolation }: DiskRoom): readonly DiskPlace[] =>
  diskPlaces({ workspace, state: folder, contract, tier: isolation.tier, env });

/** The pause of a run whose disk has fallen below its floor; null while none has. */
export function pauseAtFloor(room: DiskRoom, state: RunState, earlier: readonly EarlierRunSize[] = []): RunFact | null {
  for (const place of diskPlacesOf(room)) {
    const low = lowOf(place, 1);
    if (low !== null) return pauseFact(state, { place, low, why: sayLow(place, low), earlier });
  }
  return null;
}

/** The pause of a run whose ballast can't be made although bytes are free: a quota, or inodes. Null where there is one, or the disk is just small. */
export function pauseWithoutBallast(room: DiskRoom, state: RunState): RunFact | null {
  const full = ensureBallast(room.folder);
  const place = placeOf(room, 'state');
  if (full === null || (full === 'space' && place.free < 4 * ballastBytes)) return null;
  return pauseFact(state, { place, low: full, why: `${sayFull(place, full)} when room was to be set aside` });
}

/** The pause of a run in which a write met a full disk; `what` could not be written. Frees the ballast where it lies on that disk, so that this much can be. */
export function pauseWhenFull(
  room: DiskRoom,
  state: RunState,
  met: { readonly full: Fullness; readonly what: string; readonly on?: DiskHolding },
): Extract<RunFact, { type: 'run.paused' }> {
  const place = placeOf(room, met.on ?? 'state');
  if (place.holds.includes('state')) releaseBallast(room.folder);
  return pauseFact(state, {
    place,
    low: met.full,
    why: `${met.what} could not be written: ${sayFull(place, met.full)}`,
  });
}

/** What a recorder does when the ledger can't grow: the ballast gives its room, and the run pauses. */
export const whenLedgerFull =
  (room: DiskRoom): WhenFull =>
  (error, state) =>
    ballastIn(room.folder) === 0
      ? null
      : pauseWhenFull(room, state, { full: fullnessOf(error, room.folder) ?? 'space', what: "the run's ledger" });

/** Whether there is room again for a run that its disks have paused; makes the ballast anew. */
export function hasRoomAgain(room: DiskRoom): boolean {
  const places = diskPlacesOf(room);
  if (places.some((place) => lowOf(place, recoveredAt) !== null) || ensureBallast(room.folder) !== null) return false;
  if (placeOf(room, 'state').holds.includes('workspace')) return true;
  const ours = workspaceFolder(room.workspace);
  const isOurs = lstatSync(ours, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return tryRoom(isOurs ? ours : room.workspace, triedBytes) === null;
}

/**
 * Frees the ballast where not even the first lines of a controller, or of an answer to a person, can be written. What is used up where
 * that isn't enough; null when there is room, or something else is wrong with the folder, which whoever goes on tells in its own words.
 */
export function roomToStart(folder: string): Fullness | null {
  try {
    const full = tryRoom(folder, triedBytes);
    return full !== null && releaseBallast(folder) ? tryRoom(folder, triedBytes) : full;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return null;
  }
}

function placeOf(room: DiskRoom, holding: DiskHolding): DiskPlace {
  const found = diskPlacesOf(room).find(({ holds }) => holds.includes(holding));
  if (!found) throw new Error(`no file system holds ${holding} of ${room.folder}`);
  return found;
}

function sayLow(place: DiskPlace, low: Fullness): string {
  const where = `the disk of ${sayDiskPlace(place)}`;
  return low === 'files'
    ? `${where} has next to no inodes left (${place.freeFiles}), though ${sayBytes(place.free)} are free`
    : `${sayBytes(place.free)} are free on ${where}, the floor is ${sayBytes(place.floor)}`;
}

function sayFull(place: DiskPlace, full: Fullness): string {
  const where = `the disk of ${sayDiskPlace(place)}`;
  switch (full) {
    case 'quota':
      return `your quota on ${where} is used up, though ${sayBytes(place.free)} are free there`;
    case 'files':
      return `${where} has no inodes left, though ${sayBytes(place.free)} are free`;
    case 'space':
      return `${where} is full (${sayBytes(place.free)} free)`;
  }
}

const needed: Readonly<Record<Fullness, (place: DiskPlace) => string>> = {
  space: ({ floor, holds }) =>
    `when ${sayBytes(Math.max(floor * recoveredAt, holds.includes('state') ? 2 * ballastBytes : 0))} are free`,
  files: () => 'when there are inodes again (many small files use them up)',
  quota: () => `when ${sayBytes(ballastBytes)} more can be written`,
};

/** Earlier runs named in a pause: the largest ones. */
const namedRuns = 3;

function pauseFact(
  state: RunState,
  given: {
    readonly place: DiskPlace;
    readonly low: Fullness;
    readonly why: string;
    readonly earlier?: readonly EarlierRunSize[];
  },
): Extract<RunFact, { type: 'run.paused' }> {
  const growth = diskGrowth(state.disk, given.place.path);
  const largest = (given.earlier ?? []).toSorted((a, b) => b.bytes - a.bytes).slice(0, namedRuns);
  const sizes = largest.map(({ run, bytes }) => `${run} ${sayBytes(bytes)}`).join(', ');
  const detail = [
    `${given.why}.`,
    ...(growth === null ? [] : [`Since the run's start it has taken: ${sayGrowth(growth)}.`]),
    `Free some space: hma gc --all, or hma remove an earlier run${sizes === '' ? '' : ` (${sizes})`}; a lower limits.diskFloor in hma.yaml counts from the next run on.`,
    `The run goes on by itself ${needed[given.low](given.place)}.`,
  ].join(' ');
  return { type: 'run.paused', data: { reason: 'disk_low', detail, by: 'hma' } };
}
