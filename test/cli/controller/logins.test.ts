import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { agentsOutput } from '../../../src/cli/schemas.ts';
import { bundleFolder } from '../../../src/controller/runtime.ts';
import { compareVersions } from '../../../src/client/agentLook.ts';

const cli = join(bundleFolder(), 'cli.js');
const login = { tokens: { access_token: 'a', refresh_token: 'r' }, last_refresh: '2026-11-30T12:00:00Z' };
let root: string;

/** A codex that signs in as it is told by a file beside it. */
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'hma-logins-'));
  mkdirSync(join(root, 'bin'));
  const codex = join(root, 'bin/codex');
  writeFileSync(
    codex,
    `#!/bin/sh
if [ "$1" = --version ]; then echo "codex-cli 0.171.0"; exit 0; fi
env > ${root}/seen
echo "$@" > ${root}/arguments
mkdir -p "$HOME/.codex" && cp ${root}/answer "$HOME/.codex/auth.json"
exit $(cat ${root}/code)
`,
  );
  chmodSync(codex, 0o755);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const env = (): NodeJS.ProcessEnv => ({
  PATH: `${join(root, 'bin')}:/usr/bin:/bin`,
  HOME: join(root, 'nobody'),
  HMA_HOME: join(root, 'state'),
  TERM: 'dumb',
  SECRET: 'of the shell',
});
function hma(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...words], {
    cwd: root,
    env: env(),
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}
const answers = (content: string, code = 0): void => {
  writeFileSync(join(root, 'answer'), content);
  writeFileSync(join(root, 'code'), String(code));
};
const kept = (): string => join(root, 'state/logins/codex/.codex/auth.json');

describe('hma login', () => {
  it('signs in with a HOME of its own and keeps the files for their owner alone', () => {
    answers(JSON.stringify(login));
    expect(hma('login', 'codex')).toMatchObject({
      status: 0,
      stdout: 'Codex is signed in for hma. Sign out again: hma logout codex\n',
    });
    expect(JSON.parse(readFileSync(kept(), 'utf8'))).toEqual(login);
    expect(statSync(kept()).mode & 0o777).toBe(0o600);
    const seen = readFileSync(join(root, 'seen'), 'utf8');
    expect(seen).toContain('TERM=dumb');
    expect(seen).not.toContain('SECRET');
    expect(seen).not.toContain(join(root, 'nobody'));
    expect(readFileSync(join(root, 'arguments'), 'utf8')).toContain('login');
    expect(readdirSync(join(root, 'state/logins'))).toEqual(['codex']);
  });

  it.each([
    ['', 0, 'left no whole login'],
    [JSON.stringify(login).slice(0, 20), 0, 'left no whole login'],
    [JSON.stringify(login), 1, 'did not sign in (exit code 1)'],
  ])('keeps nothing of a sign-in that did not come to its end: %j, exit code %i', (content, code, words) => {
    const before = readFileSync(kept(), 'utf8');
    answers(content, code);
    const said = hma('login', 'codex');
    expect(said.status).toBe(1);
    expect(said.stderr).toContain(words);
    expect(readFileSync(kept(), 'utf8')).toBe(before);
    expect(readdirSync(join(root, 'state/logins'))).toEqual(['codex']);
  });

  it('says what it can’t do', () => {
    expect(hma('login', 'nobody')).toMatchObject({ status: 64 });
    expect(hma('login', 'claude-code')).toMatchObject({ status: 1 });
  });
});

describe('hma agents and hma logout', () => {
  it('tell what is here, and forget', () => {
    const json = agentsOutput.parse(JSON.parse(hma('agents', '--json').stdout));
    expect(json.agents.find(({ adapter }) => adapter === 'codex')).toMatchObject({
      program: join(root, 'bin/codex'),
      version: '0.171.0',
      known: 'tested',
      signedIn: { by: 'login', heldBy: null },
    });
    expect(json.agents.find(({ adapter }) => adapter === 'claude-code')).toMatchObject({ program: null });
    expect(hma('agents').stdout).toContain('codex  0.171.0 (tested), signed in');
    expect(hma('logout', 'codex').stdout).toContain('has forgotten the login of Codex');
    expect(existsSync(kept())).toBe(false);
    expect(hma('logout', 'codex').stdout).toContain('was not signed in');
    expect(hma('agents').stdout).toContain('not signed in: set OPENAI_API_KEY, or hma login codex');
  });

  it('compares versions by their numbers', () => {
    expect([
      compareVersions('0.9.0', '0.10.0'),
      compareVersions('2.1.332', '2.1.332'),
      compareVersions('1.0', '0.99.9'),
    ]).toEqual([-1, 0, 1]);
  });
});
