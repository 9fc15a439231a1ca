import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { finalCandidate } from '../../src/review/selection.ts';
import { nominates, pathWithClis, realAgent, submitCommand, keyOfAgent } from '../rig/agentsRun.ts';
import { startModelServer, type ModelServer } from '../rig/modelServer.ts';
import { type Journey, startJourney } from './journey.ts';
import { runReaches } from './sampleRun.ts';

// README's "With Claude Code and Codex", in the window: the CLIs as their makers ship them, with scripted models.
describe('Claude Code and Codex in VS Code', () => {
  let server: ModelServer;
  let journey: Journey;

  beforeAll(async () => {
    const steps = [{ say: 'A larger number is better.', shell: submitCommand(1) }, { text: 'Done for now.' }];
    server = await startModelServer({
      A: { steps, review: nominates('e2') },
      B: { steps, review: nominates('e2') },
    });
    journey = await startJourney({
      ...{ name: 'real-agents', theme: 'dark', size: { width: 1280, height: 900 } },
      env: { PATH: pathWithClis, SCRIPTED_KEY_A: keyOfAgent('A'), SCRIPTED_KEY_B: keyOfAgent('B') },
      prepare: (workspace) => {
        writeFileSync(join(workspace, 'candidate.txt'), '0\n');
        writeFileSync(
          join(workspace, 'evaluate.mjs'),
          "import { readFileSync, writeFileSync } from 'node:fs';\nwriteFileSync(process.env.HMA_RESULT, JSON.stringify({ score: Number(readFileSync('candidate.txt', 'utf8')) }));\n",
        );
        const contract = {
          objective: 'Make the number in candidate.txt large.',
          candidate: ['candidate.txt'],
          evaluate: { command: ['node', 'evaluate.mjs'], timeout: '30s' },
          metric: { name: 'number', direction: 'maximize' },
          agents: {
            A: realAgent(server, 'A', { adapter: 'claude-code', script: [], agent: { name: 'Claude Code' } }),
            B: realAgent(server, 'B', { adapter: 'codex', script: [], agent: { name: 'Codex' } }),
          },
          budgets: { total: '10m', review: '2m', experiments: 3 },
        };
        writeFileSync(join(workspace, 'hma.yaml'), JSON.stringify(contract, null, 2));
      },
    });
  });
  afterAll(async () => {
    await journey?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  test('a start, terminals in plain words, handoffs, tokens, a nomination by the other one', async () => {
    const { window } = journey;
    await window.show('HMA');
    const run = window.view('Run');
    await run.button('Start Alternation').click();
    await window
      .dialog('Two agents are about to work in this folder.')
      .getByRole('button', { name: /^Start/ })
      .click();
    await run.row(/^Option 1 by Claude Code/).waitFor();
    await window.terminalShows(/A larger number is better\.[^]*accepted/);
    await run.row(/^Handoff from option 1 to 2, took/).waitFor();
    await run.row(/^Option 2 by Codex/).waitFor();
    await window.shot('real-agents');
    const state = await runReaches(journey, 'an end', ({ phase }) => phase === 'finished', 180_000);
    expect(state.options.map(({ agent, accepted }) => [agent, accepted])).toEqual([
      ['A', ['e1']],
      ['B', ['e2']],
      ['A', ['e3']],
    ]);
    expect(finalCandidate({ ...state, ...state.terms })).toMatchObject({ candidate: 'e2', by: 'reviewer' });
    await run.row(/^Final Review.*chosen/i).waitFor();
    await window.view('Candidates').row('e2').waitFor();
    for (const option of state.options) expect(option.usage?.length).toBeGreaterThan(0);
  });
});
