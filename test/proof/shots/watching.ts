import type { Workbench } from '../../hosts/workbench.ts';
import { controllerOf, keeperOf } from '../../journeys/sampleRun.ts';
import { until } from '../../hosts/waiting.ts';
import type { Studio } from './studio.ts';

const tuner = /agents\/tuner\.mjs/;
const builder = /agents\/builder\.mjs/;

/** One run of the sample task from its preflight to its end; gives its window, which shows the finished run. */
export async function shootWatching(
  studio: Studio,
): Promise<{ readonly window: Workbench; readonly workspace: string }> {
  const { camera } = studio;
  const workspace = await studio.sample('digits', { cap: 3, experiments: 9, total: '30m', review: '3m' });
  const window = await studio.open(workspace);
  await window.show('HMA');
  const run = window.view('Run');
  const message = run.pane.locator('.message').first();
  await run.button('Start Alternation').waitFor();
  await camera.take('welcome-ready', window);

  await window.command('HMA: Check the Task');
  await window.quick.row(/Start Alternation/).waitFor();
  await camera.take('preflight', window);
  await window.quick.cancel();

  await window.command('HMA: Start Alternation');
  const dialog = window.dialog('Two agents are about to work');
  await dialog.waitFor();
  await camera.take('first-start', window);
  await dialog.getByRole('button', { name: /^Start/ }).click();

  const first = await studio.hold(tuner);
  await run.row(/^Option 1 by demo-tuner/).waitFor();
  await window.command('HMA: Open the Final Review');
  await window.webview().locator('main, .empty').first().waitFor();
  await camera.take('review-empty', window);
  await window.command('View: Close All Editors');
  first.letGo();

  await studio.reaches(
    workspace,
    'an accepted experiment of option 2',
    ({ options }) => (options[1]?.accepted.length ?? 0) >= 1,
  );
  const second = await studio.hold(builder);
  await window.page.keyboard.press('Control+p');
  await window.quick.type('OBJECTIVE.md');
  await window.quick.pick(/OBJECTIVE\.md/);
  await window.tab('OBJECTIVE.md').waitFor();
  await window.terminalShows(/demo-builder/);
  await run.row(/^Option 2 by demo-builder/).waitFor();
  await camera.take('running', window);
  await camera.picture('watch', window);
  await camera.take('tooltip-option', window, run.row(/^Option 2 by demo-builder/));
  await window.status(/option 2/).click();
  await window.quick.shown();
  await camera.take('status-menu', window);
  await window.quick.cancel();

  await run.open(/^Handoff from option 1 to 2/);
  await camera.take('handoff', window);
  await widen(window, 130);
  await camera.picture('handoff', window);
  await widen(window, -130);

  await window.command('HMA: Open the Final Review');
  await window.webview().getByRole('row').nth(2).waitFor();
  await camera.take('review-running', window);
  await window.command('View: Close Editor');

  await window.command('HMA: Pause');
  await message.filter({ hasText: 'Paused by' }).waitFor();
  await window.status('paused').waitFor();
  await camera.take('paused', window);
  await shootWorkspace(camera, window);
  await window.reload();
  await window.status('paused').waitFor();
  await window.terminalShows(/demo-builder/);
  await camera.take('reloaded', window);

  await window.command('HMA: Resume');
  await message.waitFor({ state: 'hidden' });
  const controller = controllerOf({ workspace, home: studio.home });
  const keeper = keeperOf(controller);
  process.kill(keeper, 'SIGKILL');
  process.kill(controller, 'SIGKILL');
  await message.filter({ hasText: 'No controller looks after' }).waitFor();
  await camera.take('lost', window);
  await window.command('HMA: Resume');
  await message.waitFor({ state: 'hidden' });
  second.letGo();

  const judged = await studio.hold(/evaluate\.mjs/);
  await run.row(/being evaluated|running/).waitFor();
  await camera.take('evaluating', window);
  judged.letGo();

  await studio.reaches(workspace, 'a final review', ({ review }) => (review?.attempts.length ?? 0) > 0);
  const reviewer = await studio.hold(/agents\/(tuner|builder)\.mjs/);
  await run.row(/^Final Review/).waitFor();
  await camera.take('reviewing', window);
  reviewer.letGo();
  await studio.reaches(workspace, 'finished', ({ phase }) => phase === 'finished');
  await run.row(/^Final e/).waitFor();
  return { window, workspace };
}

/** Makes the side bar wider, by the sash at its right. CSS px. */
async function widen({ page }: Workbench, by: number): Promise<void> {
  const box = await page.locator('.part.sidebar').boundingBox();
  if (!box) throw new Error('There is no side bar to make wider.');
  const [x, y] = [box.x + box.width + 2, 600];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + by, y, { steps: 4 });
  await page.mouse.up();
}

/** The view Workspace with the room it needs: the others are folded meanwhile. */
async function shootWorkspace(camera: Studio['camera'], window: Workbench): Promise<void> {
  const others = [window.view('Run'), window.view('Candidates')].map(({ pane }) => pane.locator('> .pane-header'));
  for (const header of others) await header.click();
  const place = await window.view('Workspace').expand();
  await until('the disk', async () => (await place.rows()).some(({ label }) => label === 'Disk'));
  await camera.take('workspace', window);
  for (const header of [...others, place.pane.locator('> .pane-header')]) await header.click();
}
