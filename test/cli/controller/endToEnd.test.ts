import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { eventLine, startedOutput, statusOutput } from '../../../src/cli/schemas.ts';
import { buildAll } from '../../bootstrap/esbuild.mjs';
import { endAll } from '../../rig/run.ts';
import { layOutTask, testFolders, type TaskWish, type TestFolders } from '../../rig/task.ts';

let dist: string;

beforeAll(async () => {
  dist = mkdtempSync(join(tmpdir(), 'hma-dist-'));
  const { wrong } = await buildAll(dist);
  if (wrong.length > 0) throw new Error(wrong.join('; '));
});
afterAll(() => rmSync(dist, { recursive: true, force: true }));

/** A workspace of a test and the real `hma` bundle run in it. */
interface Place extends AsyncDisposable {
  readonly folders: TestFolders;
  hma(...words: string[]): { readonly exit: number | null; readonly out: string; readonly err: string };
  start(...words: string[]): Running;
}

/** A command that goes on while the test does. */
interface Running {
  readonly process: ChildProcess;
  readonly exit: Promise<number | null>;
  text(): string;
  /** Its stdout alone. */
  out(): string;
  /** Waits for words on its stdout or stderr; says what it waited for when they never come. */
  says(expected: string | RegExp): Promise<void>;
}

async function place(wish: TaskWish): Promise<Place> {
  const folders = testFolders();
  await layOutTask(folders, wish);
  const environment = { ...process.env, HMA_HOME: folders.home, HMA_TOKEN: '', HMA_SOCKET: '' };
  const options = { cwd: folders.workspace, env: environment, encoding: 'utf8' } as const;
  return {
    folders,
    hma(...words) {
      const done = spawnSync(process.execPath, [join(dist, 'cli.js'), ...words], { ...options, timeout: 60_000 });
      return { exit: done.status, out: done.stdout, err: done.stderr };
    },
    start(...words) {
      const child = spawn(process.execPath, [join(dist, 'cli.js'), ...words], {
        ...options,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let [text, out] = ['', ''];
      const changed = new EventTarget();
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (bytes: Buffer) => {
          text += bytes.toString();
          if (stream === child.stdout) out += bytes.toString();
          changed.dispatchEvent(new Event('text'));
        });
      }
      const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
      return {
        process: child,
        exit,
        text: () => text,
        out: () => out,
        says: (expected) =>
          waitFor(
            changed,
            () => (typeof expected === 'string' ? text.includes(expected) : expected.test(text)),
            () => `${String(expected)} in:\n${text}`,
          ),
      };
    },
    async [Symbol.asyncDispose]() {
      await endAll(folders.root);
      folders[Symbol.dispose]();
    },
  };
}

function waitFor(changed: EventTarget, holds: () => boolean, what: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      if (!holds()) return;
      clearTimeout(timer);
      changed.removeEventListener('text', look);
      resolve();
    };
    const timer = setTimeout(() => reject(new Error(`waited 60 s for ${what()}`)), 60_000);
    changed.addEventListener('text', look);
    look();
  });
}

const statusOf = (at: Place) => statusOutput.parse(JSON.parse(at.hma('status', '--json').out));

test('hma run shows a whole alternation; afterwards everything can be looked at, and the selection changed', async () => {
  await using at = await place({
    A: {
      1: [{ submit: { text: '1', note: 'the first' } }, { submit: 'nan' }, { submit: 2 }, { hold: true }],
      review: [{ nominate: 'e3' }],
    },
    B: { 2: [{ submit: 5 }, { submit: 4 }, { hold: true }], review: [{ nominate: 'e4' }] },
    contract: { budgets: { total: '5m', review: '30s', experiments: 4 } },
  });
  const run = at.start('run');
  expect(await run.exit, run.text()).toBe(0);
  const text = run.text();
  expect(text).toMatch(/── option 1 · A alpha ─/);
  expect(text).toMatch(/e1 {3}accepted {9}1 .* first candidate {2}the first\n/);
  expect(text).toMatch(/e2 {3}rejected {2}non_finite: the score was NaN\n/);
  expect(text).toMatch(/── option 2 · B beta · handoff \d+\.\d\d s/);
  expect(text).toMatch(/e4 {3}accepted {9}5 .* new record \+150 %\n/);
  expect(text).toMatch(/── final review · A alpha looks at 4 candidates/);
  expect(text).toMatch(/★ e3 is the final candidate, by the reviewer alpha\n {12}the plan says so\n/);
  expect(text).toMatch(/── result ─+\n {2}final {5}e3/);
  expect(text).not.toContain('\u001b');

  expect(statusOf(at)).toMatchObject({
    phase: 'finished',
    final: { candidate: 'e3', by: 'reviewer' },
    record: 'e4',
    standing: 'e5',
    handoffs: { count: 1 },
  });
  expect(at.hma('log', '--session', '2').out).toContain('scripted agent, option 2');
  expect(at.hma('log').out).toContain('★ e3 is the final candidate');

  const selected = at.hma('select', 'e4', '--reason', 'the best score');
  expect(selected, selected.err).toMatchObject({
    exit: 0,
    out: 'e4 is the final candidate, until you clear it with hma select --clear.\n',
  });
  expect(statusOf(at).final).toEqual({ candidate: 'e4', by: 'person', reason: 'the best score' });
  expect(at.hma('select', 'e2', '--reason', 'x')).toMatchObject({
    exit: 2,
    err: expect.stringContaining('there is no candidate e2'),
  });
  expect(at.hma('select', '--clear', '--reason', 'the review was right').exit).toBe(0);
  expect(statusOf(at).final).toMatchObject({ candidate: 'e3', by: 'reviewer' });
});

