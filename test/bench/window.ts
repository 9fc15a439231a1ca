import { rmSync, statSync } from 'node:fs';

import { candidateRows, noFilter } from '../../src/window/candidateRows.ts';
import { runRows, runScene } from '../../src/window/runRows.ts';
import { redrawOf, type TreeRow } from '../../src/window/treeRow.ts';
import { accepted, history, opened, optionFacts, stateOf } from '../cli/history.ts';
import { launchBrowser } from '../hosts/host.ts';
import { until } from '../hosts/waiting.ts';
import type { Workbench } from '../hosts/workbench.ts';
import { startJourney } from '../journeys/journey.ts';
import { packageExtension, setup } from '../journeys/packaged.ts';
import { sampleTask } from '../journeys/sampleRun.ts';
import { measureLongReview } from '../webview/longReview.ts';
import { buildPage, ReviewTab } from '../webview/page.ts';
import { quickest } from '../window/quickest.ts';
import { ms, type Row } from './row.ts';

/** What an extension's start took, ms, as VS Code itself measured it: its code loaded, `activate` called, what that promised done. */
interface Activation {
  readonly load: number;
  readonly call: number;
  readonly finish: number;
}

const whole = ({ load, call, finish }: Activation): number => load + call + finish;

/** Windows in which both extensions start; each has an extension host of its own. */
const windows = 6;

/** The start of the packaged extension beside the built-in Git extension's, in the same windows of a real VS Code. */
export async function activationRow(): Promise<Row> {
  await setup();
  const journey = await startJourney({ name: 'bench', prepare: sampleTask({}) });
  const pairs: { readonly ours: Activation; readonly git: Activation }[] = [];
  try {
    for (let round = 0; round < windows; round++) {
      const window = round === 0 ? journey.window : await journey.open();
      await window.show('HMA');
      pairs.push(await startupOf(window));
      await window.close();
    }
  } finally {
    await journey[Symbol.asyncDispose]();
  }
  const best = (who: 'ours' | 'git'): Activation =>
    pairs.map((pair) => pair[who]).toSorted((a, b) => whole(a) - whole(b))[0] as Activation;
  const [ours, git] = [best('ours'), best('git')];
  const say = ({ load, call, finish }: Activation): string => `${load} + ${call} + ${finish}`;
  const ratio = whole(ours) / whole(git);
  return {
    what: `activation in VS Code, best of ${windows} windows (load + call + finish)`,
    ours: `${ms(whole(ours))} (${say(ours)})`,
    reference: `built-in Git: ${ms(whole(git))} (${say(git)})`,
    result: `${ratio.toFixed(2)}×`,
    aim: '≤ 0.5×',
    met: ratio <= 0.5,
  };
}

/** Reads the two extensions' lines of "Developer: Startup Performance", once both have started. */
async function startupOf(window: Workbench): Promise<{ readonly ours: Activation; readonly git: Activation }> {
  return await until('both extensions in the startup performance', async () => {
    await window.command('Developer: Startup Performance');
    await window.page.locator('.tab.active', { hasText: 'Startup Performance' }).waitFor();
    await window.page.locator('.editor-instance .view-line').first().click();
    for (const key of ['ControlOrMeta+A', 'ControlOrMeta+C']) await window.page.keyboard.press(key);
    const text = await window.page.evaluate<string>('navigator.clipboard.readText()');
    const of = (id: string): Activation | undefined => {
      const cells = text
        .split('\n')
        .find((line) => line.startsWith(`| ${id} `))
        ?.split('|')
        .map((cell) => cell.trim());
      return cells && { load: Number(cells[3]), call: Number(cells[4]), finish: Number(cells[5]) };
    };
    const [ours, git] = [of('hma.hma'), of('vscode.git')];
    await window.command('View: Close Editor');
    return ours && git && { ours, git };
  });
}

/** The archive's length that all must bear. */
const many = 5000;

/** The final-review page with 5,000 candidates: an event becomes a row, a click another order. */
export async function reviewPageRows(): Promise<Row[]> {
  const [browser, built] = await Promise.all([launchBrowser(), buildPage()]);
  try {
    const measure = async (length: number) => {
      const tab = await ReviewTab.open(browser, built);
      try {
        return await measureLongReview(tab, length);
      } finally {
        await tab[Symbol.asyncDispose]();
      }
    };
    const [long, short] = [await measure(5610), await measure(610)];
    const best = (times: readonly { readonly wall: number }[]): number => Math.min(...times.map(({ wall }) => wall));
    const row = (what: string, which: 'events' | 'sorts', most: number): Row => ({
      what: `final review, ${long.candidates} candidates: ${what}`,
      ours: ms(best(long[which])),
      reference: `with ${short.candidates} candidates: ${ms(best(short[which]))}`,
      result: `+${ms(Math.max(0, best(long[which]) - best(short[which])))}`,
      aim: `≤ ${most} ms in all`,
      met: best(long[which]) <= most,
    });
    return [row('event → row on screen', 'events', 250), row('another order', 'sorts', 100)];
  } finally {
    await browser.close();
    rmSync(built, { recursive: true, force: true });
  }
}

/** The two trees with 5,000 candidates: the rows are made anew at an event and compared, and what changed goes to VS Code. */
export function treeRows(): Row[] {
  const run = (length: number) =>
    stateOf(
      history(
        [0, opened({ terms: { policy: { mode: 'alternate', cap: null, first: 'A', tellCap: false } } })],
        optionFacts.open(1000, 1, 'A'),
        ...Array.from({ length }, (_, index) =>
          accepted(10_000 + index, { id: `e${index + 1}`, option: 1, agent: 'A', score: 1 / (index + 1) }),
        ).flat(),
      ),
    );
  const given = { wall: 0, mono: 100_000, boot: 'b', active: 100_000 };
  const trees = {
    Run: (length: number) => {
      const state = run(length);
      return () => runRows({ run: state.run, scene: runScene(state, given) }, []);
    },
    Candidates: (length: number) => {
      const state = run(length);
      const unmarked = { isStarred: () => false, isHidden: () => false };
      return () => candidateRows(state, unmarked, { order: 'score', filter: noFilter, most: 200 }).rows;
    },
  };
  return Object.entries(trees).map(([name, rowsFor]) => {
    const event = (length: number): number => {
      const rows: readonly TreeRow[] = rowsFor(length - 1)();
      const next = rowsFor(length);
      return quickest(() => redrawOf(rows, next()));
    };
    const [long, short] = [event(many), event(50)];
    return {
      what: `tree ${name}, ${many} candidates: event → rows to redraw`,
      ours: ms(long),
      reference: `with 50 candidates: ${ms(short)}`,
      result: `+${ms(Math.max(0, long - short))}`,
      aim: '≤ 100 ms in all',
      met: long <= 100,
    };
  });
}

/** The packaged extension. */
export async function sizeRow(): Promise<Row> {
  const bytes = statSync(await packageExtension()).size;
  return {
    what: 'size of the packaged extension',
    ours: `${(bytes / 1e6).toFixed(2)} MB`,
    reference: '—',
    result: `${(bytes / 1e6).toFixed(2)} MB`,
    aim: '≤ 1 MB',
    met: bytes <= 1e6,
  };
}
