import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contentsOf, newFolder, rig, write } from './folders.ts';

describe('a candidate comes back byte for byte', () => {
  test('with modes, links, empty folders, odd names, ignored files, CRLF and nested repositories', async () => {
    const { workspace, dir, taken, restored, store } = await rig({
      'src/train.py': 'print(1)\r\nprint(2)\n',
      'run.sh': { run: '#!/bin/sh\n' },
      'a link': { link: '/etc/passwd' },
      dangling: { link: 'nowhere/ä' },
      'spaces and\nnewline "quote" \\back\ttab': 'odd',
      'ünï/日本.txt': 'unicode',
      '%percent/%.git': 'percent',
      '.gitignore': '*.bin\nignored/\n',
      '.gitattributes': '* text=auto filter=evil\n',
      '.gitmodules': '[submodule "x"]\n',
      'model.bin': Buffer.from([0, 255, 13, 10, 0]),
      'ignored/x': 'kept',
      empty: '',
    });
    mkdirSync(join(workspace, 'empty folder/inner'), { recursive: true });
    writeFileSync(Buffer.concat([Buffer.from(join(workspace, 'bad-')), Buffer.from([0xff, 0xfe, 0x80])]), 'not utf-8');
    git(join(workspace, 'nested'), 'init', '-q');
    write(workspace, { 'nested/f': 'inner', 'nested/.GIT2': 'x' });
    const snapshot = await taken();
    const target = await restored(snapshot.id);
    expect(contentsOf(target)).toEqual(contentsOf(workspace));
    expect(Object.keys(contentsOf(target))).toContain('nested/.git/HEAD');
    expect(contentsOf(target)['empty folder/inner']).toBe('folder');
    expect(await store.verify(snapshot.id)).toEqual([]);
    // newer gits refuse such trees altogether, so ours must hold none
    git(workspace, '--git-dir', join(dir, 'repo.git'), 'fsck', '--strict', '--no-dangling');
    expect(snapshot.files).toBe((await store.entries(snapshot.id)).length);
  });
  test('large files go once to the content store, sparse ones cheaply', async () => {
    const big = Buffer.alloc(9 * 1024 * 1024, 'abcdefg');
    const { workspace, dir, taken, restored, store } = await rig({ 'model.pt': big, 'copy.pt': big, 'small.txt': 'x' });
    writeFileSync(join(workspace, 'sparse'), '');
    truncateSync(join(workspace, 'sparse'), 200 * 1024 * 1024);
    const snapshot = await taken();
    expect(snapshot.bytes).toBe(2 * big.length + 1 + 200 * 1024 * 1024);
    const stored = execFileSync('ls', [join(dir, 'large')], { encoding: 'utf8' })
      .trim()
      .split('\n');
    expect(stored.length).toBe(2);
    const blocks = stored.reduce((sum, name) => sum + statSync(join(dir, 'large', name)).blocks * 512, 0);
    expect(blocks).toBeLessThan(10 * 1024 * 1024);
    expect(stored.map((name) => statSync(join(dir, 'large', name)).nlink)).toEqual([1, 1]);
    const target = await restored(snapshot.id);
    expect(readFileSync(join(target, 'model.pt')).equals(big)).toBe(true);
    expect(statSync(join(target, 'sparse')).size).toBe(200 * 1024 * 1024);
    expect((await store.read(snapshot.id, 'copy.pt')).equals(big)).toBe(true);
    expect(await store.verify(snapshot.id)).toEqual([]);
  });
});

test('equal files give the same id and content hash; a byte, a mode or a name more gives another', async () => {
  const { workspace, taken } = await rig({ a: '1', b: '2' });
  const first = await taken();
  expect(await taken()).toEqual(first);
  const hashes = new Set([first.contentHash]);
  for (const change of ['printf 3 > a', 'chmod +x b', 'mv b c', 'ln -s a l']) {
    execFileSync('sh', ['-c', change], { cwd: workspace });
    hashes.add((await taken()).contentHash);
  }
  expect(hashes.size).toBe(5);
  mkdirSync(join(workspace, 'hollow'));
  expect(hashes.has((await taken()).contentHash)).toBe(true);
});

