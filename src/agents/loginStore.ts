import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { LoginPlan } from './port.ts';
import { readJson, readTextFile, writeFileAtomic, writeJsonAtomic } from '../base/files.ts';
import type { ProcessIdentity } from '../machines/port.ts';
import { isAlive } from '../machines/processes.ts';
import { observeRunner } from '../machines/runnerControl.ts';
import { withFolderLock } from './loginLock.ts';

/*
 * Logins of ours, `$HMA_HOME/logins/<adapter>/`. A refresh token is good for one exchange; whoever exchanges it twice loses the login, on
 * every machine. So one session at a time has a login, whatever run it belongs to:
 *
 *   free ──take──▶ held by a session (holder.json) ──its runner has ended──▶ what is newer is written back ──▶ free
 *
 * The holder is known by its runner's folder, so that a dead controller or a killed session leaves nothing behind: whoever comes next
 * looks at the runner, and writes back from the HOME that it left. `lineage` holds the hashes of what the session was given and of
 * all that came from it: where something else lies in the folder (a person has signed in anew), nothing is overwritten.
 */

/** Whose login, and where it lies. */
export interface LoginPlace {
  readonly folder: string;
  readonly plan: LoginPlan;
}

/** The session that has a login now. */
export interface LoginHolder {
  readonly run: string;
  /** Its runner's folder, and the nonce of its attempt. */
  readonly dir: string;
  readonly nonce: string;
  readonly home: string;
  /** The controller that took it; until the runner is there, it stands for the session. */
  readonly controller: ProcessIdentity;
  /** Unix ms. */
  readonly since: number;
  /** By file: hashes of what was given and of what came back, oldest first. */
  readonly lineage: Readonly<Record<string, readonly string[]>>;
}

/** How long a session without a runner is believed to come although its controller is gone: the spawn may be under way, ms. */
const spawnMs = 30_000;

/** The folder of one adapter's login. */
export const loginFolder = (home: string, adapter: string): string => join(home, 'logins', adapter);

const holderFile = (folder: string): string => join(folder, 'holder.json');
const hashOf = (content: string): string => createHash('sha256').update(content).digest('hex');

/** Whether a whole login lies in a folder: every file of it that is there is well-formed, and there is one. */
export const hasLogin = (place: LoginPlace): boolean => loginFiles(place).size > 0;

function loginFiles({ folder, plan }: LoginPlace): Map<string, string> {
  const found = new Map<string, string>();
  for (const file of plan.files) {
    const content = readInside(folder, file);
    if (content !== null && plan.wellFormed(file, content)) found.set(file, content);
  }
  return found;
}

/** A file below a folder that others write: only a regular one that really lies there; null for anything else. */
function readInside(folder: string, file: string): string | null {
  const path = join(folder, file);
  try {
    if (!`${realpathSync(dirname(path))}/`.startsWith(`${realpathSync(folder)}/`)) return null;
    return readTextFile(path, { followLinks: false });
  } catch {
    return null; // not there, a link, or unreadable: no login as far as we are concerned
  }
}

/** The session that has the login, as written; it may be gone. */
export function holderOf({ folder }: LoginPlace): LoginHolder | null {
  const reading = readJson(holderFile(folder), { followLinks: false });
  return reading.ok ? (reading.value as LoginHolder) : null;
}

function isGone(holder: LoginHolder, wall: number): boolean {
  const seen = observeRunner(holder.dir);
  switch (seen.kind) {
    case 'running':
      return false;
    // its runner was killed and left it alive: its own controller ends it
    case 'lost':
      return seen.alive.length === 0;
    case 'not_started':
      return !isAlive(holder.controller) && Math.abs(wall - holder.since) > spawnMs;
    default:
      return true;
  }
}

