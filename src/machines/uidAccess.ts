import { spawn } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { ok, refused, type Result } from '../base/result.ts';
import type { Confinement } from './port.ts';
import { tool } from './tools.ts';

/**
 * Opens what a confinement's uid may use and closes what it may not, by access lists for that uid alone: owners, groups and modes stay.
 * New files in writable folders stay usable by the folder's owner and by the next session. Refuses with a message when the
 * file system keeps no access lists and the uid would see too much or too little.
 */
export async function openFoldersTo(
  confinement: Confinement,
  given: { readonly cwd: string; readonly program: string },
): Promise<Result<void, string>> {
  const { cwd, program } = given;
  const { uid } = confinement;
  if (uid === undefined || uid === 0)
    return refused('isolation uid: no user id was given for this program; this is a bug of the controller');
  const own = [confinement.home, confinement.tmp].map(real);
  const foreign = own.find((folder) => isForeign(folder, uid));
  if (foreign)
    return refused(
      `isolation uid: ${foreign} is somebody's own folder and can't become a session's HOME or TMPDIR; give the session a folder of its own, or use isolation bubblewrap or none`,
    );
  for (const folder of own) await run('chown', ['-R', '-h', `${uid}:${uid}`, '--', folder]);
  const writable = confinement.writable
    .filter((path) => existsSync(path))
    .map(real)
    .filter((path) => !own.includes(path));
  const readable = confinement.readable.filter((path) => existsSync(path)).map(real);
  const hidden = confinement.hidden.filter((path) => existsSync(path)).map(real);
  const wide = [...writable, ...readable.filter((path) => !isOpenToAll(path))].find(isTooWide);
  if (wide)
    return refused(
      `isolation uid: ${wide} as a whole can't be opened to a session; name the folders in it that are needed (isolation.readable, isolation.writable), or use isolation bubblewrap or none`,
    );
  const used = [...own, ...writable, ...readable, real(cwd)];
  for (const path of readable) if (!isOpenToAll(path)) await setAcl(['-R', '-m', `u:${uid}:rX`], path);
  for (const path of writable) {
    const owner = lstatSync(path).uid;
    const entries =
      owner === 0 || owner === uid ? `u:${uid}:rwX,d:u:${uid}:rwX` : `u:${uid}:rwX,d:u:${uid}:rwX,d:u:${owner}:rwX`;
    const failed = await setAcl(lstatSync(path).isDirectory() ? ['-R', '-m', entries] : ['-m', `u:${uid}:rw`], path);
    if (failed)
      return refused(
        `isolation uid: ${path} can't be opened to the session's user id ${uid}: ${failed}. Use a file system with access lists (mount option acl), or isolation bubblewrap or none`,
      );
  }
  for (const path of hidden) {
    const failed = await hide(path, { uid, used });
    if (failed)
      return refused(
        `isolation uid: ${path} can't be hidden from the session's user id ${uid}: ${failed}. Move it to a file system with access lists, or close it to others (chmod o-rwx)`,
      );
  }
  const granted = [...own, ...writable, ...readable];
  // a program may lie in a home that others can't pass through (a virtual environment, a Node of one's own)
  const programs = existsSync(program) ? [program, real(program)] : [];
  for (const path of [...used, ...programs]) await openWayTo(path, { uid, granted });
  return ok(undefined);
}

const real = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

/** Whether everybody may use it anyway: a file by its mode, and the system's own folders, which are open as a whole. */
function isOpenToAll(path: string): boolean {
  const { mode } = statSync(path);
  if (statSync(path).isFile()) return (mode & 0o004) !== 0 && ((mode & 0o100) === 0 || (mode & 0o001) !== 0);
  return /^\/(usr|lib|lib64|bin|sbin|opt|etc)(\/|$)|^\/$/.test(path) && (mode & 0o005) === 0o005;
}

/** Whether a folder is an account's home, a shared one or another user's: such a folder is never given away. */
function isForeign(folder: string, uid: number): boolean {
  return isTooWide(folder) || ![0, uid].includes(statSync(folder).uid);
}

/** Whether a path is the system's, everybody's, or an account's whole home: an access list set on all of it would do harm (ssh refuses keys that have one). */
function isTooWide(path: string): boolean {
  const homes = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':')[5]);
  return [...homes, '/', '/tmp', '/var', '/var/tmp', '/dev', '/dev/shm', '/home', '/usr', '/etc', '/run'].includes(
    path,
  );
}

