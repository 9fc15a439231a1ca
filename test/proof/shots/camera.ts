import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Locator, Page } from 'playwright-core';

import { root as repository } from '../../bootstrap/environment.mjs';
import { type Settings, type Theme, themeClass, themes } from '../../hosts/settings.ts';
import { patience, until } from '../../hosts/waiting.ts';
import type { Workbench } from '../../hosts/workbench.ts';
import type { PictureName, StateName } from './states.ts';

/** Where the gallery lies, and where the README's pictures. */
export const gallery = join(repository, 'test-output', 'shots', 'states');
const images = join(repository, 'docs', 'images');

/** Most bytes of a picture in the README. */
const mostBytes = 250_000;

const looks = ['light', 'dark', 'contrastLight', 'contrast'] as const satisfies readonly Theme[];

/** The class that VS Code gives to a webview's body. */
const webviewKind: Readonly<Record<Theme, string>> = {
  light: 'vscode-light',
  dark: 'vscode-dark',
  contrast: 'vscode-high-contrast',
  contrastLight: 'vscode-high-contrast-light',
};

/** User settings with which a window follows the look of the system. */
export const followingSettings: Settings = {
  'window.autoDetectColorScheme': true,
  'window.autoDetectHighContrast': true,
  'workbench.preferredLightColorTheme': themes.light,
  'workbench.preferredDarkColorTheme': themes.dark,
  'workbench.preferredHighContrastColorTheme': themes.contrast,
  'workbench.preferredHighContrastLightColorTheme': themes.contrastLight,
};

/**
 * Makes windows of a context believe in a look of the system that `showAs` sets. The browser's own emulation of high contrast would
 * also replace the colours of the page.
 */
export const prepareLooks = async (context: BrowserContext): Promise<void> => {
  await context.addInitScript(() => {
    if (globalThis.self !== globalThis.top) return;
    const real = globalThis.matchMedia.bind(globalThis);
    const queries = new Map<string, EventTarget & { matches: boolean; media: string }>();
    const system = (media: string, matches: boolean) => {
      const query = Object.assign(new EventTarget(), { matches, media });
      queries.set(media, query);
    };
    system('(prefers-color-scheme: dark)', false);
    system('(prefers-color-scheme: light)', true);
    system('(forced-colors: active)', false);
    const asked = (media: string) => queries.get(media) ?? real(media);
    Object.assign(globalThis, {
      matchMedia: asked,
      showAs(look: string) {
        const holds: Record<string, boolean> = {
          '(prefers-color-scheme: dark)': look === 'dark' || look === 'contrast',
          '(prefers-color-scheme: light)': look === 'light' || look === 'contrastLight',
          '(forced-colors: active)': look === 'contrast' || look === 'contrastLight',
        };
        for (const [media, query] of queries) query.matches = holds[media] ?? false;
        for (const query of queries.values()) query.dispatchEvent(new Event('change'));
      },
    });
  });
};

/**
 * Takes pictures of a window. A state is reached once and taken in all four looks: VS Code follows the look of the
 * system, and what it is told of that is changed, so that menus, hovers and dialogs stay open.
 */
export class Camera {
  readonly taken = new Set<StateName>();

  constructor() {
    rmSync(gallery, { recursive: true, force: true });
    mkdirSync(gallery, { recursive: true });
    mkdirSync(images, { recursive: true });
  }

  /** Takes a state in all looks, light first and last. With `over`, what comes up under the mouse there is in it. */
  async take(name: StateName, { page }: Workbench, over?: Locator): Promise<void> {
    await page.mouse.move(640, 0);
    await page.locator('.monaco-hover:visible').first().waitFor({ state: 'hidden', timeout: patience });
    await settled(page);
    for (const look of looks) {
      await this.#turn(page, look);
      if (over) await comesUp(page, over);
      const path = join(gallery, `${name}-${look}.png`);
      await page.screenshot({ path, animations: 'disabled', caret: 'hide', timeout: patience });
    }
    this.taken.add(name);
  }

  /** Takes a picture for the README, in light and dark, at twice the resolution. */
  async picture(name: PictureName, { page }: Workbench): Promise<void> {
    await page.mouse.move(640, 0);
    await settled(page);
    const size = page.viewportSize() ?? { width: 1280, height: 800 };
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Emulation.setDeviceMetricsOverride', { ...size, deviceScaleFactor: 1.5, mobile: false });
    for (const look of ['light', 'dark'] as const) {
      await this.#turn(page, look);
      const path = join(images, `${name}-${look}.png`);
      await page.screenshot({ path, animations: 'disabled', caret: 'hide', scale: 'device', timeout: patience });
      const { size: bytes } = statSync(path);
      if (bytes > mostBytes)
        throw new Error(`${path} has ${bytes} bytes; a picture of the README has at most ${mostBytes}.`);
    }
    await devTools.send('Emulation.clearDeviceMetricsOverride');
    await devTools.detach();
  }

  async #turn(page: Page, look: Theme): Promise<void> {
    await page.evaluate(`globalThis.showAs(${JSON.stringify(look)})`);
    await page.locator(`.monaco-workbench.${themeClass[look]}`).waitFor({ timeout: patience });
    await until(`webviews in the look ${look}`, async () => {
      const kinds = await Promise.all(
        page
          .frames()
          .map((frame) =>
            frame.evaluate<string | null>(`document.body?.dataset.vscodeThemeKind ?? null`).catch(() => null),
          ),
      );
      return kinds.every((kind) => kind === null || kind === webviewKind[look]);
    });
    await page.evaluate(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`);
  }
}

/** Until nothing in the window is on its way; a state that stays busy is taken as it is. */
const settled = (page: Page): Promise<unknown> =>
  until(
    'a window in which nothing is on its way',
    () =>
      page.evaluate<boolean>(
        `!document.querySelector('.monaco-progress-container.active') && !/Activating/.test(document.querySelector('.statusbar')?.textContent ?? '')`,
      ),
    8000,
  ).catch(() => undefined);

/** Until the words under the mouse have come up; they go when what they belong to is drawn anew. */
const comesUp = async (page: Page, over: Locator): Promise<void> => {
  const words = page.locator('.monaco-hover:visible, .workbench-hover:visible').first();
  await until('the words under the mouse', async () => {
    if (await words.isVisible()) return true;
    await page.mouse.move(640, 0);
    await over.hover({ timeout: patience });
    return words.waitFor({ timeout: 3000 }).then(
      () => true,
      () => false,
    );
  });
};
