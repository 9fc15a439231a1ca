import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contentsOf, newFolder, open, rig, write } from './folders.ts';

const big = Buffer.alloc(9 * 1024 * 1024, 'xyz\n');

test('any tree comes back byte for byte', async () => {
  const byte = fc.integer({ min: 1, max: 255 }).filter((value) => value !== 0x2f);
  const odd = fc.constantFrom(
    '.git',
    '.GIT',
    '%',
    '%.git',
    '.gitmodules',
    '.gitattributes',
    'a b',
    '\n',
    '"',
    '\\',
    '-x',
    'é',
    '😀',
    ':x',
    '[a]*',
    '~',
    'CON',
  );
  const name = fc
    .oneof(
      odd.map((text) => Buffer.from(text)),
      fc.array(byte, { minLength: 1, maxLength: 6 }).map((bytes) => Buffer.from(bytes)),
    )
    .filter((bytes) => !['.', '..'].includes(bytes.toString('latin1')));
  const leaf = fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map((bytes) => ({ kind: 'file' as const, bytes: Buffer.from(bytes) })),
    fc
      .array(byte, { minLength: 1, maxLength: 10 })
      .map((bytes) => ({ kind: 'link' as const, bytes: Buffer.from(bytes) })),
    fc.constant({ kind: 'folder' as const, bytes: Buffer.alloc(0) }),
  );
  const tree = fc.array(fc.record({ folders: fc.array(name, { maxLength: 3 }), name, leaf }), {
    minLength: 1,
    maxLength: 15,
  });
  await fc.assert(
    fc.asyncProperty(tree, async (nodes) => {
      const { workspace, taken, restored, store } = await rig();
      // inside a folder, since .git and .hma at the top are left out
      for (const node of nodes) build(Buffer.from(join(workspace, 'in')), node);
      if (!readdirSync(workspace).includes('in')) return;
      const { id } = await taken({ include: ['in'] });
      expect(contentsOf(await restored(id))).toEqual(contentsOf(workspace));
      expect(await store.verify(id)).toEqual([]);
      await store.patch(id, id);
    }),
    { numRuns: 25 },
  );
});

function build(root: Buffer, node: { folders: Buffer[]; name: Buffer; leaf: { kind: string; bytes: Buffer } }): void {
  const join2 = (parts: Buffer[]): Buffer =>
    Buffer.concat(parts.flatMap((part, at) => (at === 0 ? [part] : [Buffer.from('/'), part])));
  const target = join2([root, ...node.folders, node.name]);
  try {
    mkdirSync(join2([root, ...node.folders]), { recursive: true });
    if (node.leaf.kind === 'file') writeFileSync(target, node.leaf.bytes, { flag: 'wx' });
    else if (node.leaf.kind === 'link') symlinkSync(node.leaf.bytes, target);
    else mkdirSync(target);
  } catch (error) {
    // two generated paths may collide (a file where a folder is); the tree is what came of it
    if (
      !['EEXIST', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENOENT', 'EACCES', 'ENAMETOOLONG'].includes(
        (error as NodeJS.ErrnoException).code ?? '',
      )
    )
      throw error;
  }
}

describe('restore', () => {
  test('chosen paths only, in an empty folder that exists', async () => {
    const { taken, store } = await rig({ 'a/x': '1', 'a/y': '2', b: '3', 'c/z.py': '4' });
    const { id } = await taken();
    const target = newFolder();
    expect(await store.restore(id, target, { only: ['a', '**/*.py'] })).toEqual({
      ok: true,
      value: { files: 3, bytes: 3 },
    });
    expect(contentsOf(target)).toEqual({ 'a/x': 'file 1', 'a/y': 'file 2', 'c/z.py': 'file 4' });
    expect(await store.restore(id, join(newFolder(), 'n'), { only: ['a', 'zz'] })).toMatchObject({
      refusal: { reason: 'missing', path: 'zz' },
    });
  });
  test('below a folder that is reached through a link', async () => {
    const { taken, store, base } = await rig({ a: '1' });
    const { id } = await taken();
    write(base, { link: { link: newFolder() } });
    expect(await store.restore(id, join(base, 'link', 'r'))).toEqual({ ok: true, value: { files: 1, bytes: 1 } });
    expect(contentsOf(join(base, 'link', 'r'))).toEqual({ a: 'file 1' });
  });
  test('never into a folder with something in it, a file or through a link', async () => {
    const { taken, store, base } = await rig({ a: '1' });
    const { id } = await taken();
    const full = newFolder();
    write(full, { precious: 'p' });
    write(base, { file: '', link: { link: newFolder() } });
    for (const target of [full, join(base, 'file'), join(base, 'link')])
      expect(await store.restore(id, target)).toMatchObject({ ok: false, refusal: { reason: 'not_empty' } });
    expect(contentsOf(full)).toEqual({ precious: 'file p' });
    expect(await store.restore('0'.repeat(40), newFolder())).toMatchObject({ refusal: { reason: 'unknown' } });
  });
  test.each(['snapshot.restore.begin', 'snapshot.restore.written'])(
    'interrupted at %s it is simply repeated',
    async (point) => {
      const { taken, dir, workspace } = await rig({ a: '1', 'd/b': '2', l: { link: '/' } });
      const { id } = await taken();
      let strike = true;
      const store = await open({
        dir,
        crashPoint: (name) => {
          if (strike && name === point) throw new Error('killed');
        },
      });
      const target = newFolder();
      expect(await store.restore(id, target)).toMatchObject({ ok: false });
      write(target, { 'half/written': 'x', 'to outside': { link: workspace } });
      strike = false;
      expect((await store.restore(id, target)).ok).toBe(true);
      expect(contentsOf(target)).toEqual(contentsOf(workspace));
    },
  );
});

