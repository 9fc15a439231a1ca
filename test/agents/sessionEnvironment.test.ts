import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { sessionEnvironment } from '../../src/agents/sessionEnvironment.ts';
import { aSession } from './aSession.ts';

const polluted = {
  PATH: '/opt/tools/bin::.:relative/bin:/usr/bin:/bin',
  LANG: 'de_DE.UTF-8',
  TZ: 'Europe/Berlin',
  HOME: '/root',
  TMPDIR: '/var/elsewhere',
  LD_PRELOAD: '/evil.so',
  LD_LIBRARY_PATH: '/evil',
  NODE_OPTIONS: '--require /evil.js',
  BASH_ENV: '/evil.sh',
  ENV: '/evil.sh',
  PYTHONSTARTUP: '/evil.py',
  GIT_DIR: '/somewhere/.git',
  GIT_CONFIG_GLOBAL: '/evil.gitconfig',
  ANTHROPIC_API_KEY: 'unnamed-key',
  ANTHROPIC_BASE_URL: 'http://evil',
  OPENAI_API_KEY: 'named-for-the-agent',
  DATA_ROOT: '/data',
  HMA_HOME: '/state',
  HMA_TOKEN: 'of-an-earlier-session',
  HMA_SOCKET: '/client.sock',
  HMA_TEST_CLOCK: '/clock',
  SSH_AUTH_SOCK: '/agent.sock',
  USER: 'root',
};

it('is made of what is named, what the adapter needs and what is ours, and nothing else (invariant 4)', () => {
  const context = aSession(
    { environment: ['OPENAI_API_KEY', 'NOT_SET', 'HMA_TOKEN', 'HOME'] },
    { outerEnvironment: polluted, attempt: 2 },
  );
  const launch = {
    argv: ['agent'] as const,
    environment: { AGENT_MODE: 'x', HMA_OPTION: '99' },
    readable: [],
    writable: [],
  };
  const environment = sessionEnvironment({
    context,
    launch,
    named: ['DATA_ROOT', 'PATH'],
    token: 'token-3',
    socket: '/agent.sock',
    shimFolder: '/state/shim',
    run: 'run-1',
  });
  const ran = spawnSync('/usr/bin/env', ['-0'], { env: environment, encoding: 'utf8' });
  const seen = Object.fromEntries(
    ran.stdout
      .split('\0')
      .filter(Boolean)
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  expect(seen).toEqual({
    LANG: 'de_DE.UTF-8',
    TZ: 'Europe/Berlin',
    DATA_ROOT: '/data',
    OPENAI_API_KEY: 'named-for-the-agent',
    AGENT_MODE: 'x',
    PATH: '/state/shim:/opt/tools/bin:/usr/bin:/bin',
    HOME: context.home,
    TMPDIR: context.tmp,
    HMA_ROLE: 'explore',
    HMA_OPTION: '3',
    HMA_ATTEMPT: '2',
    HMA_WORKSPACE: context.workspace,
    HMA_PROMPT: context.promptFile,
    HMA_TOKEN: 'token-3',
    HMA_SOCKET: '/agent.sock',
    HMA_RUN: 'run-1',
  });
});

it('has a PATH and a language although the controller has none', () => {
  const launch = { argv: ['agent'] as const, environment: {}, readable: [], writable: [] };
  const environment = sessionEnvironment({
    context: aSession({}, { outerEnvironment: {}, role: 'review' }),
    launch,
    named: [],
    token: 't',
    socket: '/s',
    shimFolder: '/shim',
    run: 'r',
  });
  expect(environment).toMatchObject({
    PATH: '/shim:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    LANG: 'C.UTF-8',
    HMA_ROLE: 'review',
  });
  expect(environment).not.toHaveProperty('TZ');
});
