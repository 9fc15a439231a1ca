// What VS Code's extension host is told to run (`extensionTestsPath`): all `*.test` bundles beside this file, under mocha.
import { appendFileSync, readdirSync, writeFileSync } from 'node:fs';
import { format } from 'node:util';
import { join } from 'node:path';
import Mocha from 'mocha';
import type { Report } from '../bootstrap/count.mjs';

/** Set by run.ts. The report goes through files: VS Code mixes the extension host's console with its own log. */
const { EDITOR_REPORT: report, EDITOR_COUNT: count, EDITOR_SUITES: folder } = process.env;

const say = (...words: unknown[]) => {
  if (report === undefined) console.log(...words);
  else appendFileSync(report, `${format(...words)}\n`);
};

/** Written last, so whoever finds it knows that the suite was not cut short. The same shape as vitest's JSON report. */
const close = (testResults: Report['testResults']) => {
  if (count !== undefined) writeFileSync(count, JSON.stringify({ testResults } satisfies Report));
};

const addFiles = (mocha: Mocha) => {
  if (folder === undefined) throw new Error('EDITOR_SUITES names no folder: start the suite by test/editor/run.ts.');
  for (const file of readdirSync(folder).toSorted()) if (file.endsWith('.test.cjs')) mocha.addFile(join(folder, file));
};

/**
 * Called by VS Code once the window is up.
 * @throws where a test failed, none ran, or a file could not be loaded: VS Code then ends with 1
 */
export const run = async (): Promise<void> => {
  Mocha.reporters.Base.consoleLog = say;
  const grep = process.env['MOCHA_GREP'];
  const mocha = new Mocha({
    ui: 'tdd',
    timeout: 60_000,
    reporter: 'spec',
    color: false,
    forbidOnly: process.env['CI'] !== undefined,
    ...(grep !== undefined && { grep }),
  });
  const assertionResults: Report['testResults'][number]['assertionResults'] = [];
  const note = (status: string) => (each: Mocha.Test | Mocha.Hook) =>
    assertionResults.push({ fullName: each.fullTitle(), status });
  const all = async () => {
    addFiles(mocha);
    const { promise, resolve } = Promise.withResolvers<number>();
    const runner = mocha.run(resolve); // throws where a file can't be loaded
    runner.on('pass', note('passed')).on('fail', note('failed')).on('pending', note('skipped'));
    await promise;
    return runner.stats ?? { passes: 0, failures: 0, pending: 0 };
  };
  const { passes, failures, pending } = await all().catch((error: unknown) => {
    say(error);
    close([
      { name: `the integration suite could not be loaded: ${String(error)}`, status: 'failed', assertionResults: [] },
    ]);
    throw error;
  });
  say(`${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}`);
  close([{ name: 'the integration suite', status: failures > 0 ? 'failed' : 'passed', assertionResults }]);
  if (failures > 0 || passes === 0) throw new Error(`${passes} tests passed and ${failures} failed.`);
};
