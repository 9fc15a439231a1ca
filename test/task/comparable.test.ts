import { expect, it } from 'vitest';

import { incomparable } from '../../src/task/comparable.ts';
import type { Contract } from '../../src/task/model.ts';

const contract: Contract = {
  schema: 1,
  name: 'digits',
  objective: 'Better.',
  candidate: ['a.py', 'model/'],
  protected: ['hma.yaml'],
  evaluate: {
    command: ['python3', 'score.py'],
    cwd: '.',
    timeoutMs: 60_000,
    exclusive: false,
    repeats: 1,
    result: { from: 'file' },
    hidden: ['/secret/labels'],
  },
  validate: null,
  grade: null,
  metric: { name: 'error', direction: 'minimize', thresholds: [], noise: 0 },
  feedback: 'score',
  agents: { A: agent('ada'), B: agent('bob') },
  policy: { mode: 'alternate', cap: 5, first: 'A', tellCap: false },
  budgets: { totalMs: 1000, reviewMs: 100, experiments: null, until: null },
  lateRule: { rule: 'finished' },
  fallback: 'standing',
  failures: { attempts: 3, waitMs: 1, then: 'handover' },
  stallMs: 1,
  stopAfterBarren: null,
  notify: { kind: 'none' },
  limits: { candidateBytes: 1, candidateFiles: 1, outputBytes: 1, diskFloorBytes: 1, queue: 1 },
  isolation: { tier: 'auto', network: 'open', ownHome: true, readable: [], writable: [] },
  prompts: {},
  environment: [],
  state: null,
};

function agent(name: string): Contract['agents']['A'] {
  return { name, adapter: 'demo', prompt: 'file', environment: [] };
}

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
