import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { openLedger } from '../../src/ledger/openLedger.ts';
import { readLedger } from '../../src/ledger/readLedger.ts';
import { vouchesFor } from '../../src/ledger/vouchesFor.ts';

test('a link holds through later events and owners, and breaks when anything up to it was changed', () => {
  const dir = mkdtempSync(join(tmpdir(), 'hma-vouch-'));
  try {
    const append = (fence: number, text: string): void => {
      const opened = openLedger({ dir, fence, confirmFence: () => true });
      if (!opened.ok) throw new Error(opened.refusal.reason);
      opened.value.ledger.append([{ v: 1, wall: 0, mono: 0, active: 0, type: 'run.noticed', data: { text } }]);
      opened.value.ledger.close();
    };
    append(1, 'one');
    append(3, 'two');
    const { last } = readLedger(dir);
    const link = { seq: last?.lastSeq ?? 0, hash: last?.hash ?? '' };
    expect(vouchesFor(dir, link)).toBe(true);
    append(4, 'three');
    expect(vouchesFor(dir, link)).toBe(true);
    expect(vouchesFor(dir, { ...link, hash: 'f'.repeat(64) })).toBe(false);
    expect(vouchesFor(dir, { ...link, seq: 9 })).toBe(false);
    const file = join(dir, 'ledger-1.jsonl');
    writeFileSync(file, readFileSync(file, 'utf8').replace('one', 'won'));
    expect(vouchesFor(dir, link)).toBe(false);
    expect(vouchesFor(join(dir, 'nowhere'), link)).toBe(false);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