describe('diff and patch', () => {
  test('between any two snapshots, with odd names, kinds, binary and large files', async () => {
    const { workspace, taken, store } = await rig({
      'a.txt': 'one\ntwo\n',
      same: 's',
      gone: 'g\n',
      '.gitignore': 'x\n',
      'mode.sh': 'm\n',
      'to link': 'text\n',
      bin: Buffer.from([0, 1]),
      large: big,
      'tab\t"q"': 'q\n',
    });
    const before = await taken();
    for (const path of ['gone', 'mode.sh', 'to link']) unlinkSync(join(workspace, path));
    write(workspace, {
      'a.txt': 'one\n--- 2\n',
      new: 'diff --git a/x b/x\n',
      '.gitignore': 'y\n',
      'mode.sh': { run: 'm\n' },
      'to link': { link: 'same' },
      bin: Buffer.from([0, 2]),
      'tab\t"q"': 'r\n',
      empty: '',
    });
    appendFileSync(join(workspace, 'large'), 'more');
    const after = await taken();
    expect((await store.diff(before.id, after.id)).map(({ path, change }) => `${change} ${path}`)).toEqual([
      'changed .gitignore',
      'changed a.txt',
      'changed bin',
      'added empty',
      'removed gone',
      'changed large',
      'changed mode.sh',
      'added new',
      'changed tab\t"q"',
      'changed to link',
    ]);
    const [first] = await store.diff(before.id, after.id);
    expect(first).toEqual({
      path: '.gitignore',
      change: 'changed',
      before: {
        path: '.gitignore',
        kind: 'file',
        bytes: 2,
        sha256: '73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac',
      },
      after: { path: '.gitignore', kind: 'file', bytes: 2, sha256: expect.any(String) as string },
    });
    const patch = (await store.patch(before.id, after.id, { contextLines: 0 })).replace(/^index .*\n/gm, '');
    expect(patch).toBe(`diff --git a/.gitignore b/.gitignore
--- a/.gitignore
+++ b/.gitignore
@@ -1 +1 @@
-x
+y
diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -2 +2 @@ one
-two
+--- 2
diff --git a/bin b/bin
Binary files a/bin and b/bin differ
diff --git a/empty b/empty
new file mode 100644
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-g
diff --git a/large b/large
Binary files a/large and b/large differ
diff --git a/mode.sh b/mode.sh
old mode 100644
new mode 100755
diff --git a/new b/new
new file mode 100644
--- /dev/null
+++ b/new
@@ -0,0 +1 @@
+diff --git a/x b/x
diff --git "a/tab\\011\\"q\\"" "b/tab\\011\\"q\\""
--- "a/tab\\011\\"q\\""
+++ "b/tab\\011\\"q\\""
@@ -1 +1 @@
-q
+r
diff --git "a/to link" "b/to link"
deleted file mode 100644
--- "a/to link"
+++ /dev/null
@@ -1 +0,0 @@
-text
diff --git "a/to link" "b/to link"
new file mode 120000
--- /dev/null
+++ "b/to link"
@@ -0,0 +1 @@
+same
\\ No newline at end of file
`);
  });
  test('a patch of text applies with git', async () => {
    const { workspace, taken, store, restored } = await rig({
      'a b.txt': '1\n2\n',
      'é\n"': 'x\n',
      gone: 'g\n',
      'x.sh': 'x\n',
      '.gitmodules': 'm\n',
    });
    const before = await taken();
    rmSync(join(workspace, 'gone'));
    write(workspace, { 'a b.txt': '1\r\n2', 'é\n"': 'y\n', new: { run: 'n\n' }, 'n\tn': { link: 'é' } });
    const after = await taken();
    const target = await restored(before.id);
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: newFolder(),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CEILING_DIRECTORIES: '/tmp',
    };
    execFileSync('git', ['apply', '--whitespace=nowarn'], {
      cwd: target,
      env,
      input: await store.patch(before.id, after.id),
    });
    expect(contentsOf(target)).toEqual(contentsOf(workspace));
  });
  test('against a snapshot with no files at all', async () => {
    const { workspace, taken, store } = await rig();
    mkdirSync(join(workspace, 'hollow'));
    const before = await taken();
    write(workspace, { a: 'x\n' });
    const after = await taken();
    expect(await store.patch(before.id, after.id)).toContain('+x');
    expect(await store.diff(after.id, before.id)).toMatchObject([{ path: 'a', change: 'removed' }]);
    expect(await store.patch(before.id, before.id)).toBe('');
  });
});

