import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { buildAll } from '../../bootstrap/esbuild.mjs';
import { endAll, processesOf, startTestRun, type TestRun } from '../../rig/run.ts';
import { layOutTask, testFolders, type TestFolders } from '../../rig/task.ts';

let dist: string;
beforeAll(async () => {
  dist = mkdtempSync(join(tmpdir(), 'hma-dist-'));
  const { wrong } = await buildAll(dist);
  if (wrong.length > 0) throw new Error(wrong.join('; '));
});
afterAll(() => rmSync(dist, { recursive: true, force: true }));

const environment = ({ home }: TestFolders) => ({ ...process.env, HMA_HOME: home, HMA_TOKEN: '', HMA_SOCKET: '' });
const cli = (): string => join(dist, 'cli.js');

/** Waits until something is so; says what it waited for when it never is. */
async function until(what: string, holds: () => boolean): Promise<void> {
  for (let round = 0; round < 600; round++) {
    if (holds()) return;
    await wait(50);
  }
  throw new Error(`waited 30 s for: ${what}`);
}

const nightly = () =>
  startTestRun({
    A: { 1: [{ submit: 1 }, { hold: true }] },
    B: {},
    contract: { budgets: { total: '5m', review: '30s' } },
  });

/** A command whose reader leaves after the first piece of what it prints. */
async function readOnce({ folders }: TestRun, ...words: string[]): Promise<{ exit: unknown; err: string }> {
  const child = spawn(process.execPath, [cli(), ...words], { cwd: folders.workspace, env: environment(folders) });
  let err = '';
  child.stderr.on('data', (bytes: Buffer) => (err += bytes.toString()));
  await once(child.stdout, 'data');
  child.stdout.destroy();
  const [exit] = await once(child, 'close');
  return { exit, err };
}

test('a reader that leaves ends what follows a run, without a word', async () => {
  await using run = await nightly();
  await run.client.until('an experiment', (state) => state.archive.length === 1);
  const quiet = readOnce(run, 'log', '--events', '--follow');
  const watching = readOnce(run, 'watch', '--json');
  const left = Promise.allSettled([quiet, watching]).then(() => true);
  // a writer is told that its reader has gone only when it writes again
  for (let after = true; !(await Promise.race([left, wait(200)])); after = !after)
    await run.client.intend(after ? { kind: 'pause', after: true, by: 'mina' } : { kind: 'resume', by: 'mina' });
  expect(await quiet).toEqual({ exit: 0, err: '' });
  expect(await watching).toEqual({ exit: 8, err: '' });
});

test('Ctrl-C while hma check runs the evaluator ends it, and leaves nothing', async () => {
  using folders = testFolders();
  await layOutTask(folders, { A: {}, B: {}, contract: { evaluate: { command: ['sleep', '123'], timeout: '200s' } } });
  const child = spawn(process.execPath, [cli(), 'check'], {
    cwd: folders.workspace,
    env: environment(folders),
    stdio: 'ignore',
  });
  onTestFinished(() => endAll(folders.root));
  const evaluating = (): boolean => processesOf(folders.root).some(({ command }) => command.endsWith('sleep 123'));
  await until('the evaluator to run', evaluating);
  child.kill('SIGINT');
  const [exit] = await once(child, 'close');
  expect(exit).toBe(130);
  expect(evaluating()).toBe(false);
  expect(readdirSync(folders.home)).toEqual(['runtime']);
});

test.each([
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
])('%s at a question is no, and nothing happens', async (_, key) => {
  await using run = await nightly();
  const { folders, client } = run;
  await client.until('an experiment', (state) => state.archive.length === 1);
  const child = spawn('script', ['-qec', `"${process.execPath}" "${cli()}" stop`, '/dev/null'], {
    ...{ cwd: folders.workspace, env: environment(folders) },
  });
  let shown = '';
  child.stdout.on('data', (bytes: Buffer) => (shown += bytes.toString()));
  await until('the question', () => shown.includes('[y/N]'));
  child.stdin.write(key);
  const [exit] = await once(child, 'close');
  expect(exit).toBe(130);
  expect(shown).not.toContain('hma:');
  expect(client.state?.explorationEnding).toBeNull();
});
