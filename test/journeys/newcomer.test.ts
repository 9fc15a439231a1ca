import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadContract } from '../../src/task/load.ts';
import { runsOf } from '../../src/client/lookup.ts';
import { patience, until } from '../hosts/waiting.ts';
import { endAll } from '../rig/run.ts';
import { type Journey, startJourney } from './journey.ts';

// A person who has just installed the extension: a home of their own, two agents on PATH, and a folder with an evaluator.
describe('a newcomer', () => {
  const person = mkdtempSync(join(tmpdir(), 'hma-person-'));
  const [home, programs] = [join(person, 'home'), join(person, 'bin')];
  let journey: Journey;

  beforeAll(async () => {
    mkdirSync(home);
    mkdirSync(programs);
    for (const name of ['claude', 'codex']) writeFileSync(join(programs, name), '#!/bin/sh\n', { mode: 0o755 });
    journey = await startJourney({
      ...{ name: 'newcomer', theme: 'dark' },
      env: { HOME: home, PATH: [programs, process.env['PATH']].join(delimiter) },
      prepare: (workspace) => {
        mkdirSync(join(workspace, 'solution'));
        writeFileSync(join(workspace, 'solution/train.py'), 'print(1)\n');
        writeFileSync(join(workspace, 'README.md'), 'A task.\n');
        writeFileSync(join(workspace, 'evaluate.py'), 'from sklearn.metrics import roc_auc_score\n');
      },
    });
  });
  afterAll(async () => {
    await journey?.[Symbol.asyncDispose]();
    await endAll(person);
    rmSync(person, { recursive: true, force: true, maxRetries: 5 });
  });

  test('sets a task up in five steps by keyboard, and gets an hma.yaml without a problem', async () => {
    const { window } = journey;
    const { quick, page } = window;
    await window.show('HMA');
    await window.view('Run').button('Set Up a Task').focus();
    await page.keyboard.press('Enter');
    const first = async (step: number, row: RegExp) => {
      await quick.shown(`HMA: Set Up a Task (${step}/5)`);
      await quick.row(row).waitFor();
      expect((await quick.rows())[0]).toMatch(row);
    };
    await first(1, /^python3 evaluate\.py/);
    await page.keyboard.press('Enter');
    await first(2, /^AUC, higher is better · the evaluator speaks of it/);
    await page.keyboard.press('Enter');
    await first(3, /^solution\/\*\*/);
    await quick.widget.getByRole('button', { name: 'Back' }).click(); // and here again
    await first(2, /^AUC/);
    await page.keyboard.press('Enter');
    await first(3, /^solution\/\*\*/);
    await page.keyboard.press('Enter');
    await first(4, /^Claude Code, installed here/);
    await page.keyboard.press('Enter');
    await first(5, /^6h/);
    for (const key of ['ArrowDown', 'Enter']) await page.keyboard.press(key);

    await page.locator('.tab.active', { hasText: 'hma.yaml' }).waitFor();
    await window.lens('Start Alternation').waitFor();
    await window.view('Run').button('Start Alternation').waitFor();
    const problems = page.locator(String.raw`#status\.problems`);
    await expect.poll(() => problems.innerText(), { timeout: patience }).toMatch(/0\s+0/);
    const text = readFileSync(join(journey.workspace, 'hma.yaml'), 'utf8');
    expect(text).toContain('# The files that make up a candidate');
    const loaded = await loadContract({ workspace: journey.workspace, text, given: { wall: Date.now() } });
    expect(loaded).toMatchObject({
      ok: true,
      value: {
        contract: {
          candidate: ['solution/**'],
          evaluate: { command: ['python3', 'evaluate.py'] },
          metric: { name: 'AUC', direction: 'maximize' },
          agents: { A: { name: 'claude-code' }, B: { name: 'codex' } },
          budgets: { totalMs: 3_600_000, reviewMs: 600_000 },
        },
        warnings: [],
      },
    });
  });

  test('opens the sample task in an empty window, is shown its start, and starts it with one click', async () => {
    const window = await journey.open(null);
    await window.show('HMA');
    const run = window.view('Run');
    const loaded = window.page.waitForEvent('load');
    await run.pane.getByText('Open the Sample Task').or(run.pane.getByText('open the sample task')).first().click();
    await window.quick.shown('HMA: Open the Sample Task');
    await window.quick.accept();
    await loaded;
    await run.button('Start Alternation').click();
    await window
      .dialog('Two agents are about to work in this folder.')
      .getByRole('button', { name: /^Start/ })
      .click();
    await run.row(/^Option 1 by demo-/).waitFor();
    await until('a run of the sample', () => runsOf(join(home, 'hma-sample/digits'), [journey.home]).length === 1);
  });
});