describe('verify and damage', () => {
  test('a changed byte in the content store and in a pack is reported, and such a file is not restored', async () => {
    const { dir, taken, store } = await rig({ 'model.pt': big, 'text.txt': 'hello '.repeat(1000), other: 'o' });
    const { id } = await taken();
    const large = join(dir, 'large', readdirSync(join(dir, 'large'))[0] ?? '');
    const bytes = readFileSync(large);
    bytes[5_000_000] = (bytes[5_000_000] ?? 0) ^ 1;
    rmSync(large);
    writeFileSync(large, bytes);
    expect(await store.verify(id)).toMatchObject([{ path: 'model.pt' }]);
    expect(await store.restore(id, join(newFolder(), 'r'))).toMatchObject({
      ok: false,
      refusal: { reason: 'damaged', path: 'model.pt' },
    });
    expect(await store.restore(id, join(newFolder(), 'r'), { only: ['text.txt', 'other'] })).toMatchObject({
      ok: true,
    });
    rmSync(large);
    expect(await store.verify(id)).toMatchObject([
      { path: 'model.pt', detail: expect.stringContaining('gone') as string },
    ]);
  });
  test('another content in the place of the right one, sound in itself, is noticed', async () => {
    const { dir, taken, store } = await rig({ 'text.txt': 'right' });
    const { id } = await taken();
    const repo = join(dir, 'repo.git');
    const pack = join(
      repo,
      'objects/pack',
      readdirSync(join(repo, 'objects/pack')).find((name) => name.endsWith('.pack')) ?? '',
    );
    const bytes = readFileSync(pack);
    rmSync(pack);
    rmSync(pack.replace(/pack$/, 'idx'));
    const env = { PATH: process.env['PATH'] ?? '', HOME: newFolder(), GIT_DIR: repo };
    execFileSync('git', ['unpack-objects', '-q'], { env, input: bytes });
    const blob = execFileSync('git', ['rev-parse', `${id}:files/text.txt`], { env, encoding: 'utf8' }).trim();
    const loose = join(repo, 'objects', blob.slice(0, 2), blob.slice(2));
    rmSync(loose);
    writeFileSync(loose, deflateSync('blob 5\0wrong'));
    expect(await store.verify(id)).toMatchObject([{ path: 'text.txt' }]);
    expect(await store.restore(id, join(newFolder(), 'r'))).toMatchObject({
      ok: false,
      refusal: { reason: 'damaged', path: 'text.txt' },
    });
    await expect(store.read(id, 'text.txt')).rejects.toThrow('damaged');
  });
  test('a flipped byte anywhere in the pack never passes unseen', async () => {
    const { dir, taken } = await rig({ 'text.txt': 'hello '.repeat(1000), other: 'o', link: { link: 'x' } });
    const { id } = await taken();
    const folder = join(dir, 'repo.git/objects/pack');
    const pack = join(folder, readdirSync(folder).find((name) => name.endsWith('.pack')) ?? '');
    const whole = readFileSync(pack);
    let seen = 0;
    let flips = 0;
    for (let at = 12; at < whole.length - 20; at += 19) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ 0x10;
      rmSync(pack);
      writeFileSync(pack, bytes);
      flips++;
      const store = await open({ dir });
      const target = join(newFolder(), 'r');
      const restored = await store.restore(id, target);
      const intact = (await store.verify(id)).length === 0;
      if (!intact) seen++;
      // what the restore says is right must be right, and what verify calls whole must be restorable
      if (restored.ok)
        expect(contentsOf(target)).toEqual({
          'text.txt': `file ${'hello '.repeat(1000)}`,
          other: 'file o',
          link: 'link x',
        });
      expect(restored.ok || !intact).toBe(true);
    }
    // only flips that leave the unpacked bytes as they were (in a zlib header) may go unseen
    expect(seen).toBeGreaterThan(flips * 0.8);
  });
});

test('has, find and describe answer what a revived controller asks', async () => {
  const { taken, dir } = await rig({ a: '1' });
  const snapshot = await taken({ ref: 'experiments/e7' });
  const store = await open({ dir });
  expect(await store.find('experiments/e7')).toEqual(snapshot);
  expect(await store.describe(snapshot.id)).toEqual(snapshot);
  expect([await store.has(snapshot.id), await store.has('f'.repeat(40)), await store.has('--help')]).toEqual([
    true,
    false,
    false,
  ]);
  expect(await store.find('experiments/e8')).toBe(undefined);
  await expect(store.entries('f'.repeat(40))).rejects.toThrow('There is no snapshot');
  await expect(store.read(snapshot.id, 'b')).rejects.toThrow('has no file b');
});
