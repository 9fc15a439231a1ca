import { lstatSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

import type { Clock } from '../base/clock.ts';
import { createFileAtomic, errorCode, readTextFile, writeFileAtomic } from '../base/files.ts';
import { ok, refused, type Result } from '../base/result.ts';
import {
  claimPath,
  claimText,
  isOwnClaim,
  ownerPath,
  publishClaim,
  readClaims,
  stakeClaim,
  withdrawClaim,
  type ClaimFolder,
  type ClaimsReading,
} from './claims.ts';
import { describeSelf, livenessOf, processLiveness, type Liveness, type OwnerRecord } from './owner.ts';

/** Every place in taking and giving back a lease where the process may die and a test makes it die. */
export const leaseCrashPoints = [
  'lease.stateClaimed',
  'lease.workspaceClaimed',
  'lease.published',
  'lease.released',
] as const;

/** The name of one such place. */
export type LeaseCrashPoint = (typeof leaseCrashPoints)[number];

/** What `acquireLease` needs. All paths are absolute. */
export interface LeaseOptions {
  readonly workspace: string;
  /** The run's state folder. */
  readonly stateDir: string;
  readonly runId: string;
  readonly sockets: { readonly client: string; readonly agent: string };
  readonly clock: Clock;
  /** A person says that the owner which seems to live must go. Never set by a program on its own. */
  readonly takeOver?: boolean;
  readonly crashPoint?: (name: LeaseCrashPoint) => void;
}

/** Why a lease can't be had. */
export type LeaseRefusal =
  | {
      readonly reason: 'held';
      /** The workspace is another run's, or this run has a controller already. */
      readonly what: 'workspace' | 'run';
      readonly owner: OwnerRecord;
      readonly liveness: Liveness;
    }
  | { readonly reason: 'newer_version'; readonly path: string }
  | { readonly reason: 'contended'; readonly path: string }
  | { readonly reason: 'unwritable'; readonly path: string; readonly code: string; readonly detail: string };

/** A refusal in words: what, where, what to do. */
export function describeLeaseRefusal(refusal: LeaseRefusal): string {
  switch (refusal.reason) {
    case 'held':
      return describeHolder(refusal);
    case 'newer_version':
      return `A newer HMA owns this workspace (${refusal.path}). Use that version, or stop its run first.`;
    case 'contended':
      return `Many controllers try to own ${refusal.path} at once. Try again in a moment.`;
    case 'unwritable':
      return `HMA can't write ${refusal.path} (${refusal.detail}). A run needs a workspace and a state folder that it may write: correct the permissions, or use another folder.`;
  }
}

function describeHolder({ what, owner, liveness }: Extract<LeaseRefusal, { reason: 'held' }>): string {
  const which =
    what === 'run'
      ? `Run ${owner.run} already has a controller`
      : `Run ${owner.run} already works in ${owner.workspace}`;
  const where = `process ${owner.pid} on ${owner.host}, since ${new Date(owner.wall).toISOString()}, state in ${owner.stateDir}`;
  const seen = {
    answers: 'it answers',
    lives: 'its process lives',
    unknown: "it can't be seen from here",
    dead: 'it is gone',
    released: 'it ended',
  }[liveness];
  return `${which} (${where}; ${seen}). Use \`hma status\` or \`hma stop\` there. If you know that it must not go on: \`hma resume ${owner.run} --take-over\`.`;
}

/** What `repair` found. */
export type RepairOutcome =
  | { readonly kind: 'intact' }
  | { readonly kind: 'repaired'; readonly files: readonly string[] }
  /** The lease is another's: the controller must end. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'unwritable'; readonly path: string; readonly code: string; readonly detail: string };

/** Ownership of a workspace and of a run by this process. */
export interface Lease {
  /** Higher than that of every owner of this run before; names the ledger segment. */
  readonly fence: number;
  readonly owner: OwnerRecord;
  /** Reads from the disk whether the lease is still this process's. Cheap enough for every append. */
  confirmFence(): boolean;
  /** Rebuilds in `.hma/` what an agent removed or changed. Call it now and then. */
  repair(): RepairOutcome;
  /** Gives both back; harmless when they are another's by now. */
  release(): void;
}

/** The folder of ours in a workspace. */
export const workspaceFolder = (workspace: string): string => join(workspace, '.hma');

const claimsOf = (
  options: Pick<LeaseOptions, 'workspace' | 'stateDir'>,
): { state: ClaimFolder; work: ClaimFolder } => ({
  state: { path: options.stateDir, by: 'fence', mode: 0o600 },
  work: { path: workspaceFolder(options.workspace), by: 'turn', mode: 0o644 },
});

/** The latest owner of a workspace, living or not, for clients that look for its sockets. Undefined: never owned, or cleaned away. */
export function readOwner(workspace: string): OwnerRecord | undefined {
  return readClaims(claimsOf({ workspace, stateDir: '' }).work).claims.at(-1);
}

/** The latest owner of a run, from its state folder, which agents can't clean away. */
export function readRunOwner(stateDir: string): OwnerRecord | undefined {
  return readClaims(claimsOf({ workspace: '', stateDir }).state).claims.at(-1);
}

/**
 * Makes this process the one owner of a run (claims in its state folder) and of a workspace (claims in `.hma/`). The first keeps a second
 * controller from the same run even when `.hma/` was cleaned away; the second keeps two runs, from whichever state folders, from
 * one workspace. An owner that isn't proved dead is never followed, unless a person says `takeOver`; it then finds out at its next
 * `confirmFence`.
 */
export async function acquireLease(options: LeaseOptions): Promise<Result<Lease, LeaseRefusal>> {
  try {
    mkdirSync(options.stateDir, { recursive: true, mode: 0o700 });
    prepareFolder(options.workspace);
    return await elect(options);
  } catch (error) {
    return refused(unwritable(error, options.workspace));
  }
}

/** A person's word counts against the owners that were there when it was given, not against whoever wins meanwhile. */
async function elect(options: LeaseOptions): Promise<Result<Lease, LeaseRefusal>> {
  const folders = claimsOf(options);
  const crashPoint = options.crashPoint ?? (() => {});
  let ousted: ReadonlySet<string> | undefined;
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const seen = { state: readClaims(folders.state), work: readClaims(folders.work) };
    ousted ??= new Set(options.takeOver ? [...seen.state.claims, ...seen.work.claims].map((claim) => claim.nonce) : []);
    const holder =
      (await findHolder('run', seen.state, options, ousted)) ??
      (await findHolder('workspace', seen.work, options, ousted));
    if (holder !== undefined) return refused(holder);
    for (const path of seen.work.rubbish) rmSync(path, { recursive: true, force: true });
    const owner = candidate(options, seen);
    if (!stakeClaim(folders.state, owner, seen.state)) continue;
    crashPoint('lease.stateClaimed');
    if (!stakeClaim(folders.work, owner, seen.work)) {
      withdrawClaim(folders.state, owner);
      continue;
    }
    crashPoint('lease.workspaceClaimed');
    publishClaim(folders.state, owner, seen.state);
    publishClaim(folders.work, owner, seen.work);
    crashPoint('lease.published');
    return ok(new HeldLease(owner, options, folders));
  }
  return refused({ reason: 'contended', path: options.workspace });
}

