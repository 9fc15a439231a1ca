import { expect, it } from 'vitest';

import { incomparable } from '../../src/task/comparable.ts';
import type { Contract } from '../../src/task/model.ts';
import { aContract } from '../evaluators/aContract.ts';

const contract = aContract({
  candidate: ['a.py', 'model/'],
  evaluate: { ...aContract().evaluate, command: ['python3', 'score.py'], hidden: ['/secret/labels'] },
});
const agent = (name: string): Contract['agents']['A'] => ({ name, adapter: 'demo', prompt: 'file', environment: [] });

it('agents, caps, budgets, prompts, isolation, notifications and the like may change', () => {
  const other: Contract = {
    ...contract,
    ...{ name: 'numbers', objective: 'Much better.', candidate: ['model/', 'a.py', 'a.py'], state: '/elsewhere' },
    agents: { A: agent('cat'), B: agent('dan') },
    policy: { mode: 'single', cap: null, first: 'B', tellCap: true },
    budgets: { totalMs: 9, reviewMs: 1, experiments: 5, tokens: 7, cost: 1, until: 5 },
    lateRule: { rule: 'submitted', graceMs: 1 },
    ...{ fallback: 'record', stallMs: 9, stopAfterBarren: 2, notify: { kind: 'url', url: 'https://x.example' } },
    isolation: { ...contract.isolation, tier: 'none' },
    ...{
      prompts: { exploration: 'Go.' },
      environment: ['KEY'],
      validate: { command: ['true'], cwd: '.', timeoutMs: 1 },
    },
  };
  expect(incomparable(contract, other)).toEqual([]);
});

it('what a score means may not, and each key that differs is named with both values', () => {
  const other: Contract = {
    ...contract,
    candidate: ['a.py'],
    evaluate: { ...contract.evaluate, command: ['python3', 'score.py', '--fast'], timeoutMs: 1, hidden: [], binds: [] },
    grade: { command: ['python3', 'grade.py'], cwd: '.', timeoutMs: 1, hidden: [] },
    metric: { ...contract.metric, direction: 'maximize', baseline: 1 },
    feedback: 'blind',
  };
  expect(incomparable(contract, other).map(({ key, before, after }) => `${key}: ${before} → ${after}`)).toEqual([
    'metric.direction: "minimize" → "maximize"',
    'metric.baseline: nothing → 1',
    'feedback: "score" → "blind"',
    'candidate: ["a.py","model/"] → ["a.py"]',
    'evaluate.command: ["python3","score.py"] → ["python3","score.py","--fast"]',
    'evaluate.timeout (ms): 60000 → 1',
    'evaluate.hidden: ["/secret/labels"] → []',
    'evaluate.binds: nothing → []',
    'grade: nothing → {"command":["python3","grade.py"],"cwd":".","hidden":[],"timeoutMs":1}',
  ]);
});
