/**
 * Runs a Harbor task's `/tests/test.sh` on a candidate that lies at the task's own absolute paths (`evaluate.binds` of hma.yaml), and turns
 * the reward that it leaves in /logs/verifier into a verdict. What depends on the task stands in `task.json` beside this file, made by
 * `hma init --harbor`: `app` (the task's working folder), `key` (which number of reward.json is the score), `env` (more variables).
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @type {{ app: string, key: string, env: Record<string, string> }} */
const task = JSON.parse(readFileSync(join(import.meta.dirname, 'task.json'), 'utf8'));
const verifier = '/logs/verifier';

/** @param {Record<string, unknown>} verdict */
const conclude = (verdict) => writeFileSync(String(process.env['HMA_RESULT']), `${JSON.stringify(verdict)}\n`);

/**
 * @param {string} words
 * @returns {never}
 */
const giveUp = (words) => {
  console.error(words);
  process.exit(1);
};

/** The rewards by name: reward.json's, or reward.txt's single one. @returns {Record<string, unknown> | null} */
const rewards = () => {
  const json = join(verifier, 'reward.json');
  if (existsSync(json)) {
    const value = JSON.parse(readFileSync(json, 'utf8'));
    return typeof value === 'object' && value !== null ? value : { reward: value };
  }
  const text = join(verifier, 'reward.txt');
  return existsSync(text) ? { reward: Number(readFileSync(text, 'utf8').trim() || Number.NaN) } : null;
};

/** @param {Record<string, unknown>} found */
const judge = (found) => {
  const wrong = ['correctness', 'correct'].some((key) => found[key] === false);
  const numbers = Object.keys(found).filter((key) => typeof found[key] === 'number');
  const only = task.key === 'reward' && numbers.length === 1 ? numbers[0] : undefined;
  const score = found[task.key] ?? (only === undefined ? undefined : found[only]);
  if (wrong) return conclude({ ...(typeof score === 'number' ? { score } : {}), correct: false });
  if (typeof score === 'number') {
    // JSON has no NaN, which the reader of verdicts tells apart from a missing score
    if (Number.isFinite(score)) return conclude({ score });
    return writeFileSync(String(process.env['HMA_RESULT']), '{"score": NaN}\n');
  }
  // a task that measures something else than its reward writes no measure for what does not work
  if (task.key !== 'reward' && found['reward'] === 0) return conclude({ correct: false });
  return giveUp(
    `the reward has no number ${JSON.stringify(task.key)}; it has ${Object.keys(found).join(', ') || 'none'}`,
  );
};

for (const folder of [verifier, '/logs/agent', '/logs/artifacts']) mkdirSync(folder, { recursive: true });
// candidate code runs below test.sh: it is not told where the verdict goes
const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('HMA_'));
const { status, signal, error } = spawnSync('bash', ['/tests/test.sh'], {
  cwd: task.app,
  env: { PYTHONDONTWRITEBYTECODE: '1', ...Object.fromEntries(inherited), ...task.env },
  stdio: ['ignore', 'inherit', 'inherit'],
});
if (error) giveUp(`bash could not be started: ${error.message}`);
const found = rewards();
if (found === null)
  giveUp(
    `tests/test.sh left no reward in ${verifier} (${signal === null ? `exit code ${status}` : `killed by ${signal}`})`,
  );
else judge(found);
