import type { Locator, Page } from 'playwright-core';
import { patience } from './waiting.ts';

/** Text as a person reads it: VS Code pads with no-break spaces. */
export const plain = (text: string) => text.replaceAll('\u00a0', ' ').trimEnd();

/** The quick pick or input box on top of a window. */
export class QuickInput {
  readonly widget: Locator;
  readonly input: Locator;
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
    this.widget = page.locator('.quick-input-widget:visible');
    this.input = this.widget.locator('input.input, .quick-input-box input').first();
  }

  /** Waits until it shows this title (`/step 2/i`), or until it shows at all. */
  async shown(title?: string | RegExp): Promise<this> {
    const place = title === undefined ? this.input : this.widget.locator('.quick-input-titlebar', { hasText: title });
    await place.waitFor({ timeout: patience });
    return this;
  }

  async title(): Promise<string> {
    return plain(await this.widget.locator('.quick-input-title').innerText());
  }

  /** A row by its label, or by its whole accessible name (label, description, detail) as a pattern.  Rows of a pick of several are checkboxes. */
  row(label: string | RegExp): Locator {
    const rows = this.widget.locator('.monaco-list-row');
    if (typeof label !== 'string')
      return rows
        .and(this.widget.getByRole('option', { name: label }).or(this.widget.getByRole('checkbox', { name: label })))
        .first();
    const quoted = label.replaceAll('"', String.raw`\"`);
    // The label is cut up by match highlights, so it is matched through the accessible name: "Title" or "Title, more".
    return rows.and(this.#page.locator(`[aria-label="${quoted}"], [aria-label^="${quoted}, "]`)).first();
  }

  /** The accessible names of all rows on screen. */
  async rows(): Promise<string[]> {
    const rows = await this.widget.locator('.monaco-list-row').all();
    return Promise.all(rows.map(async (row) => plain((await row.getAttribute('aria-label')) ?? '')));
  }

  async pick(label: string | RegExp): Promise<void> {
    await this.row(label).click({ timeout: patience });
  }

  async type(text: string): Promise<void> {
    await this.input.fill(text, { timeout: patience });
  }

  /** What an input box says below its field: the prompt, or why the value isn't right. */
  async message(): Promise<string> {
    return plain(await this.widget.locator('.quick-input-message').innerText());
  }

  async accept(): Promise<void> {
    await this.input.press('Enter');
  }

  async cancel(): Promise<void> {
    await this.input.press('Escape');
    await this.widget.waitFor({ state: 'hidden' });
  }
}
