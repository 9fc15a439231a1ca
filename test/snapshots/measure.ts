import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSnapshots } from '../../src/snapshots/store.ts';

/*
 * Measures captures against `git add -A && git commit` on the same tree: `node test/snapshots/measure.ts [files]`.
 * The clock the cache looks at is moved on by a minute, as if the files had been written a minute before.
 */
const count = Number(process.argv[2] ?? 20_000);
const base = mkdtempSync(join(realpathSync(tmpdir()), 'hma-measure-'));
const root = join(base, 'workspace');
const real = Date.now;

/** Unlike text, but compressible: what small source files are like. */
const text = (): string => `${randomBytes(300).toString('hex')}\n${'import numpy as np\n'.repeat(40)}`;

for (let at = 0; at < count; at++) {
  const folder = join(root, `d${at % 200}`);
  if (at < 200) mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `f${at}.py`), text());
}
const store = await openSnapshots({ dir: join(base, 'snapshots') });
let next = 0;

async function capture(): Promise<void> {
  const result = await store.capture({ root, include: ['.'], kind: 'candidate', ref: `e${next++}` });
  if (!result.ok) throw new Error(result.refusal.detail);
}

function commit(): void {
  const env = { PATH: process.env['PATH'] ?? '', HOME: base, GIT_DIR: join(base, 'user.git'), GIT_WORK_TREE: root };
  const git = (...args: string[]) =>
    execFileSync(
      'git',
      [
        '-c',
        'gc.auto=0',
        '-c',
        'core.fsync=all',
        '-c',
        'core.fsyncMethod=batch',
        '-c',
        'user.name=x',
        '-c',
        'user.email=x',
        ...args,
      ],
      { env, cwd: root, stdio: 'ignore' },
    );
  if (next === 0) git('init');
  git('add', '-A');
  git('commit', '-m', 'x', '--allow-empty');
}

async function timed(work: () => Promise<void> | void): Promise<string> {
  let longest = 0;
  let last = performance.now();
  const watch = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  const began = performance.now();
  await work();
  clearInterval(watch);
  return `${((performance.now() - began) / 1000).toFixed(2)} s (longest stall of the process ${longest.toFixed(0)} ms)`;
}

const change = (): void => {
  for (let at = 0; at < 400; at++) writeFileSync(join(root, `d${at % 200}`, `f${at}.py`), text());
};

const rows: [string, string][] = [];
rows.push([`git: first, ${count} files`, await timed(commit)]);
rows.push([`hma: first, ${count} files`, await timed(capture)]);
rows.push(['hma: unchanged, all younger than the margin', await timed(capture)]);
Date.now = () => real() + 60_000;
await capture();
rows.push(['hma: unchanged', await timed(capture)]);
change();
rows.push(['git: 400 changed', await timed(commit)]);
rows.push(['hma: 400 changed', await timed(capture)]);
rows.push(['git: unchanged', await timed(commit)]);
const one = join(base, 'one');
mkdirSync(one);
writeFileSync(join(one, 'train.py'), text());
rows.push([
  'hma: one file',
  await timed(
    async () => void (await store.capture({ root: one, include: ['train.py'], kind: 'candidate', ref: 'one' })),
  ),
]);
const found = await store.find('e1');
if (found)
  rows.push([
    'hma: restore of all',
    await timed(async () => void (await store.restore(found.id, join(base, 'restored')))),
  ]);
if (found) rows.push(['hma: verify of all', await timed(async () => void (await store.verify(found.id)))]);
for (const [name, value] of rows) console.log(`${name.padEnd(46)}${value}`);
console.log(execFileSync('du', ['-sh', 'snapshots', 'user.git'], { cwd: base, encoding: 'utf8' }));
await store.close();
rmSync(base, { recursive: true });
