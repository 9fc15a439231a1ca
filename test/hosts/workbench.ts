import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, FrameLocator, Locator, Page } from 'playwright-core';
import { root } from '../bootstrap/environment.mjs';
import { extensionHosts } from './extensionHosts.ts';
import type { Host } from './host.ts';
import { plain, QuickInput } from './quickInput.ts';
import { type Theme, themeClass, themeLabel } from './settings.ts';
import { contextMenu, View } from './sideBar.ts';
import { patience, until } from './waiting.ts';

/** What VS Code puts into the page with `--enable-smoke-test-driver`. */
type Driver = {
  whenWorkbenchRestored(): Promise<void>;
  getTerminalBuffer(selector: string): Promise<string[]>;
  writeInTerminal(selector: string, text: string): Promise<void>;
};
declare global {
  var driver: Driver | undefined; // in the page, not here
}

const terminal = '.terminal-wrapper.active';

/**
 * What one installation of VS Code remembers between its windows (globalState, workspaceState, secrets, layout): windows
 * in one context are windows of one VS Code, and a new one after the last was closed acts out a restart.
 */
export const newContext = async (browser: Browser, size = { width: 1280, height: 800 }): Promise<BrowserContext> => {
  const context = await browser.newContext({ viewport: size, permissions: ['clipboard-read', 'clipboard-write'] });
  context.setDefaultTimeout(patience);
  // Without a key SecretStorage would live in memory, and not outlive a reload.
  const key = { contentType: 'application/octet-stream', body: Buffer.alloc(32, 7) };
  await context.route('**/mint-key', (route) => route.fulfill(key));
  return context;
};

/** Whether something came about in its time. */
const happens = (what: Promise<unknown>): Promise<boolean> =>
  what.then(
    () => true,
    () => false,
  );

/** A window of the real VS Code, as a person uses it. */
export class Workbench implements AsyncDisposable {
  readonly page: Page;
  readonly host: Host;
  readonly quick: QuickInput;
  /** The process that the extension lives in; another one after a reload. */
  extensionHost = 0;

  private constructor(page: Page, host: Host) {
    this.page = page;
    this.host = host;
    this.quick = new QuickInput(page);
  }

  /** Opens a window on a folder (the host's workspace by default, null for none) and waits until it is restored. */
  static async open(context: BrowserContext, host: Host, folder: string | null = host.workspace): Promise<Workbench> {
    const workbench = new Workbench(await context.newPage(), host);
    await workbench.#arrive(() => workbench.page.goto(host.windowUrl(folder), { timeout: patience * 2 }));
    return workbench;
  }

