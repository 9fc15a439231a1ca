/**
 * How the files in `workspace/data` and `hidden` were made. Run once by the authors; never during a demonstration.
 *
 *   apt-get download python3-sklearn && dpkg -x python3-sklearn_*.deb x
 *   zcat x/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz > digits.csv
 *   node media/sample/digits/prepare.mjs digits.csv
 *
 * The original keeps the order of collection: one writer after the other, each with the same form (0123456789, three times,
 * and then a fixed sequence). So it is split between writers, which makes the task what it is in real life (read the hand of
 * somebody you have never seen), and the rows inside each part are shuffled, since their order would give the labels away.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { randomFrom } from './workspace/lib/random.mjs';

const here = (path) => new URL(path, import.meta.url);
const rows = readFileSync(process.argv[2], 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split(',').map(Number));
const labels = rows.map((row) => row[64]).join('');

/** Where the forms start: the counting row `0123456789`, at least 100 digits after the last start. */
const starts = [];
for (const found of labels.matchAll(/0?123456789012345678/g)) {
  if (starts.length === 0 || found.index - starts.at(-1) > 100) starts.push(found.index);
}
const formOf = (index) => starts.findLastIndex((start) => start <= index);

const parts = { train: [], validation: [], test: [] };
rows.forEach((row, index) => {
  const form = formOf(index);
  const part = form < 6 ? 'train' : form < 10 ? 'validation' : 'test';
  parts[part].push({
    form,
    label: row[64],
    pixels: row
      .slice(0, 64)
      .map((value) => value.toString(17))
      .join(''),
  });
});

for (const [part, items] of Object.entries(parts)) {
  const order = randomFrom('split', part).shuffle(items.map((_, index) => index));
  const named = order.map((from, to) => ({ id: `${part[0]}${String(to + 1).padStart(4, '0')}`, ...items[from] }));
  const table = (header, line) => `${[header, ...named.map(line)].join('\n')}\n`;
  if (part === 'train') {
    writeFileSync(
      here('workspace/data/train.csv'),
      table('id,form,label,pixels', (r) => `${r.id},${r.form},${r.label},${r.pixels}`),
    );
  } else {
    writeFileSync(
      here(`workspace/data/${part}.csv`),
      table('id,pixels', (r) => `${r.id},${r.pixels}`),
    );
    writeFileSync(
      here(`hidden/${part}.csv`),
      table('id,label', (r) => `${r.id},${r.label}`),
    );
  }
  console.log(
    `${part}: ${named.length} rows, forms ${[...new Set(named.map((r) => r.form))].sort((a, b) => a - b).join(' ')}`,
  );
}
console.log(`forms start at ${starts.join(' ')}`);
