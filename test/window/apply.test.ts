import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { applyCandidate, type ApplyWish } from '../../src/client/apply.ts';
import type { RunView } from '../../src/client/readRun.ts';
import { runFiles } from '../../src/ledger/places.ts';
import { accepted, history, opened, optionFacts, stateOf } from '../cli/history.ts';
import { contentsOf, newFolder, open, write, type FileSpec } from '../snapshots/folders.ts';

type Files = Readonly<Record<string, FileSpec>>;

/** A run on disk with these candidates (e1, e2, …), over a workspace with these files. */
async function aRun(workspaceFiles: Files, ...candidates: readonly Files[]) {
  const base = newFolder();
  const [workspace, folder] = [join(base, 'work space'), join(base, 'run')];
  mkdirSync(workspace);
  write(workspace, workspaceFiles);
  const store = await open({ dir: runFiles(folder).snapshots });
  const facts = [[0, opened()] as const, optionFacts.open(1, 1, 'A')];
  const state = stateOf(
    history(
      ...facts,
      ...candidates.flatMap((_, index) =>
        accepted(200 * (index + 1), {
          id: `e${index + 1}`,
          option: 1,
          agent: 'A',
          score: index,
          note: 'a <b>note</b>',
        }),
      ),
    ),
  );
  const archive = await Promise.all(
    candidates.map(async (files, index) => {
      const root = join(base, `c${index}`);
      mkdirSync(root);
      write(root, files);
      const taken = await store.capture({ root, include: ['.'], kind: 'candidate', ref: `e${index + 1}` });
      if (!taken.ok) throw new Error(taken.refusal.detail);
      return { ...state.archive[index]!, snapshot: taken.value.id };
    }),
  );
  const view: RunView = {
    place: { run: state.run, folder, home: base, workspace },
    state: { ...state, workspace, archive },
    live: false,
    lastActive: 0,
    problems: [],
  };
  const apply = async (wish: Partial<ApplyWish> = {}, seen = view) =>
    await applyCandidate(seen, {
      candidate: null,
      target: { to: 'workspace' },
      dryRun: false,
      overwrite: false,
      env: process.env,
      ...wish,
    });
  return { base, workspace, folder, view, apply };
}

/** The person's own git, with nothing of this machine's configuration. */
const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=Eve', '-c', 'user.email=eve@example.org', ...args], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** All of a repository that must not change: HEAD, index and refs as bytes, the work tree, stashes. */
const repositoryOf = (workspace: string, root = workspace) => ({
  head: readFileSync(join(root, '.git/HEAD'), 'utf8'),
  index: existsSync(join(root, '.git/index')) ? readFileSync(join(root, '.git/index'), 'base64') : null,
  refs: git(root, 'for-each-ref', '--format=%(refname) %(objectname)')
    .split('\n')
    .filter((line) => !line.startsWith('refs/heads/hma/')),
  files: Object.fromEntries(Object.entries(contentsOf(root)).filter(([path]) => !path.startsWith('.git/'))),
});

test('the final candidate comes into the workspace; other files stay', async () => {
  const { workspace, apply } = await aRun(
    { 'a.txt': 'one\n', 'mine.txt': 'mine\n' },
    { 'a.txt': 'one\n' },
    { 'a.txt': 'two\n', 'sub/run.sh': { run: '#!/bin/sh\n' }, 'to-a': { link: 'a.txt' } },
  );
  const planned = await apply({ dryRun: true });
  expect(planned).toMatchObject({
    ok: true,
    value: {
      candidate: 'e2',
      changes: [
        { path: 'a.txt', change: 'changed', lost: false },
        { path: 'sub/run.sh', change: 'added', lost: false },
        { path: 'to-a', change: 'added', lost: false },
      ],
    },
  });
  expect(contentsOf(workspace)).toEqual({ 'a.txt': 'file one\n', 'mine.txt': 'file mine\n' });
  expect(await apply()).toMatchObject({ ok: true, value: { kept: null } });
  expect(contentsOf(workspace)).toEqual({
    'a.txt': 'file two\n',
    'mine.txt': 'file mine\n',
    'sub/run.sh': 'run #!/bin/sh\n',
    'to-a': 'link a.txt',
  });
  expect(await apply()).toMatchObject({ ok: true, value: { changes: [], unchanged: 3 } });
});

