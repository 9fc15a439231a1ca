import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Form, Row } from './row.ts';

/** One measurement of one part of the bench. */
export interface Entry {
  /** When it ended, ISO 8601. */
  readonly wall: string;
  readonly machine: string;
  /** Load averages over one and five minutes, before and after: whoever else used the machine. */
  readonly load: string;
  readonly part: string;
  readonly form: Form;
  /** How long it took. */
  readonly seconds: number;
  readonly rows: readonly Row[];
}

const docs = join(import.meta.dirname, '../../docs');
const historyFile = join(docs, 'bench.json');

/** Adds an entry to the history, docs/bench.json, and writes docs/bench.md from it. Entries are never changed; older ones named no part. */
export function keep(entry: Entry): void {
  const history = [...(JSON.parse(readFileSync(historyFile, 'utf8')) as Partial<Entry>[]), entry];
  put(historyFile, `${JSON.stringify(history, null, 2)}\n`);
  put(join(docs, 'bench.md'), page(latest(history)));
}

/** The last measurement of each part, in the order of the parts' first. */
export function latest(history: readonly Partial<Entry>[]): Entry[] {
  const last = new Map<string, Entry>();
  for (const entry of history) if (entry.part !== undefined) last.set(entry.part, entry as Entry);
  return [...last.values()];
}

function page(entries: readonly Entry[]): string {
  const rows = entries.flatMap((entry) => entry.rows);
  const missed = rows.filter(({ met }) => met === false).length;
  const aims = rows.filter(({ met }) => met !== null).length;
  return `# Measured

Written by \`npm run bench\` from the last measurement of each part in [bench.json](bench.json), which keeps all of them. Times alone say little
on a machine that others use too: each row has its reference beside it, measured by turns in the same run. ${missed === 0 ? `All ${aims} aims are met.` : `${missed} of ${aims} aims are missed; those come first.`}

${table(rows)}

| part | measured | form | took | machine | load (1 and 5 minutes) |
|---|---|---|---|---|---|
${entries.map((entry) => `| ${entry.part} | ${entry.wall.slice(0, 16).replace('T', ' ')} UTC | ${entry.form} | ${entry.seconds} s | ${entry.machine} | ${entry.load} |`).join('\n')}

The short form, \`npm run bench\`, takes some minutes. The long form, \`npm run bench -- long\`, does what takes hours: 1,000 rounds at the gate, 2 GB of
large files, a longer look at the idle controller. \`npm run bench -- gate idle\` measures only these parts.
`;
}

/** A table of rows, the missed aims first. */
function table(rows: readonly Row[]): string {
  const rank = ({ met }: Row): number => (met === false ? 0 : met === true ? 1 : 2);
  const lines = rows
    .toSorted((a, b) => rank(a) - rank(b))
    .map((row) => {
      const word = row.met === null ? '' : row.met ? 'met' : '**missed**';
      return `| ${word} | ${row.what} | ${row.ours} | ${row.reference} | ${row.result} | ${row.aim} |`;
    });
  return ['| | what | ours | reference, same run | result | aim |', '|---|---|---|---|---|---|', ...lines].join('\n');
}

/** One measurement as a table, for the screen. */
export const tableOf = (entry: Entry): string =>
  `${entry.part} (${entry.form} form, ${entry.seconds} s), ${entry.machine}, load ${entry.load}\n\n${table(entry.rows)}`;

function put(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