/** Keeps a login that a person has just made, from the HOME in which the harness signed in. False when no whole login lies there. */
export async function keepLogin(place: LoginPlace, home: string): Promise<boolean> {
  const fresh = loginFiles({ folder: home, plan: place.plan });
  if (fresh.size === 0) return false;
  mkdirSync(place.folder, { recursive: true, mode: 0o700 });
  await withFolderLock(place.folder, () => {
    for (const file of place.plan.files) {
      const content = fresh.get(file);
      if (content === undefined) rmSync(join(place.folder, file), { force: true });
      else store(place.folder, file, content);
    }
  });
  return true;
}

/** Forgets a login. A session that has it keeps its copy and writes nothing back. False when there was none. */
export async function forgetLogin(place: LoginPlace): Promise<boolean> {
  if (!existsSync(place.folder)) return false;
  return await withFolderLock(place.folder, () => {
    const there = place.plan.files.filter((file) => existsSync(join(place.folder, file)));
    for (const file of there) rmSync(join(place.folder, file), { force: true });
    return there.length > 0;
  });
}

/**
 * Copies a login into a session's HOME, which nothing of the session uses yet, and marks the session as its holder. `held` by another one
 * that lives: nothing was done. `none`: there is no login. What a dead holder left is written back before.
 */
export async function takeLogin(
  place: LoginPlace,
  session: Omit<LoginHolder, 'lineage'>,
): Promise<{ readonly kind: 'taken' | 'none' } | { readonly kind: 'held'; readonly holder: LoginHolder }> {
  if (!existsSync(place.folder)) return { kind: 'none' };
  return await withFolderLock(place.folder, () => {
    const holder = holderOf(place);
    if (holder && holder.nonce !== session.nonce) {
      if (!isGone(holder, session.since)) return { kind: 'held', holder };
      writeBack(place, holder);
      rmSync(holderFile(place.folder), { force: true });
    }
    const files = loginFiles(place);
    if (files.size === 0) return { kind: 'none' };
    const lineage = Object.fromEntries([...files].map(([file, content]) => [file, [hashOf(content)]]));
    writeJsonAtomic(holderFile(place.folder), { ...session, lineage } satisfies LoginHolder);
    for (const [file, content] of files) store(session.home, file, content);
    return { kind: 'taken' };
  });
}

/** Writes back what the session's harness has renewed. Nothing happens when the session doesn't have the login (any more). */
export async function syncLogin(place: LoginPlace, nonce: string): Promise<void> {
  const before = holderOf(place);
  if (before?.nonce !== nonce || !isNewer(place, before)) return;
  await withFolderLock(place.folder, () => {
    const holder = holderOf(place);
    if (holder?.nonce === nonce) writeBack(place, holder);
  });
}

/** Writes back for the last time and gives the login free: nothing of the session lives any more. */
export async function releaseLogin(place: LoginPlace, nonce: string): Promise<void> {
  if (holderOf(place)?.nonce !== nonce) return;
  await withFolderLock(place.folder, () => {
    const holder = holderOf(place);
    if (holder?.nonce !== nonce) return;
    writeBack(place, holder);
    rmSync(holderFile(place.folder), { force: true });
  });
}

const isNewer = ({ plan }: LoginPlace, { home, lineage }: LoginHolder): boolean =>
  plan.files.some((file) => {
    const content = readInside(home, file);
    return content !== null && lineage[file]?.at(-1) !== hashOf(content);
  });

function writeBack(place: LoginPlace, holder: LoginHolder): void {
  const { folder, plan } = place;
  let { lineage } = holder;
  for (const file of plan.files) {
    const content = readInside(holder.home, file);
    const known = lineage[file];
    if (content === null || known === undefined || known.at(-1) === hashOf(content) || !plan.wellFormed(file, content))
      continue;
    const present = readInside(folder, file);
    if (present === null || !known.includes(hashOf(present))) continue;
    lineage = { ...lineage, [file]: [...known, hashOf(content)] };
    // first what it descends from: a crash between the two leaves an older file of the same descent, which may be overwritten
    writeJsonAtomic(holderFile(folder), { ...holder, lineage } satisfies LoginHolder);
    store(folder, file, content);
  }
}

function store(folder: string, file: string, content: string): void {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileAtomic(path, content, 0o600);
}
