import type { Contract } from '../../src/task/model.ts';

/** A whole contract for tests, with the parts under test replaced. */
export function aContract(parts: Partial<Contract> = {}): Contract {
  return {
    schema: 1,
    name: 'digits',
    objective: 'Lower the log loss of the classifier in solution/.',
    candidate: ['solution/**', 'predictions.csv'],
    protected: ['hma.yaml', 'evaluate.mjs', 'data'],
    evaluate: {
      command: ['node', 'evaluate.mjs'],
      cwd: '.',
      timeoutMs: 60_000,
      exclusive: false,
      repeats: 1,
      result: { from: 'file' },
      hidden: [],
    },
    validate: null,
    grade: null,
    metric: { name: 'log loss', direction: 'minimize', thresholds: [], noise: 0 },
    feedback: 'score',
    agents: {
      A: { name: 'tuner', adapter: 'demo', model: 'tuner', prompt: 'file', environment: [] },
      B: { name: 'builder', adapter: 'demo', model: 'builder', prompt: 'file', environment: [] },
    },
    policy: { mode: 'alternate', cap: 5, first: 'A', tellCap: false },
    budgets: { totalMs: 21_600_000, reviewMs: 900_000, experiments: null, until: null },
    lateRule: { rule: 'finished' },
    fallback: 'standing',
    failures: { attempts: 3, waitMs: 1000, then: 'handover' },
    stallMs: 1_800_000,
    stopAfterBarren: null,
    notify: { kind: 'none' },
    limits: { candidateBytes: 1e9, candidateFiles: 10_000, outputBytes: 1e6, diskFloorBytes: 0, queue: 64 },
    isolation: { tier: 'auto', network: 'open', ownHome: true, readable: [], writable: [] },
    prompts: {},
    environment: [],
    state: null,
    ...parts,
  };
}
