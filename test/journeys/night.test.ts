import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FrameLocator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience, until } from '../hosts/waiting.ts';
import type { Workbench } from '../hosts/workbench.ts';
import { testClock } from '../rig/faultRun.ts';
import { type Journey, startJourney } from './journey.ts';
import { controllerOf, keeperOf, recorded, runReaches, runsIn } from './sampleRun.ts';
import { scriptedTask, startWithEarlierVersion } from './scriptedTask.ts';

const hold = { hold: true };

/** A program that signs in as Codex does, but at once. */
const signsIn = `#!/bin/sh
case "$*" in
  *--version*) echo 'codex-cli 1.0.0' ;;
  *login*) mkdir -p "$HOME/.codex" && echo '{"OPENAI_API_KEY":"k"}' > "$HOME/.codex/auth.json" ;;
esac
`;
const keyless = { CODEX_API_KEY: undefined, OPENAI_API_KEY: undefined };

// A night in which much goes wrong, and the morning after it. The agents do step by step what is written here, so that each moment lasts
// until the test has seen it. Each test goes on where the one before it ended.
describe('a person looks after a run', () => {
  const clock = testClock(join(tmpdir(), `hma-night-${process.pid}`));
  const leave = join(tmpdir(), `hma-night-${process.pid}`, 'leave');
  let journey: Journey;
  let window: Workbench;

  const bin = join(tmpdir(), `hma-night-${process.pid}`, 'bin');

  beforeAll(async () => {
    mkdirSync(bin);
    writeFileSync(join(bin, 'codex'), signsIn, { mode: 0o755 });
    journey = await startJourney({
      ...{ name: 'night', theme: 'dark', size: { width: 1280, height: 900 } },
      env: { ...clock.env, ...keyless, PATH: `${bin}:${process.env['PATH']}` },
      settings: { 'files.autoSave': 'off' },
      prepare: scriptedTask({
        A: {
          1: [{ submit: '1' }, { submit: { text: '2', note: 'twice as large' } }, hold],
          review: [{ nominate: 'e1' }, { run: ['sh', '-c', `until [ -e '${leave}' ]; do sleep 0.1; done`] }],
          default: [hold],
        },
        B: { 2: [{ submit: '3' }, { submit: 'invalid:no number' }, { submit: '0.5' }, hold], default: [hold] },
        candidate: null,
        contract: {
          ...{ name: 'numbers', policy: { cap: 5 }, budgets: { total: '20m', review: '5m' } },
          grade: { command: [process.execPath, 'evaluate.mjs'], timeout: '20s' },
        },
      }),
    });
    window = journey.window;
    await window.show('HMA');
  });
  afterAll(async () => {
    await journey?.[Symbol.asyncDispose]();
    clock.remove();
  });

  const run = () => window.view('Run');
  const candidates = () => window.view('Candidates');
  const message = () => run().pane.locator('.message').first();
  const rowsOf = async (view: 'Run' | 'Candidates' | 'Workspace') =>
    (await window.view(view).rows()).map(({ label, description }) => `${label} | ${description}`);
  /** Waits until the candidates tree lists just these, with these words at its head. */
  const listed = async (ids: readonly string[], head: string) => {
    await expect
      .poll(async () => (await candidates().rows()).map(({ label }) => label), { timeout: patience })
      .toEqual(ids);
    await expect
      .poll(() => candidates().pane.locator('.pane-header .description').innerText(), { timeout: patience })
      .toBe(head);
  };
  const tab = (title: string) => window.page.locator('.tab.active', { hasText: title });

  test('a run that an earlier version began is followed, and the window says so', async () => {
    await startWithEarlierVersion(journey, { HMA_HOME: journey.home, ...clock.env });
    await run()
      .row(/^Option 1 by alpha, at work/)
      .waitFor();
    await listed(['e2', 'e1'], '2 · latest first');
    expect(recorded(journey)!.state.archive.map(({ id }) => id)).toEqual(['e1', 'e2']);
    const workspace = await window.view('Workspace').expand();
    await workspace.row('Isolation').waitFor();
    await workspace.pane.locator('.monaco-list').hover();
    await window.page.mouse.wheel(0, 1000);
    await workspace.row(/^Version, the run goes on with the version of HMA that it began with/).waitFor();
    await window.shot('night-earlier-version');
  });

  test('the machine sleeps: the run says for how long, and none of it counts', async () => {
    clock.shift({ wall: 80 * 60_000, asleep: 80 * 60_000 });
    await run()
      .row(/^Notices, the machine slept for 1 h 20 min; the run stood still and none of it counts/)
      .waitFor();
    expect(recorded(journey)!.events.at(-1)!.active).toBeLessThan(5 * 60_000);
    expect(recorded(journey)!.state).toMatchObject({ phase: 'exploring', explorationEnding: null });
  });

  test('controller and keeper are killed: that is said in words, one click brings the run back, and it goes on', async () => {
    const [controller, fence] = [controllerOf(journey), recorded(journey)!.state.controller.fence];
    process.kill(keeperOf(controller), 'SIGKILL');
    process.kill(controller, 'SIGKILL');
    await message()
      .filter({ hasText: 'No controller looks after this run any more (it and its keeper are gone' })
      .waitFor();
    await window.status('HMA: no controller').waitFor();
    expect(await until('a badge', () => window.badge('HMA'))).toBe('1');
    await window.notification(/No controller looks after the run any more.* Resume brings it back/);
    await window.shot('night-lost');
    await window.answer(/No controller looks after the run/, 'Resume');
    await message().waitFor({ state: 'hidden' });
    await expect.poll(() => window.badge('HMA'), { timeout: patience }).toBeUndefined();
    await run()
      .row(/^Option 1 by alpha, at work/)
      .waitFor();
    expect(recorded(journey)!.state).toMatchObject({
      ...{
        controller: { fence: fence + 1 },
        options: [{ number: 1, state: 'open', attempts: [{ state: 'running' }] }],
      },
    });
    // it was brought back by this window, and so with its version
    await window
      .view('Workspace')
      .row(/^Version/)
      .waitFor({ state: 'detached' });
  });

  test('a pause at the next handoff is told when it comes, and resumed from there', async () => {
    await window.command('HMA: Pause at the Next Handoff');
    await runReaches(journey, 'a pause ahead', ({ pauseAfter }) => pauseAfter);
    await window.command('HMA: Hand Off Now');
    await message().filter({ hasText: 'Paused by' }).waitFor();
    await window.answer(/The run has paused at the handoff, as it was asked to/, 'Resume');
    await run()
      .row(/^Option 2 by beta, at work/)
      .waitFor();
    await run()
      .row(/^Option 1 by alpha, handed off by a person/)
      .waitFor();
    await run()
      .row(/^Experiment e4, rejected, invalid: no number/)
      .waitFor();
    expect(await window.terminals()).toEqual([
      expect.stringContaining('1 · alpha'),
      expect.stringContaining('2 · beta'),
    ]);
  });

  test('a window that is reloaded while an agent works shows all of it again', async () => {
    await runReaches(journey, 'four candidates', ({ archive }) => archive.length === 4);
    await listed(['e5', 'e3', 'e2', 'e1'], '4 · latest first');
    const marks = async () =>
      (await run().rows()).map(({ label, description, level }) => [level, label, description.split(' · ')[0]]);
    await expect.poll(async () => JSON.stringify(await marks()), { timeout: patience }).toContain('"2/5"'); // it has all been drawn
    const before = await marks();
    await window.reload();
    await run()
      .row(/^Option 2 by beta, at work/)
      .waitFor();
    await listed(['e5', 'e3', 'e2', 'e1'], '4 · latest first');
    // past options are closed in a new window, as the person may have left them
    expect(before).toEqual(expect.arrayContaining(await marks()));
    await window.terminalShows(/option 2 · beta: a new session with an empty context.*"e5"/s);
  });

  test('the first candidate has nothing before it to be compared with, which is said', async () => {
    // the click goes nowhere where the row is drawn anew between its two halves
    await until('what is said of e1', async () => {
      await candidates().inline('e1', 'Compare with the Previous Candidate');
      return window.notification(/e1 is the first candidate/, 8000).catch(() => null);
    });
    expect((await window.notifications())[0]).toBe(
      'HMA: e1 is the first candidate, and there were no candidate files before it.',
    );
    await window.command('Notifications: Clear All Notifications');
  });

  test('candidates are sorted, filtered, starred and hidden', async () => {
    await candidates().action('Sort Candidates');
    await window.quick.pick(/Score/);
    await listed(['e3', 'e2', 'e1', 'e5'], '4 · best first');
    await candidates().action('Filter Candidates');
    await window.quick.pick(/beta, author/);
    await window.quick.accept();
    await listed(['e3', 'e5'], '2 of 4 · best first');
    await candidates().action('Filter Candidates');
    await window.quick.pick(/beta, author/); // again: takes it away
    await window.quick.pick(/Option 1/);
    await window.quick.accept();
    await listed(['e2', 'e1'], '2 of 4 · best first');
    await candidates().action('Filter Candidates');
    await window.quick.pick(/Option 1/);
    await window.quick.pick(/Flagged/);
    await window.quick.accept();
    await candidates()
      .pane.locator('.message', { hasText: 'No candidate passes the filter. Choose Filter Candidates to change it.' })
      .waitFor();
    await candidates().action('Filter Candidates');
    await window.quick.pick(/Flagged/);
    await window.quick.accept();
    await listed(['e3', 'e2', 'e1', 'e5'], '4 · best first');
    await candidates().inline('e2', 'Star');
    await candidates()
      .row(/^Candidate e2, 2, starred, alpha/)
      .waitFor();
    await window.choose(candidates().row('e1'), 'Hide');
    await listed(['e3', 'e2', 'e5'], '3 of 4 · best first');
    expect(await rowsOf('Candidates')).toEqual([
      'e3 | 3 · record · beta, option 2',
      'e2 | 2 · starred · alpha, option 1 · twice as large',
      'e5 | 0.5 · standing · beta, option 2',
    ]);
  });

  test('candidates are compared in the editor’s own diffs', async () => {
    await candidates().inline('e3', 'Compare with the Previous Candidate');
    await tab('e2 ↔ e3: candidate.txt').waitFor();
    expect(await window.diff()).toEqual({ original: '2', modified: '3' });
    await window.choose(candidates().row('e2'), 'Compare with the Standing Candidate');
    await tab('e2 ↔ e5: candidate.txt').waitFor();
    await window.choose(candidates().row('e3'), 'Compare with the Workspace');
    await tab('e3 ↔ workspace: candidate.txt').waitFor();
    await candidates().row('e2').click();
    for (const id of ['e3', 'e5'])
      await candidates()
        .row(id)
        .click({ modifiers: ['Control'] });
    await window.choose(candidates().row('e5'), 'Compare Selected Candidates');
    await tab('e2 ↔ e3, e5 (2 files)').waitFor();
    await window.page.locator('.multiDiffEntry').nth(1).waitFor();
    await window.shot('night-compare');
    await window.command('View: Close All Editors');
  });

  test('a budget is edited, and one that can’t be is refused as it is typed', async () => {
    await window.command('HMA: Edit the Remaining Budget…');
    await window.quick.pick(/^Experiments, no limit, 4 accepted so far/);
    await window.quick.shown('(2/2)');
    await window.quick.type('2');
    await expect
      .poll(() => window.quick.message(), { timeout: patience })
      .toBe("4 experiments are accepted already: the budget can't be less.");
    await window.quick.type('9');
    await window.quick.accept();
    await runReaches(journey, 'room for nine experiments', ({ budgets }) => budgets.experiments === 9);
  });

  let page: FrameLocator;

  test('the status bar’s menu begins the final review, which opens by itself', async () => {
    await window.status(/option 2 beta · 2\/5/).click();
    await window.quick.shown('HMA: numbers, exploring');
    await window.quick.pick(/Begin the Final Review Now/);
    const dialog = window.dialog('Begin the final review now?');
    await dialog.waitFor();
    expect(await dialog.innerText()).toContain('The session of beta in option 2 is ended in mid-work');
    await dialog.getByRole('button', { name: 'Begin the Final Review' }).click();
    await tab('Final Review: numbers').waitFor();
    page = window.webview();
    await page.locator('.verdict', { hasText: 'under review' }).waitFor();
    await run()
      .row(/^Final Review, alpha, nominates e1/)
      .waitFor();
    await window.status(/reviewing · alpha/).waitFor();
  });

  test('a final candidate is selected while the review goes on, and cleared again', async () => {
    await page.locator('.grid .row[data-row="e3"] .cell-candidate').click();
    await page.getByRole('button', { name: /^Select as final/ }).click();
    await page.getByRole('textbox').last().fill('It is the largest.');
    await page.locator('.ask .primary').click();
    await page.locator('.verdict', { hasText: /Final candidate so far\s*#3 e3/ }).waitFor();
    await run()
      .row(/^Final e3, selected by/)
      .waitFor();
    expect(recorded(journey)!.state).toMatchObject({ phase: 'reviewing', review: { state: 'open', outcome: null } });
    await page.getByRole('button', { name: /^Clear selection/ }).click();
    await page.getByRole('textbox').last().fill('Let the reviewer decide.');
    await page.locator('.ask .primary').click();
    await page.locator('.verdict', { hasText: /Final candidate so far\s*#4 e5/ }).waitFor();
  });

  test('the review ends with one honest word, and the history tells all selections', async () => {
    writeFileSync(leave, '');
    await runReaches(journey, 'finished', ({ phase }) => phase === 'finished');
    const verdict = page.locator('.verdict');
    await verdict
      .filter({ hasText: 'chosen · the reviewer nominated another candidate than the standing one' })
      .waitFor();
    await page.getByText('History of selections (3)').click();
    await expect.poll(() => verdict.innerText(), { timeout: patience }).toContain('Let the reviewer decide.');
    const told = (await verdict.innerText()).match(/(?:e\d+|cleared) by .*/g);
    expect(told?.map((line) => line.replace(/ by (?!alpha).* \(/, ' by me ('))).toEqual([
      ...['e3 by me (a person)', 'cleared by me (a person)', 'e1 by alpha (the reviewer)'],
    ]);
    await run()
      .row(/^Final Review, chosen, e1 by alpha/)
      .waitFor();
    await window.notification(/The run is over. e1 is the final candidate, selected by the reviewer alpha/);
    await window.status('HMA: final e1').waitFor();
    await window.shot('night-review');
    await window.command('Notifications: Clear All Notifications');
  });

  test('after the end a candidate is evaluated again, and the mean stands beside its score', async () => {
    await window.command('HMA: Re-evaluate…');
    await window.quick.pick(/^e3, 3 /);
    await window.quick.shown('HMA: Re-evaluate e3');
    await window.quick.type('0');
    await expect.poll(() => window.quick.message(), { timeout: patience }).toBe('A whole number from 1 to 1000.');
    await window.quick.type('2');
    await window.quick.accept();
    await window.notification(/e3: 3 ± 0 over 2 more runs; its score stays 3\./);
    await candidates()
      .row(/^Candidate e3, 3, record, again 3 ± 0/)
      .waitFor();
    await page.locator('.grid .row[data-row="e3"]', { hasText: '3 ± 0, 2×' }).waitFor();
    await window.command('Notifications: Clear All Notifications');
  });

  test('grades are made from the review page, and stay hidden until they are revealed, which is recorded', async () => {
    await page.getByRole('button', { name: 'Grade all…' }).click();
    const dialog = window.dialog('Grade e2?');
    await dialog.waitFor();
    expect(await dialog.innerText()).toContain('Grades stay hidden until somebody reveals them.');
    await dialog.getByRole('button', { name: 'Grade', exact: true }).click();
    await window.answer(/1 candidate graded/, 'Reveal Grades…');
    const sure = window.dialog('Reveal the hidden grades?');
    await sure.getByRole('button', { name: 'Reveal and Record' }).click();
    await candidates()
      .row(/^Candidate e2, 2, grade 2, starred/)
      .waitFor();
    await page.getByRole('columnheader', { name: 'Grade' }).waitFor();
    expect(recorded(journey)!.events.filter(({ type }) => type === 'grades.revealed')).toHaveLength(1);
  });

  test('a candidate is disqualified from the page, and can be chosen again when that is taken back', async () => {
    await page.locator('.grid .row[data-row="e3"] .cell-candidate').click();
    await page.getByRole('button', { name: 'Disqualify…' }).click();
    await window.quick.shown('HMA: Disqualify e3');
    await window.quick.type('It guesses.');
    await window.quick.accept();
    await candidates()
      .row(/^Candidate e3, 3, disqualified, again 3 ± 0/)
      .waitFor();
    await page.locator('.verdict', { hasText: /Record\s*#2 e2/ }).waitFor();
    await window.shot('night-measured');
    await window.command('HMA: Take Back the Disqualification…');
    await window.quick.pick(/^e3, /);
    await window.quick.shown('HMA: e3 Can Be Chosen Again');
    await window.quick.type('It does not.');
    await window.quick.accept();
    await candidates()
      .row(/^Candidate e3, 3, record/)
      .waitFor();
    const judged = recorded(journey)!.events.filter(({ type }) => /^candidate\.(dis|re)qualified$/.test(type));
    expect(judged.map(({ data }) => data)).toMatchObject([{ reason: 'It guesses.' }, { reason: 'It does not.' }]);
  });

  test('an agent is signed in from the window, in a terminal of its own, and signed out again', async () => {
    await window.command('HMA: Sign In an Agent…');
    await window.quick.pick(/Codex, not signed in/);
    await window.notification(/codex is signed in for HMA/);
    expect(existsSync(join(journey.home, 'logins/codex/.codex/auth.json'))).toBe(true);
    await window.command('HMA: Sign Out an Agent…');
    await window.quick.pick(/Codex, signed in/);
    await window.notification(/hma has forgotten the login of Codex/);
    await window.command('Notifications: Clear All Notifications');
  });

  const applied = () => readFileSync(join(journey.workspace, 'candidate.txt'), 'utf8');
  const applyTo = async (place: RegExp) => {
    await window.command('HMA: Apply the Final Candidate…');
    await window.quick.shown('HMA: Apply e1, the final candidate (the reviewer’s)');
    await window.quick.pick(place);
  };

  test('the final candidate comes into the workspace after a preview, and never over unsaved work', async () => {
    await window.openFile('candidate.txt');
    await window.page.locator('.editor-group-container.active .monaco-editor').last().click();
    await window.page.keyboard.type('my own ');
    await applyTo(/The Workspace/);
    await window.notification(/not applied: candidate.txt has unsaved changes. Save or revert it first/);
    expect(applied()).toBe('0.5');
    await window.command('File: Revert File');
    await applyTo(/The Workspace/);
    const dialog = window.dialog('Apply e1 to the workspace?');
    await dialog.waitFor();
    expect(await dialog.innerText()).toContain('~ candidate.txt');
    await dialog.getByRole('button', { name: 'Show the Differences' }).click();
    await tab('e1 ↔ workspace: candidate.txt').waitFor();
    expect(applied()).toBe('0.5');
    await applyTo(/The Workspace/);
    await dialog.getByRole('button', { name: 'Apply', exact: true }).click();
    await window.notification(/e1 is in the workspace: 1 file written/);
    expect(applied()).toBe('1');
  });

  test('the final candidate comes into a new folder', async () => {
    const folder = join(journey.root, 'numbers-e1');
    await applyTo(/A New Folder/);
    await window.quick.shown('HMA: New Folder for e1');
    await expect.poll(() => window.quick.input.inputValue(), { timeout: patience }).toBe(folder);
    await window.quick.accept();
    await window.notification(/e1 is in .*numbers-e1: 1 file/);
    expect(readdirSync(folder)).toEqual(['candidate.txt']);
    await window.command('Notifications: Clear All Notifications');
  });

  test('a next run is started; the earlier one stays in reach and says that it is one', async () => {
    await run().action('Start Alternation');
    const dialog = window.dialog('Two agents are about to work in this folder.');
    await dialog.getByRole('button', { name: 'Start Without Isolation' }).click();
    await until('a second run', () => runsIn(journey).length === 2);
    await run()
      .row(/^Option 1 by alpha, at work/)
      .waitFor();
    await run().open('All Runs');
    await run()
      .row(/ newest$/)
      .waitFor();
    await run()
      .pane.locator('.monaco-list-row')
      .filter({ hasText: runsIn(journey)[1]!.run })
      .click();
    await message().filter({ hasText: 'This is an earlier run.' }).waitFor();
    await run()
      .row(/^Final Review, chosen, e1 by alpha/)
      .waitFor();
    await window.shot('night-earlier-run');
    await window.command('HMA: Show Another Run…');
    await window.quick.pick(new RegExp(runsIn(journey)[0]!.run));
    await run()
      .row(/^Option 1 by alpha, at work/)
      .waitFor();
    await message().waitFor({ state: 'hidden' });
  });

  test('a stop says what it loses, and ends the run', async () => {
    await window.command('HMA: Stop the Run…');
    const dialog = window.dialog('Stop the run?');
    await dialog.waitFor();
    expect(await dialog.innerText()).toContain(
      'The session of alpha in option 1 is ended where it is. There is no final review',
    );
    await dialog.getByRole('button', { name: 'Stop the Run' }).click();
    await runReaches(journey, 'finished', ({ phase }) => phase === 'finished');
    await run()
      .row(/^Final Review, skipped, the run was stopped/)
      .waitFor();
    expect(await rowsOf('Run')).toContainEqual(expect.stringMatching(/^1 · alpha \| 2\/5 · stopped/));
    // its controller leaves after a while, and the workspace is free
    const owned = () => existsSync(join(journey.workspace, '.hma/owner.json'));
    await expect.poll(owned, { timeout: patience }).toBe(false);
  });
});
