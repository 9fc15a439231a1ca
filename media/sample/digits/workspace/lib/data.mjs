import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Images of digits. A pixel is one character (base 17: `0`..`g` is 0..16 ink), 64 of them are an 8×8 image, row by row.
 *
 * @typedef {object} Images
 * @property {string[]} ids
 * @property {Float32Array} pixels n × 64, ink from 0 to 1
 * @property {Uint8Array} labels the digits; only in train.csv
 * @property {Uint8Array} forms which form (writer) a row comes from; only in train.csv
 */

/** Reads one of the tables in `data/`. @returns {Images} */
export function readImages(file) {
  const [header, ...lines] = readFileSync(file, 'utf8').trim().split('\n');
  const columns = header.split(',');
  const cells = lines.map((line) => line.split(','));
  const column = (name) => cells.map((row) => row[columns.indexOf(name)]);
  const pixels = new Float32Array(lines.length * 64);
  column('pixels').forEach((image, row) => {
    for (let at = 0; at < 64; at += 1) pixels[row * 64 + at] = Number.parseInt(image[at], 17) / 16;
  });
  const numbers = (name) => Uint8Array.from(columns.includes(name) ? column(name).map(Number) : []);
  return { ids: column('id'), pixels, labels: numbers('label'), forms: numbers('form') };
}

/** The three tables of a workspace. */
export function readTask(folder) {
  const read = (part) => readImages(new URL(`data/${part}.csv`, folder));
  return { train: read('train'), validation: read('validation'), test: read('test') };
}

/** Writes what the evaluator reads: one row per image, its id and the ten probabilities. */
export function writePredictions(file, parts) {
  const lines = ['id,p0,p1,p2,p3,p4,p5,p6,p7,p8,p9'];
  for (const { ids, chances } of parts) {
    ids.forEach((id, row) => {
      lines.push([id, ...Array.from(chances.subarray(row * 10, row * 10 + 10), (p) => p.toFixed(5))].join(','));
    });
  }
  writeFileSync(file, `${lines.join('\n')}\n`);
}
