/**
 * Checks the form of a competition's submission.csv against its sample submission: columns, number of rows, ids. The score of a form is
 * none: what is right in form gets 0, and agents are told only that it was accepted (`feedback: blind`). `sample.csv` lies beside this file.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @param {Record<string, unknown>} verdict */
const conclude = (verdict) => {
  writeFileSync(String(process.env['HMA_RESULT']), `${JSON.stringify(verdict)}\n`);
  process.exit(0);
};

/**
 * The records of a CSV text (RFC 4180: quoted fields may hold commas, doubled quotes and line breaks). Lines without a character are left out.
 * @param {string} text
 * @returns {Generator<string[]>}
 */
function* recordsOf(text) {
  const field = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n][^,\r\n]*)?)(,|\r?\n|\r|$)/gy;
  let record = [];
  for (field.lastIndex = text.charCodeAt(0) === 0xfe_ff ? 1 : 0; field.lastIndex < text.length || record.length > 0;) {
    const at = field.lastIndex;
    const match = field.exec(text);
    if (match === null) {
      const line = text.slice(0, at).split('\n').length;
      throw new Error(`line ${line} is not CSV: a quotation mark stands in the middle of a field, or is not closed`);
    }
    record.push(match[1] === undefined ? (match[2] ?? '') : match[1].replaceAll('""', '"'));
    if (match[3] === ',') continue;
    if (record.length > 1 || record[0] !== '') yield record;
    record = [];
    if (match[3] === '') return;
  }
}

/**
 * @param {string} file
 * @returns {{ columns: string[], rows: number, ids: Map<string, number>, ragged: number | null }} `ids`: how often each is there
 */
const read = (file) => {
  const records = recordsOf(readFileSync(file, 'utf8'));
  const columns = (records.next().value ?? []).map((name) => name.trim());
  /** @type {Map<string, number>} */
  const ids = new Map();
  let rows = 0;
  let ragged = null;
  for (const record of records) {
    rows += 1;
    if (record.length !== columns.length) ragged ??= rows;
    const id = record[idAt(columns)] ?? '';
    ids.set(id, (ids.get(id) ?? 0) + 1);
  }
  return { columns, rows, ids, ragged };
};

/** @type {string | undefined} the sample's first column: its ids */
let idColumn;
/** @param {readonly string[]} columns */
const idAt = (columns) => {
  idColumn ??= columns[0];
  return Math.max(0, columns.indexOf(idColumn ?? ''));
};

/** @param {readonly string[]} names */
const some = (names) =>
  `${names
    .slice(0, 3)
    .map((name) => JSON.stringify(name))
    .join(', ')}${names.length > 3 ? ` and ${names.length - 3} more` : ''}`;

/**
 * @param {ReturnType<typeof read>} sample
 * @param {ReturnType<typeof read>} given
 * @returns {string | null} what is wrong
 */
const fault = (sample, given) => {
  const missing = sample.columns.filter((name) => !given.columns.includes(name));
  const extra = given.columns.filter((name) => !sample.columns.includes(name));
  if (missing.length > 0) return `submission.csv lacks the column ${some(missing)}`;
  if (extra.length > 0) return `submission.csv has the column ${some(extra)}, which the sample submission has not`;
  if (given.columns.length !== sample.columns.length) return 'submission.csv names a column twice';
  if (given.ragged !== null)
    return `row ${given.ragged} of submission.csv has another number of fields than its header`;
  if (given.rows !== sample.rows)
    return `submission.csv has ${given.rows} rows; the sample submission has ${sample.rows}`;
  const unknown = [...given.ids.keys()].filter((id) => !sample.ids.has(id));
  if (unknown.length > 0)
    return `submission.csv has the ${idColumn} ${some(unknown)}, which the sample submission has not`;
  const others = [...sample.ids].filter(([id, times]) => given.ids.get(id) !== times).map(([id]) => id);
  if (others.length > 0) return `submission.csv has the ${idColumn} ${some(others)} missing or repeated`;
  return null;
};

const sample = read(join(import.meta.dirname, 'sample.csv'));
const file = join(String(process.env['HMA_CANDIDATE']), 'submission.csv');
if (!existsSync(file)) conclude({ invalid: 'there is no submission.csv' });
try {
  const wrong = fault(sample, read(file));
  conclude(wrong === null ? { score: 0 } : { invalid: wrong });
} catch (error) {
  conclude({ invalid: `submission.csv: ${error instanceof Error ? error.message : String(error)}` });
}
