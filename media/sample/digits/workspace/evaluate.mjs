import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The evaluator: mean log loss of a candidate's `predictions.csv` on labels that only the evaluator can read.
 *
 *   node evaluate.mjs --labels <table of id,label>
 *
 * Reads the folder `$HMA_CANDIDATE`, writes `{score}` or `{invalid: reason}` to `$HMA_RESULT`.
 */

const HEADER = 'id,p0,p1,p2,p3,p4,p5,p6,p7,p8,p9';

/** Rows that every candidate must have: v0001 … v0511 (validation) and t0001 … t0510 (test). */
const ROWS = { v: 511, t: 510 };

/** Chances are written with a few decimals, so ten of them need not make exactly 1. */
const ROUNDING = 0.001;

/**
 * Judges a table of predictions.
 *
 * @param {string} predictions the text of predictions.csv
 * @param {string} labels the text of a table `id,label`; its rows are the ones that are scored
 * @returns {{ score: number } | { invalid: string }}
 */
export function judge(predictions, labels) {
  const [header, ...lines] = predictions.trim().split(/\r?\n/);
  if (header !== HEADER)
    return { invalid: `predictions.csv must begin with the line "${HEADER}", it begins with "${header.slice(0, 60)}"` };
  const chances = new Map();
  for (const [at, line] of lines.entries()) {
    const [id, ...cells] = line.split(',');
    const where = `predictions.csv line ${at + 2} (${id.slice(0, 20)})`;
    if (!isRow(id)) return { invalid: `${where}: there is no such id; expected v0001 to v0511 and t0001 to t0510` };
    if (chances.has(id)) return { invalid: `${where}: this id is there twice` };
    const ten = cells.map((cell) => (cell.trim() === '' ? Number.NaN : Number(cell)));
    if (ten.length !== 10) return { invalid: `${where}: ${ten.length} probabilities, expected 10` };
    if (!ten.every((p) => Number.isFinite(p) && p >= 0 && p <= 1))
      return { invalid: `${where}: a probability is not a number from 0 to 1` };
    const sum = ten.reduce((total, p) => total + p, 0);
    if (Math.abs(sum - 1) > ROUNDING)
      return { invalid: `${where}: the probabilities sum to ${sum.toFixed(4)}, expected 1` };
    chances.set(
      id,
      ten.map((p) => p / sum),
    );
  }
  const expected = ROWS.v + ROWS.t;
  if (chances.size !== expected)
    return { invalid: `predictions.csv has ${chances.size} rows, expected ${expected} (validation and test)` };

  const truth = labels
    .trim()
    .split(/\r?\n/)
    .slice(1)
    .map((line) => line.split(','));
  const losses = truth.map(([id, label]) => -Math.log(Math.max(1e-15, chances.get(id)[Number(label)])));
  return { score: losses.reduce((sum, loss) => sum + loss, 0) / losses.length };
}

function isRow(id) {
  const [, part, number] = /^([vt])(\d{4})$/.exec(id) ?? [];
  return part !== undefined && Number(number) >= 1 && Number(number) <= ROWS[part];
}

/** What the evaluator and the grader do: judge the candidate by the labels named on the command line. */
export function judgeCandidate({ argv, env }) {
  const labels = argv[argv.indexOf('--labels') + 1];
  if (!argv.includes('--labels') || !labels) throw new Error('usage: node evaluate.mjs --labels <file>');
  if (!env.HMA_CANDIDATE || !env.HMA_RESULT) throw new Error('HMA_CANDIDATE and HMA_RESULT must be set; hma does that');
  const truth = readFileSync(labels, 'utf8');
  const file = join(env.HMA_CANDIDATE, 'predictions.csv');
  const verdict = existsSync(file)
    ? judge(readFileSync(file, 'utf8'), truth)
    : { invalid: 'there is no predictions.csv; run: node solution/train.mjs' };
  writeFileSync(env.HMA_RESULT, JSON.stringify(verdict));
  console.log(JSON.stringify(verdict));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) judgeCandidate(process);
