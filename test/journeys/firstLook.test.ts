import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../hosts/waiting.ts';
import { startJourney } from './journey.ts';

test('a newcomer finds HMA in the activity bar and is told what to do first', async () => {
  await using journey = await startJourney({ name: 'first-look', theme: 'dark' });
  const { window } = journey;
  await window.show('HMA');
  const run = window.view('Run');
  await run.button('Set Up a Task').waitFor();
  expect(await run.words()).toContain('It needs an hma.yaml');
  expect(await run.pane.locator('.welcome-view a', { hasText: 'open the sample task' }).isVisible()).toBe(true);
  for (const theme of ['light', 'dark', 'contrast', 'contrastLight'] as const) await window.shot('first-look', theme);

  writeFileSync(join(journey.workspace, 'hma.yaml'), 'objective: Improve it.\n');
  const words = await until('a welcome that offers to start', async () => {
    const said = await run.words();
    return said.includes('Two agents can take turns') ? said : undefined;
  });
  expect(words).toContain('Start Alternation');
});
