import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Browser, ConsoleMessage, Locator, Page } from 'playwright-core';
import type { ToHost, ToPage } from '../../src/window/reviewMessages.ts';
import { pageHtml } from '../../src/window/reviewHtml.ts';
import { reviewFrame, reviewRows, type Marks, type ReviewRows } from '../../src/window/reviewModel.ts';
import type { RunState } from '../../src/run/model.ts';
import { bundleOptions, entries } from '../bootstrap/esbuild.mjs';
import { root } from '../bootstrap/environment.mjs';
import { at, present, unmarked } from './scenes.ts';

/** Colours of VS Code's own themes as a webview gets them, recorded from a real window (CSS variables by name). */
const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures/themes.json'), 'utf8')) as Record<
  ThemeName,
  { readonly vars: Record<string, string>; readonly bodyClass: string; readonly themeKind: string }
>;
const defaultStyles = readFileSync(join(import.meta.dirname, 'fixtures/defaultStyles.css'), 'utf8');

export const themeNames = ['light', 'dark', 'contrast', 'contrastLight'] as const;
export type ThemeName = (typeof themeNames)[number];

const origin = 'https://page.test';
const nonce = 'bm9uY2U';

/** Builds the page as the product ships it, into a folder of its own. */
export async function buildPage(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'hma-page-'));
  const entry = entries.find(({ out }) => out === 'review.js');
  if (!entry) throw new Error('There is no bundle called review.js in test/bootstrap/esbuild.mjs.');
  await build(bundleOptions(entry, folder));
  return folder;
}

/** What VS Code does before a page's own script runs: theme, its default styles (in a layer behind the page's own), the API. */
function prepared(theme: ThemeName, saved: unknown): string {
  const { vars, bodyClass, themeKind } = recorded[theme];
  const given = JSON.stringify({
    bodyClass,
    themeKind,
    saved,
    css: `:root { ${Object.entries(vars)
      .map(([name, value]) => `${name}: ${value};`)
      .join(' ')} } ${defaultStyles}`,
  });
  return `(() => {
    const given = ${given};
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(given.css);
    document.adoptedStyleSheets = [sheet];
    document.addEventListener('DOMContentLoaded', () => {
      document.body.className = given.bodyClass;
      document.body.dataset.vscodeThemeKind = given.themeKind;
    });
    window.told = [];
    window.kept = given.saved;
    window.violations = [];
    document.addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective + ' ' + event.blockedURI));
    window.acquireVsCodeApi = () => ({
      postMessage: (message) => window.told.push(message),
      getState: () => window.kept,
      setState: (state) => (window.kept = JSON.parse(JSON.stringify(state))),
    });
  })()`;
}

/** How a page is opened. Sizes in CSS px; a zoom of 2 leaves half of the size to the page, as VS Code's does. */
export interface Opening {
  readonly theme?: ThemeName;
  readonly width?: number;
  readonly height?: number;
  readonly zoom?: number;
  /** What VS Code kept for the page. */
  readonly saved?: unknown;
  readonly reducedMotion?: boolean;
}

/** The page in a real browser, with this test as its host. */
export class ReviewTab implements AsyncDisposable {
  readonly page: Page;
  readonly problems: string[] = [];
  #rows: ReviewRows | null = null;

  private constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => this.problems.push(error.message));
    page.on('console', (message: ConsoleMessage) => {
      if (message.type() === 'error' || message.type() === 'warning') this.problems.push(message.text());
    });
  }

  /** Opens the built page and waits until it says that it is ready. */
  static async open(browser: Browser, built: string, opening: Opening = {}): Promise<ReviewTab> {
    const { theme = 'dark', width = 1280, height = 800, zoom = 1, saved, reducedMotion = true } = opening;
    const page = await browser.newPage({
      viewport: { width: Math.round(width / zoom), height: Math.round(height / zoom) },
      deviceScaleFactor: zoom,
      reducedMotion: reducedMotion ? 'reduce' : 'no-preference',
    });
    page.setDefaultTimeout(20_000);
    const tab = new ReviewTab(page);
    await page.addInitScript(prepared(theme, saved));
    const address = (file: string): string => `${origin}/${file}`;
    const html = pageHtml({
      source: origin,
      nonce,
      script: address('review.js'),
      style: address('review.css'),
      title: 'Final Review',
    });
    await page.route(`${origin}/**`, (route) => {
      const file = new URL(route.request().url()).pathname.slice(1);
      if (file === '') return route.fulfill({ contentType: 'text/html', body: html });
      if (file !== 'review.js' && file !== 'review.css') return route.fulfill({ status: 404 });
      return route.fulfill({ path: join(built, file) });
    });
    await page.goto(`${origin}/`);
    await page.waitForFunction('window.told.some((message) => message.type === "ready")');
    return tab;
  }

  /** Sends one message, as VS Code does. */
  async tell(message: ToPage): Promise<void> {
    await this.page.evaluate(`window.postMessage(${JSON.stringify(message)}, '*')`);
  }

  /** Shows a run: everything at first, then what changed, made by the product's own model. */
  async show(
    state: RunState,
    given: { readonly minutes?: number; readonly marks?: Marks; readonly banner?: string } = {},
  ): Promise<void> {
    const message = this.message(state, given);
    await this.tell(message);
    await this.page.locator('main.page').waitFor();
  }

  /** The message about a run that the host would send next. */
  message(
    state: RunState,
    given: { readonly minutes?: number; readonly marks?: Marks; readonly banner?: string } = {},
  ): ToPage {
    const before = this.#rows;
    const rows = reviewRows(state, given.marks ?? unmarked, before);
    this.#rows = rows;
    const presence = { ...present, banner: given.banner ?? '' };
    const frame = reviewFrame(state, { prices: {}, given: at(given.minutes ?? 200), presence, recordId: rows.record });
    const whole = before?.run !== state.run;
    return { type: whole ? 'model' : 'rows', frame, rows: whole ? [...rows.all.values()] : rows.changed };
  }

  /** What the page has said so far, `ready` aside. */
  async told(): Promise<ToHost[]> {
    const all = await this.page.evaluate<ToHost[]>('window.told');
    return all.filter(({ type }) => type !== 'ready');
  }

  /** What VS Code would keep for the page now; waits for the page to settle by hiding it. */
  async kept(): Promise<unknown> {
    await this.page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    return this.page.evaluate('window.kept');
  }

  /** Ids of the rows that are drawn, from the top. */
  async drawn(): Promise<string[]> {
    return this.page.evaluate<string[]>(
      `[...document.querySelectorAll('.grid .row')].sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top)).map((row) => row.dataset.row)`,
    );
  }

  /** Where the focus is: a cell as `row/cell`, else the element's text. */
  async focus(): Promise<string> {
    return this.page.evaluate<string>(
      `(({ dataset, textContent, tagName }) => dataset.cell ? (dataset.row || 'head') + '/' + dataset.cell : textContent.trim() || tagName)(document.activeElement)`,
    );
  }

  row(id: string): Locator {
    return this.page.locator(`.grid .row[data-row="${id}"]`);
  }

  heading(name: string | RegExp): Locator {
    return this.page.getByRole('columnheader', { name });
  }

  async violations(): Promise<string[]> {
    return this.page.evaluate<string[]>('window.violations');
  }

  /** Keeps a picture for people: test-output/shots/review-NAME.png. */
  async shoot(name: string): Promise<void> {
    const folder = join(root, 'test-output/shots');
    mkdirSync(folder, { recursive: true });
    await this.page.screenshot({ path: join(folder, `review-${name}.png`) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.close();
  }
}