test('what stands in no commit and no candidate is not overwritten, and with --overwrite a copy is kept', async () => {
  const { workspace, apply, folder } = await aRun({ 'a.txt': 'my evening of work\n' }, { 'a.txt': 'one\n' });
  expect(await apply({ dryRun: true })).toMatchObject({
    ok: true,
    value: { changes: [{ path: 'a.txt', lost: true }] },
  });
  expect(await apply()).toMatchObject({ ok: false, refusal: { code: 'unsaved_work' } });
  expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('my evening of work\n');
  const done = await apply({ overwrite: true });
  expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('one\n');
  const kept = done.ok ? done.value.kept : null;
  expect(kept).toContain(join(folder, 'overwritten'));
  expect(contentsOf(kept ?? '')).toEqual({ 'a.txt': 'file my evening of work\n' });
});

test('committed content may be overwritten; changed since it may not', async () => {
  const { workspace, apply } = await aRun({ 'sub/a.txt': 'committed\n' }, { 'sub/a.txt': 'one\n' });
  git(workspace, 'init', '-q');
  git(workspace, 'add', '.');
  git(workspace, 'commit', '-qm', 'first');
  expect(await apply({ dryRun: true })).toMatchObject({ ok: true, value: { changes: [{ lost: false }] } });
  writeFileSync(join(workspace, 'sub/a.txt'), 'changed since\n');
  expect(await apply()).toMatchObject({ ok: false, refusal: { code: 'unsaved_work' } });
});

test('a link or folder in the way is never followed or replaced', async () => {
  const { base, workspace, apply } = await aRun({}, { 'sub/a.txt': 'one\n' });
  const outside = join(base, 'outside');
  mkdirSync(outside);
  symlinkSync(outside, join(workspace, 'sub'));
  expect(await apply({ overwrite: true })).toMatchObject({ ok: false, refusal: { code: 'in_the_way' } });
  expect(readdirSync(outside)).toEqual([]);
  rmSync(join(workspace, 'sub'));
  mkdirSync(join(workspace, 'sub/a.txt'), { recursive: true });
  expect(await apply({ overwrite: true })).toMatchObject({ ok: false, refusal: { code: 'in_the_way' } });
  expect(lstatSync(join(workspace, 'sub/a.txt')).isDirectory()).toBe(true);
});

test('while agents work in the workspace nothing is applied to it', async () => {
  const { view, apply, base } = await aRun({}, { 'a.txt': 'one\n' });
  const living = { ...view, live: true };
  expect(await apply({}, living)).toMatchObject({ ok: false, refusal: { code: 'running' } });
  expect(await apply({ target: { to: 'folder', folder: join(base, 'out') } }, living)).toMatchObject({ ok: true });
});

test('a new folder gets the candidate whole; a used one is refused', async () => {
  const { base, apply } = await aRun({}, { 'a.txt': 'one\n', 'b/c.bin': Buffer.from([0, 255, 10]) });
  const folder = join(base, 'out');
  expect(await apply({ candidate: 'e1', target: { to: 'folder', folder } })).toMatchObject({
    ok: true,
    value: { where: folder },
  });
  expect(contentsOf(folder)).toEqual({ 'a.txt': 'file one\n', 'b/c.bin': 'file \u0000\u00ff\n' });
  expect(await apply({ target: { to: 'folder', folder } })).toMatchObject({
    ok: false,
    refusal: { code: 'not_empty' },
  });
});

test('no candidate, or an unknown one, is said', async () => {
  const none = await aRun({});
  expect(await none.apply()).toMatchObject({ ok: false, refusal: { exit: 'noCandidate' } });
  const one = await aRun({}, { a: '1' });
  expect(await one.apply({ candidate: 'e9' })).toMatchObject({ ok: false, refusal: { code: 'unknown_candidate' } });
});

