import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterEach, describe, expect, test } from 'vitest';

import { adapters } from '../../src/agents/adapters.ts';
import { loadContract } from '../../src/task/load.ts';
import { layOutSample } from '../../src/window/samplePlace.ts';
import { agentsKnown, candidatesIn, evaluatorsIn, metricsIn } from '../../src/client/setupDetect.ts';
import { contractText, type SetupChoices } from '../../src/client/setupWrite.ts';

const made: string[] = [];
afterEach(() => made.splice(0).forEach((folder) => rmSync(folder, { recursive: true })));

/** Loads a contract's text over a folder with these files. */
async function load(text: string, files: Readonly<Record<string, string>>) {
  const workspace = mkdtempSync(join(tmpdir(), 'hma-setup-'));
  made.push(workspace);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), content);
  }
  return await loadContract({ workspace, text, given: { wall: 0, adapters: Object.keys(adapters) } });
}

const files = { 'evaluate.py': 'print(1)\n', 'solution/model.py': '', 'task.md': 'Make it good.\n' };
const choices: SetupChoices = {
  name: 'my task: "odd"',
  evaluate: ['python3', 'evaluate.py'],
  metric: { name: 'log loss', direction: 'minimize' },
  candidate: ['solution/**'],
  A: null,
  B: null,
  total: '1h',
  review: '10m',
  objectiveFile: null,
};

describe('what is written', () => {
  test.each(agentsKnown.map((agent) => [agent.name, agent] as const))(
    'with %s is a contract without errors or warnings',
    async (_, agent) => {
      const loaded = await load(contractText({ ...choices, A: agent, B: agent, objectiveFile: 'task.md' }), files);
      expect(loaded).toMatchObject({
        ok: true,
        value: {
          warnings: [],
          contract: {
            name: 'my task: "odd"',
            objective: 'Make it good.\n',
            metric: { name: 'log loss', direction: 'minimize' },
            budgets: { totalMs: 3_600_000, reviewMs: 600_000 },
            agents: {
              A: { name: agent.name, adapter: agent.name },
              B: { name: `${agent.name}-2`, adapter: agent.name },
            },
          },
        },
      });
    },
  );
  test('without agents it says how to name one, and its own objective', async () => {
    const loaded = await load(contractText(choices), files);
    expect(loaded).toMatchObject({
      ok: true,
      value: { contract: { agents: { A: { command: ['my-agent', '{prompt}'] } } } },
    });
    expect(loaded.ok && loaded.value.contract.objective).toContain('log loss');
  });
  test('without an evaluator the place of one is marked as missing', async () => {
    const loaded = await load(contractText({ ...choices, evaluate: null }), { 'solution/model.py': '' });
    const messages = loaded.ok ? loaded.value.warnings : loaded.refusal.messages;
    expect(messages.map(({ code }) => code)).toContain('file_missing');
  });
});

test('the agents on offer are the adapters, with their programs and keys', () => {
  const known = agentsKnown.map(({ name, title, program, key }) => [name, title, program, key]);
  const real = Object.values(adapters).flatMap(({ name, harness }) =>
    harness ? [[name, harness.title, harness.program, harness.keys[0]]] : [],
  );
  const named = (rows: readonly (readonly unknown[])[]) => new Map(rows.map(([name, ...rest]) => [name, rest]));
  expect(named(known)).toEqual(named(real));
});

describe('what is found', () => {
  test('evaluators: the nearest and clearest name first, then targets of a Makefile; no tests, no libraries', () => {
    const found = evaluatorsIn({
      files: [
        'tests/evaluate_test.py',
        'node_modules/x/score.js',
        'tools/score.py',
        'eval.sh',
        'evaluate.py',
        'evaluations.csv',
        'scoreboard.md',
      ],
      texts: { Makefile: 'all: x\nevaluate: all\n\tpython3 x.py\nscore := 3\nbench-fast:\n' },
    });
    expect(found.map(({ command }) => command.join(' '))).toEqual([
      'python3 evaluate.py',
      'bash eval.sh',
      'python3 tools/score.py',
      'make -s evaluate',
      'make -s bench-fast',
    ]);
  });
  test('metrics in the order of their mention, each once, with the way that is better', () => {
    expect(metricsIn('score = accuracy_score(y, p)\nprint(rmse)\n# accuracy')).toEqual([
      { name: 'accuracy', direction: 'maximize' },
      { name: 'RMSE', direction: 'minimize' },
    ]);
    expect(metricsIn('nothing here')).toEqual([]);
  });
  test('candidate files: what looks like a solution first; never the evaluator, the contract or hidden files', () => {
    const found = candidatesIn(
      {
        files: [
          '.git/config',
          'data/train.csv',
          'evaluate.py',
          'hma.yaml',
          'notes.txt',
          'predictions.csv',
          'solution/a.py',
          'solution/b.py',
        ],
      },
      'evaluate.py',
    );
    expect(found.map(({ path }) => path)).toEqual(['predictions.csv', 'solution/**', 'notes.txt', 'data/**']);
    expect(found.filter(({ likely }) => likely).map(({ path }) => path)).toEqual(['predictions.csv', 'solution/**']);
  });
});

test('the sample is laid out as a contract without errors, its agents and labels beside the workspace', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'hma-sample-'));
  made.push(parent);
  const workspace = await layOutSample(join(import.meta.dirname, '../..'), join(parent, 'new'));
  expect(workspace).toBe(join(parent, 'new', 'digits'));
  const loaded = await loadContract({ workspace, given: { wall: 0, adapters: Object.keys(adapters) } });
  expect(loaded).toMatchObject({
    ok: true,
    value: { warnings: [], contract: { isolation: { readable: [join(parent, 'new', 'agents')] } } },
  });
});