describe('what is taken', () => {
  const files = {
    'a.py': '1',
    'sub/b.py': '2',
    'sub/c.txt': '3',
    '.hma/owner.json': '{}',
    '[x].py': '4',
    'sub/.git/HEAD': 'ref',
    '.git/HEAD': 'ref',
  };
  test.each([
    [['.'], [], ['[x].py', 'a.py', 'sub/.git/HEAD', 'sub/b.py', 'sub/c.txt']],
    [['*.py'], [], ['[x].py', 'a.py']],
    [['**/*.py'], [], ['[x].py', 'a.py', 'sub/b.py']],
    [['[x].py'], [], ['[x].py']],
    [['./sub/'], ['**/*.txt'], ['sub/.git/HEAD', 'sub/b.py']],
    [['sub', 'sub/b.py', '*.py'], ['sub/.git'], ['[x].py', 'a.py', 'sub/b.py', 'sub/c.txt']],
    [['s*'], ['sub/.git'], ['sub/b.py', 'sub/c.txt']],
  ])('include %j exclude %j', async (include, exclude, expected) => {
    const { taken, store } = await rig(files);
    const { id } = await taken({ include, exclude });
    expect((await store.entries(id)).map(({ path }) => path)).toEqual(expected);
  });
});

describe('refusals', () => {
  const reason = async (
    files: Parameters<typeof rig>[0],
    request: Parameters<Awaited<ReturnType<typeof rig>>['capture']>[0],
    prepare?: (workspace: string) => void,
  ) => {
    const { workspace, capture } = await rig(files);
    prepare?.(workspace);
    const result = await capture(request);
    return result.ok ? 'taken' : [result.refusal.reason, result.refusal.path];
  };
  test('missing: a path or glob that matches nothing', async () => {
    expect(await reason({ a: '' }, { include: ['a', 'b/c'] })).toEqual(['missing', 'b/c']);
    expect(await reason({ a: '' }, { include: ['*.py'] })).toEqual(['missing', '*.py']);
    expect(await reason({ a: '' }, { include: ['a/b'] })).toEqual(['missing', 'a/b']);
  });
  test.each(['..', '../x', 'a/../../x', '/etc', ''])('outside: %j', async (spec) => {
    expect(await reason({ a: '' }, { include: [spec] })).toEqual(['outside', spec]);
  });
  test('outside: through a linked folder, also by glob; the link itself is kept as a link', async () => {
    const files = { out: { link: '/etc' } } as const;
    expect(await reason(files, { include: ['out/passwd'] })).toEqual(['outside', 'out']);
    expect(await reason(files, { include: ['out/*'] })).toEqual(['outside', 'out']);
    expect(await reason(files, { include: ['out'] })).toBe('taken');
  });
  test('outside: a workspace that is reached through a link', async () => {
    const { workspace, base, capture } = await rig({ a: '' });
    write(base, { alias: { link: workspace } });
    expect(await capture({ root: join(base, 'alias') })).toMatchObject({ ok: false, refusal: { reason: 'outside' } });
  });
  test('special_file: FIFO and device, without opening them; a socket too', async () => {
    const make =
      (command: string, ...args: string[]) =>
      (workspace: string) =>
        execFileSync(command, [join(workspace, 'd/special'), ...args]);
    expect(await reason({ 'd/a': '' }, {}, make('mkfifo'))).toEqual(['special_file', 'd/special']);
    if (process.getuid?.() === 0)
      expect(await reason({ 'd/a': '' }, {}, make('mknod', 'c', '1', '3'))).toEqual(['special_file', 'd/special']);
    const { workspace, capture } = await rig({ a: '' });
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(workspace, 's'), resolve));
    expect(await capture()).toMatchObject({ ok: false, refusal: { reason: 'special_file', path: 's' } });
    await new Promise((resolve) => server.close(resolve));
  });
  test('too_large: by bytes (a sparse file by its apparent size) and by count, before a byte is read', async () => {
    const limits = { bytes: 1000, files: 2 };
    expect(await reason({ a: 'x'.repeat(1001) }, { limits })).toEqual(['too_large', 'a']);
    expect(await reason({ a: '', b: '', c: '' }, { limits })).toEqual(['too_large', 'c']);
    expect(await reason({ a: '' }, { limits }, (workspace) => truncateSync(join(workspace, 'a'), 1e12))).toEqual([
      'too_large',
      'a',
    ]);
    expect(await reason({ a: '', b: '' }, { limits })).toBe('taken');
  });
});