/** A repository whose configuration would start programs and change bytes, in which the workspace is a subfolder with staged and changed work. */
async function aHostileRepository() {
  const run = await aRun(
    { 'solution/a.txt': 'old\r\n', 'other.txt': 'other\n' },
    { 'solution/a.txt': 'new\r\n', 'solution/run.sh': { run: '#!/bin/sh\n' }, 'solution/to-a': { link: 'a.txt' } },
  );
  const { base, workspace } = run;
  const trap = join(base, 'sprung');
  git(base, 'init', '-q');
  writeFileSync(join(base, '.gitignore'), 'run\nc0\n*.sh\n');
  git(base, 'add', '.gitignore', 'work space');
  git(base, 'commit', '-qm', 'first');
  writeFileSync(join(base, '.gitattributes'), '* text eol=lf filter=evil\n');
  const hook = `#!/bin/sh\ntouch "${trap}-$(basename "$0")"\n`;
  for (const name of ['reference-transaction', 'post-index-change', 'pre-commit', 'post-commit'])
    writeFileSync(join(base, '.git/hooks', name), hook, { mode: 0o755 });
  for (const [key, value] of [
    ['filter.evil.clean', `touch '${trap}-filter'; cat`],
    ['core.fsmonitor', join(base, 'monitor.sh')],
    ['commit.gpgSign', 'true'],
    ['core.autocrlf', 'input'],
  ] as const)
    git(base, 'config', key, value);
  writeFileSync(join(base, 'monitor.sh'), `#!/bin/sh\ntouch '${trap}-monitor'\n`, { mode: 0o755 });
  write(workspace, { 'staged.txt': 'staged\n' });
  git(
    base,
    '-c',
    'core.hooksPath=/dev/null',
    '-c',
    'core.fsmonitor=false',
    '-c',
    'filter.evil.clean=cat',
    'add',
    'work space/staged.txt',
  );
  writeFileSync(join(workspace, 'other.txt'), 'changed\n');
  return { ...run, sprung: () => readdirSync(base).filter((name) => name.startsWith('sprung')) };
}

test('a branch holds HEAD with the candidate; HEAD, index, work tree and hooks are left alone', async () => {
  const { base, workspace, apply, sprung } = await aHostileRepository();
  const before = repositoryOf(workspace, base);
  const objects = readdirSync(join(base, '.git/objects'));
  const wish = { target: { to: 'branch', branch: 'hma/e1' } } as const;
  expect(await apply({ ...wish, dryRun: true })).toMatchObject({
    ok: true,
    value: {
      commit: null,
      changes: [
        { path: 'solution/a.txt', change: 'changed' },
        { path: 'solution/run.sh', change: 'added' },
        { path: 'solution/to-a', change: 'added' },
      ],
    },
  });
  expect(readdirSync(join(base, '.git/objects'))).toEqual(objects);
  const made = await apply(wish);
  expect(made).toMatchObject({ ok: true, value: { where: 'hma/e1' } });
  expect(repositoryOf(workspace, base)).toEqual(before);
  expect(sprung()).toEqual([]);
  expect(
    git(base, 'diff', '--raw', '--no-abbrev', 'HEAD', 'hma/e1')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => [line.split(' ')[1], line.split('\t')[1]]),
  ).toEqual([
    ['100644', 'work space/solution/a.txt'],
    ['100755', 'work space/solution/run.sh'],
    ['120000', 'work space/solution/to-a'],
  ]);
  expect(git(base, 'cat-file', 'blob', 'hma/e1:work space/solution/a.txt')).toBe('new\r\n');
  expect(git(base, 'log', '-1', '--format=%an|%cn|%P|%s', 'hma/e1')).toBe(
    `ada (HMA)|HMA|${git(base, 'rev-parse', 'HEAD').trim()}|houses: candidate e1, rmse 0\n`,
  );
});

test('an existing branch, a bad name and a folder without git are refused', async () => {
  const { workspace, apply } = await aRun({ 'a.txt': 'one\n' }, { 'a.txt': 'two\n' });
  const to = async (branch: string) => await apply({ target: { to: 'branch', branch } });
  expect(await to('x')).toMatchObject({ ok: false, refusal: { code: 'no_repository' } });
  git(workspace, 'init', '-q');
  expect(await to('-x')).toMatchObject({ ok: false, refusal: { code: 'bad_branch' } });
  expect(await to('a..b')).toMatchObject({ ok: false, refusal: { code: 'bad_branch' } });
  // no commit yet: the branch has no parent
  expect(await to('hma/first')).toMatchObject({ ok: true });
  expect(git(workspace, 'log', '--format=%P|%s', 'hma/first')).toContain('|houses');
  expect(await to('hma/first')).toMatchObject({ ok: false, refusal: { code: 'branch_exists' } });
  // a folder of that name among the refs
  expect(await to('hma')).toMatchObject({ ok: false, refusal: { code: 'git_failed' } });
});
