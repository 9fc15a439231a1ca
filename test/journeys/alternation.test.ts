import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { standing } from '../../src/archive/order.ts';
import { processAt } from '../../src/machines/processes.ts';
import { finalCandidate } from '../../src/review/selection.ts';
import { until } from '../hosts/waiting.ts';
import type { Workbench } from '../hosts/workbench.ts';
import { type Journey, startJourney } from './journey.ts';
import { controllerOf, keeperOf, recorded, runReaches, runsIn, sampleTask } from './sampleRun.ts';

// One person's evening with the sample task, from an untrusted folder to a branch with the chosen candidate. Each test goes on
// where the one before it ended.
describe('a person starts an alternation, watches it and decides', () => {
  let journey: Journey;
  let window: Workbench;
  beforeAll(async () => {
    journey = await startJourney({
      ...{ name: 'alternation', theme: 'dark', trust: true, size: { width: 1280, height: 900 } },
      prepare: sampleTask({ cap: 2, experiments: 4, total: '10m', review: '1m' }),
    });
    window = journey.window;
  });
  afterAll(() => journey?.[Symbol.asyncDispose]());

  const view = (name: 'Run' | 'Candidates' | 'Workspace') => window.view(name);
  /** Options, handoffs and the review; which of them are open is each window's own. */
  const sessions = async (of: Workbench) =>
    (await of.view('Run').rows())
      .filter(({ level }) => level <= 2)
      .map(({ label, description }) => [label, description]);
  const message = () => view('Run').pane.locator('.message').first();

  test('in an untrusted folder all is told and nothing starts', async () => {
    await window.trust(false);
    await window.show('HMA');
    await until('words on trust', async () => (await view('Run').words()).includes('not trusted'));
    await window.palette('HMA: Start Alternation');
    expect(await window.quick.rows()).not.toContainEqual(expect.stringMatching(/^HMA: Start Alternation/));
    await window.quick.cancel();
    await window.shot('untrusted');
    expect(runsIn(journey)).toEqual([]);
    await view('Run').button('Manage Workspace Trust').click();
    await window.page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust', exact: true }).click();
    await view('Run').button('Start Alternation').waitFor();
    await window.command('View: Close Editor');
    await window.shot('ready', 'light');
    await window.shot('ready', 'dark');
  });

  test('a run starts after one clear word, and lives without the window', async () => {
    await window.command('HMA: Start Alternation');
    const dialog = window.dialog('Two agents are about to work in this folder.');
    await dialog.waitFor();
    await window.shot('first-start');
    expect(await dialog.innerText()).toContain('Isolation:');
    await dialog.getByRole('button', { name: /^Start/ }).click();
    await view('Run')
      .row(/^Option 1 by demo-tuner/)
      .waitFor();
    const controller = await until('the controller', () => (runsIn(journey).length > 0 ? controllerOf(journey) : 0));
    expect(processAt(keeperOf(controller))?.ppid).toBe(1);
  });

  test('experiments, candidates, the terminal and the status bar are there within a second', async () => {
    await runReaches(journey, 'an accepted experiment', ({ archive }) => archive.length > 0);
    await view('Run')
      .row(/^Experiment e1, accepted/)
      .waitFor({ timeout: 5000 });
    await view('Candidates').row('e1').waitFor({ timeout: 5000 });
    expect(await window.terminals()).toContainEqual(expect.stringMatching(/^1 · demo-tuner/));
    await window.terminalShows(/scripted demonstration agent/);
    await window.status(/exploring|1 demo-tuner|handoff|2 demo-builder/).waitFor();
  });

  test('a killed controller is told of, comes back, and nothing is lost', async () => {
    const before = recorded(journey)?.state.archive.length ?? 0;
    const controller = controllerOf(journey);
    const keeper = keeperOf(controller);
    process.kill(keeper, 'SIGSTOP'); // or it would be back before anybody saw that it was away
    try {
      process.kill(controller, 'SIGKILL');
      await message().filter({ hasText: 'The controller is away' }).waitFor();
      await window.status('controller away').waitFor();
      await window.shot('controller-away');
    } finally {
      process.kill(keeper, 'SIGCONT');
    }
    await message().waitFor({ state: 'hidden' });
    expect(controllerOf(journey)).not.toBe(controller);
    await runReaches(journey, 'one more candidate', ({ archive }) => archive.length > before);
  });

  test('at the handoff the next session has a row and a terminal of its own; a pause stops it in mid-option', async () => {
    await view('Run')
      .row(/^Option 2 by demo-builder/)
      .waitFor();
    await window.command('HMA: Pause');
    await message().filter({ hasText: 'Paused by' }).waitFor();
    await window.status('paused').waitFor();
    await view('Run')
      .row(/^Handoff from option 1 to 2, took/)
      .waitFor();
    let terminals: string[] = [];
    const theirs = async () => {
      terminals = await window.terminals();
      return ['1 · demo-tuner', '2 · demo-builder'].every((name) => terminals.some((each) => each.includes(name)));
    };
    await until('a terminal of each session', theirs, 10_000).catch(() => expect(terminals).toEqual([]));
    expect(recorded(journey)!.state.options.at(-1)).toMatchObject({ number: 2, state: 'open' });
    for (const theme of ['light', 'dark', 'contrast', 'contrastLight'] as const) await window.shot('watch', theme);
    await window.setTheme('dark');
  });

  test('after a reload in mid-option everything is there again', async () => {
    const rows = await sessions(window);
    await window.reload();
    await view('Run')
      .row(/^Option 2 by demo-builder/)
      .waitFor();
    expect(await sessions(window)).toEqual(rows);
    await window.status('paused').waitFor();
    await window.terminalShows(/demo-builder/);
  });

  test('a second window sees the same, and resumes for both', async () => {
    const second = await journey.open();
    await second.show('HMA');
    await second
      .view('Run')
      .row(/^Option 2 by demo-builder/)
      .waitFor();
    expect(await sessions(second)).toEqual(await sessions(window));
    await second.command('HMA: Resume');
    await message().waitFor({ state: 'hidden' });
    await second.close();
  });

  test('the final review ends the run, and its page shows what it chose', async () => {
    const state = await runReaches(journey, 'finished', ({ phase }) => phase === 'finished', 120_000);
    const final = finalCandidate({ ...state.terms, ...state })?.candidate ?? '';
    await view('Run').row(`Final ${final}`).waitFor();
    await window.status(`final ${final}`).waitFor();
    await window.notification(/The run is over/);
    await window.command('Notifications: Clear All Notifications');
    await window.command('HMA: Open the Final Review');
    const page = window.webview();
    await page.getByRole('row').nth(state.archive.length).waitFor();
    expect(await page.locator('.verdict').innerText()).toContain('Final candidate');
    for (const theme of ['light', 'dark', 'contrast', 'contrastLight'] as const)
      await window.shot('final-review', theme);
    await window.setTheme('dark');
  });

  test('another candidate is selected as final with a reason, which is recorded', async () => {
    const state = recorded(journey)!.state;
    const final = finalCandidate({ ...state.terms, ...state })?.candidate;
    const other = state.archive.find(({ id }) => id !== final && id !== standing(state.archive)?.id)!.id;
    const page = window.webview();
    await page.locator(`.grid .row[data-row="${other}"] .cell-candidate`).click();
    await page.getByRole('button', { name: /^Select as final/ }).click();
    await page.getByRole('textbox').last().fill('It is the one that I can explain.');
    await page.locator('.ask .primary').click();
    await runReaches(journey, 'the selection', ({ selections }) => selections.at(-1)?.candidate === other);
    expect(recorded(journey)!.events.at(-1)).toMatchObject({
      type: 'candidate.selected',
      data: { candidate: other, by: 'person', reason: 'It is the one that I can explain.' },
    });
    await view('Run').row(`Final ${other}`).waitFor();
    await window.shot('selected');
  });

  test('the final candidate goes to a new branch, and nothing of the person’s is touched', async () => {
    const other = recorded(journey)!.state.selections.at(-1)!.candidate;
    const git = async (...words: string[]) => (await execa('git', words, { cwd: journey.workspace })).stdout;
    const before = [await git('rev-parse', 'HEAD'), await git('status', '--porcelain')];
    await window.command('HMA: Apply the Final Candidate…');
    await window.quick.pick(/A New Git Branch/);
    await window.quick.shown(`New Branch for ${other}`);
    await window.quick.accept();
    await window.notification(new RegExp(`hma/${other} has ${other}`));
    expect(await git('rev-parse', `hma/${other}~1`)).toBe(before[0]);
    expect([await git('rev-parse', 'HEAD'), await git('status', '--porcelain')]).toEqual(before);
    expect(await git('diff', '--name-only', 'main', `hma/${other}`)).toContain('predictions.csv');
    await window.shot('applied');
  });
});
