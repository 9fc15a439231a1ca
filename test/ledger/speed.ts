import { closeSync, fdatasyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';

import { systemClock } from '../../src/base/clock.ts';
import { acquireLease, type Lease } from '../../src/controller/lease.ts';
import { openLedger } from '../../src/ledger/openLedger.ts';
import { readLedger } from '../../src/ledger/readLedger.ts';

/** What the ledger costs beside what can't be avoided; milliseconds. */
export interface LedgerSpeed {
  /** One event with the real lease, and a bare write + fdatasync of the same bytes: medians of the same moments. */
  readonly append: number;
  readonly bareAppend: number;
  /** 100,000 events, and a bare JSON.parse of their lines: the best of some rounds. */
  readonly replay: number;
  readonly bareParse: number;
}

const sample = (n: number) => ({
  v: 1,
  wall: 1_796_000_000_000 + n,
  mono: n + 0.25,
  active: n,
  type: 'experiment.accepted',
  data: {
    id: `e${n}`,
    option: n % 9,
    score: n / 7,
    note: 'a candidate with a note of some length',
    sha: 'a'.repeat(40),
    path: ['model.json', 'train.mjs'],
  },
});

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

function timed(work: () => void): number {
  const from = performance.now();
  work();
  return performance.now() - from;
}

/** Measures on this machine's disk. */
export async function measureLedger(): Promise<LedgerSpeed> {
  const dir = mkdtempSync(join(tmpdir(), 'hma-speed-'));
  try {
    const appends = await measureAppends(dir);
    return { ...appends, ...measureReplay(join(dir, 'big')) };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

async function measureAppends(dir: string): Promise<Pick<LedgerSpeed, 'append' | 'bareAppend'>> {
  const lease = await acquireLease({
    workspace: dir,
    stateDir: join(dir, 's'),
    runId: 'r',
    sockets: { client: '/x', agent: '/x' },
    clock: systemClock,
  });
  if (!lease.ok) throw new Error(lease.refusal.reason);
  const ledger = opened(join(dir, 's'), lease.value);
  const fd = openSync(join(dir, 'bare'), 'w');
  const line = Buffer.from(`${JSON.stringify(sample(1))}${' '.repeat(90)}\n`);
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let n = 0; n < 1000; n += 1) {
    ours.push(timed(() => void ledger.append([sample(n)])));
    bare.push(
      timed(() => {
        writeSync(fd, line);
        fdatasyncSync(fd);
      }),
    );
  }
  closeSync(fd);
  ledger.close();
  return { append: median(ours), bareAppend: median(bare) };
}

function measureReplay(dir: string): Pick<LedgerSpeed, 'replay' | 'bareParse'> {
  const ledger = opened(dir);
  for (let n = 0; n < 100_000; n += 10) ledger.append(Array.from({ length: 10 }, (_, at) => sample(n + at)));
  ledger.close();
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < 5; round += 1) {
    ours.push(
      timed(() => {
        if (readLedger(dir).events.length !== 100_000) throw new Error('events are missing');
      }),
    );
    const lines = readFileSync(join(dir, 'ledger-1.jsonl'), 'utf8').split('\n').slice(1, -1);
    bare.push(
      timed(() => {
        for (const line of lines) JSON.parse(line);
      }),
    );
  }
  return { replay: Math.min(...ours), bareParse: Math.min(...bare) };
}

function opened(dir: string, lease?: Lease) {
  const result = openLedger({ dir, fence: lease?.fence ?? 1, confirmFence: () => lease?.confirmFence() ?? true });
  if (!result.ok) throw new Error(result.refusal.reason);
  return result.value.ledger;
}

if (process.argv[1] === import.meta.filename) console.log(await measureLedger());
