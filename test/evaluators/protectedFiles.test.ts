import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { restoreProtected } from '../../src/evaluators/placement.ts';
import {
  checkProtected,
  loadProtected,
  protectFiles,
  type ProtectedFiles,
} from '../../src/evaluators/protectedFiles.ts';
import { aFolder, write } from './folders.ts';

const aWorkspace = (): string =>
  write(join(aFolder(), 'w'), {
    'hma.yaml': 'objective: x',
    'evaluate.mjs': 'evaluate',
    'data/train.csv': 'a,b\r\n1,2\r\n',
    'data/deep/ünï cödé\n.txt': 'odd',
    'solution/model.mjs': 'model',
    'solution/notes.md': 'notes',
  });

async function protectedIn(
  workspace: string,
  patterns: readonly string[],
  parts: { largeBytes?: number } = {},
): Promise<ProtectedFiles> {
  const stored = await protectFiles({ workspace, patterns, store: join(aFolder(), 'protected'), ...parts });
  if (!stored.ok) throw new Error(stored.refusal.detail);
  return stored.value;
}

const refusalOf = async (workspace: string, ...patterns: string[]) => {
  const stored = await protectFiles({ workspace, patterns, store: join(aFolder(), 'protected') });
  return stored.ok ? null : stored.refusal;
};

const pathsOf = (files: ProtectedFiles): string[] => files.files.map((file) => file.path);

describe('what is protected', () => {
  it('is what paths, folders and globs name, each once, without .hma and the git folder', async () => {
    const workspace = write(aWorkspace(), {
      '.hma/owner.json': '{}',
      '.git/HEAD': 'ref',
      'solution/.git/HEAD': 'nested',
    });
    expect(pathsOf(await protectedIn(workspace, ['hma.yaml', './data/', 'data/train.csv', '*.mjs']))).toEqual([
      'data/deep/ünï cödé\n.txt',
      'data/train.csv',
      'evaluate.mjs',
      'hma.yaml',
    ]);
    expect(pathsOf(await protectedIn(workspace, ['**/*.md', 'solu*']))).toEqual([
      'solution/.git/HEAD',
      'solution/model.mjs',
      'solution/notes.md',
    ]);
    expect(pathsOf(await protectedIn(workspace, ['.']))).not.toContain('.hma/owner.json');
  });

  it('takes a path that looks like a glob for what it is', async () => {
    const workspace = write(aWorkspace(), { 'a[1].txt': 'x', 'a1.txt': 'y' });
    expect(pathsOf(await protectedIn(workspace, ['a[1].txt']))).toEqual(['a[1].txt']);
  });

  it('keeps links as links, never follows one out, and takes the target of one that stays inside', async () => {
    const workspace = aWorkspace();
    write(join(workspace, '..'), { 'outside/secret.txt': 'secret' });
    symlinkSync('../../outside', join(workspace, 'data', 'out'));
    symlinkSync('solution/model.mjs', join(workspace, 'entry.mjs'));
    symlinkSync('.', join(workspace, 'data', 'loop'));
    const files = await protectedIn(workspace, ['data/out', 'entry.mjs']);
    expect(files.files.map((file) => [file.path, file.kind])).toEqual([
      ['data/out', 'link'],
      ['entry.mjs', 'link'],
      ['solution/model.mjs', 'file'],
    ]);
    expect(pathsOf(await protectedIn(workspace, ['data']))).toEqual([
      'data/deep/ünï cödé\n.txt',
      'data/loop',
      'data/out',
      'data/train.csv',
    ]);
  });

  it('is refused, with what to do, where it can not be kept', async () => {
    const workspace = aWorkspace();
    symlinkSync('solution', join(workspace, 'alias'));
    spawnSync('mkfifo', [join(workspace, 'data', 'pipe')]);
    expect(await refusalOf(workspace, 'nothing.txt')).toEqual({
      path: 'nothing.txt',
      detail: `the protected path \`nothing.txt\` matches nothing in ${workspace}; correct or remove it`,
    });
    expect((await refusalOf(workspace, '**/*.parquet'))?.detail).toContain('matches nothing');
    expect((await refusalOf(workspace, '../w/hma.yaml'))?.detail).toContain('leaves the workspace');
    expect((await refusalOf(workspace, '/etc/passwd'))?.detail).toContain('leaves the workspace');
    expect(await refusalOf(workspace, 'alias/model.mjs')).toEqual({
      path: 'alias/model.mjs',
      detail: 'the protected path `alias/model.mjs` goes through the symbolic link `alias`; name the real path instead',
    });
    expect(await refusalOf(workspace, 'data')).toMatchObject({
      path: 'data/pipe',
      detail: expect.stringContaining('FIFO') as string,
    });
  });
});

