import { openLedger } from '../../src/ledger/openLedger.ts';
import type { LedgerEvent } from '../../src/ledger/port.ts';

/** Writes a history as a run's real ledger, one event a batch. */
export function createLedger(folder: string, events: readonly LedgerEvent[]): void {
  const opened = openLedger({ dir: folder, fence: 1, confirmFence: () => true });
  if (!opened.ok) throw new Error(JSON.stringify(opened.refusal));
  for (const { v, wall, mono, active, type, data } of events)
    opened.value.ledger.append([{ v, wall, mono, active, type, data }]);
  opened.value.ledger.close();
}
