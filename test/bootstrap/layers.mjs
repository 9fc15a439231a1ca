// @ts-check
// Runs the layers one after the other, goes on after a failing one, and closes with the line `N passed, N failed`.
// With names as arguments only those: npm test -- typecheck unit
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { allowedSkips } from './allowedSkips.mjs';
import { countReport, sum } from './count.mjs';
import { root, run } from './environment.mjs';

/**
 * A command of a layer. With a `report` (a name in test-output) its tests are counted from there, in the shape of vitest's
 * JSON reporter; without one it is a check that is either good or one failure.
 * @typedef {{ command: string[], report?: string }} Step
 * @typedef {{ name: string, steps: Step[], tests: boolean, alone: string }} Layer
 * @typedef {import('./count.mjs').Count} Count
 * @typedef {{ layer: Layer, seconds: number, count: Count }} Outcome
 */

/** @param {string} name */
const reportPath = (name) => join(root, `test-output/${name}.json`);

/** @type {(name: string, command: string[], alone: string) => Layer} */
const check = (name, command, alone) => ({ name, steps: [{ command }], tests: false, alone });

const vitest = ['vitest', 'run', '--reporter=default', '--reporter=json'];

/** @type {(project: string, report: string) => Step} */
const vitestStep = (project, report) => ({
  command: [...vitest, '--project', project, `--outputFile.json=${reportPath(report)}`],
  report,
});

/** @type {(name: string, ...before: Step[]) => Layer} */
const tests = (name, ...before) => ({
  name,
  steps: [...before, vitestStep(name, before.some(({ report }) => report === name) ? `${name}-vitest` : name)],
  tests: true,
  alone: `npm run test:${name}`,
});

/** @type {Layer[]} */
const layers = [
  check('build', ['node', 'test/bootstrap/esbuild.mjs'], 'npm run build'),
  {
    name: 'typecheck',
    steps: [{ command: ['tsc', '--noEmit'] }, { command: ['tsc', '--noEmit', '-p', 'webview-ui/tsconfig.json'] }],
    tests: false,
    alone: 'npm run typecheck',
  },
  check('lint', ['oxlint', '--type-aware', '--deny-warnings'], 'npm run lint'),
  check('format', ['oxfmt', '--check', '.'], 'npm run format'),
  check('unused', ['knip'], 'npm run lint'),
  tests('unit'),
  tests('controller'),
  // The real CLIs of the agents against a scripted model server. The whole matrix: npm run test:agents:all
  tests('agents', { command: ['node', 'test/agents/clis/install.mjs'] }),
  // In a real VS Code: the integration suite inside of it, then the journeys of a person through it.
  tests(
    'editor',
    { command: ['node', 'test/agents/clis/install.mjs'] },
    { command: ['node', 'test/editor/run.ts'], report: 'editor' },
  ),
];

/**
 * @param {string} layer its name
 * @param {Step} step
 * @param {number} code its exit code
 * @returns {Count}
 */
const countStep = (layer, { report, command }, code) => {
  if (report === undefined) return { passed: 0, failures: code === 0 ? [] : [layer], skipped: [] };
  const program = command.slice(0, 2).join(' ');
  try {
    const count = countReport(JSON.parse(readFileSync(reportPath(report), 'utf8')));
    if (code !== 0 && count.failures.length === 0) count.failures.push(`${layer}: "${program}" ended with ${code}`);
    if (count.passed + count.failures.length === 0) count.failures.push(`${layer}: "${program}" ran no test`);
    return count;
  } catch (error) {
    return { passed: 0, failures: [`${layer}: no report of "${program}" (${String(error)})`], skipped: [] };
  }
};

/**
 * Runs its steps one after the other, whatever becomes of the ones before.
 * @param {Layer} layer
 * @returns {Promise<Outcome>}
 */
const runLayer = async (layer) => {
  console.log(`\n── ${layer.name} ──`);
  const start = performance.now();
  /** @type {Count} */
  const count = { passed: 0, failures: [], skipped: [] };
  for (const step of layer.steps) {
    if (step.report !== undefined) rmSync(reportPath(step.report), { force: true });
    const { passed, failures, skipped } = countStep(layer.name, step, await run(step.command));
    count.passed += passed;
    count.failures.push(...failures);
    count.skipped.push(...skipped);
  }
  return { layer, seconds: (performance.now() - start) / 1000, count };
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
