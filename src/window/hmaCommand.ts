import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { settings } from './settings.ts';

/** How a command of ours ended. */
export interface CommandEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Folder of the built programs: this bundle's own. */
export const bundles = __dirname;

/** The oldest Node that runs our programs. */
const oldestNode = 22;

let onPath: string | undefined;

function isRecent(path: string): boolean {
  try {
    const version = execFileSync(path, ['--version'], { encoding: 'utf8', timeout: 5000 });
    return Number(/^v(\d+)/.exec(version)?.[1]) >= oldestNode;
  } catch {
    return false;
  }
}

/** The Node binary for our programs: the setting, else a recent one on PATH; this process's own when it is a plain Node. */
function node(): string {
  const { nodePath } = settings();
  if (nodePath !== '') return nodePath;
  if (process.versions['electron'] === undefined) return process.execPath;
  onPath ??= (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .find((path) => existsSync(path) && isRecent(path));
  return onPath ?? process.execPath;
}

/** The environment of our programs: the window's, with the state folder of the settings. */
export function hmaEnvironment(): NodeJS.ProcessEnv {
  const { stateFolder } = settings();
  const environment: NodeJS.ProcessEnv = { ...process.env, ...(stateFolder === '' ? {} : { HMA_HOME: stateFolder }) };
  for (const name of Object.keys(environment)) if (/^(VSCODE_|ELECTRON_)/.test(name)) delete environment[name];
  return node() === process.execPath && process.versions['electron'] !== undefined
    ? { ...environment, ELECTRON_RUN_AS_NODE: '1' }
    : environment;
}

/** A program and its arguments that run `hma` in a terminal, whose environment VS Code cleans of what makes its own binary a Node. */
export function hmaArguments(words: readonly string[]): readonly [string, ...string[]] {
  const program = node();
  const own = program === process.execPath && process.versions['electron'] !== undefined;
  const argv = [program, join(bundles, 'cli.js'), ...words] as const;
  return own ? ['/usr/bin/env', 'ELECTRON_RUN_AS_NODE=1', ...argv] : argv;
}

/** Runs `hma` with these words in a folder and waits for its end. Never a shell. */
export function hma(folder: string, words: readonly string[]): Promise<CommandEnd> {
  return new Promise((resolve) => {
    execFile(
      node(),
      [join(bundles, 'cli.js'), ...words],
      { cwd: folder, env: hmaEnvironment(), maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        resolve({
          code,
          stdout,
          stderr: stderr || (error !== null && code === 1 && stdout === '' ? error.message : ''),
        });
      },
    );
  });
}
