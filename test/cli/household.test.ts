import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { withSecrets } from '../../src/agents/secrets.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Desk } from '../../src/cli/desk.ts';
import { exitCodes } from '../../src/cli/exitCodes.ts';
import { runCli } from '../../src/cli/program.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'hma-household-')));
});
afterEach(() => rmSync(root, { recursive: true }));

async function hma(
  words: readonly string[],
  given: { readonly input?: string; readonly env?: Record<string, string> } = {},
) {
  const [stdout, stderr, stdin] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const said = { out: '', err: '' };
  stdout.on('data', (bytes: Buffer) => (said.out += bytes.toString()));
  stderr.on('data', (bytes: Buffer) => (said.err += bytes.toString()));
  stdin.end(given.input ?? '');
  const env = {
    HMA_HOME: join(root, 'state'),
    HOME: root,
    PATH: `${join(root, 'bin')}:${process.env['PATH']}`,
    ...given.env,
  };
  const desk = { stdout, stderr, stdin, cwd: root, env, clock: systemClock } as unknown as Desk;
  const exit = await runCli(desk, words);
  return { exit, ...said };
}

test('secrets are kept privately, by name only, and stand in where the variable is not set', async () => {
  expect((await hma(['secrets', 'list'])).out).toContain('No value is kept');
  expect(await hma(['secrets', 'set', 'A_KEY'], { input: 'sesame\n' })).toMatchObject({ exit: 0, err: '' });
  expect(await hma(['secrets', 'set', 'sk-ant-oops'], { input: 'x' })).toMatchObject({ exit: exitCodes.usage });
  expect(await hma(['secrets', 'set', 'B'], { input: 'two\nlines' })).toMatchObject({ exit: exitCodes.usage });
  expect(await hma(['secrets', 'set', 'B'], { input: '' })).toMatchObject({ exit: exitCodes.usage });
  const listed = await hma(['secrets', 'list', '--json']);
  expect(JSON.parse(listed.out)).toMatchObject({ names: ['A_KEY'] });
  expect(listed.out).not.toContain('sesame');
  expect(statSync(join(root, 'state/secrets.json')).mode & 0o777).toBe(0o600);
  await hma(['secrets', 'set', 'ANTHROPIC_API_KEY'], { input: 'sk-ant-kept' });
  const agents = JSON.parse((await hma(['agents', '--json'])).out) as {
    agents: { adapter: string; signedIn: unknown }[];
  };
  expect(JSON.stringify(agents.agents.find(({ adapter }) => adapter === 'claude-code')?.signedIn)).toContain(
    'ANTHROPIC_API_KEY',
  );
  await hma(['secrets', 'remove', 'ANTHROPIC_API_KEY']);
  expect(withSecrets(join(root, 'state'), { B: 'b' })).toEqual({ A_KEY: 'sesame', B: 'b' });
  expect(withSecrets(join(root, 'state'), { A_KEY: 'mine' })).toEqual({ A_KEY: 'mine' });
  expect((await hma(['secrets', 'remove', 'A_KEY'])).out).toContain('forgotten');
  expect(withSecrets(join(root, 'state'), {})).toEqual({});
  writeFileSync(join(root, 'state/secrets.json'), '[]');
  expect(() => withSecrets(join(root, 'state'), {})).toThrow(/secrets\.json can't be read/);
});

test('the service is a unit that takes runs up again; without systemd nothing is left and a way is told', async () => {
  mkdirSync(join(root, 'bin'));
  const systemctl = (script: string): void => {
    writeFileSync(join(root, 'bin/systemctl'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(root, 'bin/systemctl'), 0o755);
  };
  const file = join(root, '.config/systemd/user/hma-resume.service');
  systemctl('echo "Failed to connect to bus: No such file or directory" >&2; exit 1');
  const refusedSay = await hma(['service', 'install']);
  expect(refusedSay).toMatchObject({ exit: exitCodes.failed, err: expect.stringMatching(/connect to bus[^]*@reboot/) });
  expect(existsSync(file)).toBe(false);

  systemctl(`echo "$@" >> ${join(root, 'calls')}`);
  expect(await hma(['service', 'install'])).toMatchObject({ exit: 0, err: '' });
  const unit = readFileSync(file, 'utf8');
  const [, node, cli] = /^ExecStart="([^"]+)" "([^"]+)" resume --all$/m.exec(unit) ?? [];
  expect(unit).toContain(`Environment="HMA_HOME=${join(root, 'state')}"`);
  expect(
    execFileSync(node ?? '', [cli ?? '', 'resume', '--all'], { env: { HMA_HOME: join(root, 'state') }, cwd: root }),
  ).toBeDefined();
  expect((await hma(['gc', '--all'])).exit).toBe(0);
  expect(existsSync(cli ?? '')).toBe(true);
  expect((await hma(['service', 'uninstall'])).out).toContain('is removed');
  expect((await hma(['service', 'uninstall'])).out).toContain('no service');
  expect(readFileSync(join(root, 'calls'), 'utf8').trim().split('\n')).toEqual([
    '--user daemon-reload',
    '--user enable hma-resume.service',
    '--user disable hma-resume.service',
    '--user daemon-reload',
  ]);
});

test('notify --test reaches whom the contract names, and says when it does not', async () => {
  const heard: string[] = [];
  let status = 200;
  const server = createServer((request, reply) => {
    request.on('data', (bytes: Buffer) => heard.push(bytes.toString()));
    request.on('end', () => reply.writeHead(status).end());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const contract = (more: string): void =>
    writeFileSync(
      join(root, 'hma.yaml'),
      `objective: x\ncandidate: c\nevaluate: ["true"]\nagents: {A: {name: a, command: ["true"]}, B: {name: b, command: ["true"]}}\n${more}`,
    );
  try {
    contract('');
    expect((await hma(['notify', '--test'])).out).toContain('tells nobody');
    contract(`notify: ${url}\n`);
    expect(await hma(['notify', '--test'])).toMatchObject({ exit: 0, err: '' });
    expect(JSON.parse(heard[0] ?? '')).toMatchObject({ kind: 'needs_person', workspace: root });
    status = 500;
    expect(await hma(['notify', '--test'])).toMatchObject({
      exit: exitCodes.failed,
      err: expect.stringContaining('answered 500'),
    });
    expect(await hma(['notify'])).toMatchObject({ exit: exitCodes.usage });
  } finally {
    server.close();
  }
});

test('hma explain tells a word as it was read, in each of its meanings, and suggests the nearest one', async () => {
  const told = await hma(['explain', 'usage', 'limit']);
  expect(told.exit).toBe(0);
  expect(told.out.split('\n').filter((line) => /^\S/u.test(line))).toEqual([
    'usage_limit (failure)',
    'usage_limit (pause)',
  ]);
  expect((await hma(['explain', '(cancelled):'])).out).toBe(
    'cancelled (rejection)\n  The run was being stopped.\n  you: Nothing.\n',
  );
  expect(await hma(['explain', 'evaluator_brokn'])).toEqual({
    exit: exitCodes.notFound,
    out: '',
    err: expect.stringContaining('Did you mean evaluator_broken?'),
  });
});