  async #arrive(go: () => Promise<unknown>) {
    const before = new Set(extensionHosts(this.host));
    await go();
    await this.page.waitForFunction(() => typeof globalThis.driver?.whenWorkbenchRestored === 'function', null, {
      timeout: patience * 2,
    });
    await this.page.evaluate(() => globalThis.driver?.whenWorkbenchRestored());
    const fresh = () => extensionHosts(this.host).find((pid) => !before.has(pid));
    this.extensionHost = await until('an extension host for the window', fresh, patience * 2);
  }

  /** Runs a command by its title in the palette, e.g. `HMA: Start Alternation`. */
  async command(title: string): Promise<void> {
    await this.#pickIn('F1', { words: `>${title}`, row: title });
  }

  /** Opens a file of the folder by its name, as a person does. */
  async openFile(name: string): Promise<void> {
    await this.#pickIn('ControlOrMeta+P', { words: name, row: name });
    await this.page.locator('.tab.active', { hasText: name }).waitFor({ timeout: patience });
  }

  /** Opens the palette with some words in it; `quick.rows()` tells what it offers. */
  async palette(words: string): Promise<void> {
    await until('the palette to take words', () => this.#typeIn('F1', `>${words}`));
  }

  /** An editor that has just opened may take the focus, and what the key opened is gone: it is opened again. */
  async #pickIn(key: string, { words, row }: { readonly words: string; readonly row: string }): Promise<void> {
    await until(
      `"${row}" to be chosen after ${key}`,
      async () => (await this.#typeIn(key, words)) && this.#picked(row),
    );
  }

  async #typeIn(key: string, words: string): Promise<boolean> {
    await this.page.keyboard.press(key);
    await this.quick.shown();
    return happens(this.quick.input.fill(words, { timeout: 5000 }));
  }

  #picked(row: string): Promise<boolean> {
    return happens(this.quick.row(row).click({ timeout: 15_000 }));
  }

  /** Reloads the window as its command does: `deactivate()` runs, and a new extension host comes. */
  async reload(): Promise<void> {
    await this.#arrive(async () => {
      const loaded = this.page.waitForEvent('load', { timeout: patience * 2 });
      await this.command('Developer: Reload Window');
      await loaded;
    });
  }

  /** Closes the window as a person does and waits until its extension host is gone, `deactivate()` with it. */
  async close(): Promise<void> {
    if (this.page.isClosed()) return;
    await this.page.goto('about:blank'); // leaves as a person does; page.close() alone may leave VS Code waiting for it
    await this.page.close();
    const gone = () => !extensionHosts(this.host).includes(this.extensionHost);
    await until(`extension host ${this.extensionHost} to end after its window was closed`, gone);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.close();
  }

  /** The icon of a container in the activity bar. */
  activity(name: string): Locator {
    return this.page.locator(`.activitybar .action-item:has(a.action-label[aria-label^="${name}"])`);
  }

  /** The number on a container's icon, or `undefined`. */
  async badge(name: string): Promise<string | undefined> {
    const badge = this.activity(name).locator('.badge-content');
    const words = await badge.allInnerTexts();
    return words.find((each) => each !== '');
  }

  /** Shows a container of the side bar (by its icon, unless it shows already). */
  async show(container: string): Promise<void> {
    const icon = this.activity(container);
    await icon.waitFor({ timeout: patience });
    const shown = this.page.locator('.sidebar .composite.title', { hasText: new RegExp(container, 'i') });
    if (!(await shown.isVisible())) await icon.click(); // the badge may lie over its label
    await shown.waitFor({ timeout: patience });
  }

  view(name: string): View {
    return new View(this.page, name);
  }

  /** Right-clicks something and chooses an entry of its menu. */
  async choose(on: Locator, entry: string | RegExp): Promise<void> {
    // an editor that has just opened may take the focus, and the menu goes; a click right after it opened is taken for the opening one, and it stays
    const gone = () => this.page.locator('.monaco-menu').first().waitFor({ state: 'hidden', timeout: 2000 });
    await until(`"${String(entry)}" to be chosen from a menu`, async () => {
      const chosen = contextMenu(this.page, on, entry, 5000).then((item) => item.click({ timeout: 5000 }));
      if (await happens(chosen.then(gone))) return true;
      await this.page.keyboard.press('Escape');
      return false;
    });
  }

  /** The words that come up under the mouse. */
  async hover(on: Locator): Promise<string> {
    await on.hover({ timeout: patience });
    const words = this.page.locator('.monaco-hover:visible .hover-contents, .workbench-hover:visible').first();
    return plain(await words.innerText({ timeout: patience }));
  }

  tab(name: string): Locator {
    return this.page.locator(`.tabs-container [role="tab"][aria-label^="${name}"]`);
  }

  /** Names of all editor tabs, in order. */
  async tabs(): Promise<string[]> {
    return (await this.page.locator('.tabs-container [role="tab"] .label-name').allInnerTexts()).map(plain);
  }

  /** An action at the right of the editor tabs, by its tooltip. */
  editorAction(name: string): Locator {
    return this.page.locator(`.editor-actions .action-label[aria-label^="${name}"]`);
  }

  /** The lines on screen of the active text editor. */
  async editorText(): Promise<string> {
    return this.#lines(this.page.locator('.editor-group-container.active .monaco-editor').last());
  }

  /** The lines on screen of both sides of the diff editor, once it shows where they differ. */
  async diff(): Promise<{ original: string; modified: string }> {
    const editor = this.page.locator('.monaco-diff-editor:visible').first();
    await editor
      .locator('.line-insert, .line-delete, .gutter-insert, .gutter-delete')
      .first()
      .waitFor({ timeout: patience });
    return {
      original: await this.#lines(editor.locator('.editor.original')),
      modified: await this.#lines(editor.locator('.editor.modified')),
    };
  }

  async #lines(editor: Locator): Promise<string> {
    const lines = await editor.locator('.view-lines .view-line').evaluateAll((all) =>
      all
        .map((line) => ({
          top: Number.parseFloat((line as unknown as { style: { top: string } }).style.top),
          text: line.textContent ?? '',
        }))
        .toSorted((a, b) => a.top - b.top)
        .map((line) => line.text),
    );
    return lines.map(plain).join('\n');
  }

  /** A code lens by its words. */
  lens(words: string | RegExp): Locator {
    return this.page.locator('.codelens-decoration a', { hasText: words });
  }

  status(words: string | RegExp): Locator {
    return this.page.locator('.statusbar-item').filter({ hasText: words });
  }

  /**
   * A notification in the notification centre, which is opened for it: with the smoke-test driver VS Code shows no toasts.
   * Waits for it.
   */
  async notification(words: string | RegExp, ms = patience): Promise<Locator> {
    await this.#openNotifications();
    const item = this.page.locator('.notifications-center .notification-list-item').filter({ hasText: words }).first();
    await item.waitFor({ timeout: ms });
    return item;
  }

  /** The words of all notifications there are, newest first. */
  async notifications(): Promise<string[]> {
    await this.#openNotifications();
    return (await this.page.locator('.notifications-center .notification-list-item-message').allInnerTexts()).map(
      plain,
    );
  }

  async #openNotifications() {
    const centre = this.page.locator('.notifications-center.visible');
    // the button opens and closes: a click beside something else that opens it, or one that gets lost, is made good by another
    await until('the notification centre to be open', async () => {
      if (await centre.isVisible()) return true;
      await this.page.locator(String.raw`#status\.notifications`).click({ timeout: patience });
      return happens(centre.waitFor({ timeout: 3000 }));
    });
  }

  /** Presses a button of a notification. The centre may hide when the focus moves, so it is opened again as needed. */
  async answer(words: string | RegExp, button: string): Promise<void> {
    await until(`the button "${button}" of the notification ${String(words)} to be pressed`, async () => {
      const item = await this.notification(words);
      const press = item.getByRole('button', { name: button, exact: true }).click({ timeout: 5000 });
      return press.then(
        () => true,
        () => false,
      );
    });
  }

  /** A modal dialog (trust, confirmation): its words, and its buttons by role. */
  dialog(words?: string | RegExp): Locator {
    const dialogs = this.page.locator('.monaco-dialog-box');
    return words === undefined ? dialogs : dialogs.filter({ hasText: words });
  }

  /** Answers the question whether the folder's authors are trusted. */
  async trust(yes: boolean): Promise<void> {
    const name = yes ? /^Yes, I trust the authors/ : /^No, I don't trust the authors/;
    const dialog = this.dialog(/trust the authors/);
    await dialog.getByRole('button', { name }).click({ timeout: patience });
    await dialog.waitFor({ state: 'hidden' });
  }

  /** The content of a webview: outer frame `.webview.ready`, inner frame `#active-frame`. `index` where several show. */
  webview(index = 0): FrameLocator {
    const outer = this.page.locator('iframe.webview.ready:visible').nth(index);
    return outer.contentFrame().locator('iframe#active-frame').contentFrame();
  }

  /** Names of the terminals in the panel. */
  async terminals(): Promise<string[]> {
    const names = this.page.locator('.terminal-tabs-entry .label-name, .single-terminal-tab');
    return (await names.allInnerTexts()).map(plain);
  }

  /** All text of the terminal in front, scrollback included; empty where there is none. */
  async terminalText(): Promise<string> {
    if ((await this.page.locator(terminal).count()) === 0) return '';
    const buffer = this.page.evaluate((place) => globalThis.driver?.getTerminalBuffer(place) ?? [], terminal);
    const lines = await buffer.catch(() => []); // the terminal is about to be drawn
    return lines.map(plain).join('\n').trimEnd();
  }

  /** Waits until the terminal in front shows this. */
  async terminalShows(words: RegExp): Promise<string> {
    let text = '';
    return until(`a terminal that shows ${String(words)}`, async () => {
      text = await this.terminalText();
      return words.test(text) ? text : undefined;
    }).catch((error: unknown) => {
      throw new Error(`The terminal shows:\n${text}`, { cause: error });
    });
  }

  async terminalType(text: string): Promise<void> {
    await this.page.locator(`${terminal} .xterm`).waitFor({ timeout: patience });
    await this.page.evaluate(([place, words]) => globalThis.driver?.writeInTerminal(place, words), [
      terminal,
      text,
    ] as const);
  }

  /** Changes the look through the picker of colour themes, as a person does, and waits until the window shows it. */
  async setTheme(theme: Theme): Promise<void> {
    const shown = this.page.locator(`.monaco-workbench.${themeClass[theme]}`);
    if (await shown.isVisible()) return;
    await this.command('Preferences: Color Theme');
    await this.quick.type(themeLabel[theme]);
    await this.quick.pick(themeLabel[theme]);
    await shown.waitFor({ timeout: patience });
    await this.quick.widget.waitFor({ state: 'hidden', timeout: patience });
  }

  /** Takes a picture into test-output/shots/NAME-THEME.png (in that look, if one is given) and gives its path. */
  async shot(name: string, theme?: Theme): Promise<string> {
    if (theme !== undefined) await this.setTheme(theme);
    const folder = join(root, 'test-output/shots');
    mkdirSync(folder, { recursive: true });
    const path = join(folder, theme === undefined ? `${name}.png` : `${name}-${theme}.png`);
    await this.page.mouse.move(0, 0); // away from what would show a tooltip
    await this.page.screenshot({ path, animations: 'disabled', caret: 'hide', timeout: patience });
    return path;
  }
}
