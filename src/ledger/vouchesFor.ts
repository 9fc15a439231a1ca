import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { readLedger, segmentName } from './readLedger.ts';

/**
 * Whether a run's ledger still has the event with this number and hash. A hash vouches for its event and all before it, so another
 * ledger that keeps one is linked to just that past. False also where the ledger is broken before it.
 */
export function vouchesFor(dir: string, link: { readonly seq: number; readonly hash: string }): boolean {
  const { events, last, newestFence } = readLedger(dir);
  if ((last?.lastSeq ?? 0) < link.seq || events.length === 0) return false;
  for (let fence = 1; fence <= newestFence; fence += 1) if (hasLine(join(dir, segmentName(fence)), link)) return true;
  return false;
}

/** A whole chain was read, so a line with this number and this hash is the one that was linked to. */
function hasLine(file: string, { seq, hash }: { readonly seq: number; readonly hash: string }): boolean {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return false; // fences need not follow each other
  }
  return text.split('\n').some((line) => line.startsWith(`{"seq":${seq},`) && line.endsWith(`,"hash":"${hash}"}`));
}
