import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { onTestFinished } from 'vitest';

import { openLedger, type LedgerOptions, type OpenedLedger } from '../../src/ledger/openLedger.ts';
import type { NewEvent } from '../../src/ledger/port.ts';

/** A folder that is gone when the test is. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hma-ledger-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** An event whose data tells it from the others. */
export const event = (type: string, data: unknown = null): NewEvent => ({
  v: 1,
  wall: 1_796_000_000_000,
  mono: 12.5,
  active: 7,
  type,
  data,
});

/** A ledger that must open. */
export function opened(dir: string, fence: number, options: Partial<LedgerOptions> = {}): OpenedLedger {
  const result = openLedger({ dir, fence, confirmFence: () => true, ...options });
  if (!result.ok) throw new Error(`refused: ${JSON.stringify(result.refusal)}`);
  return result.value;
}

/** Two owners, batches of one, two and three events, text beyond ASCII. Returns the batches in order. */
export function writeSample(dir: string): NewEvent[][] {
  const first = [
    [event('run.opened', { task: 'größer ✓' })],
    [event('option.starting', { nonce: 'a' }), event('option.started', { pid: 4 })],
  ];
  const second = [
    [event('experiment.received', { note: 'line\nbreak', end: 9, hash: 'x' })],
    [event('a'), event('b', [1, 2]), event('c', { deep: { er: null } })],
    [event('last', 0.1)],
  ];
  for (const [fence, batches] of [
    [1, first],
    [4, second],
  ] as const) {
    const { ledger } = opened(dir, fence);
    for (const batch of batches) ledger.append(batch);
    ledger.close();
  }
  return [...first, ...second];
}
