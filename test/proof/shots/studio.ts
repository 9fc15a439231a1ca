import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { execa } from 'execa';
import type { BrowserContext } from 'playwright-core';

import { layOut, type LayOutOptions } from '../../../media/sample/digits/layOut.mjs';
import { allProcesses, commandOf } from '../../../src/machines/processes.ts';
import type { RunState } from '../../../src/run/model.ts';
import { root as repository } from '../../bootstrap/environment.mjs';
import { hmaBundle } from '../../demo/place.ts';
import { launchBrowser, startHost } from '../../hosts/host.ts';
import { until } from '../../hosts/waiting.ts';
import { newContext, Workbench } from '../../hosts/workbench.ts';
import { packageExtension } from '../../journeys/packaged.ts';
import { runReaches, runsIn } from '../../journeys/sampleRun.ts';
import { endAll } from '../../rig/run.ts';
import { Camera, followingSettings, prepareLooks } from './camera.ts';

/** The size of windows, CSS px. */
export const usual = { width: 1280, height: 800 } as const;

/** One VS Code with the packaged extension and a camera; folders, runs and processes of its own. */
export interface Studio {
  readonly root: string;
  /** HMA_HOME. */
  readonly home: string;
  readonly camera: Camera;
  readonly context: BrowserContext;
  /** Opens a window on a folder (null: on none) and answers whether it is trusted. */
  open(folder: string | null, trusted?: boolean): Promise<Workbench>;
  /** Makes a folder with these files, absolute. */
  folder(name: string, files: Readonly<Record<string, string>>): string;
  /** Lays the sample task out in a repository of git; `change` edits its hma.yaml. */
  sample(name: string, options: LayOutOptions, change?: (contract: string) => string): Promise<string>;
  /** Starts a run as `hma run --detach` does. */
  runDetached(workspace: string): Promise<void>;
  /** Waits for the newest run of a workspace. */
  reaches(workspace: string, what: string, is: (state: RunState) => boolean): Promise<RunState>;
  /** Id of the newest run of a workspace. */
  runOf(workspace: string): string;
  /** Stops every process whose command line has these words, as they come, until it is let go. */
  hold(words: RegExp): Promise<{ letGo(): void }>;
}

/** Starts VS Code for pictures, lets `act` work in it, and ends everything. */
export async function inStudio(act: (studio: Studio) => Promise<void>): Promise<Camera> {
  const root = mkdtempSync(join(tmpdir(), 'hma-shots-'));
  const home = join(root, 'home');
  mkdirSync(home, { mode: 0o700 });
  const ends: (() => unknown)[] = [
    () => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }),
    () => endAll(root),
  ];
  try {
    const vsix = await packageExtension();
    const host = await startHost({
      ...{
        workspace: join(root, 'none'),
        root: join(root, 'vscode'),
        vsix: [vsix],
        trust: true,
        settings: { ...followingSettings, 'remote.autoForwardPorts': false },
      },
      env: { HMA_HOME: home, HOME: join(root, 'you'), SHELL: '/bin/sh' },
    });
    ends.push(() => host[Symbol.asyncDispose]());
    const browser = await launchBrowser();
    ends.push(() => browser.close());
    const context = await newContext(browser, usual);
    await prepareLooks(context);
    const camera = new Camera();
    ends.push(() => lastPictures(context));
    await act({ root, home, camera, context, open: opener(context, host), ...ground(root, home) });
    return camera;
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

const opener =
  (context: BrowserContext, host: Awaited<ReturnType<typeof startHost>>): Studio['open'] =>
  async (folder, trusted = true) => {
    const window = await Workbench.open(context, host, folder);
    if (folder !== null) await window.trust(trusted);
    return window;
  };

/** What every window shows at the end, for whoever asks why a picture is missing. */
async function lastPictures(context: BrowserContext): Promise<void> {
  const folder = join(repository, 'test-output', 'shots');
  for (const [index, page] of context.pages().entries())
    await page.screenshot({ path: join(folder, `end-${index + 1}.png`), timeout: 10_000 }).catch(() => undefined);
}

function ground(
  root: string,
  home: string,
): Pick<Studio, 'folder' | 'sample' | 'runDetached' | 'reaches' | 'runOf' | 'hold'> {
  const tasks = join(root, 'tasks');
  return {
    folder(name, files) {
      const folder = join(tasks, name);
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), text);
      }
      return folder;
    },
    async sample(name, options, change) {
      const [workspace, aside] = [join(tasks, name), join(root, 'aside', name)];
      const places = { agents: join(aside, 'agents'), node: process.execPath };
      const { contract } = layOut(workspace, join(aside, 'hidden'), { ...places, ...options });
      if (change) writeFileSync(contract, change(readFileSync(contract, 'utf8')));
      const me = ['-c', 'user.name=A Person', '-c', 'user.email=person@example.org'];
      await execa('git', ['init', '-q', '-b', 'main'], { cwd: workspace });
      await execa('git', ['add', '.'], { cwd: workspace });
      await execa('git', [...me, 'commit', '-q', '-m', 'The task'], { cwd: workspace });
      return workspace;
    },
    runDetached: async (workspace) =>
      void (await execa(process.execPath, [hmaBundle, 'run', '--detach'], { cwd: workspace, env: { HMA_HOME: home } })),
    reaches: (workspace, what, is) => runReaches({ workspace, home }, what, is, 300_000),
    runOf: (workspace) => runsIn({ workspace, home })[0]?.run ?? '',
    hold: (words) => hold(words, root),
  };
}

/** Stops what a session does in the midst of it, so that a state lasts as long as its pictures take. */
async function hold(words: RegExp, root: string): Promise<{ letGo(): void }> {
  const held = new Set<number>();
  const look = (): boolean => {
    for (const { pid } of allProcesses().values()) {
      const command = commandOf(pid);
      if (held.has(pid) || !command.includes(root) || !words.test(command)) continue;
      if (signal(pid, 'SIGSTOP')) held.add(pid);
    }
    return held.size > 0;
  };
  await until(`a process ${String(words)} to hold`, look, 60_000);
  look(); // its children
  return { letGo: () => void [...held].map((pid) => signal(pid, 'SIGCONT')) };
}

function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false; // gone meanwhile
  }
}