async function findHolder(
  what: 'workspace' | 'run',
  seen: ClaimsReading,
  { clock }: LeaseOptions,
  ousted: ReadonlySet<string>,
): Promise<LeaseRefusal | undefined> {
  if (seen.newer !== undefined) return { reason: 'newer_version', path: seen.newer.path };
  const owner = seen.claims.at(-1);
  if (owner === undefined || ousted.has(owner.nonce)) return undefined;
  const liveness = await livenessOf(owner, clock);
  return liveness === 'dead' || liveness === 'released' ? undefined : { reason: 'held', what, owner, liveness };
}

function candidate(options: LeaseOptions, seen: { state: ClaimsReading; work: ClaimsReading }): OwnerRecord {
  const { workspace, stateDir, runId, sockets, clock } = options;
  const fence = Math.max(seen.state.highest, highestSegment(stateDir)) + 1;
  return {
    v: 1,
    ...describeSelf(clock),
    fence,
    turn: seen.work.highest + 1,
    run: runId,
    workspace,
    stateDir,
    clientSocket: sockets.client,
    agentSocket: sockets.agent,
  };
}

/** The ledger remembers fences too, should the claims beside it be lost. */
function highestSegment(stateDir: string): number {
  return Math.max(0, ...readdirSync(stateDir).map((name) => Number(/^ledger-(\d{1,12})\.jsonl$/.exec(name)?.[1] ?? 0)));
}

