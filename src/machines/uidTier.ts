import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { ok, refused, type Result } from '../base/result.ts';
import type { Confinement } from './port.ts';
import { listByUid } from './processes.ts';
import { findTool, tool } from './tools.ts';

/** User ids that no account of a usual system has; below 65536, so that they exist in containers' mappings too. */
const range = { from: 58_000, to: 60_000 } as const;

/** Where the ids in use on this machine are noted until the next boot: two runs must never end each other's programs. */
const reservations = '/run/hma/uids';

/**
 * Picks user ids for a holder (a run), the same ones at each call: no account has them, nobody else on this machine holds them, and
 * nothing runs as them (but for the holder's own programs). Refuses when the range is used up.
 */
export function pickUids(holder: string, count: number): Result<number[], string> {
  const size = range.to - range.from;
  const first = createHash('sha256').update(holder).digest().readUInt32BE() % size;
  const accounts = new Set(
    readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':')[2]),
  );
  mkdirSync(reservations, { recursive: true, mode: 0o700 });
  const picked: number[] = [];
  for (let at = 0; at < size && picked.length < count; at++) {
    const uid = range.from + ((first + at) % size);
    if (!accounts.has(String(uid)) && isMapped(uid) && reserve(uid, holder)) picked.push(uid);
  }
  return picked.length === count
    ? ok(picked)
    : refused(
        `all user ids from ${range.from} to ${range.to - 1} are taken; remove what no run needs from ${reservations}`,
      );
}

/** Gives a holder's ids back. */
export function releaseUids(holder: string): void {
  if (!existsSync(reservations)) return;
  for (const name of readdirSync(reservations))
    if (holderOf(join(reservations, name)) === holder) unlinkSync(join(reservations, name));
}

function reserve(uid: number, holder: string): boolean {
  const file = join(reservations, String(uid));
  const found = holderOf(file);
  if (found !== undefined) return found === holder;
  if (listByUid(uid).length > 0) return false;
  try {
    writeFileSync(file, holder, { flag: 'wx', mode: 0o600 });
    return true;
  } catch {
    return holderOf(file) === holder; // another run was faster
  }
}

function holderOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Whether this user namespace has the id at all. */
function isMapped(uid: number): boolean {
  const map = readFileSync('/proc/self/uid_map', 'utf8').trim().split('\n');
  return map.some((line) => {
    const [from, , length] = line.trim().split(/\s+/).map(Number);
    return from !== undefined && length !== undefined && uid >= from && uid < from + length;
  });
}

/** The command that runs what follows as an unused user without any privilege. */
export function uidArgv(confinement: Confinement): [string, ...string[]] {
  const id = String(confinement.uid);
  const argv: [string, ...string[]] = [
    tool('setpriv'),
    '--reuid',
    id,
    '--regid',
    id,
    ...groupsOf(gpuGroups()),
    '--no-new-privs',
    '--bounding-set=-all',
    '--inh-caps=-all',
    '--ambient-caps=-all',
  ];
  const cutOff = [
    tool('unshare'),
    '--net',
    '--',
    '/bin/sh',
    '-c',
    'ip=$1; shift; "$ip" link set lo up 2>/dev/null; exec "$@"',
    'hma-net',
    tool('ip'),
  ];
  return confinement.network === 'none' ? [...(cutOff as [string, ...string[]]), ...argv, '--'] : [...argv, '--'];
}

const groupsOf = (gids: readonly number[]): string[] =>
  gids.length === 0 ? ['--clear-groups'] : ['--groups', gids.join(',')];

/** Groups that own GPU devices (`render`, `video` for AMD's); NVIDIA's are open to everybody. */
function gpuGroups(): number[] {
  const nodes = [
    '/dev/kfd',
    ...(existsSync('/dev/dri') ? readdirSync('/dev/dri').map((name) => join('/dev/dri', name)) : []),
  ];
  const gids = nodes
    .filter((path) => existsSync(path) && statSync(path).isCharacterDevice())
    .map((path) => statSync(path).gid);
  return [...new Set(gids)].filter((gid) => gid !== 0);
}

/** Whether the programs this tier needs are there. */
export function missingForUid(): string | undefined {
  if (process.getuid?.() !== 0) return 'it needs a controller that runs as root';
  const missing = ['setpriv', 'setfacl'].filter((name) => findTool(name) === undefined);
  return missing.length > 0 ? `${missing.join(' and ')} not found (Debian: apt-get install util-linux acl)` : undefined;
}
