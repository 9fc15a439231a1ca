import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';

import { endAll } from '../rig/run.ts';
import { engineRows } from './engine.ts';
import { gateRow } from './gate.ts';
import { keep, tableOf, type Entry } from './history.ts';
import { idleRows } from './idle.ts';
import type { Form, Row } from './row.ts';
import { snapshotRows } from './snapshots.ts';
import { activationRow, reviewPageRows, sizeRow, treeRows } from './window.ts';

/*
 * `npm run bench`: ratios and differences measured side by side in one run, on this machine, as it is loaded now. Wall times alone say
 * nothing here, so each row has its reference in it. The rows are added to docs/bench.json, and docs/bench.md is written from it.
 *
 *   npm run bench                   everything, in the short form (a few minutes)
 *   npm run bench -- long           everything, as the aims mean it: 1,000 rounds at the gate, 2 GB of large files (HMA_LONG=1 does the same)
 *   npm run bench -- gate window    only these parts: engine, gate, snapshots, idle, window
 */

const parts: Readonly<Record<string, (form: Form) => Promise<readonly Row[]>>> = {
  engine: engineRows,
  gate: async (form) => [await gateRow(form)],
  snapshots: snapshotRows,
  idle: idleRows,
  window: async () => [await activationRow(), ...(await reviewPageRows()), ...treeRows(), await sizeRow()],
};

const words = process.argv.slice(2);
const form: Form = words.includes('long') || process.env['HMA_LONG'] === '1' ? 'long' : 'short';
const wanted = words.filter((word) => word !== 'long');
const unknown = wanted.find((name) => !(name in parts));
if (unknown !== undefined)
  throw new Error(
    `No part of the bench is called "${unknown}". There are: ${Object.keys(parts).join(', ')}; "long" for the long form`,
  );
const load = (): string => readFileSync('/proc/loadavg', 'utf8').split(' ').slice(0, 2).join(' ');
const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version.slice(1)}`;
// everything lies below one folder, by which it is found again when somebody interrupts: nothing of it may go on
const place = mkdtempSync(join(realpathSync(tmpdir()), 'hma-b-'));
process.env['TMPDIR'] = place;
const clear = async (): Promise<void> => {
  await endAll(place);
  rmSync(place, { recursive: true, force: true, maxRetries: 10 });
};
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => void clear().finally(() => process.exit(1)));
try {
  for (const [part, measure] of Object.entries(parts))
    if (wanted.length === 0 || wanted.includes(part)) await take(part, measure);
} finally {
  await clear();
}

async function take(part: string, measure: (form: Form) => Promise<readonly Row[]>): Promise<void> {
  const before = load();
  const from = performance.now();
  console.error(`${part} …`);
  const rows = await measure(form);
  const entry: Entry = {
    wall: new Date().toISOString(),
    machine,
    load: `${before} before, ${load()} after`,
    part,
    form,
    seconds: Math.round((performance.now() - from) / 1000),
    rows,
  };
  console.log(`\n${tableOf(entry)}`);
  keep(entry);
}
