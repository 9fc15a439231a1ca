import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { type Browser, chromium } from 'playwright-core';
import { ensureInstallation, type Installation } from './installation.ts';
import { quietSettings, type Settings, type Theme, themes, trustSettings } from './settings.ts';
import { until } from './waiting.ts';

/** What a VS Code for a test is started with. */
export type HostOptions = {
  /** The folder that windows open, absolute. */
  workspace: string;
  /** Packaged extensions to install (paths of .vsix files). */
  vsix?: readonly string[];
  /** User settings, over the quiet ones. */
  settings?: Settings;
  theme?: Theme;
  /** Ask whether the folder's authors are trusted, as a fresh VS Code does. Default: everything is trusted, unasked. */
  trust?: boolean;
  /**
   * Environment of the server, and so of the extension host and of terminals, over this process's own; undefined takes
   * away. HMA_HOME and PATH arrive as they are given.
   */
  env?: NodeJS.ProcessEnv;
  /** Where VS Code keeps its things; kept at the end if it was given. Default: a folder of its own that is removed. */
  root?: string;
  userDataDir?: string;
  extensionsDir?: string;
};

/** A running VS Code server. Disposing of it ends its whole process group, extension hosts and terminals among it. */
export type Host = AsyncDisposable & {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly root: string;
  readonly workspace: string;
  readonly userData: string;
  /** The server's process, leader of the group. */
  readonly pid: number;
  /** What the server printed so far. */
  output(): string;
  /** The address of a window on a folder (null: on none). `payload`: VS Code's own pairs, such as `['extensionTestsPath', …]`. */
  windowUrl(folder?: string | null, payload?: readonly (readonly [string, string])[]): string;
};

/**
 * Starts the real VS Code server on 127.0.0.1 and waits until it listens.
 * @throws where it can't be installed or doesn't come up within a minute, with its output
 */
export const startHost = async (options: HostOptions): Promise<Host> => {
  const installation = await ensureInstallation();
  const folders = layOut(options);
  const env = environmentOf(options.env);
  const common = [
    installation.server,
    '--accept-server-license-terms',
    ...['--server-data-dir', join(folders.root, 'server'), '--user-data-dir', folders.userData],
    ...['--extensions-dir', folders.extensions],
  ];
  for (const vsix of options.vsix ?? []) {
    const install = [...common, '--install-extension', resolve(vsix)];
    await execa(installation.node, install, { env, extendEnv: false, timeout: 120_000 });
  }
  const server = launch(
    installation,
    [...common, ...(options.trust === true ? [] : ['--disable-workspace-trust'])],
    env,
  );
  const dispose = async () => {
    await endGroup(server.pid);
    if (options.root === undefined)
      rmSync(folders.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  try {
    const url = await server.listening();
    return {
      ...{ url, pid: server.pid, output: server.output, workspace: options.workspace },
      ...{ root: folders.root, userData: folders.userData },
      windowUrl: (folder = options.workspace, payload = []) => {
        const place: Record<string, string> = folder === null ? { ew: 'true' } : { folder };
        const query = new URLSearchParams({
          ...place,
          ...(payload.length > 0 && { payload: JSON.stringify(payload) }),
        });
        return `${url}/?${query.toString()}`;
      },
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
};

const layOut = (options: HostOptions) => {
  const root = options.root ?? mkdtempSync(join(tmpdir(), 'hma-vscode-'));
  const userData = options.userDataDir ?? join(root, 'user-data');
  const extensions = options.extensionsDir ?? join(root, 'extensions');
  for (const folder of [join(userData, 'User'), extensions, options.workspace]) mkdirSync(folder, { recursive: true });
  const file = join(userData, 'User/settings.json'); // the same place as on a desktop
  const settings = {
    ...quietSettings,
    ...(options.trust === true && trustSettings),
    ...(options.theme !== undefined && { 'workbench.colorTheme': themes[options.theme] }),
    ...options.settings,
  };
  if (!existsSync(file)) writeFileSync(file, JSON.stringify(settings, null, 2));
  return { root, userData, extensions };
};

/** An outer VS Code, npm or vitest must not steer this one, and no gallery is asked. */
const environmentOf = (wanted: NodeJS.ProcessEnv = {}): Record<string, string> => {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(VSCODE_|ELECTRON_|npm_|VITEST|NODE_)/.test(name),
  );
  const all = { ...Object.fromEntries(inherited), EXTENSIONS_GALLERY: '{}', ...wanted };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  );
};

const launch = ({ node }: Installation, args: readonly string[], env: Record<string, string>) => {
  const quiet = ['--disable-telemetry', '--disable-experiments', '--disable-update-check'];
  // Without the smoke-test driver the addresses of extension and suite in a window's payload are ignored.
  const serve = ['--host', '127.0.0.1', '--port', '0', '--without-connection-token', '--enable-smoke-test-driver'];
  const ownEnvironment = '--force-disable-user-env'; // else a login shell is asked, and its PATH replaces the given one
  const child: ChildProcess = spawn(node, [...args, ...serve, ownEnvironment, ...quiet], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let ended: string | undefined;
  const take = (piece: Buffer) => (output += piece.toString('utf8'));
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  child.once('error', (error) => (ended = error.message));
  child.once('exit', (code, signal) => (ended = `ended with ${code ?? signal ?? 'nothing'}`));
  const listening = async () => {
    const port = await until(`the VS Code server to listen (its output: ${output})`, () => {
      if (ended !== undefined) throw new Error(`The VS Code server ${ended}. ${output}`);
      return /Extension host agent listening on (\d+)/.exec(output)?.[1];
    });
    return `http://127.0.0.1:${port}`;
  };
  return { pid: child.pid ?? 0, output: () => output, listening };
};

const signalGroup = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false; // nothing is left of it
  }
};

/** Ends a process group: extension host and pty host would otherwise outlive the server by up to a minute. */
const endGroup = async (pid: number) => {
  if (pid <= 1 || !signalGroup(pid, 'SIGTERM')) return;
  const gone = () => !signalGroup(pid, 0);
  await until('the VS Code server to end after SIGTERM', gone, 5000).catch(() => signalGroup(pid, 'SIGKILL'));
  await until(`process group ${pid} of the VS Code server to be gone`, gone, 15_000);
};

/** A file or folder as the workbench addresses it: every window here is one on a remote server. */
export const remoteUri = (path: string) => `vscode-remote://remote${resolve(path)}`;

/** Debian's Chromium, without a window. The caller closes it. `CHROMIUM` names another one. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    headless: true,
    timeout: 90_000,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
  });
