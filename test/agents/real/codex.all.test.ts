import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';

import { codexAdapter } from '../../../src/agents/codex/adapter.ts';
import { authFile, codexLogin } from '../../../src/agents/codex/login.ts';
import { until } from '../../machines/machineRoom.ts';
import { startModelServer, type ModelServer, type Script } from '../../rig/modelServer.ts';
import { startRealSession, type RealSession, type RealSessionWish } from '../realSession.ts';
import { sumOf } from '../responses.ts';

const opened: { session: RealSession; server: ModelServer }[] = [];
afterEach(async () => {
  for (const { session, server } of opened.splice(0)) {
    await session.end();
    session.close();
    await server[Symbol.asyncDispose]();
  }
});

async function start(
  script: Script,
  wish: Partial<RealSessionWish> = {},
): Promise<{ session: RealSession; server: ModelServer }> {
  const server = await startModelServer({ s: script });
  const session = await startRealSession({
    adapter: codexAdapter,
    tier: 'bubblewrap',
    ...wish,
    agent: { model: 'gpt-5.3-codex', baseUrl: `${server.url('s')}/v1`, ...wish.agent },
  });
  opened.push({ session, server });
  return { session, server };
}

const effortOf = (body: Readonly<Record<string, unknown>> | undefined): unknown =>
  (body?.['reasoning'] as { effort?: unknown } | undefined)?.effort;

it('gives a model that Codex knows its highest effort, and works through its code mode', async () => {
  const { session, server } = await start([{ shell: 'hma status && echo 7 > candidate.txt' }, { text: 'Done.' }], {
    agent: { model: 'gpt-6.2-sol' },
  });
  expect(await session.ended()).toMatchObject({ code: 0 });
  expect(session.room.read('candidate.txt')).toBe('7\n');
  expect(session.output()).toContain('this is the shim: status');
  expect(effortOf(server.requests[0]?.body)).toBe('max');
  expect(sumOf(await session.responses())).toEqual(server.sent('s'));
});

it('gives an effort that the author chose, and its own model where none is chosen', async () => {
  const { session, server } = await start([{ text: 'Done.' }], { agent: { effort: 'low' } });
  expect(await session.ended()).toMatchObject({ code: 0 });
  expect(effortOf(server.requests[0]?.body)).toBe('low');
});

it('goes on by its goal until the goal is reached, where one agent is alone', async () => {
  const { session, server } = await start(
    (seen) => {
      const marks = seen.prompts;
      if (marks < 3) return seen.turn === 0 ? { shell: `echo ${marks} >> rounds.txt` } : { text: `Round ${marks}.` };
      return seen.turn === 0 ? { tool: 'update_goal', args: { status: 'complete' } } : { text: 'Reached.' };
    },
    { context: { mode: 'single' } },
  );
  const exit = await session.ended();
  expect(exit).toMatchObject({ cause: 'exit', code: 0 });
  expect(session.room.read('rounds.txt')).toBe('1\n2\n');
  expect(JSON.stringify(server.requests.at(-1)?.body)).toContain('Carry out the task of the first message');
  expect(sumOf(await session.responses())).toEqual(server.sent('s'));
});

it('offers the tools of hma mcp, and runs them without asking, also where its own sandbox is on', async () => {
  const script = [{ tool: 'status', ns: 'mcp__hma' }, { text: 'Done.' }];
  const { session, server } = await start(script, { tier: 'none', agent: { tools: 'mcp' } });
  // there is no controller here, for which the tool waits
  await until('the tool to run', () => session.output().includes('"type":"mcpToolCall"'), 40_000);
  await session.end();
  const { tools } = server.requests[0] ?? { tools: [] };
  expect(tools).toEqual(expect.arrayContaining(['mcp__hma.submit', 'mcp__hma.status', 'mcp__hma.archive']));
  expect(session.output()).not.toContain('approval policy');
});

it('waits for a command that still runs when the turn is over', async () => {
  const { session } = await start([{ shell: 'sleep 14; echo late > late.txt' }, { text: 'It runs.' }]);
  expect(await session.ended()).toMatchObject({ code: 0 });
  expect(session.room.read('late.txt')).toBe('late\n');
});

it('is not started with a configuration that Codex does not take', async () => {
  const { session, server } = await start([{ text: 'Done.' }], {
    prepared: ({ home }) => appendFileSync(join(home, '.codex/config.toml'), 'this is no TOML\n'),
  });
  const exit = await session.ended();
  expect(exit).toMatchObject({ code: 78 });
  expect(session.output()).toContain('codex did not take its configuration');
  expect(server.requests).toEqual([]);
});

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
/** A token that only looks like one. */
const jwt = (value: unknown): string => `${part({ alg: 'none' })}.${part(value)}.${part('signature')}`;

it('exchanges the refresh token of a login, and works with it', async () => {
  const account = {
    email: 'a@b.c',
    'https://api.openai.com/auth': { chatgpt_plan_type: 'plus', chatgpt_account_id: 'a' },
  };
  const tokens = (exp: number, refresh: string): object => ({
    id_token: jwt({ ...account, exp }),
    access_token: jwt({ exp }),
    refresh_token: refresh,
  });
  const now = Math.floor(Date.now() / 1000);
  const exchanged: string[] = [];
  const issuer = createServer((request, response) => {
    if (request.url !== '/oauth/token') return void response.writeHead(404).end();
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      exchanged.push((JSON.parse(body) as { refresh_token: string }).refresh_token);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(tokens(now + 3600, `refresh-${exchanged.length}`)));
    });
  });
  await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`;
    const auth = {
      auth_mode: 'chatgpt',
      OPENAI_API_KEY: null,
      tokens: { ...tokens(now - 100, 'refresh-0'), account_id: 'a' },
      last_refresh: '2026-01-01T00:00:00Z',
    };
    const { session, server } = await start([{ text: 'Done.' }], {
      agent: {
        keyVariable: null,
        environment: ['CODEX_REFRESH_TOKEN_URL_OVERRIDE', 'CODEX_APP_SERVER_CHATGPT_BASE_URL'],
      },
      outer: {
        CODEX_REFRESH_TOKEN_URL_OVERRIDE: `${url}/oauth/token`,
        CODEX_APP_SERVER_CHATGPT_BASE_URL: `${url}/backend-api/`,
      },
      homeFiles: (home) => {
        mkdirSync(dirname(join(home, authFile)), { recursive: true });
        writeFileSync(join(home, authFile), JSON.stringify(auth));
      },
    });
    await session.ended();
    await until('an exchange', () => exchanged.length > 0);
    const kept = readFileSync(join(session.context.home, authFile), 'utf8');
    expect(exchanged).toEqual(['refresh-0']);
    expect(kept).toContain('refresh-1');
    expect(codexLogin.wellFormed(authFile, kept)).toBe(true);
    expect(server.requests.map(({ key }) => key)).toEqual([jwt({ exp: now + 3600 })]);
  } finally {
    issuer.close();
  }
});