test('a detached run takes intents, survives its controller, and is watched across that', async () => {
  await using at = await place({
    A: { 1: [{ submit: 1 }, { hold: true }], 3: [{ hold: true }] },
    B: { 2: [{ submit: 2 }, { hold: true }] },
    contract: { policy: { cap: 5 } },
  });
  const started = at.hma('run', '--detach', '--json');
  expect(started.exit, started.err).toBe(0);
  const { run, runFolder } = startedOutput.parse(JSON.parse(started.out));
  const watch = at.start('watch');
  await watch.says('e1   accepted');

  expect(at.hma('run')).toMatchObject({ exit: 5 });
  expect(at.hma('list').out).toMatch(new RegExp(`${run} +exploring`));

  expect(at.hma('pause')).toMatchObject({ exit: 0, out: expect.stringContaining('its clock stands') });
  await watch.says('paused by ');
  expect(statusOf(at)).toMatchObject({ live: true, pause: { reason: 'requested' } });
  expect(at.hma('resume').exit).toBe(0);
  await watch.says('goes on (');

  expect(at.hma('budget', '--add', '1h', '--experiments', '9').exit).toBe(0);
  expect(statusOf(at).budgets).toMatchObject({ totalMs: 3_900_000, experiments: 9 });
  expect(at.hma('budget', '--total', '20s')).toMatchObject({
    exit: 2,
    err: expect.stringContaining('Nothing was changed'),
  });

  const { pid } = JSON.parse(readFileSync(join(runFolder, 'endpoint.json'), 'utf8')) as { pid: number };
  process.kill(pid, 'SIGKILL');
  await watch.says('the controller started again');

  expect(at.hma('handoff').exit).toBe(0);
  await watch.says(/option 2 · B beta · handoff/);
  await watch.says('e2   accepted');
  expect(at.hma('select', 'e1', '--reason', 'for now').exit).toBe(0);
  expect(at.hma('stop').exit).toBe(64);
  expect(at.hma('stop', '--yes').exit).toBe(0);
  expect(await watch.exit, watch.text()).toBe(0);
  expect(watch.text()).toMatch(/final {5}e1 .*\n {12}selected by \S+: for now\n/);
  expect(at.hma('pause')).toMatchObject({ exit: 2 });
});

test('without a terminal an interrupt detaches: the run goes on', async () => {
  await using at = await place({ A: { 1: [{ submit: 1 }, { hold: true }] }, B: {} });
  const run = at.start('run', '--json');
  await run.says('"experiment.accepted"');
  run.process.kill('SIGINT');
  expect(await run.exit).toBe(8);
  const events = run
    .out()
    .trimEnd()
    .split('\n')
    .map((line) => eventLine.parse(JSON.parse(line)));
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(statusOf(at)).toMatchObject({ live: true, phase: 'exploring' });
  expect(at.hma('stop', '--yes', '--json').exit).toBe(0);
});

test('inside a session the same command is the light one, from any folder of the workspace', async () => {
  const program =
    "const { spawnSync } = require('node:child_process'); require('node:fs').mkdirSync('deep/er', { recursive: true }); const said = spawnSync('hma', ['status', '--json'], { cwd: 'deep/er', encoding: 'utf8' }); console.log('DEEP', said.status, said.stdout); const full = spawnSync(process.execPath, [process.argv[1], 'status', '--json'], { encoding: 'utf8' }); console.log('FULL', full.status, full.stdout);";
  await using at = await place({
    A: { 1: [{ run: [process.execPath, '-e', program, join(dist, 'cli.js')] }, { submit: 1 }, { hold: true }] },
    B: {},
  });
  mkdirSync(join(at.folders.workspace, 'deep'));
  expect(at.hma('run', '--detach').exit).toBe(0);
  const watch = at.start('watch');
  await watch.says('e1   accepted');
  const said = at.hma('log', '--session', '1').out;
  expect(said).toMatch(/DEEP 0 \{.*"agent":"alpha","option":1/);
  expect(said).toMatch(/FULL 0 \{.*"role":"explore"/);
  at.hma('stop', '--yes');
  expect(await watch.exit).toBe(0);
});

test('tab completion: the script registers itself in bash, and knows commands, options and their values', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hma-completion-'));
  try {
    symlinkSync(join(dist, 'cli.js'), join(folder, 'hma'));
    const bash = (script: string): string =>
      spawnSync('bash', ['-c', script], {
        env: { PATH: `${folder}:${dirname(process.execPath)}:/usr/bin:/bin`, HOME: folder },
        encoding: 'utf8',
      }).stdout;
    expect(bash('source <(hma completion bash) && complete -p hma')).toMatch(/-F \S+ hma$/m);
    expect(bash('hma complete -- cand')).toContain('candidates\tall candidates');
    expect(bash('hma complete -- candidates --so')).toContain('--sort');
    expect(bash('hma complete -- candidates --sort ""')).toContain('grade');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
