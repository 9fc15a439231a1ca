import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { createFileAtomic, errorCode, readJson, readTextFile, writeJsonAtomic } from '../base/files.ts';
import { asOwnerRecord, type OwnerRecord } from './owner.ts';

/*
 * Ownership of a folder is a row of claims, `owner-<n>.claim`, of which the highest is the owner's. Whoever finds the owner n dead links
 * a complete file to the name n + 1: link(2) lets exactly one do it, so of two that both see a dead owner one wins, and nobody ever
 * removes or replaces a living owner's file. A claimer that was slow looks once more after it has linked: a claim that it hadn't seen when
 * it decided means that the world went on without it. The highest claim is never removed, so numbers only grow.
 * `owner.json` is a copy of it for people and for clients that look for the sockets.
 */

/** A folder with claims: the run's state folder counts by `fence`, the workspace's `.hma` by `turn`. */
export interface ClaimFolder {
  readonly path: string;
  readonly by: 'fence' | 'turn';
  /** File mode of the claims. */
  readonly mode: number;
}

/** What the claims in a folder say. */
export interface ClaimsReading {
  /** All well-formed claims, lowest first. */
  readonly claims: readonly OwnerRecord[];
  /** The highest number ever claimed, as far as the folder remembers; 0 for none. */
  readonly highest: number;
  /** Files that have a claim's name and aren't one. */
  readonly rubbish: readonly string[];
  /** A claim in the format of a newer HMA: nothing can be said of its owner. */
  readonly newer?: { readonly path: string; readonly number: number };
}

/** The name of a claim. */
export const claimPath = (folder: ClaimFolder, number: number): string => join(folder.path, `owner-${number}.claim`);

/** The copy for people and clients. */
export const ownerPath = (folder: ClaimFolder): string => join(folder.path, 'owner.json');

/** The text of a claim, by which an owner knows its own again. */
export const claimText = (owner: OwnerRecord): string => `${JSON.stringify(owner, null, 2)}\n`;

/** Reads a folder's claims; a folder that doesn't exist has none. Throws the system's error when it can't be listed. */
export function readClaims(folder: ClaimFolder): ClaimsReading {
  const claims: OwnerRecord[] = [];
  const rubbish: string[] = [];
  let newer: ClaimsReading['newer'];
  for (const name of claimFiles(folder)) {
    const path = join(folder.path, name);
    const reading = readJson(path, { followLinks: false });
    const owner = reading.ok ? asOwnerRecord(reading.value) : undefined;
    if (owner !== undefined && (name === 'owner.json' || name === `owner-${owner[folder.by]}.claim`))
      claims.push(owner);
    else if (reading.ok && isNewer(reading.value)) newer = { path, number: Number(/\d+/.exec(name)?.[0] ?? 0) };
    else if (reading.ok || reading.refusal.reason !== 'missing') rubbish.push(path);
  }
  claims.sort((a, b) => a[folder.by] - b[folder.by]);
  return { claims, highest: claims.at(-1)?.[folder.by] ?? 0, rubbish, ...(newer !== undefined && { newer }) };
}

/** owner.json first: the sort is stable, so of two with the same number the claim itself comes last and counts. */
function claimFiles(folder: ClaimFolder): string[] {
  try {
    const names = readdirSync(folder.path);
    return [
      ...names.filter((name) => name === 'owner.json'),
      ...names.filter((name) => /^owner-\d+\.claim$/.test(name)),
    ];
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return [];
    throw error;
  }
}

function isNewer(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'v' in value && typeof value.v === 'number' && value.v > 1;
}

/** Tries to become the owner with this record's number, decided on what was `seen`. False: somebody else was faster. */
export function stakeClaim(folder: ClaimFolder, owner: OwnerRecord, seen: ClaimsReading): boolean {
  if (!createFileAtomic(claimPath(folder, owner[folder.by]), claimText(owner), folder.mode)) return false;
  const known = new Set([...seen.claims.map((claim) => claim.nonce), owner.nonce]);
  if (readClaims(folder).claims.every((claim) => known.has(claim.nonce))) return true;
  if (isOwnClaim(folder, owner)) rmSync(claimPath(folder, owner[folder.by]), { force: true });
  return false;
}

/** Whether the claim with this record's number is this record. */
export function isOwnClaim(folder: ClaimFolder, owner: OwnerRecord): boolean {
  try {
    return readTextFile(claimPath(folder, owner[folder.by]), { followLinks: false }) === claimText(owner);
  } catch {
    return false;
  }
}

/** Shows the owner to people and clients, and forgets the owners before. */
export function publishClaim(folder: ClaimFolder, owner: OwnerRecord, seen: ClaimsReading): void {
  writeJsonAtomic(ownerPath(folder), owner, folder.mode);
  for (const claim of seen.claims)
    if (claim[folder.by] < owner[folder.by]) rmSync(claimPath(folder, claim[folder.by]), { force: true });
}

/** Gives a claim back. Its number stays used. */
export function withdrawClaim(folder: ClaimFolder, owner: OwnerRecord, wall: number = Date.now()): void {
  if (!isOwnClaim(folder, owner)) return;
  writeJsonAtomic(claimPath(folder, owner[folder.by]), { ...owner, released: wall }, folder.mode);
  const shown = readJson(ownerPath(folder), { followLinks: false });
  if (shown.ok && asOwnerRecord(shown.value)?.nonce === owner.nonce) rmSync(ownerPath(folder), { force: true });
}