describe('storing', () => {
  it('happens once: a later call returns what was stored then, byte for byte', async () => {
    const workspace = aWorkspace();
    const request = { workspace, patterns: ['data', 'evaluate.mjs'], store: join(aFolder(), 'protected') };
    const first = await protectFiles(request);
    writeFileSync(join(workspace, 'evaluate.mjs'), 'forged');
    expect(await protectFiles(request)).toEqual(first);
    expect(await loadProtected(request.store)).toEqual(first);
    const copies = readdirSync(join(request.store, 'files'));
    expect(copies.map((name) => readFileSync(join(request.store, 'files', name), 'utf8')).toSorted()).toEqual([
      'a,b\r\n1,2\r\n',
      'evaluate',
      'odd',
    ]);
  });

  it('copies a file of several megabytes whole', async () => {
    const workspace = aWorkspace();
    const bytes = Buffer.from(Array.from({ length: 700_000 }, (_, index) => `${index} `).join(''));
    writeFileSync(join(workspace, 'big.bin'), bytes);
    const files = await protectedIn(workspace, ['big.bin']);
    const [entry] = files.files;
    expect(entry).toMatchObject({
      kind: 'file',
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    });
    const [copy] = readdirSync(join(files.store, 'files'));
    expect(readFileSync(join(files.store, 'files', copy ?? '')).equals(bytes)).toBe(true);
  });

  it('finishes a job that a crash cut short', async () => {
    const workspace = aWorkspace();
    const store = join(aFolder(), 'protected');
    write(store, { 'files/.9-half': 'ha', 'protected.json.9': '{"sch' });
    expect(await loadProtected(store)).toEqual({ ok: true, value: null });
    expect(await protectFiles({ workspace, patterns: ['hma.yaml'], store })).toMatchObject({
      ok: true,
      value: { files: [{ path: 'hma.yaml' }] },
    });
  });

  it('refuses a damaged store instead of taking the workspace of now for pristine', async () => {
    const workspace = aWorkspace();
    const request = { workspace, patterns: ['evaluate.mjs'], store: join(aFolder(), 'protected') };
    await protectFiles(request);
    const [copy] = readdirSync(join(request.store, 'files'));
    appendFileSync(join(request.store, 'files', copy ?? ''), 'x');
    expect(await protectFiles(request)).toMatchObject({
      ok: false,
      refusal: { detail: expect.stringContaining('cut short') as string },
    });
    writeFileSync(join(request.store, 'protected.json'), '{"schema":2}');
    expect(await protectFiles(request)).toMatchObject({
      ok: false,
      refusal: { detail: expect.stringContaining('damaged') as string },
    });
  });

  it('leaves a large file in place and knows it by its hash', async () => {
    const workspace = aWorkspace();
    const files = await protectedIn(workspace, ['data/train.csv', 'hma.yaml'], { largeBytes: 11 });
    expect(files.files.map((file) => [file.path, file.kind])).toEqual([
      ['data/train.csv', 'file'],
      ['hma.yaml', 'large'],
    ]);
    expect(readdirSync(join(files.store, 'files'))).toHaveLength(1);
    expect(await checkProtected(workspace, files)).toEqual([]);
    writeFileSync(join(workspace, 'hma.yaml'), 'objective: y');
    expect(await checkProtected(workspace, files)).toEqual([{ path: 'hma.yaml', change: 'changed' }]);
  });
});

