import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { describeSocketRefusal, socketPaths, type SocketOptions } from '../../src/controller/socketPaths.ts';

const uid = process.getuid?.() ?? 0;
const run = '20261130-181123-ab12';

function freshTmp(): string {
  const tmp = mkdtempSync('/tmp/hma-sockets-');
  onTestFinished(() => rmSync(tmp, { recursive: true, force: true }));
  return tmp;
}

const paths = (tmp: string, more: Partial<SocketOptions> = {}) => socketPaths({ run, env: {}, tmp, ...more });
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

test('the folders let a session of another user through to its socket and nobody else anywhere, whatever the umask', async () => {
  const tmp = freshTmp();
  const umask = process.umask(0o077);
  try {
    expect(paths(tmp)).toEqual({
      ok: true,
      value: { client: `${tmp}/hma-${uid}/c/${run}.sock`, agent: `${tmp}/hma-${uid}/a/${run}.sock` },
    });
  } finally {
    process.umask(umask);
  }
  expect(['', 'c', 'a'].map((name) => mode(join(tmp, `hma-${uid}`, name)))).toEqual(['711', '700', '711']);
  chmodSync(join(tmp, `hma-${uid}`, 'c'), 0o777);
  const again = paths(tmp);
  expect(mode(join(tmp, `hma-${uid}`, 'c'))).toBe('700');
  if (!again.ok) throw new Error('refused');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(again.value.agent, resolve));
  expect(statSync(again.value.agent).isSocket()).toBe(true);
  await new Promise((resolve) => server.close(resolve));
});

test('a link, a file or another user’s folder in the place is refused, not used', () => {
  const tmp = freshTmp();
  const base = join(tmp, `hma-${uid}`);
  const elsewhere = join(tmp, 'elsewhere');
  mkdirSync(elsewhere);
  symlinkSync(elsewhere, base);
  expect(paths(tmp)).toEqual({
    ok: false,
    refusal: { reason: 'foreign', path: base, detail: 'it is a symbolic link' },
  });
  rmSync(base);
  writeFileSync(base, '');
  expect(paths(tmp)).toEqual({ ok: false, refusal: { reason: 'foreign', path: base, detail: 'it is no folder' } });
  rmSync(base);
  mkdirSync(base);
  symlinkSync(elsewhere, join(base, 'c'));
  const answer = paths(tmp);
  expect(answer).toEqual({
    ok: false,
    refusal: { reason: 'foreign', path: join(base, 'c'), detail: 'it is a symbolic link' },
  });
  if (!answer.ok) expect(describeSocketRefusal(answer.refusal)).toContain('Somebody else put it there');
});

test.runIf(uid === 0)('a folder of another user is refused', () => {
  const tmp = freshTmp();
  const base = join(tmp, 'hma-0');
  mkdirSync(base);
  chownSync(base, 4242, 4242);
  expect(paths(tmp)).toEqual({
    ok: false,
    refusal: { reason: 'foreign', path: base, detail: 'it belongs to user 4242' },
  });
});

test.runIf(uid === 0)(
  'the runtime folder is used where it is the user’s own and short; root and long ones use the other',
  () => {
    const tmp = freshTmp();
    const runtime = join(tmp, 'run');
    mkdirSync(runtime);
    const env = { XDG_RUNTIME_DIR: runtime };
    expect(paths(tmp, { env })).toMatchObject({ value: { client: `${tmp}/hma-0/c/${run}.sock` } });
    chownSync(runtime, 4242, 4242);
    mkdirSync(join(runtime, 'hma'));
    for (const folder of [join(runtime, 'hma'), join(runtime, 'hma/c'), join(runtime, 'hma/a')]) {
      mkdirSync(folder, { recursive: true });
      chownSync(folder, 4242, 4242);
    }
    expect(paths(tmp, { env, uid: 4242 })).toMatchObject({ value: { client: `${runtime}/hma/c/${run}.sock` } });
    const long = join(tmp, 'x'.repeat(90));
    mkdirSync(long);
    chownSync(long, 4242, 4242);
    mkdirSync(join(tmp, 'hma-4242/c'), { recursive: true });
    mkdirSync(join(tmp, 'hma-4242/a'));
    for (const name of ['hma-4242', 'hma-4242/c', 'hma-4242/a']) chownSync(join(tmp, name), 4242, 4242);
    expect(paths(tmp, { env: { XDG_RUNTIME_DIR: long }, uid: 4242 })).toMatchObject({
      value: { agent: `${tmp}/hma-4242/a/${run}.sock` },
    });
  },
);

test('a path over 100 bytes is refused before Node would cut it short', () => {
  const tmp = join(freshTmp(), 'x'.repeat(80));
  mkdirSync(tmp);
  const answer = paths(tmp);
  expect(answer).toMatchObject({ ok: false, refusal: { reason: 'too_long' } });
  if (!answer.ok)
    expect(describeSocketRefusal(answer.refusal)).toMatch(
      /bytes, more than the 100 that are safe. Set XDG_RUNTIME_DIR/,
    );
  const folder = freshTmp();
  const room = 100 - Buffer.byteLength(`${folder}/hma-${uid}/c/.sock`);
  expect(paths(folder, { run: 'r'.repeat(room) }).ok).toBe(true);
  expect(paths(folder, { run: 'r'.repeat(room + 1) }).ok).toBe(false);
});

test('a folder that can’t be made is refused', () => {
  expect(paths('/proc/none')).toMatchObject({
    ok: false,
    refusal: { reason: 'unwritable', path: `/proc/none/hma-${uid}` },
  });
});
