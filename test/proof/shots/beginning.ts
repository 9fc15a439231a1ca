import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../../hosts/waiting.ts';
import type { Studio } from './studio.ts';

/** A folder as a person brings it: an evaluator, a solution, no hma.yaml. */
const ownFolder = {
  'README.md': '# Churn\n\nPredict which customers leave within a month.\n',
  'evaluate.py':
    'import json, os\nfrom sklearn.metrics import roc_auc_score, accuracy_score\n\n# reads the candidate, writes {"score": ...}\n',
  'solution/train.py': 'print("training")\n',
  'solution/features.py': '',
  'submission.csv': 'id,churn\n',
  'data/train.csv': 'id,churn\n',
  Makefile: 'evaluate:\n\tpython3 evaluate.py\n',
};

/** What a newcomer sees: no folder, no trust, no task, the set-up, hma.yaml in the editor. */
export async function shootBeginning(studio: Studio): Promise<void> {
  const { camera } = studio;
  const empty = await studio.open(null);
  await empty.show('HMA');
  await empty.view('Run').button('Open Folder').waitFor();
  await camera.take('welcome-no-folder', empty);
  await empty.command('Welcome: Open Walkthrough...');
  await empty.quick.pick('Let Two Agents Take Turns');
  await empty.page.locator('.getting-started-step.expanded').first().waitFor();
  await empty.command('View: Toggle Primary Side Bar Visibility'); // its pictures need the room
  await camera.take('walkthrough', empty);
  await empty.close();

  const own = studio.folder('churn', ownFolder);
  const window = await studio.open(own, false);
  await window.show('HMA');
  const run = window.view('Run');
  await until('words on trust', async () => (await run.words()).includes('not trusted'));
  await camera.take('untrusted', window);
  await run.button('Manage Workspace Trust').click();
  await window.page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust', exact: true }).click();
  await run.button('Set Up a Task').waitFor();
  await window.command('View: Close All Editors');
  await camera.take('welcome-no-task', window);

  await window.command('HMA: Set Up a Task…');
  for (const step of [1, 2, 3, 4, 5] as const) {
    await window.quick.shown(new RegExp(`\\(${step}/5\\)`));
    await camera.take(`set-up-${step}`, window);
    await window.quick.accept();
  }
  await window.lens('Check the Task').waitFor();
  await window.page.locator('.view-lines').first().waitFor();
  await camera.take('set-up-done', window);

  const contract = join(own, 'hma.yaml');
  const word = (text: RegExp) => window.page.locator('.view-line span span', { hasText: text }).first();
  await camera.take('contract-hover', window, word(/^metric$/));

  writeFileSync(contract, readFileSync(contract, 'utf8').replace(/maximize/, 'upwards'));
  await window.page.locator('.squiggly-error').first().waitFor();
  await camera.take('contract-problem', window, word(/upwards/));
  await window.close();
}
