import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { chmod, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { assertNever } from '../base/assertNever.ts';
import { errorCode } from '../base/files.ts';
import { ok, refused, type Result } from '../base/result.ts';
import { bubblewrapArgv, canMountAt, topOf } from './bubblewrap.ts';
import type { Confinement, Tier } from './port.ts';
import { hasReaper, underReaper } from './reaper.ts';
import { tool } from './tools.ts';
import { openFoldersTo, removeFilesOf } from './uidAccess.ts';
import { uidArgv } from './uidTier.ts';

/** What a tier can do here, found out by really starting something in it. */
export interface TierProbe {
  readonly tier: Tier;
  readonly available: boolean;
  /** What was checked, or what failed, in words for a person. */
  readonly why: string;
  /** Tier bubblewrap: whether further user namespaces inside are refused, as they should be. */
  readonly nested?: 'refused' | 'possible';
}

/** Why no tier could be chosen. */
export interface TierRefusal {
  readonly reason: 'tier_unavailable';
  readonly tier: Tier;
  readonly message: string;
}

/** The tier to use: the wanted one if it works here, or for `auto` the strongest that does. Never a weaker one than was asked for. */
export function chooseTier(wanted: 'auto' | Tier, probes: readonly TierProbe[]): Result<Tier, TierRefusal> {
  const order: readonly Tier[] = ['bubblewrap', 'uid', 'none'];
  const working = (tier: Tier): boolean => probes.some((probe) => probe.tier === tier && probe.available);
  if (wanted === 'auto') return ok(order.find(working) ?? 'none');
  if (working(wanted)) return ok(wanted);
  const why = probes.find((probe) => probe.tier === wanted)?.why ?? 'it was not probed';
  const others = order.filter(working).join(', ') || 'none of them';
  const message = `isolation: ${wanted} doesn't work on this machine: ${why}. Working here: ${others}. Set isolation to one of these or to auto in hma.yaml.`;
  return refused({ reason: 'tier_unavailable', tier: wanted, message });
}

/** A program made ready for its tier. */
export interface ConfinedProgram {
  /** What to spawn. */
  readonly argv: readonly [string, ...string[]];
  /** Variables to set on top of what the controller passed. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether the program runs under the reaper, which tells of it on descriptor 3. */
  readonly reaper: boolean;
  /** After the tree is gone: removes the TMPDIR it made, and for tier `uid` its files in shared temporary folders. */
  cleanup(): Promise<void>;
}

/** Why a program could not be made ready. */
export interface ConfineRefusal {
  readonly reason: 'cannot_confine';
  readonly message: string;
}

/**
 * Makes a program ready for its tier: creates HOME and TMPDIR, opens and hides folders where the tier does that by access lists, and
 * wraps the command. `scratch` is a folder of the caller's for generated files. Refuses with a message when a folder can't be prepared.
 */
export async function confine(given: {
  readonly confinement: Confinement;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly scratch: string;
}): Promise<Result<ConfinedProgram, ConfineRefusal>> {
  const { confinement } = given;
  try {
    const unservable = bindsRefusal(confinement);
    if (unservable !== undefined) return refused({ reason: 'cannot_confine', message: unservable });
    const madeTmp = makeFolder(confinement.tmp);
    makeFolder(confinement.home);
    if (confinement.tier === 'uid') {
      const opened = await openFoldersTo(confinement, { cwd: given.cwd, program: given.argv[0] ?? '' });
      if (!opened.ok) return refused({ reason: 'cannot_confine', message: opened.refusal });
    }
    const reaper = hasReaper();
    const argv = wrap({ ...given, argv: reaper ? underReaper(given.argv) : given.argv });
    const cleanup = async (): Promise<void> => {
      if (madeTmp) await removeFolder(confinement.tmp);
      if (confinement.tier !== 'uid' || confinement.uid === undefined) return;
      const kept = [confinement.home, ...confinement.writable, ...confinement.readable, given.cwd];
      await removeFilesOf(confinement.uid, { folders: ['/tmp', '/var/tmp', '/dev/shm'], kept });
    };
    return ok({ argv, env: environmentOf(confinement), reaper, cleanup });
  } catch (cause) {
    return refused({
      reason: 'cannot_confine',
      message: `isolation ${confinement.tier} could not be prepared: ${(cause as Error).message}`,
    });
  }
}

/** Why the binds of a confinement can't be made, in words; undefined when they can. */
function bindsRefusal({ tier, binds = [] }: Confinement): string | undefined {
  const [first] = binds;
  if (first === undefined) return undefined;
  if (tier !== 'bubblewrap')
    return `${first.to} can't be served by isolation ${tier}; absolute paths of a task (evaluate.binds) need isolation bubblewrap`;
  const gone = binds.find(({ from }) => from !== null && !existsSync(from));
  if (gone) return `${gone.from}, which is to be shown at ${gone.to}, does not exist`;
  const place = binds.find(({ to }) => !canMountAt(to));
  return place && `nothing can be shown at ${place.to}: it does not exist, and ${topOf(place.to)} does`;
}

/** The command that starts a program in its tier. The folders must have been prepared. */
function wrap(given: {
  readonly confinement: Confinement;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly scratch: string;
}): [string, ...string[]] {
  const { confinement, argv } = given;
  switch (confinement.tier) {
    case 'bubblewrap':
      return [...bubblewrapArgv({ ...given, nested: confinement.nested ?? 'refused' }), ...argv];
    case 'uid':
      return [...uidArgv(confinement), ...argv];
    case 'none':
      return argv as [string, ...string[]];
    default:
      return assertNever(confinement.tier);
  }
}

/** HOME and TMPDIR; where the program is not the owner of the files it works on, also a name for itself and git's consent to work on them. */
function environmentOf(confinement: Confinement): Record<string, string> {
  const folders = { HOME: confinement.home, TMPDIR: confinement.tmp, TMP: confinement.tmp, TEMP: confinement.tmp };
  if (confinement.tier === 'none' || process.getuid?.() !== 0) return folders;
  return {
    ...folders,
    USER: 'hma',
    LOGNAME: 'hma',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
  };
}

/** Creates a folder (0700) if it isn't there. True when it is ours to remove: just made, or empty. */
function makeFolder(folder: string): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return readdirSync(folder).length === 0;
}

/** Folders no clean-up may ever take away. */
const kept = new Set(['/', '/tmp', '/var/tmp', '/dev/shm', '/home', '/root', '/var', '/usr', '/etc']);

/** Removes a session's own folder with everything in it, also what the session made unwritable. Links are removed, never followed. */
export async function removeFolder(folder: string): Promise<void> {
  if (kept.has(resolve(folder)) || resolve(folder) === resolve(process.env['HOME'] ?? '/')) return;
  try {
    await rm(folder, { recursive: true, force: true });
  } catch (cause) {
    // a tree deeper than the longest path there is: the system's own tool goes down step by step
    if (errorCode(cause) === 'ENAMETOOLONG') return void (await promisify(execFile)(tool('rm'), ['-rf', '--', folder]));
    await openAll(folder);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes every folder below writable for its owner, so that it can be emptied. */
async function openAll(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await openAll(join(folder, entry.name));
}