test('the store goes on after refusals', async () => {
  const { workspace, capture, taken } = await rig({ a: '1' });
  execFileSync('mkfifo', [join(workspace, 'fifo')]);
  expect((await capture()).ok).toBe(false);
  unlinkSync(join(workspace, 'fifo'));
  expect((await taken()).files).toBe(1);
});

test('captures asked for at once are done one after the other, and each is right', async () => {
  const { workspace, capture, store } = await rig({ a: '1' });
  write(workspace, Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`d${at}/f`, `content ${at}`])));
  const results = await Promise.all(Array.from({ length: 40 }, (_, at) => capture({ include: [`d${at}`] })));
  for (const [at, result] of results.entries()) {
    if (!result.ok) throw new Error(result.refusal.detail);
    expect((await store.read(result.value.id, `d${at}/f`)).toString()).toBe(`content ${at}`);
  }
});

describe("the user's repository is never touched", () => {
  const state = (repo: string) => ({
    files: contentsOf(join(repo, '.git')),
    stash: git(repo, 'stash', 'list'),
    head: git(repo, 'rev-parse', 'HEAD'),
  });
  test.each(['candidate', 'workspace'] as const)(
    '%s, with a held index.lock, a detached HEAD, a stash, a hostile config and no identity',
    async (kind) => {
      const { workspace, taken, restored } = await rig({ 'a.txt': 'one\r\n', 'b.txt': 'b' });
      const evil = join(newFolder(), 'ran');
      git(workspace, 'init', '-q');
      git(workspace, 'add', '.');
      git(workspace, '-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-qm', 'c');
      git(workspace, 'checkout', '-q', '--detach');
      write(workspace, { 'b.txt': 'stashed' });
      git(workspace, '-c', 'user.name=x', '-c', 'user.email=x@x', 'stash');
      write(workspace, {
        '.gitattributes': '* filter=evil text eol=lf\n',
        '.gitignore': 'untracked.bin\n',
        'untracked.bin': '\0',
      });
      for (const key of ['filter.evil.clean', 'filter.evil.process', 'core.fsmonitor', 'diff.external'])
        git(workspace, 'config', key, `touch ${evil}; cat`);
      writeFileSync(join(workspace, '.git/index.lock'), '');
      const before = state(workspace);
      const { id } = await taken({ kind });
      expect(state(workspace)).toEqual(before);
      expect(existsSync(evil)).toBe(false);
      const target = await restored(id);
      expect(readFileSync(join(target, 'a.txt'), 'latin1')).toBe('one\r\n');
      expect(existsSync(join(target, 'untracked.bin'))).toBe(kind === 'candidate');
      expect(existsSync(join(target, '.git'))).toBe(false);
    },
  );
});

test('nothing of our environment and of HOME reaches git', async () => {
  const home = newFolder();
  write(home, { '.gitconfig': '[broken', '.config/git/ignore': 'a\n', '.config/git/attributes': '* binary\n' });
  const saved = { ...process.env };
  Object.assign(process.env, {
    HOME: home,
    GIT_DIR: '/nowhere',
    GIT_INDEX_FILE: '/nowhere',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.bare',
    GIT_CONFIG_VALUE_0: 'x',
  });
  try {
    const { workspace, taken, store } = await rig({ a: '1' });
    const first = await taken();
    write(workspace, { a: '2' });
    const second = await taken();
    expect(await store.patch(first.id, second.id)).toContain('+2');
    expect((await taken({ kind: 'workspace' })).files).toBe(1);
  } finally {
    for (const key of Object.keys(process.env)) if (!(key in saved)) delete process.env[key];
    Object.assign(process.env, saved);
  }
});

function git(cwd: string, ...args: string[]): string {
  mkdirSync(cwd, { recursive: true });
  const env = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', args, { cwd, env, encoding: 'utf8' });
}
