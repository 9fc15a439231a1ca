import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

import { root as repository } from '../../bootstrap/environment.mjs';
import type { Host } from '../../hosts/host.ts';
import { type Theme, themeClass, themes } from '../../hosts/settings.ts';
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

/**
 * Takes pictures of a window. A state is reached once and taken in all four looks: the look is changed in the settings' file, from
 * outside, so that menus, hovers and dialogs stay open.
 */
export class Camera {
  readonly taken = new Set<StateName>();
  readonly #settings: string;
  #look: Theme = 'light';

  constructor(host: Host) {
    this.#settings = join(host.userData, 'User', 'settings.json');
    rmSync(gallery, { recursive: true, force: true });
    mkdirSync(gallery, { recursive: true });
    mkdirSync(images, { recursive: true });
  }

  /** Takes a state in all looks, beginning with the one that the window has. */
  async take(name: StateName, { page }: Workbench): Promise<void> {
    const others = looks.filter((look) => look !== this.#look);
    for (const look of [this.#look, ...others]) {
      await this.#turn(page, look);
      const path = join(gallery, `${name}-${look}.png`);
      await page.screenshot({ path, animations: 'disabled', caret: 'hide', timeout: patience });
    }
    this.taken.add(name);
  }

  /** Takes a picture for the README, in light and dark, at twice the resolution. */
  async picture(name: PictureName, { page }: Workbench): Promise<void> {
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
    if (look !== this.#look) {
      const settings = JSON.parse(readFileSync(this.#settings, 'utf8')) as Record<string, unknown>;
      writeFileSync(this.#settings, JSON.stringify({ ...settings, 'workbench.colorTheme': themes[look] }, null, 2));
      this.#look = look;
    }
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
