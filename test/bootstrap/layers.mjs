// @ts-check
// Runs the layers one after the other, goes on after a failing one, and closes with the line `N passed, N failed`.
// With names as arguments only those: npm test -- typecheck unit
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { allowedSkips } from './allowedSkips.mjs';
import { countReport, sum } from './count.mjs';
import { root, run } from './environment.mjs';

/**
 * `tests`: run by vitest and counted; another layer is a check that is either good or one failure.
 * @typedef {{ name: string, command: string[], tests: boolean, alone: string }} Layer
 * @typedef {{ layer: Layer, code: number, seconds: number, count: import('./count.mjs').Count }} Outcome
 */

/** @param {string} name */
const reportPath = (name) => join(root, `test-output/${name}.json`);

/** @type {(name: string, command: string[], alone: string) => Layer} */
const check = (name, command, alone) => ({ name, command, tests: false, alone });

const vitest = ['vitest', 'run', '--reporter=default', '--reporter=json'];

/** @type {(name: string) => Layer} */
const tests = (name) => ({
  name,
  command: [...vitest, '--project', name, `--outputFile.json=${reportPath(name)}`],
  tests: true,
  alone: `npm run test:${name}`,
});

/** @type {Layer[]} */
const layers = [
  check('build', ['node', 'test/bootstrap/esbuild.mjs'], 'npm run build'),
  check('typecheck', ['tsc', '--noEmit'], 'npm run typecheck'),
  check('lint', ['oxlint', '--type-aware', '--deny-warnings'], 'npm run lint'),
  check('format', ['oxfmt', '--check', '.'], 'npm run format'),
  check('unused', ['knip'], 'npm run lint'),
  tests('unit'),
  tests('controller'),
];

/**
 * @param {Layer} layer
 * @param {number} code its exit code
 * @returns {import('./count.mjs').Count}
 */
const countLayer = (layer, code) => {
  if (!layer.tests) return { passed: 0, failures: code === 0 ? [] : [layer.name], skipped: [] };
  try {
    const count = countReport(JSON.parse(readFileSync(reportPath(layer.name), 'utf8')));
    if (code !== 0 && count.failures.length === 0) count.failures.push(`${layer.name}: vitest ended with ${code}`);
    if (count.passed + count.failures.length === 0) count.failures.push(`${layer.name}: no test ran`);
    return count;
  } catch (error) {
    return { passed: 0, failures: [`${layer.name}: no report (${String(error)})`], skipped: [] };
  }
};

/**
 * @param {Layer} layer
 * @returns {Promise<Outcome>}
 */
const runLayer = async (layer) => {
  console.log(`\n── ${layer.name} ──`);
  if (layer.tests) rmSync(reportPath(layer.name), { force: true });
  const start = performance.now();
  const code = await run(layer.command);
  const seconds = (performance.now() - start) / 1000;
  return { layer, code, seconds, count: countLayer(layer, code) };
};

/** @param {Outcome} outcome */
const tell = ({ layer, seconds, count }) => {
  const good = count.failures.length === 0;
  const numbers = layer.tests ? `${count.passed} passed, ${count.failures.length} failed` : '';
  const again = good ? '' : `again alone: ${layer.alone}`;
  const words = [good ? '✓' : '✗', layer.name.padEnd(11), `${seconds.toFixed(1).padStart(6)} s`, numbers, again];
  console.log(words.filter((word) => word !== '').join('  '));
  if (layer.tests) for (const failure of count.failures) console.log(`     ${failure}`);
};

/** @param {readonly string[]} names */
const main = async (names) => {
  const unknown = names.find((name) => !layers.some((layer) => layer.name === name));
  if (unknown !== undefined) {
    console.error(`No layer is called "${unknown}". There are: ${layers.map((layer) => layer.name).join(', ')}`);
    return 2;
  }
  mkdirSync(join(root, 'test-output'), { recursive: true });
  /** @type {Outcome[]} */
  const outcomes = [];
  for (const layer of layers) {
    if (names.length === 0 || names.includes(layer.name)) outcomes.push(await runLayer(layer));
  }
  console.log('\n── summary ──');
  outcomes.forEach(tell);
  const counts = outcomes.map((outcome) => outcome.count);
  const tested = outcomes.some((outcome) => outcome.layer.tests);
  const total = sum(counts, { ci: process.env['CI'] === 'true', tests: tested, allowedSkips });
  for (const name of total.forbidden) console.log(`✗  skipped without a reason in allowedSkips.mjs: ${name}`);
  console.log(total.line);
  return total.good ? 0 : 1;
};

process.exitCode = await main(process.argv.slice(2));
