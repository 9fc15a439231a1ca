import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { projectEnvironment, root } from '../bootstrap/environment.mjs';
import { removeOldShared } from '../bootstrap/esbuild.mjs';
import { packageFlags } from '../bootstrap/package.mjs';
import { ensureInstallation } from '../hosts/installation.ts';

const output = join(root, 'test-output/journeys');

/** A folder of installed extensions that holds ours, as packaged. Each journey gets a copy. */
export const installedExtensions = join(output, 'extensions');

/** Packages dist/ and the documents into test-output/hma.vsix, as they would be released. */
export const packageExtension = async (): Promise<string> => {
  if (!existsSync(join(root, 'dist/extension.cjs'))) {
    throw new Error('dist/extension.cjs is not there, so there is nothing to package. First: npm run build');
  }
  removeOldShared(join(root, 'dist'), 0);
  const vsix = join(root, 'test-output/hma.vsix');
  await execa('vsce', ['package', ...packageFlags(root), '--out', vsix], {
    cwd: root,
    env: projectEnvironment(),
    stdin: 'ignore',
    timeout: 120_000,
  });
  return vsix;
};

/** Before all journeys: the VS Code server is there, and our extension is packaged (or EDITOR_VSIX names one) and installed. */
export const setup = async (): Promise<void> => {
  const { node, server } = await ensureInstallation();
  await rm(output, { recursive: true, force: true });
  await mkdir(installedExtensions, { recursive: true });
  const given = process.env['EDITOR_VSIX'];
  const vsix = given === undefined ? await packageExtension() : resolve(given);
  const data = join(output, 'installing');
  const places = ['--server-data-dir', data, '--user-data-dir', data, '--extensions-dir', installedExtensions];
  const install = [server, '--accept-server-license-terms', ...places, '--install-extension', vsix];
  await execa(node, install, { stdin: 'ignore', timeout: 120_000, env: { EXTENSIONS_GALLERY: '{}' } });
  await rm(data, { recursive: true, force: true });
};
