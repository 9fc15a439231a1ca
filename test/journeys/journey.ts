import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { root as repository } from '../bootstrap/environment.mjs';
import { type Host, launchBrowser, startHost } from '../hosts/host.ts';
import type { Settings, Theme } from '../hosts/settings.ts';
import { newContext, Workbench } from '../hosts/workbench.ts';
import { endAll } from '../rig/run.ts';
import { installedExtensions } from './packaged.ts';

/** What a journey begins with. */
export type JourneyOptions = {
  /** Names the pictures of a journey: test-output/journeys/NAME-….png */
  name: string;
  /** Puts into the workspace what should lie there before a window opens. It gets the folder, absolute. */
  prepare?: (workspace: string) => void | Promise<void>;
  settings?: Settings;
  theme?: Theme;
  /** Ask whether the folder's authors are trusted. Default: trusted, unasked. */
  trust?: boolean;
  /** Over this process's own environment and HMA_HOME; undefined takes a variable away. */
  env?: NodeJS.ProcessEnv;
  size?: { width: number; height: number };
};

/**
 * A person's way through VS Code with the packaged extension. Disposing of it takes a last picture of each window, then ends
 * VS Code and every process of the runs that were started, and removes all folders.
 */
export type Journey = AsyncDisposable & {
  readonly host: Host;
  /** What this VS Code remembers; a page in it is a window. */
  readonly context: BrowserContext;
  /** The first window. */
  readonly window: Workbench;
  readonly workspace: string;
  /** HMA_HOME of the extension, absolute. */
  readonly home: string;
  /** The folder that holds all of the above, and other files of a journey. */
  readonly root: string;
  /** One more window (a second one, or a restart's after the others were closed); null: on no folder. */
  open(folder?: string | null): Promise<Workbench>;
};

/** Starts VS Code with the packaged extension and opens a window on a fresh workspace. */
export const startJourney = async (options: JourneyOptions): Promise<Journey> => {
  const root = mkdtempSync(join(tmpdir(), 'hma-journey-'));
  const ends: (() => unknown)[] = [
    () => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }),
    () => endAll(root), // runs outlive VS Code, as they should
  ];
  try {
    return await setOut(options, root, ends);
  } catch (error) {
    await endInTurn(ends).catch(() => undefined); // why it could not begin says more
    throw error;
  }
};

/** `ends` takes what is to be done at the end, the last one first, as soon as there is something to end. */
const setOut = async (options: JourneyOptions, root: string, ends: (() => unknown)[]): Promise<Journey> => {
  const folders = { root, workspace: join(root, 'workspace'), home: join(root, 'home') };
  mkdirSync(folders.workspace);
  mkdirSync(folders.home, { mode: 0o700 });
  cpSync(installedExtensions, join(root, 'vscode/extensions'), { recursive: true });
  await options.prepare?.(folders.workspace);
  const { settings = {}, env = {}, trust = false, theme } = options;
  const host = await startHost({
    ...{ workspace: folders.workspace, settings, trust, root: join(root, 'vscode') },
    env: { HMA_HOME: folders.home, ...env },
    ...(theme !== undefined && { theme }),
  });
  ends.push(() => host[Symbol.asyncDispose]());
  const browser = await launchBrowser();
  ends.push(() => browser.close());
  const context = await newContext(browser, options.size);
  ends.push(() => lastPictures(context, options.name));
  const open = (folder?: string | null) => Workbench.open(context, host, folder);
  return { ...folders, host, context, open, window: await open(), [Symbol.asyncDispose]: () => endInTurn(ends) };
};

/** Runs all, the last one first, whatever fails on the way; tells the first failure at the end. */
const endInTurn = async (ends: (() => unknown)[]) => {
  const failures: unknown[] = [];
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
    try {
      await end();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `A journey did not end cleanly: ${String(failures[0])}`);
};

/** What each window showed at the end, for whoever asks why a journey failed. */
const lastPictures = async (context: BrowserContext, name: string) => {
  const folder = join(repository, 'test-output/journeys');
  mkdirSync(folder, { recursive: true });
  for (const [index, page] of context.pages().entries()) {
    await page
      .screenshot({ path: join(folder, `${name}-end-${index + 1}.png`), timeout: 10_000 })
      .catch(() => undefined);
  }
};
