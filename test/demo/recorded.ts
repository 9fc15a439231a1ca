import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { runsOf, type RunPlace } from '../../src/client/lookup.ts';
import type { LedgerEvent, LedgerProblem } from '../../src/ledger/port.ts';
import { readLedger } from '../../src/ledger/readLedger.ts';
import { readOutput } from '../../src/machines/outputLog.ts';
import { replayRun } from '../../src/run/evolve.ts';
import type { RunState } from '../../src/run/model.ts';

/** A run as the disk tells it; nothing of it comes from a living process. */
export interface RecordedRun {
  readonly folder: string;
  readonly events: readonly LedgerEvent[];
  readonly problems: readonly LedgerProblem[];
  readonly state: RunState;
}

/** The latest run of a workspace, by its folder. Undefined while there is none. */
export const latestRun = (given: { readonly workspace: string; readonly home: string }): RunPlace | undefined =>
  runsOf(given.workspace, [given.home])[0];

/** Reads a run's ledger from disk and folds it. Undefined when it holds nothing. */
export function readRecorded(folder: string): RecordedRun | undefined {
  const { events, problems } = readLedger(folder);
  const state = replayRun(events);
  return state ? { folder, events, problems, state } : undefined;
}

/** What a session's program printed, all attempts. Empty where there was none. */
export function sessionOutput(folder: string, session: number | 'review'): string {
  const place = join(folder, 'sessions', session === 'review' ? session : `option-${session}`);
  const attempts = readdirSync(place)
    .filter((name) => name.startsWith('attempt-'))
    .toSorted();
  return attempts.map((attempt) => outputIn(join(place, attempt))).join('');
}

function outputIn(folder: string): string {
  let [text, at] = ['', 0];
  for (;;) {
    const piece = readOutput(folder, at);
    if (piece.bytes.length === 0) return text;
    text += Buffer.from(piece.bytes).toString('utf8');
    at = piece.next;
  }
}
