import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, realpathSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { chown, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { ok, refused, type Result } from '../base/result.ts';
import type { Confinement } from './port.ts';
import { listByUid } from './processes.ts';

/** User ids that no account of a usual system has; below 65536, so that they exist in containers' mappings too. */
const range = { from: 58_000, to: 60_000 } as const;

/** Where the ids in use on this machine are noted until the next boot: two runs must never end each other's programs. */
const reservations = '/run/hma/uids';

/** The command that runs what follows as an unused user without any privilege. */
export function uidArgv(confinement: Confinement): [string, ...string[]] {
  const id = String(confinement.uid);
  const argv: [string, ...string[]] = ['setpriv', '--reuid', id, '--regid', id, '--clear-groups', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all'];
  const cutOff = ['unshare', '--net', '--', '/bin/sh', '-c', 'ip link set lo up 2>/dev/null; exec "$@"', 'hma-net'];
  return confinement.network === 'none' ? [...(cutOff as [string, ...string[]]), ...argv, '--'] : [...argv, '--'];
}

/**
 * Picks user ids for a holder (a run), the same ones at each call: no account has them, nobody else on this machine holds them, and
 * nothing runs as them (but for the holder's own programs). Refuses when the range is used up.
 */
export function pickUids(holder: string, count: number): Result<number[], string> {
  const size = range.to - range.from;
  const first = createHash('sha256').update(holder).digest().readUInt32BE() % size;
  const accounts = new Set(readFileSync('/etc/passwd', 'utf8').split('\n').map((line) => line.split(':')[2]));
  mkdirSync(reservations, { recursive: true, mode: 0o700 });
  const picked: number[] = [];
  for (let at = 0; at < size && picked.length < count; at++) {
    const uid = range.from + ((first + at) % size);
    if (!accounts.has(String(uid)) && isMapped(uid) && reserve(uid, holder)) picked.push(uid);
  }
  return picked.length === count ? ok(picked) : refused(`all user ids from ${range.from} to ${range.to - 1} are taken; remove what no run needs from ${reservations}`);
}

/** Gives a holder's ids back. */
export function releaseUids(holder: string): void {
  if (!existsSync(reservations)) return;
  for (const name of readdirSync(reservations)) if (holderOf(join(reservations, name)) === holder) unlinkSync(join(reservations, name));
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

/**
 * Opens what a confinement's uid may use and closes what it may not, by access lists for that uid alone: owners, groups and modes stay.
 * New files in writable folders stay usable by the folder's owner and by the next session. Refuses with a message when the
 * file system keeps no access lists and the uid would see too much or too little.
 */
export async function openFoldersTo(confinement: Confinement, cwd: string): Promise<Result<void, string>> {
  const { uid } = confinement;
  if (uid === undefined || uid === 0) return refused('isolation uid: no user id was given for this program; this is a bug of the controller');
  const own = [confinement.home, confinement.tmp].map(real);
  for (const folder of own) await chown(folder, uid, uid);
  const writable = confinement.writable.filter((path) => existsSync(path)).map(real).filter((path) => !own.includes(path));
  const readable = confinement.readable.filter((path) => existsSync(path)).map(real);
  const hidden = confinement.hidden.filter((path) => existsSync(path)).map(real);
  const used = [...own, ...writable, ...readable, real(cwd)];
  for (const path of readable) if (!isOpenToAll(path)) await setAcl(['-R', '-m', `u:${uid}:rX`], path);
  for (const path of writable) {
    const owner = lstatSync(path).uid;
    const entries = owner === 0 || owner === uid ? `u:${uid}:rwX,d:u:${uid}:rwX` : `u:${uid}:rwX,d:u:${uid}:rwX,d:u:${owner}:rwX`;
    const failed = await setAcl(lstatSync(path).isDirectory() ? ['-R', '-m', entries] : ['-m', `u:${uid}:rw`], path);
    if (failed) return refused(`isolation uid: ${path} can't be opened to the session's user id ${uid}: ${failed}. Use a file system with access lists (mount option acl), or isolation bubblewrap or none`);
  }
  for (const path of hidden) {
    const failed = await hide(path, { uid, used });
    if (failed) return refused(`isolation uid: ${path} can't be hidden from the session's user id ${uid}: ${failed}. Move it to a file system with access lists, or close it to others (chmod o-rwx)`);
  }
  const granted = [...own, ...writable, ...readable];
  for (const path of used) await openWayTo(path, { uid, granted });
  return ok(undefined);
}

const real = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

/** Whether everybody may use it anyway: a file by its mode, and the system's own folders, which are open as a whole. */
function isOpenToAll(path: string): boolean {
  const { mode } = statSync(path);
  if (statSync(path).isFile()) return (mode & 0o004) !== 0 && ((mode & 0o100) === 0 || (mode & 0o001) !== 0);
  return /^\/(usr|lib|lib64|bin|sbin|opt)(\/|$)/.test(path) && (mode & 0o005) === 0o005;
}

/** Closes a path to the uid; a folder through which the uid must pass stays passable, its other entries are closed one by one. Returns what failed. */
async function hide(path: string, given: { readonly uid: number; readonly used: readonly string[] }): Promise<string | undefined> {
  const through = given.used.filter((one) => one.startsWith(`${path}/`));
  if (given.used.includes(path)) return undefined;
  const failed = await setAcl(['-m', `u:${given.uid}:${through.length > 0 ? '--x' : '---'}`], path);
  if (failed) return canOthersSee(path) ? failed : undefined;
  if (through.length === 0) return undefined;
  for (const name of readdirSync(path)) {
    const inner = join(path, name);
    if (given.used.includes(inner) || lstatSync(inner).isSymbolicLink()) continue;
    const problem = await hide(inner, given);
    if (problem) return problem;
  }
  return undefined;
}

const canOthersSee = (path: string): boolean => (statSync(path).mode & 0o007) !== 0;

/** Lets the uid pass (x, not read) through the folders above a path that others may not pass, up to one that it was given anyway. */
async function openWayTo(path: string, given: { readonly uid: number; readonly granted: readonly string[] }): Promise<void> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (!isWithin(folder, given.granted) && (statSync(folder).mode & 0o001) === 0) await setAcl(['-m', `u:${given.uid}:--x`], folder);
    if (folder === '/') return;
  }
}

const isWithin = (path: string, folders: readonly string[]): boolean => folders.some((folder) => path === folder || path.startsWith(`${folder}/`));

/** Runs setfacl; undefined when all went well, else what it said. */
function setAcl(options: readonly string[], path: string): Promise<string | undefined> {
  return run('setfacl', [...options, '--', path]);
}

/** Runs a program to its end; undefined when it exits with 0, else what it wrote on stderr (at most 300 characters). */
export function run(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString('utf8')).slice(0, 300)));
    child.on('error', (cause) => resolve(`${program}: ${cause.message}`));
    child.on('close', (code) => resolve(code === 0 ? undefined : said.trim() || `${program} exited with ${code}`));
  });
}

