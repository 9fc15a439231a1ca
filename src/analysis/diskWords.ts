import { sayBytes, sayLength } from '../base/numbers.ts';
import { diskCauses, type DiskCause, type DiskHolding, type DiskPlace } from '../run/disk.ts';
import type { DiskForecast, DiskGrowth } from './disk.ts';

const causeWords: Readonly<Record<DiskCause | 'other', string>> = {
  workspace: 'the workspace',
  snapshots: 'snapshots',
  sessions: 'sessions',
  evaluations: 'evaluations',
  ledger: 'the ledger',
  other: 'others',
};

const holdingWords: Readonly<Record<DiskHolding, string>> = {
  workspace: 'the workspace',
  state: 'the state folder',
  home: 'HOME',
  tmp: 'temporary files',
  writable: 'isolation.writable',
};

/** Growth below this isn't named, bytes. */
const little = 1e6;

/** `the workspace and the state folder (/data)`. */
export const sayDiskPlace = ({ holds, path }: Pick<DiskPlace, 'holds' | 'path'>): string =>
  `${holds.map((one) => holdingWords[one]).join(' and ')} (${path})`;

const signed = (bytes: number): string => `${bytes < 0 ? '−' : '+'}${sayBytes(Math.abs(bytes))}`;

/** `the workspace +2.9 GB, snapshots +180 MB, others +12 MB`, the largest first; `next to nothing`. */
export function sayGrowth({ by, other }: Pick<DiskGrowth, 'by' | 'other'>): string {
  const parts = [...diskCauses.map((cause) => [cause, by[cause]] as const), ['other', other] as const].flatMap(
    ([cause, bytes]) => (bytes === null || Math.abs(bytes) < little ? [] : [{ cause, bytes }]),
  );
  const words = parts
    .toSorted((a, b) => b.bytes - a.bytes)
    .map(({ cause, bytes }) => `${causeWords[cause]} ${signed(bytes)}`);
  return words.length === 0 ? 'next to nothing' : words.join(', ');
}

/** `at this pace (1.3 GB an hour, mostly the workspace) its floor is reached in 2 h 10 min`; `active` is the active runtime now, ms. */
export const sayForecast = ({ perHour, mostly, reachedAt }: DiskForecast, active: number): string =>
  `at this pace (${sayBytes(perHour)} an hour, mostly ${causeWords[mostly]}) its floor is reached ${reachedAt <= active ? 'now' : `in ${sayLength(roundedMinutes(reachedAt - active))}`}`;

/** Whole minutes, ms: a forecast knows no seconds. */
const roundedMinutes = (ms: number): number => Math.max(1, Math.round(ms / 60_000)) * 60_000;