/** Makes `.hma/` and keeps it out of git. A link in its place is removed, so that nothing is written where it leads. */
function prepareFolder(workspace: string): string[] {
  const made: string[] = [];
  if (!statSync(workspace).isDirectory())
    throw Object.assign(new Error(`${workspace} is no folder`), { code: 'ENOTDIR' });
  const folder = workspaceFolder(workspace);
  let found = lstatSync(folder, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) {
    rmSync(folder);
    found = undefined;
  }
  if (!found?.isDirectory() && makeFolder(folder)) made.push(folder);
  const ignore = join(folder, '.gitignore');
  if (!sameText(ignore, '*\n')) {
    writeFileAtomic(ignore, '*\n', 0o644);
    made.push(ignore);
  }
  return made;
}

/** False when another one was faster. Not recursive: on a read-only file system Node would then say ENOENT. */
function makeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o755 });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST' && lstatSync(path).isDirectory()) return false;
    throw error;
  }
}

function sameText(path: string, text: string): boolean {
  try {
    return readTextFile(path, { followLinks: false }) === text;
  } catch {
    return false;
  }
}

function unwritable(error: unknown, path: string): Extract<LeaseRefusal, { reason: 'unwritable' }> {
  const code = errorCode(error);
  if (code === undefined) throw error;
  return { reason: 'unwritable', path: (error as NodeJS.ErrnoException).path ?? path, code, detail: String(error) };
}

class HeldLease implements Lease {
  readonly owner: OwnerRecord;
  readonly #options: LeaseOptions;
  readonly #folders: { state: ClaimFolder; work: ClaimFolder };

  constructor(owner: OwnerRecord, options: LeaseOptions, folders: { state: ClaimFolder; work: ClaimFolder }) {
    this.owner = owner;
    this.#options = options;
    this.#folders = folders;
  }

  get fence(): number {
    return this.owner.fence;
  }

  confirmFence(): boolean {
    return this.#ownsRun() && !this.#isOusted();
  }

  repair(): RepairOutcome {
    if (!this.confirmFence()) return { kind: 'lost' };
    try {
      const files = prepareFolder(this.#options.workspace);
      const { work } = this.#folders;
      const claim = claimPath(work, this.owner.turn);
      if (!isOwnClaim(work, this.owner)) {
        rmSync(claim, { recursive: true, force: true });
        if (!createFileAtomic(claim, claimText(this.owner), work.mode)) return { kind: 'lost' };
        files.push(claim);
      }
      if (!sameText(ownerPath(work), claimText(this.owner))) {
        rmSync(ownerPath(work), { recursive: true, force: true });
        writeFileAtomic(ownerPath(work), claimText(this.owner), work.mode);
        files.push(ownerPath(work));
      }
      return files.length === 0 ? { kind: 'intact' } : { kind: 'repaired', files };
    } catch (error) {
      const { path, code, detail } = unwritable(error, this.#options.workspace);
      return { kind: 'unwritable', path, code, detail };
    }
  }

  release(): void {
    const { wall } = this.#options.clock.now();
    const { crashPoint } = this.#options;
    for (const folder of [this.#folders.work, this.#folders.state]) {
      try {
        withdrawClaim(folder, this.owner, wall);
      } catch (error) {
        // a folder that can't be written keeps the claim of a process that is about to be gone: the next owner finds it dead
        if (errorCode(error) === undefined) throw error;
      }
    }
    crashPoint?.('lease.released');
  }

  /** The state folder has the last word: no agent can touch it. */
  #ownsRun(): boolean {
    const { state } = this.#folders;
    try {
      const numbers = readdirSync(state.path).map((name) => Number(/^owner-(\d+)\.claim$/.exec(name)?.[1] ?? 0));
      return Math.max(0, ...numbers) === this.fence && isOwnClaim(state, this.owner);
    } catch {
      return false;
    }
  }

  /**
   * Another run's owner in the workspace counts when it came later. Claims that agents clean away, restore from a copy or scribble over
   * say nothing: without our own, a lower one counts only if its process isn't dead.
   */
  #isOusted(): boolean {
    const { work } = this.#folders;
    const present = isOwnClaim(work, this.owner);
    let seen: ClaimsReading;
    try {
      seen = readClaims(work);
    } catch {
      return false;
    }
    if ((seen.newer?.number ?? 0) > this.owner.turn || seen.highest > this.owner.turn) return true;
    const others = present
      ? []
      : seen.claims.filter((claim) => claim.nonce !== this.owner.nonce && claim.released === undefined);
    return others.some((claim) => processLiveness(claim, this.#options.clock) !== 'dead');
  }
}