/** Removes what a uid made at the top of shared temporary folders, without following links; what lies on the way to `kept` stays. */
export async function removeFilesOf(uid: number, given: { readonly folders: readonly string[]; readonly kept: readonly string[] }): Promise<void> {
  const kept = given.kept.map(real);
  for (const folder of given.folders.filter((one) => existsSync(one))) {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      if (lstatSync(path).uid !== uid || kept.some((one) => isWithin(one, [path]))) continue;
      await rm(path, { recursive: true, force: true });
    }
  }
}

/**
 * Takes a uid's rights on a folder back at the end of a run: its files become the folder owner's, its access-list entries go.
 * Only while nothing runs as the uid.
 */
export async function releaseFolder(folder: string, uid: number): Promise<void> {
  const owner = statSync(folder);
  await run('find', [folder, '-xdev', '-uid', String(uid), '-exec', 'chown', '-h', `${owner.uid}:${owner.gid}`, '{}', '+']);
  await run('setfacl', ['-R', '-x', `u:${uid},d:u:${uid}`, '--', folder]);
  await forgetUid(uid, [folder]);
}

/** Removes a uid from the access lists of paths and of the folders above them, where it is in them. */
export async function forgetUid(uid: number, paths: readonly string[]): Promise<void> {
  const places = new Set<string>();
  for (const path of paths) for (let one = real(path); one !== '/'; one = dirname(one)) places.add(one);
  // an entry that isn't there is no failure of ours; setfacl leaves lists without it as they are
  for (const place of places) await run('setfacl', ['-x', `u:${uid}`, '--', place]);
}

/** Whether the programs this tier needs are there. */
export function missingForUid(): string | undefined {
  if (process.getuid?.() !== 0) return 'it needs a controller that runs as root';
  const folders = (process.env['PATH'] ?? '').split(':');
  const has = (name: string): boolean =>
    folders.some((folder) => {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
  const missing = ['setpriv', 'setfacl'].filter((name) => !has(name));
  return missing.length > 0 ? `${missing.join(' and ')} not found (Debian: apt-get install util-linux acl)` : undefined;
}
