import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';

import { buildAll } from '../bootstrap/esbuild.mjs';
import { hmaBundle } from './place.ts';
import { endProcessesOn, processesOn } from './processes.ts';

let folder: string;
const ground = () => ({ home: join(folder, 'state'), workspace: join(folder, 'workspace') });

beforeAll(async () => {
  const { wrong } = await buildAll(dirname(hmaBundle));
  if (wrong.length > 0) throw new Error(wrong.join('; '));
});
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'hma-demo-program-')));
});
afterEach(async () => {
  const left = await endProcessesOn(ground());
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  if (left.length > 0) throw new Error(`still running: ${JSON.stringify(left)}`);
});

interface Ended {
  readonly exit: number | null;
  readonly text: string;
}

/** Runs the demonstration as its users do, without a terminal; `onText` sees its output grow. */
function demo(
  words: readonly string[],
  onText: (text: string, send: (signal: NodeJS.Signals) => void) => void = () => undefined,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'run.ts'), '--into', folder, ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes: Buffer) => {
        text += bytes.toString();
        onText(text, (signal) => void child.kill(signal));
      });
    }
    child.once('error', reject);
    child.once('close', (exit) => resolve({ exit, text }));
  });
}

const checksIn = (text: string) =>
  [...text.matchAll(/^ {2}([✓✗]) (.*)$/gm)].map(([, mark, what]) => ({ holds: mark === '✓', what }));

test('the demonstration really happens: it exits with 0 and every check holds', { timeout: 400_000 }, async () => {
  const { exit, text } = await demo(['--seed', '2']);
  expect(exit, text).toBe(0);
  expect(checksIn(text).filter(({ holds }) => holds)).toHaveLength(11);
  expect(text).toMatch(/── option 4 · A demo-tuner/);
  expect(text).toMatch(/★ e\d+ is the final candidate, by the reviewer/);
  expect(text).toMatch(/^All 11 checks hold\. \d+ s\.$/m);
  expect(text).not.toContain('\u001b');
  expect(existsSync(join(folder, 'bin', 'hma'))).toBe(true);
  const candidates = await hma('candidates', '--json');
  expect((JSON.parse(candidates.text) as { candidates: unknown[] }).candidates).toHaveLength(8);
});

const hma = (...words: string[]): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(join(folder, 'bin', 'hma'), words, {
      cwd: join(folder, 'workspace'),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.on('data', (bytes: Buffer) => (text += bytes.toString()));
    child.once('error', reject);
    child.once('close', (exit) => resolve({ exit, text }));
  });

test(
  'a demonstration whose evaluator always fails is told as one that did not happen',
  { timeout: 200_000 },
  async () => {
    const { exit, text } = await demo(['--sabotage', 'evaluator']);
    expect(exit, text).toBe(1);
    expect(text).toMatch(/The demonstration was ended because the evaluator failed on e1: /);
    expect(text).toMatch(/^\d+ of 11 checks failed, marked ✗ above\. \d+ s\.$/m);
    expect(checksIn(text).find(({ what }) => what?.startsWith('accepted experiments by both'))).toMatchObject({
      holds: false,
    });
    expect(checksIn(text).find(({ what }) => what?.startsWith('every process is gone'))).toMatchObject({ holds: true });
  },
);

test('an interrupted demonstration leaves nothing running', { timeout: 200_000 }, async () => {
  let sent = false;
  const { exit, text } = await demo([], (sofar, send) => {
    if (sent || !sofar.includes('── option 1')) return;
    sent = true;
    send('SIGINT');
  });
  expect(exit, text).toBe(130);
  expect(text).toContain('Nothing is left running');
  expect(processesOn(ground())).toEqual([]);
});

test('wrong words are told, and nothing is laid out', async () => {
  const { exit, text } = await demo(['--seed', 'one']);
  expect(exit).toBe(64);
  expect(text).toContain('--seed takes a whole number, not "one"');
  expect(existsSync(join(folder, 'workspace'))).toBe(false);
});
