import { defineConfig } from 'vitest/config';

// Each test file belongs to exactly one project: what starts real controllers is named here, all else is a unit test.
const controller = ['test/{controller,demo}/**/*.test.ts', 'test/cli/controller/**/*.test.ts'];

// The real CLIs of the agents, from .agent-clis (test/agents/clis/install.mjs); `*.all.test.ts` only in npm run test:agents:all.
const agents = ['test/agents/real/**/*.test.ts'];
const others = process.env['HMA_AGENTS'] === 'all' ? [] : ['**/*.all.test.ts'];

// In a real VS Code: test/editor is not vitest's, it runs inside of VS Code (test/editor/run.ts).
const journeys = ['test/journeys/**/*.test.ts'];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...controller, ...agents, ...journeys, 'test/editor/**'],
          testTimeout: 60_000,
          maxWorkers: 2,
        },
      },
      { test: { name: 'controller', include: controller, testTimeout: 120_000, hookTimeout: 60_000, maxWorkers: 2 } },
      {
        test: {
          name: 'agents',
          include: agents,
          exclude: others,
          testTimeout: 180_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'editor',
          include: journeys,
          globalSetup: ['test/journeys/packaged.ts'],
          testTimeout: 300_000,
          hookTimeout: 180_000,
          maxWorkers: 1,
        },
      },
    ],
  },
});