describe('checking', () => {
  it('sees content, kind and absence, and nothing else', async () => {
    const workspace = aWorkspace();
    const files = await protectedIn(workspace, ['hma.yaml', 'evaluate.mjs', 'data', 'solution']);
    expect(await checkProtected(workspace, files)).toEqual([]);
    utimesSync(join(workspace, 'hma.yaml'), 1, 1);
    chmodSync(join(workspace, 'evaluate.mjs'), 0o600);
    expect(await checkProtected(workspace, files)).toEqual([]);

    const { atime, mtime } = statSync(join(workspace, 'hma.yaml'));
    writeFileSync(join(workspace, 'hma.yaml'), 'objective: y');
    utimesSync(join(workspace, 'hma.yaml'), atime, mtime);
    rmSync(join(workspace, 'evaluate.mjs'));
    rmSync(join(workspace, 'data', 'train.csv'));
    spawnSync('mkfifo', [join(workspace, 'data', 'train.csv')]);
    renameSync(join(workspace, 'solution'), join(workspace, 'elsewhere'));
    symlinkSync('elsewhere', join(workspace, 'solution'));
    expect(await checkProtected(workspace, files)).toEqual([
      { path: 'data/train.csv', change: 'changed' },
      { path: 'evaluate.mjs', change: 'removed' },
      { path: 'hma.yaml', change: 'changed' },
      { path: 'solution/model.mjs', change: 'changed' },
      { path: 'solution/notes.md', change: 'changed' },
    ]);
  });

  it('sees a link that points elsewhere, and a folder that became a file', async () => {
    const workspace = aWorkspace();
    symlinkSync('evaluate.mjs', join(workspace, 'link'));
    const files = await protectedIn(workspace, ['link', 'data/deep']);
    rmSync(join(workspace, 'link'));
    symlinkSync('hma.yaml', join(workspace, 'link'));
    rmSync(join(workspace, 'data'), { recursive: true });
    writeFileSync(join(workspace, 'data'), '');
    expect(await checkProtected(workspace, files)).toEqual([
      { path: 'data/deep/ünï cödé\n.txt', change: 'removed' },
      { path: 'link', change: 'changed' },
    ]);
  });

  it('sees an edit in place of equal length whose modification time was set back', async () => {
    const workspace = aWorkspace();
    const file = join(workspace, 'evaluate.mjs');
    utimesSync(file, 1000, 1000);
    const files = await protectedIn(workspace, ['evaluate.mjs']);
    const entry = files.files[0];
    if (entry?.kind !== 'file') throw new Error('not stored');
    const atRest = { ...files, files: [{ ...entry, stamp: { ...entry.stamp, settled: true } }] };
    expect(await checkProtected(workspace, atRest)).toEqual([]);
    // the change time moves with the clock's tick: edit until it has
    for (
      let edits = 0;
      edits < 100_000 && String(statSync(file, { bigint: true }).ctimeNs) === entry.stamp.ctimeNs;
      edits += 1
    ) {
      writeFileSync(file, 'evaluatE', { flag: 'r+' });
      utimesSync(file, 1000, 1000);
    }
    expect(await checkProtected(workspace, atRest)).toEqual([{ path: 'evaluate.mjs', change: 'changed' }]);
  });

  it('sees an edit of equal length in the same clock tick as the storing', async () => {
    const workspace = aWorkspace();
    const files = await protectedIn(workspace, ['evaluate.mjs']);
    const entry = files.files[0];
    if (entry?.kind !== 'file') throw new Error('not stored');
    writeFileSync(join(workspace, 'evaluate.mjs'), 'evaluatE');
    const now = statSync(join(workspace, 'evaluate.mjs'), { bigint: true });
    const stamp = { ...entry.stamp, mtimeNs: String(now.mtimeNs), ctimeNs: String(now.ctimeNs) };
    expect(stamp.settled).toBe(false);
    const sameTick = { ...files, files: [{ ...entry, stamp }] };
    expect(await checkProtected(workspace, sameTick)).toEqual([{ path: 'evaluate.mjs', change: 'changed' }]);
    // the same numbers from a file that had been at rest would have proved it unchanged: what makes a check cheap
    const atRest = { ...files, files: [{ ...entry, stamp: { ...stamp, settled: true } }] };
    expect(await checkProtected(workspace, atRest)).toEqual([]);
  });
});

describe('restoring', () => {
  it('puts back what was changed, removed, linked away or replaced, and moves work that is in the way aside', async () => {
    const workspace = aWorkspace();
    symlinkSync('evaluate.mjs', join(workspace, 'link'));
    chmodSync(join(workspace, 'evaluate.mjs'), 0o755);
    const files = await protectedIn(workspace, ['hma.yaml', 'evaluate.mjs', 'data', 'solution', 'link']);
    const outside = join(workspace, '..', 'outside');
    write(outside, { 'train.csv': 'not mine' });
    rmSync(join(workspace, 'data'), { recursive: true });
    symlinkSync(outside, join(workspace, 'data'));
    rmSync(join(workspace, 'evaluate.mjs'));
    write(workspace, { 'evaluate.mjs/work.txt': 'a folder in its place' });
    rmSync(join(workspace, 'solution'), { recursive: true });
    writeFileSync(join(workspace, 'solution'), 'a file in the place of a folder');
    rmSync(join(workspace, 'link'));

    const changed = (await checkProtected(workspace, files)).map((change) => change.path);
    expect(await restoreProtected(workspace, files, changed)).toEqual({ restored: changed, failed: [] });

    expect(await checkProtected(workspace, files)).toEqual([]);
    expect(readFileSync(join(outside, 'train.csv'), 'utf8')).toBe('not mine');
    expect(readdirSync(outside)).toEqual(['train.csv']);
    expect(lstatSync(join(workspace, 'data')).isDirectory()).toBe(true);
    expect(statSync(join(workspace, 'evaluate.mjs')).mode & 0o777).toBe(0o755);
    expect(readFileSync(join(workspace, 'evaluate.mjs.moved-1', 'work.txt'), 'utf8')).toBe('a folder in its place');
    expect(readFileSync(join(workspace, 'solution.moved-1'), 'utf8')).toBe('a file in the place of a folder');
    expect(readlinkSync(join(workspace, 'link'))).toBe('evaluate.mjs');
  });

  it('says what it can not put back', async () => {
    const workspace = aWorkspace();
    const files = await protectedIn(workspace, ['hma.yaml'], { largeBytes: 3 });
    rmSync(join(workspace, 'hma.yaml'));
    expect(await restoreProtected(workspace, files, ['hma.yaml', 'other'])).toEqual({
      restored: [],
      failed: [
        {
          path: 'hma.yaml',
          detail: '`hma.yaml` is larger than 1 GB, so no copy was kept; put the original back by hand',
        },
        { path: 'other', detail: '`other` is not a protected file of this run' },
      ],
    });
    expect(existsSync(join(workspace, 'hma.yaml'))).toBe(false);
    mkdirSync(join(workspace, 'hma.yaml'));
    expect(await checkProtected(workspace, files)).toEqual([{ path: 'hma.yaml', change: 'changed' }]);
  });
});
