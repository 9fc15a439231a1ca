import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/{base,task,run,options,experiments,archive,review,ledger,snapshots,agents,evaluators,machines,protocol,laws}/**/*.test.ts'], testTimeout: 60_000, maxWorkers: 2 } },
      { test: { name: 'controller', include: ['test/{controller,demo}/**/*.test.ts'], testTimeout: 120_000, hookTimeout: 60_000, maxWorkers: 2 } },
    ],
  },
});
