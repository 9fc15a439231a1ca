import { randomBytes } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { createFileAtomic, readJson } from '../base/files.ts';
import type { ProcessIdentity } from '../machines/port.ts';
import { identify, isAlive } from '../machines/processes.ts';

/** How often a lock that is held is looked at, ms. What is done under it takes milliseconds. */
const lookMs = 20;
/** Longest wait for it, ms. */
const patienceMs = 15_000;

/**
 * Does something while no other process on this machine does the like for the same folder. The lock of a process that is gone is taken
 * over, never one that is only old: a stopped process may go on. Throws when a living process holds it for 15 s.
 */
export async function withFolderLock<T>(folder: string, act: () => T | Promise<T>): Promise<T> {
  const file = join(folder, 'lock');
  const own = { ...(identify(process.pid) ?? { pid: process.pid, start: '' }), nonce: randomBytes(8).toString('hex') };
  const giveUpAt = performance.now() + patienceMs;
  while (!createFileAtomic(file, JSON.stringify(own))) {
    if (performance.now() > giveUpAt)
      throw new Error(`${file} has been held for ${patienceMs / 1000} s by a living process`);
    const holder = readHolder(file);
    if (holder === null || isAlive(holder)) await sleep(lookMs);
    else takeAway(file, holder);
  }
  try {
    return await act();
  } finally {
    if (readHolder(file)?.nonce === own.nonce) rmSync(file, { force: true });
  }
}

interface LockHolder extends ProcessIdentity {
  readonly nonce: string;
}

function readHolder(file: string): LockHolder | null {
  const reading = readJson(file, { followLinks: false });
  return reading.ok ? (reading.value as LockHolder) : null;
}

/** Removes a dead process's lock; when another was faster and what lay there is a living one's by now, that is put back. */
function takeAway(file: string, dead: LockHolder): void {
  const aside = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    renameSync(file, aside);
  } catch {
    return; // another was faster
  }
  const taken = readHolder(aside);
  if (taken && taken.nonce !== dead.nonce) createFileAtomic(file, JSON.stringify(taken));
  rmSync(aside, { force: true });
}
