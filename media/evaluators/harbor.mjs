/**
 * Runs a Harbor task's `/tests/test.sh` on a candidate that lies at the task's own absolute paths (`evaluate.binds` of hma.yaml), and turns
 * the reward that it leaves in /logs/verifier into a verdict. What depends on the task stands in `task.json` beside this file, made by
 * `hma init --harbor`: `workdir` (the folder that the tests start in), `key` (which number of reward.json is the score), `env` (more
 * variables).
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @type {{ workdir: string, key: string, env: Record<string, string> }} */
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

/**
 * What the tests' own script could not start: bash's and Python's words for it. Such a script often goes on, and writes the reward of a
 * candidate that fails.
 * @param {string} said
 */
const missingIn = (said) => [
  ...new Set(
    [
      ...said.matchAll(/^\/tests\/test\.sh: line \d+: (\S+): (?:command not found|No such file or directory)$/gm),
      ...said.matchAll(/^\S*python[\d.]*: No module named (\S+)$/gm),
    ].map(([, name]) => name),
  ),
];

for (const folder of [verifier, '/logs/agent', '/logs/artifacts', task.workdir]) mkdirSync(folder, { recursive: true });
// candidate code runs below test.sh: it is not told where the verdict goes
const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('HMA_'));
const tests = spawn('bash', ['/tests/test.sh'], {
  cwd: task.workdir,
  env: {
    PYTHONDONTWRITEBYTECODE: '1',
    TEST_DIR: '/tests',
    ...Object.fromEntries(inherited),
    ...task.env,
    LC_MESSAGES: 'C',
  },
  stdio: ['ignore', 'pipe', 'pipe'],
});
let said = '';
for (const [from, to] of [
  [tests.stdout, process.stdout],
  [tests.stderr, process.stderr],
])
  from.on('data', (bytes) => {
    to.write(bytes);
    said = `${said}${bytes}`.slice(-1_000_000);
  });
tests.on('error', (error) => giveUp(`bash could not be started: ${error.message}`));
// what the tests leave running may hold their output open
tests.on('exit', (status, signal) =>
  setTimeout(() => {
    const [found, missing] = [rewards(), missingIn(said)];
    const good = found !== null && Object.values(found).some((value) => typeof value === 'number' && value > 0);
    if (missing.length > 0 && !good)
      giveUp(`tests/test.sh found no ${missing.join(', ')}: it must be on this machine, where the evaluator sees it`);
    if (found === null)
      giveUp(
        `tests/test.sh left no reward in ${verifier} (${signal === null ? `exit code ${status}` : `killed by ${signal}`})`,
      );
    judge(found);
    process.exit(0);
  }, 100),
);
