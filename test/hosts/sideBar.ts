import type { Locator, Page } from 'playwright-core';
import { plain } from './quickInput.ts';
import { patience, until } from './waiting.ts';

/** A row of a tree view as it is shown. `level` begins at 1; `expanded` is undefined for a leaf. */
export type ShownRow = { label: string; description: string; level: number; expanded: boolean | undefined };

/** One view of the side bar: a tree, a welcome, or a message. */
export class View {
  readonly pane: Locator;
  readonly #page: Page;

  constructor(page: Page, name: string) {
    this.#page = page;
    this.pane = page.locator(`.sidebar .pane:has(> .pane-header[aria-label^="${name}"])`);
  }

  async expand(): Promise<this> {
    const header = this.pane.locator('> .pane-header');
    await header.waitFor({ timeout: patience });
    if ((await header.getAttribute('aria-expanded')) === 'false') await header.click();
    return this;
  }

  /** A row by its label, or by its whole accessible name as a pattern. */
  row(label: string | RegExp): Locator {
    if (typeof label !== 'string') return this.pane.getByRole('treeitem', { name: label }).first();
    const name = this.#page.locator('.label-name').getByText(label, { exact: true });
    const whole = this.#page.locator('.label-name', { hasText: new RegExp(`^\\s*${escape(label)}\\s*$`) });
    return this.pane
      .locator('.monaco-list-row')
      .filter({ has: name.or(whole) })
      .first();
  }

  /** The rows on screen, from the top; a long tree holds only those in the page. */
  async rows(): Promise<ShownRow[]> {
    const found = await this.pane.locator('.monaco-list-row').evaluateAll((rows) =>
      rows
        .map((row) => ({
          label: row.querySelector('.label-name')?.textContent ?? '',
          description: row.querySelector('.label-description')?.textContent ?? '',
          level: Number(row.getAttribute('aria-level')),
          state: row.getAttribute('aria-expanded'),
          index: Number(row.getAttribute('data-index')),
        }))
        .toSorted((a, b) => a.index - b.index),
    );
    return found.map(({ label, description, level, state }) => ({
      ...{ label: plain(label), description: plain(description), level },
      expanded: state === null ? undefined : state === 'true',
    }));
  }

  /** Opens a row's children, if they are not shown. */
  async open(label: string | RegExp): Promise<void> {
    const row = this.row(label);
    await row.waitFor({ timeout: patience });
    if ((await row.getAttribute('aria-expanded')) === 'false') await row.locator('.monaco-tl-twistie').click();
  }

  /** Clicks one of the few actions that a row shows under the mouse, by its tooltip. */
  async inline(label: string | RegExp, action: string): Promise<void> {
    const row = this.row(label);
    const button = row.locator(`.actions .action-label[aria-label^="${action}"]`);
    // a row that is drawn anew takes its actions away from under the mouse
    await until(`"${action}" of row ${String(label)} to be pressed`, async () => {
      await this.#page.mouse.move(0, 0);
      await row.hover({ timeout: patience });
      return button.click({ timeout: 5000 }).then(
        () => true,
        () => false,
      );
    });
  }

  /** The names of the actions that a row shows under the mouse. */
  async inlineActions(label: string | RegExp): Promise<string[]> {
    const row = this.row(label);
    await row.hover({ timeout: patience });
    const actions = await row.locator('.actions .action-label').all();
    return Promise.all(actions.map(async (each) => (await each.getAttribute('aria-label')) ?? ''));
  }

  /** An action in the view's title bar, by its tooltip; shown only under the mouse. */
  async action(name: string): Promise<void> {
    await this.pane.hover({ timeout: patience });
    await this.pane.locator(`.pane-header .action-label[aria-label^="${name}"]`).click({ timeout: patience });
  }

  /** The button of a welcome, by its words. */
  button(words: string | RegExp): Locator {
    return this.pane.locator('.welcome-view').getByRole('button', { name: words });
  }

  /** The words of a welcome, or of the message above a tree. */
  async words(): Promise<string> {
    return plain(await this.pane.locator('.welcome-view-content, .message').first().innerText({ timeout: patience }));
  }
}

const escape = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** Opens the menu of the right mouse button on something and gives its entry of that name; waits for that as long as `ms`. */
export const contextMenu = async (page: Page, on: Locator, entry: string | RegExp, ms: number): Promise<Locator> => {
  await on.click({ button: 'right', timeout: patience });
  const item = page.locator('.monaco-menu').getByRole('menuitem', { name: entry }).first();
  await item.waitFor({ timeout: ms });
  return item;
};

/** The entries of the menu that is open. */
export const menuEntries = async (page: Page): Promise<string[]> => {
  const labels = await page.locator('.monaco-menu .action-item:not(.disabled) .action-label:visible').allInnerTexts();
  return labels.map(plain).filter((label) => label !== '');
};
