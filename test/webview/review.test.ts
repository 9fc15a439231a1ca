import { rmSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { launchBrowser } from '../hosts/host.ts';
import { blindRun, finishedRun, runningRun } from './galleries.ts';
import { type LongReview, measureLongReview } from './longReview.ts';
import { buildPage, ReviewTab, themeNames } from './page.ts';
import { scene, selection } from './scenes.ts';

vi.setConfig({ testTimeout: 240_000 });

let browser: Browser;
let built = '';

beforeAll(async () => {
  [browser, built] = await Promise.all([launchBrowser(), buildPage()]);
}, 180_000);

afterAll(async () => {
  await browser.close();
  rmSync(built, { recursive: true, force: true });
});

/** Bounded generously: the machine may be busy. */
const expectSoon = <Seen>(look: () => Promise<Seen>, message = '') => expect.poll(look, { timeout: 20_000, message });

const open = (opening: Parameters<typeof ReviewTab.open>[2] = {}) => ReviewTab.open(browser, built, opening);

describe('looks', () => {
  test.each(themeNames)('reads well in %s, under the strict policy', async (theme) => {
    await using tab = await open({ theme });
    await tab.show(finishedRun());
    await tab.row('e34').locator('.cell-candidate').click();
    await tab.shoot(theme);
    expect(await tab.violations()).toEqual([]);
    expect(tab.problems).toEqual([]);
  });

  test('fits at 200 % zoom and 400 px: nothing is cut off at the side', async () => {
    for (const [name, opening] of [
      ['zoom-200', { width: 1280, height: 800, zoom: 2 }],
      ['narrow', { width: 400, height: 900, theme: 'light' }],
    ] as const) {
      await using tab = await open(opening);
      await tab.show(finishedRun());
      await tab.row('e34').locator('.cell-candidate').click();
      await tab.shoot(name);
      const overflow = await tab.page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
      expect(overflow, `${name}: px beyond the right edge`).toBeLessThanOrEqual(0);
      await tab.page.evaluate(`document.querySelector('.candidates').scrollIntoView()`);
      await tab.shoot(`${name}-table`);
      await tab.page.evaluate(`document.querySelector('.details').scrollIntoView()`);
      await tab.shoot(`${name}-details`);
    }
  });

  test('a running and a blind task say what they are', async () => {
    await using running = await open({ theme: 'light' });
    await running.show(runningRun(), { minutes: 195 });
    await running.shoot('running-light');
    await using blind = await open();
    await blind.show(blindRun(), { minutes: 195 });
    await blind.shoot('blind-dark');
    expect(await blind.page.getByText(/blind task: values are what the agents reported/).count()).toBe(1);
    expect(await blind.heading(/^Score/).count()).toBe(0);
    expect(await blind.heading('Reported').count()).toBe(1);
    await expect(blind.page.getByRole('heading', { name: 'Trajectory of reported scores' }).count()).resolves.toBe(1);
  });

  test('without a run it says so, and what to do', async () => {
    await using tab = await open();
    await tab.tell({ type: 'empty', text: 'There is no run to look at.' });
    await expectSoon(() => tab.page.locator('.empty').textContent()).toBe('There is no run to look at.');
  });
});

describe('deciding', () => {
  test('a person selects with a reason, by the keyboard alone', async () => {
    await using tab = await open();
    await tab.show(finishedRun());
    const keys = tab.page.keyboard;
    await tab.heading(/Candidate/).focus();
    for (const key of ['ArrowDown', 'ArrowDown']) await keys.press(key);
    await expectSoon(() => tab.focus()).toBe('e33/candidate');
    await keys.press('Enter');
    await expectSoon(() => tab.focus()).toBe('Select as final…');
    await keys.press('Enter');
    await tab.page.getByRole('group', { name: 'Select #30 e33 as final?' }).waitFor();
    await keys.press('Control+Enter');
    expect(await tab.told(), 'no reason, no selection').toEqual([]);
    await keys.type('Smallest of the best');
    await tab.shoot('selecting-dark');
    await keys.press('Control+Enter');
    expect(await tab.told()).toEqual([{ type: 'select', candidate: 'e33', reason: 'Smallest of the best' }]);
    await expectSoon(() => tab.focus(), 'the focus goes back to where it was').toBe('Select as final…');
    await tab.show(
      finishedRun({
        selections: [
          ...finishedRun().selections,
          selection({ candidate: 'e33', by: 'person', who: 'Mara', reason: 'Smallest of the best' }),
        ],
      }),
    );
    await tab.page.getByText('selected by Mara').waitFor();
    await expect
      .poll(() => tab.page.getByRole('status').first().textContent())
      .toContain('e33 is the final candidate, by Mara.');
  });

  test('Escape takes the question back and nothing is said', async () => {
    await using tab = await open();
    await tab.show(finishedRun());
    await tab.page.getByRole('button', { name: 'Reveal grades…' }).click();
    await tab.page.getByText('can’t be undone').or(tab.page.getByText("can't be undone")).waitFor();
    await tab.shoot('revealing-dark');
    await tab.page.keyboard.press('Escape');
    await expectSoon(() => tab.focus()).toBe('Reveal grades…');
    expect(await tab.told()).toEqual([]);
  });

  test('revealing grades is confirmed first, then they have a column', async () => {
    await using tab = await open({ theme: 'light' });
    await tab.show(finishedRun());
    expect(await tab.heading('Grade').count()).toBe(0);
    await tab.page.getByRole('button', { name: 'Reveal grades…' }).click();
    await tab.page.getByRole('button', { name: 'Reveal and record' }).click();
    expect(await tab.told()).toEqual([{ type: 'reveal' }]);
    await tab.show(finishedRun({ gradesRevealed: true }));
    await tab.heading('Grade').waitFor();
    await tab.shoot('grades-light');
  });

  test('what can be measured and judged is asked for; what came of it stands in the row, and graders are told apart', async () => {
    await using tab = await open({ theme: 'light', height: 1000 });
    const run = finishedRun({ gradesRevealed: true });
    const [first, second, ...others] = run.archive.toReversed();
    const scored = (score: number) => ({ verdict: { kind: 'scored', score } as const, wall: 0 });
    const archive = [
      ...others.toReversed(),
      { ...second!, disqualified: { reason: 'reads the test set', who: 'Mara', wall: 0 } },
      { ...first!, reevaluations: [scored(0.98), scored(0.96)], grade: { ...first!.grade!, grader: 'bbbbbbbb' } },
    ];
    const errands = [{ kind: 'reevaluate', candidate: first!.id }] as const;
    await tab.show({ ...run, archive, errands });
    await tab.row(first!.id).locator('.cell-candidate').click();
    await tab.row(first!.id).getByText('0.97 ± 0.01, 2×').waitFor();
    await tab.page.getByText('only grades of the same one compare').waitFor();
    await tab.page.getByText(`${first!.id} is being evaluated again; 1 run left.`).waitFor();
    await tab.shoot('measured-light');
    for (const name of ['Re-evaluate…', 'Grade again…', 'Disqualify…', 'Grade all…'])
      await tab.page.getByRole('button', { name }).click();
    await tab.row(second!.id).locator('.cell-candidate').click();
    await tab.page.getByText('Disqualified by Mara: reads the test set', { exact: true }).waitFor();
    await tab.page.getByRole('button', { name: 'Take back the disqualification…' }).click();
    const candidate = first!.id;
    expect(await tab.told()).toEqual([
      ...['reevaluate', 'regrade', 'disqualify'].map((act) => ({ type: 'act', act, candidate })),
      { type: 'gradeAll' },
      { type: 'act', act: 'requalify', candidate: second!.id },
    ]);
    expect(await tab.page.getByRole('button', { name: 'Select as final…' }).getAttribute('aria-disabled')).toBe('true');
  });

  test('a person’s selection can be cleared; the history tells all of it', async () => {
    const person = selection({ candidate: 'e1', by: 'person', who: 'Mara', reason: 'smallest', gradesRevealed: true });
    await using tab = await open();
    await tab.show(finishedRun({ selections: [...finishedRun().selections, person] }));
    await tab.page.getByText('History of selections (2)').click();
    await tab.page.locator('.history').getByText('after grades were seen').waitFor();
    await tab.shoot('history-dark');
    await tab.page.getByRole('button', { name: 'Clear selection…' }).click();
    await tab.page.getByLabel('Reason (recorded)').fill('the reviewer is right');
    await tab.page.getByRole('button', { name: 'Clear selection', exact: true }).click();
    expect(await tab.told()).toEqual([{ type: 'clear', reason: 'the reviewer is right' }]);
  });

  test('what is refused is said, and can be put away', async () => {
    await using tab = await open();
    await tab.show(finishedRun());
    await tab.tell({ type: 'refused', text: 'There is no candidate e99.' });
    await expectSoon(() => tab.page.getByRole('alert').locator('p').textContent()).toBe('There is no candidate e99.');
    await tab.page.getByRole('button', { name: 'Dismiss' }).click();
    await tab.page.getByRole('alert').waitFor({ state: 'detached' });
  });

  test('a rejected experiment can’t be selected; an absent controller is told', async () => {
    await using tab = await open();
    await tab.show(finishedRun(), { banner: 'The controller is away; the run is shown as it was.' });
    await tab.page.getByText('The controller is away').waitFor();
    await tab.row('e34').locator('.cell-candidate').click();
    await tab.page.keyboard.press('Control+End');
    await expectSoon(() => tab.focus()).toBe('e29/note');
    await tab.page.getByText('A rejected experiment can’t be selected.').waitFor();
    await tab.page.getByRole('button', { name: 'Select as final…' }).click({ force: true });
    expect(await tab.page.locator('.details .ask').count()).toBe(0);
  });
});

describe('the table', () => {
  test('sorts by several columns with shift, failed rows last', async () => {
    await using tab = await open();
    await tab.show(runningRun());
    await tab.heading(/^Author/).click();
    await tab.heading(/^Score/).click({ modifiers: ['Shift'] });
    expect(await tab.heading(/^Author/).getAttribute('aria-sort')).toBe('ascending');
    expect(await tab.heading(/^Score/).getAttribute('aria-sort')).toBe('descending');
    expect(await tab.heading(/^Candidate/).getAttribute('aria-sort')).toBe('none');
    const authors = await tab.page.locator('.grid .row .cell-author').allTextContents();
    expect(new Set(authors.slice(0, 8))).toEqual(new Set(['alpha']));
    expect((await tab.drawn()).slice(-2).toSorted()).toEqual(['e18', 'e7']);
  });

  test('roving focus: one stop for Tab, arrows, Home, End, pages; Space chooses, s stars, h hides', async () => {
    await using tab = await open();
    await tab.show(finishedRun());
    const keys = tab.page.keyboard;
    await tab.row('e34').locator('.cell-candidate').click();
    expect(await tab.page.locator('.grid [tabindex="0"]').count()).toBe(1);
    const steps = [
      ['ArrowDown', 'e33/candidate'],
      ['ArrowRight', 'e33/score'],
      ['Home', 'e33/mark'],
      ['End', 'e33/note'],
      ['Control+End', 'e29/note'],
      ['Control+Home', 'e34/mark'],
      ['ArrowUp', 'head/mark'],
    ] as const;
    for (const [key, focus] of steps) {
      await keys.press(key);
      await expectSoon(() => tab.focus(), key).toBe(focus);
    }
    await keys.press('ArrowDown');
    await expectSoon(() => tab.focus()).toBe('e34/mark');
    await keys.press('Space');
    await expectSoon(() => tab.row('e34').getAttribute('aria-selected')).toBe('true');
    await keys.press('s');
    await keys.press('h');
    expect(await tab.told()).toEqual([
      { type: 'star', candidate: 'e34', on: true },
      { type: 'hide', candidate: 'e34', on: true },
    ]);
  });

  test('filters, hides and says how many are left', async () => {
    await using tab = await open();
    await tab.show(runningRun(), { marks: { starred: (id) => id === 'e3', hidden: (id) => id === 'e2' } });
    await tab.page.getByText('17 of 18 rows').waitFor();
    await tab.page.getByRole('combobox', { name: 'Author' }).selectOption('B');
    await tab.page.getByLabel('Filter by text').fill('convnet');
    await expectSoon(() => tab.drawn()).toEqual(['e17', 'e10']);
    await tab.page.getByRole('button', { name: 'Clear filters' }).click();
    await tab.page.getByRole('combobox', { name: 'Kind' }).selectOption('starred');
    await expectSoon(() => tab.drawn()).toEqual(['e3']);
  });

  test('chosen candidates stand side by side, with their diff', async () => {
    await using tab = await open();
    await tab.show(finishedRun());
    for (const id of ['e34', 'e31', 'e28']) await tab.row(id).locator('[data-cell="mark"]').click();
    await tab.page.getByRole('button', { name: 'Compare (3)' }).click();
    await tab.page.getByRole('heading', { name: 'Side by side' }).waitFor();
    await tab.shoot('compare-dark');
    await tab.page.getByRole('button', { name: 'Diff with #31 e34' }).first().click();
    expect(await tab.told()).toEqual([{ type: 'diff', before: 'e34', after: 'e31' }]);
  });

  test('the details offer files, diffs and applying', async () => {
    await using tab = await open();
    await tab.show(finishedRun());
    await tab.row('e28').locator('.cell-candidate').click();
    for (const name of ['Files', 'Previous', 'Standing', 'Final', 'Apply…'])
      await tab.page.getByRole('button', { name, exact: true }).click();
    const { standing, final } = { standing: 'e34', final: 'e32' };
    expect(await tab.told()).toEqual([
      { type: 'files', candidate: 'e28' },
      { type: 'diff', before: 'e27', after: 'e28' },
      { type: 'diff', before: standing, after: 'e28' },
      { type: 'diff', before: final, after: 'e28' },
      { type: 'apply' },
    ]);
  });
});

describe('chart and table are one', () => {
  test('hovering and choosing on one side shows on the other; arrow keys walk the chart', async () => {
    await using tab = await open();
    await tab.show(runningRun());
    await tab.row('e12').hover();
    await tab.page
      .locator('.hover')
      .getByText(/^#11 e12 by alpha/)
      .waitFor();
    await tab.page.getByRole('slider').focus();
    await tab.page.keyboard.press('Home');
    await expectSoon(() => tab.row('e1').getAttribute('class')).toContain('active');
    await tab.page.keyboard.press('ArrowRight');
    const slider = tab.page.getByRole('slider');
    await expectSoon(() => slider.getAttribute('aria-valuetext')).toMatch(/^#2 e2 by alpha: 0\.\d+ at /);
    const ring = tab.page.locator('.ring-active circle');
    const box = await ring.boundingBox();
    await tab.page.mouse.move((box?.x ?? 0) + 8, (box?.y ?? 0) + 8);
    await expectSoon(() => tab.row('e2').getAttribute('class')).toContain('hovered');
  });

  test('the scale can be logarithmic, and the chart can be read as a table', async () => {
    await using tab = await open({ theme: 'contrast' });
    await tab.show(runningRun());
    await tab.page.getByLabel('Scale').selectOption('log');
    await tab.page.getByText('The chart as a table').click();
    await tab.page.getByRole('region', { name: 'Trajectory by option' }).waitFor();
    await tab.shoot('table-contrast');
    expect(await tab.page.locator('.as-table tbody tr').count()).toBe(4);
  });
});

describe('memory', () => {
  test('order, filter, columns, choice and an unsent reason outlive a reload', async () => {
    await using first = await open();
    await first.show(runningRun());
    await first.heading(/^Score/).click();
    await first.page.getByText('Columns', { exact: true }).click();
    await first.page.getByRole('checkbox', { name: 'Size' }).uncheck();
    await first.page.keyboard.press('Escape');
    await first.row('e15').locator('.cell-candidate').click();
    await first.page.keyboard.press('Space');
    await first.page.getByRole('button', { name: 'Select as final…' }).click();
    await first.page.getByLabel('Reason (recorded)').fill('half a thou');
    await expectSoon(async () => JSON.stringify(await first.kept())).toContain('half a thou'); // typed, then drawn, then kept
    const saved = await first.kept();
    await using second = await open({ saved });
    await second.show(runningRun());
    expect(await second.heading('Size').count()).toBe(0);
    await expectSoon(() => second.heading(/^Score/).getAttribute('aria-sort')).toBe('descending');
    await expectSoon(() => second.row('e15').getAttribute('class')).toMatch(/active.*marked|marked.*active/);
    await second.page.getByRole('button', { name: 'Select as final…' }).click();
    expect(await second.page.getByLabel('Reason (recorded)').inputValue()).toBe('half a thou');
  });

  test('a command of the window goes to a row, filtered away or not', async () => {
    await using tab = await open();
    await tab.show(runningRun());
    await tab.page.getByRole('combobox', { name: 'Author' }).selectOption('B');
    await tab.tell({ type: 'focus', candidate: 'e1' });
    await expectSoon(() => tab.row('e1').getAttribute('class')).toContain('active');
  });
});

test('5,000 rows: an event is a row within 250 ms, an order takes 100 ms at most', async () => {
  await using tab = await open();
  const { candidates, rows, events, sorts } = await measureLongReview(tab, 5610);
  const say = (name: string, times: LongReview['events']): string => {
    const list = (key: 'wall' | 'cpu') =>
      times
        .map((time) => Math.round(time[key]))
        .toSorted((a, b) => a - b)
        .join(' ');
    return `${name}: wall ms ${list('wall')}; CPU ms ${list('cpu')}`;
  };
  console.log(`${candidates} candidates, ${rows} rows\n${say('event → row', events)}\n${say('sort', sorts)}`);
  await tab.shoot('5000-dark');
  const best = (times: LongReview['events'], key: 'wall' | 'cpu'): number =>
    Math.min(...times.map((time) => time[key]));
  expect(best(events, 'cpu'), 'CPU ms from event to row').toBeLessThan(250);
  expect(best(sorts, 'cpu'), 'CPU ms of a sort').toBeLessThan(100);
  expect(await tab.page.locator('.grid .row').count(), 'rows in the document').toBeLessThan(120);
});

test('what the page may load is its own script and stylesheet, nothing else', async () => {
  await using tab = await open();
  await tab.show(scene([{ score: 1, note: '<img src=x onerror=alert(1)>' }]));
  await tab.page.getByText('<img src=x onerror=alert(1)>').first().waitFor();
  expect(await tab.violations()).toEqual([]);
  await tab.page.evaluate(
    `document.body.append(Object.assign(document.createElement('img'), { src: 'https://elsewhere.test/x.png' }))`,
  );
  await expectSoon(() => tab.violations()).toEqual([expect.stringContaining('img-src')]);
});
