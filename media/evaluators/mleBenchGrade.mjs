/**
 * The hidden grader of an MLE-bench competition: the official `mlebench grade-sample`, whose report is read for its score. What depends on
 * the competition stands in `task.json` beside this file: `program` (mlebench), `competition`, `data` (mlebench's data folder).
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @type {{ program: string, competition: string, data: string }} */
const task = JSON.parse(readFileSync(join(import.meta.dirname, 'task.json'), 'utf8'));
const submission = join(String(process.env['HMA_CANDIDATE']), 'submission.csv');
const { status, error, stdout, stderr } = spawnSync(
  task.program,
  ['grade-sample', submission, task.competition, '--data-dir', task.data],
  { encoding: 'utf8', maxBuffer: 64 * 2 ** 20, stdio: ['ignore', 'pipe', 'pipe'] },
);
process.stderr.write(stderr ?? '');
process.stdout.write(stdout ?? '');

/** The report is logged as JSON over several lines, after a time stamp. @returns {Record<string, unknown> | null} */
const report = () => {
  const text = `${stdout}\n${stderr}`;
  for (let from = text.lastIndexOf('{'); from >= 0; from = text.lastIndexOf('{', from - 1)) {
    const end = text.indexOf('}', from);
    try {
      const value = JSON.parse(text.slice(from, end + 1));
      if ('score' in value) return value;
    } catch {
      // not the report: something else with a brace
    }
    if (from === 0) break;
  }
  return null;
};

const found = error || status !== 0 ? null : report();
if (error) console.error(`${task.program} could not be started: ${error.message}`);
if (found === null) {
  console.error(`mlebench grade-sample gave no report (exit code ${status})`);
  process.exit(1);
}
const { score } = found;
const verdict = typeof score === 'number' ? { score } : { invalid: 'mlebench says that the submission is not valid' };
writeFileSync(String(process.env['HMA_RESULT']), `${JSON.stringify(verdict)}\n`);
