// The integration suite in a real VS Code, by @vscode/test-electron:
//   node test/editor/run.ts             in the VS Code server with Chromium (test/hosts/codeWeb.ts)
//   node test/editor/run.ts --desktop   in a desktop VS Code, downloaded unless VSCODE_TEST_EXECUTABLE names one
// Exit codes: 0 all passed; 1 a test failed or the suite could not be loaded; 2 VS Code crashed or hung.
// MOCHA_GREP chooses tests; EDITOR_EXTENSION is the extension's folder (default: this repository).
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { runTests, TestRunFailedError } from '@vscode/test-electron';
import { build } from 'esbuild';
import { root } from '../bootstrap/environment.mjs';
import { ensureInstallation } from '../hosts/installation.ts';
import { quietSettings } from '../hosts/settings.ts';
import { endAll } from '../rig/run.ts';

const output = join(root, 'test-output/editor');
const files = {
  suites: process.env['EDITOR_SUITES'] ?? join(root, 'test/editor'),
  bundles: join(output, 'suites'),
  report: join(output, 'report.txt'),
  count: join(root, 'test-output/editor.json'),
};

const bundleSuites = async () => {
  const tests = readdirSync(files.suites).filter((name) => name.endsWith('.test.ts'));
  await build({
    entryPoints: [join(root, 'test/editor/index.ts'), ...tests.map((name) => join(files.suites, name))],
    outdir: files.bundles,
    entryNames: '[name]',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    sourcemap: 'inline',
    external: ['vscode', 'mocha'],
    logLevel: 'warning',
  });
};

const layOut = () => {
  const place = mkdtempSync(join(tmpdir(), 'hma-editor-'));
  const folders = {
    place,
    workspace: join(place, 'workspace'),
    home: join(place, 'home'),
    userData: join(place, 'user'),
  };
  mkdirSync(folders.workspace);
  mkdirSync(folders.home, { mode: 0o700 });
  mkdirSync(join(folders.userData, 'User'), { recursive: true });
  writeFileSync(join(folders.userData, 'User/settings.json'), JSON.stringify(quietSettings, null, 2));
  return folders;
};

const runSuite = async (desktop: boolean): Promise<number> => {
  const { place, workspace, home, userData } = layOut();
  const given = process.env['VSCODE_TEST_EXECUTABLE'];
  const download = {
    version: process.env['VSCODE_TEST_VERSION'] ?? 'stable',
    cachePath: join(root, '.vscode-host/desktop'),
  };
  try {
    await runTests({
      ...(desktop && given === undefined
        ? download
        : { vscodeExecutablePath: given ?? resolve(root, 'test/hosts/codeWeb.ts') }),
      extensionDevelopmentPath: resolve(process.env['EDITOR_EXTENSION'] ?? root),
      extensionTestsPath: join(files.bundles, 'index.cjs'),
      launchArgs: [workspace, `--user-data-dir=${userData}`, `--extensions-dir=${join(place, 'extensions')}`],
      extensionTestsEnv: {
        HMA_HOME: home,
        EDITOR_REPORT: files.report,
        EDITOR_COUNT: files.count,
        EDITOR_SUITES: files.bundles,
      },
    });
    return existsSync(files.count) ? 0 : 2; // a crashed extension host says 0
  } catch (error) {
    if (!(error instanceof TestRunFailedError)) throw error;
    return error.code === 1 ? 1 : 2;
  } finally {
    await endAll(place); // runs that a test started outlive VS Code, as they should
    rmSync(place, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
};

const main = async (words: readonly string[]): Promise<number> => {
  const desktop = words.includes('--desktop');
  rmSync(output, { recursive: true, force: true });
  rmSync(files.count, { force: true });
  mkdirSync(output, { recursive: true });
  if (!desktop) await ensureInstallation();
  await bundleSuites();
  const code = await runSuite(desktop);
  const report = existsSync(files.report) ? readFileSync(files.report, 'utf8').trimEnd() : '';
  if (report !== '') console.log(report);
  if (code === 2)
    console.error(`VS Code crashed or hung before the suite's end; its logs: ${basename(root)}/test-output/editor`);
  if (!existsSync(files.count)) console.log('0 passed, 1 failed');
  return code;
};

process.exitCode = await main(process.argv.slice(2));