/** Closes a path to the uid; a folder through which the uid must pass stays passable, its other entries are closed. Returns what failed. */
async function hide(
  path: string,
  given: { readonly uid: number; readonly used: readonly string[] },
): Promise<string | undefined> {
  const { uid, used } = given;
  if (used.includes(path)) return undefined;
  if (!used.some((one) => one.startsWith(`${path}/`))) return await close([path], uid);
  const failed = await setAcl(['-m', `u:${uid}:--x`], path);
  if (failed) return failed;
  const inside = readdirSync(path)
    .map((name) => join(path, name))
    .filter((inner) => !used.includes(inner) && !lstatSync(inner).isSymbolicLink());
  const passed = inside.filter((inner) => used.some((one) => one.startsWith(`${inner}/`)));
  const problem = await close(
    inside.filter((inner) => !passed.includes(inner)),
    uid,
  );
  if (problem) return problem;
  for (const inner of passed) {
    const deeper = await hide(inner, given);
    if (deeper) return deeper;
  }
  return undefined;
}

/** Closes paths to the uid: what is closed to all others only loses what an earlier session was given, so that access lists don't grow. */
async function close(paths: readonly string[], uid: number): Promise<string | undefined> {
  const open = paths.filter(canOthersSee);
  const shut = paths.filter((path) => !open.includes(path));
  for (const some of inParts(shut)) await run('setfacl', ['-x', `u:${uid}`, '--', ...some]);
  for (const some of inParts(open)) {
    const failed = await run('setfacl', ['-m', `u:${uid}:---`, '--', ...some]);
    if (failed) return failed;
  }
  return undefined;
}

/** Command lines have a longest length. */
function inParts(paths: readonly string[]): string[][] {
  const parts: string[][] = [];
  for (let at = 0; at < paths.length; at += 400) parts.push(paths.slice(at, at + 400));
  return parts;
}

const canOthersSee = (path: string): boolean => (statSync(path).mode & 0o007) !== 0;

/** Lets the uid pass (x, not read) through the folders above a path that others may not pass, up to one that it was given anyway. */
async function openWayTo(
  path: string,
  given: { readonly uid: number; readonly granted: readonly string[] },
): Promise<void> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (!isWithin(folder, given.granted) && (statSync(folder).mode & 0o001) === 0)
      await setAcl(['-m', `u:${given.uid}:--x`], folder);
    if (folder === '/') return;
  }
}

const isWithin = (path: string, folders: readonly string[]): boolean =>
  folders.some((folder) => path === folder || path.startsWith(`${folder}/`));

/** Runs setfacl; undefined when all went well, else what it said. */
function setAcl(options: readonly string[], path: string): Promise<string | undefined> {
  return run('setfacl', [...options, '--', path]);
}

/** Runs a program to its end; undefined when it exits with 0, else what it wrote on stderr (at most 300 characters). */
export function run(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(tool(program), args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString('utf8')).slice(0, 300)));
    child.on('error', (cause) => resolve(`${program}: ${cause.message}`));
    child.on('close', (code) => resolve(code === 0 ? undefined : said.trim() || `${program} exited with ${code}`));
  });
}

/** Removes what a uid made at the top of shared temporary folders, without following links; what lies on the way to `kept` stays. */
export async function removeFilesOf(
  uid: number,
  given: { readonly folders: readonly string[]; readonly kept: readonly string[] },
): Promise<void> {
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
  await run('find', [
    folder,
    '-xdev',
    '-uid',
    String(uid),
    '-exec',
    'chown',
    '-h',
    `${owner.uid}:${owner.gid}`,
    '{}',
    '+',
  ]);
  await run('setfacl', ['-R', '-x', `u:${uid},d:u:${uid}`, '--', folder]);
  await forgetUid(uid, [folder]);
}

/** Removes a uid from the access lists of paths and of the folders above them, where it is in them. */
export async function forgetUid(uid: number, paths: readonly string[]): Promise<void> {
  const places = new Set<string>();
  for (const path of paths) for (let one = real(path); one !== '/'; one = dirname(one)) places.add(one);
  // an entry that isn't there is no failure of ours; setfacl leaves lists without it as they are
  for (const some of inParts([...places])) await run('setfacl', ['-x', `u:${uid}`, '--', ...some]);
}
