import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './environment.mjs';
import { isInstalled } from './packages.mjs';
import { splitCommands } from './with.mjs';

const withTools = (...words: string[]) => {
  const { status, stdout } = spawnSync(process.execPath, [join(root, 'test/bootstrap/with.mjs'), ...words], {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin' },
    timeout: 30_000,
  });
  return { status, stdout };
};

test('a command runs under the Node of the project, whatever is on PATH', () => {
  const script = 'console.log(process.execPath)';
  expect(withTools('node', '-e', script)).toEqual({
    status: 0,
    stdout: `${join(root, 'node_modules/node/bin/node')}\n`,
  });
});

test('--and goes on after a failure, --then does not, and the first failure is the exit code', () => {
  const [fail, tell] = [
    ['node', '-e', 'process.exit(3)'],
    ['node', '-e', 'console.log("ran")'],
  ];
  expect(withTools(...fail, '--and', ...tell)).toEqual({ status: 3, stdout: 'ran\n' });
  expect(withTools(...fail, '--then', ...tell)).toEqual({ status: 3, stdout: '' });
  expect(withTools(...tell, '--then', ...fail)).toEqual({ status: 3, stdout: 'ran\n' });
});

test('an end by a signal is told as a shell tells it, and a program that is not there as 127', () => {
  expect(withTools('node', '-e', 'process.kill(process.pid, "SIGKILL")').status).toBe(137);
  expect(withTools('no-such-program-here').status).toBe(127);
  expect(splitCommands(['--and', 'a', '--then'])).toEqual([{ command: ['a'], despite: true }]);
});

test('packages are installed iff npm noted each one as the lock file names it', () => {
  const one = { version: '1.0.0', integrity: 'sha512-one' };
  const elsewhere = { version: '2.0.0', integrity: 'sha512-two', optional: true };
  const lock = (entries: object) => ({ packages: { '': {}, ...entries } });
  const wanted = lock({ 'node_modules/one': one, 'node_modules/elsewhere': elsewhere });
  expect(isInstalled(wanted, undefined)).toBe(false);
  expect(isInstalled(wanted, lock({}))).toBe(false);
  expect(isInstalled(wanted, lock({ 'node_modules/one': one }))).toBe(true);
  expect(isInstalled(wanted, lock({ 'node_modules/one': { ...one, version: '1.0.1' } }))).toBe(false);
  expect(isInstalled(wanted, lock({ 'node_modules/one': { ...one, integrity: 'sha512-other' } }))).toBe(false);
  expect(isInstalled(wanted, lock({ 'node_modules/one': one, 'node_modules/more': one }))).toBe(true);
});
