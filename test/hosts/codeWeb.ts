#!/usr/bin/env node
// Stands in for the desktop's `code` where no Electron build can be had: takes the arguments that @vscode/test-electron
// passes, runs the suite in a real extension host of the VS Code server with the real workbench in Chromium, and ends with
// its result: 0 passed, 1 failed or could not be loaded, 2 crashed or hung.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { root } from '../bootstrap/environment.mjs';
import { type Host, launchBrowser, remoteUri, startHost } from './host.ts';
import { newContext } from './workbench.ts';
import { patience } from './waiting.ts';

type Asked = { folder: string; extensions: string[]; suite: string; userDataDir: string; extensionsDir: string };

/** Reads `FOLDER --name=value …`; flags of a desktop's window mean nothing here. */
const read = (words: readonly string[]): Asked => {
  const value = (name: string) =>
    words.filter((word) => word.startsWith(`--${name}=`)).map((word) => word.slice(name.length + 3));
  const one = (name: string) => {
    const [found] = value(name);
    if (found === undefined) throw new Error(`codeWeb: --${name}=… is missing`);
    return found;
  };
  const folder = words.find((word) => !word.startsWith('--'));
  if (folder === undefined) throw new Error('codeWeb: no folder to open was given');
  return {
    folder: resolve(folder),
    extensions: value('extensionDevelopmentPath'),
    suite: one('extensionTestsPath'),
    userDataDir: one('user-data-dir'),
    extensionsDir: one('extensions-dir'),
  };
};

const limit = Number(process.env['EDITOR_TIMEOUT_MS'] ?? 300_000);
const logs = join(root, 'test-output/editor');
const log = join(logs, 'host.log');

/** Settles with the code that VS Code gives, or with 2 where none comes. */
const ending = () => {
  const { promise, resolve: finish } = Promise.withResolvers<number>();
  const giveUp = (why: string) => {
    console.error(`codeWeb: ${why}; see ${logs}`);
    finish(2);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => giveUp(signal));
  const timer = setTimeout(giveUp, limit, `the suite did not end within ${limit} ms`);
  timer.unref();
  return { code: promise, finish, giveUp };
};

const drive = async (asked: Asked): Promise<number> => {
  const end = ending();
  const { folder: workspace, userDataDir, extensionsDir } = asked;
  const host = await startHost({ workspace, userDataDir, extensionsDir });
  try {
    const browser = await launchBrowser();
    try {
      return await runIn(await (await newContext(browser)).newPage(), host, { asked, end });
    } finally {
      await browser.close();
    }
  } finally {
    await host[Symbol.asyncDispose]();
  }
};

const runIn = async (page: Page, host: Host, { asked, end }: { asked: Asked; end: ReturnType<typeof ending> }) => {
  page.on('crash', () => end.giveUp('the workbench page crashed'));
  // VS Code calls these where the page has them: each log line, and how the suite's run() settled (0 or 1).
  await page.exposeFunction('codeAutomationLog', (kind: string, words: unknown[]) =>
    appendFileSync(log, `${kind} ${words.map(String).join(' ')}\n`),
  );
  await page.exposeFunction('codeAutomationExit', (code: number) => end.finish(code));
  const payload = [
    ...asked.extensions.map((path) => ['extensionDevelopmentPath', remoteUri(path)] as const),
    ['extensionTestsPath', remoteUri(asked.suite)] as const,
    ['skipWelcome', 'true'] as const,
  ];
  await page.goto(host.windowUrl(asked.folder, payload), { timeout: patience * 2 });
  const code = await end.code;
  if (code === 2) await page.screenshot({ path: join(logs, 'window.png'), timeout: 5000 }).catch(() => undefined);
  return code;
};

/** An extension host that crashed is reported as 0: the file that run() writes at its end tells the truth. */
const judge = (code: number): number => {
  const whole = existsSync(process.env['EDITOR_COUNT'] ?? '');
  if (whole || code === 2) return code;
  if (code === 0) {
    console.error(`codeWeb: the extension host ended before the suite did (a crash?); see ${logs}`);
    return 2;
  }
  const errors = existsSync(log)
    ? readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('error'))
    : [];
  console.error(errors.slice(-15).join('\n')); // run() was never reached: say why
  return code;
};

mkdirSync(logs, { recursive: true });
try {
  process.exitCode = judge(await drive(read(process.argv.slice(2))));
} catch (error) {
  console.error(error);
  process.exitCode = 2;
}
