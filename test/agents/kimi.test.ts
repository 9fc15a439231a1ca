import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { kimiAdapter } from '../../src/agents/kimi/adapter.ts';
import { classifyKimi } from '../../src/agents/kimi/classify.ts';
import { kimiResponses } from '../../src/agents/kimi/responses.ts';
import type { AttemptEnd } from '../../src/agents/port.ts';
import { aFolder, write } from '../evaluators/folders.ts';
import { aSession } from './aSession.ts';

// Lines of Kimi Code 2.1.0 against the scripted server, shortened.
const wire = [
  '{"type":"metadata","protocol_version":"1.5","created_at":1796076546558}',
  '{"type":"llm.request","agentId":"main","model":"kimi-k3","modelAlias":"__kimi_env_model__","time":1796076547965}',
  '{"type":"usage.record","agentId":"main","model":"__kimi_env_model__","usage":{"inputOther":1000,"output":40,"inputCacheRead":2000,"inputCacheCreation":0},"usageScope":"turn","time":1796076548743}',
  '{"type":"context.append_loop_event","agentId":"main","event":{"type":"tool.call","toolCallId":"c1","name":"Bash"},"time":1796076549810}',
  '{"type":"llm.request","agentId":"main","model":"kimi-k3","time":1796076550533}',
  '{"type":"usage.record","agentId":"main","model":"__kimi_env_model__","usage":{"inputOther":1001,"output":41,"inputCacheRead":2001,"inputCacheCreation":5},"usageScope":"turn","time":1796076550653}',
  '{"type":"turn.ended","agentId":"main","turnId":0,"reason":"completed","time":1796076550959}',
];

it('reads responses with their calls, none twice', async () => {
  const home = aFolder();
  const folder = join(home, '.kimi-code/sessions/wd_ws_b20a/session_1/agents/main');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'wire.jsonl');
  writeFileSync(file, `${wire.slice(0, 4).join('\n')}\n`);
  const reader = kimiResponses({ home, cwd: '/x/ws', output: '', sessionId: '', startedAt: Date.now() });
  expect(await reader.next(false)).toEqual([]);
  writeFileSync(file, `${wire.join('\n')}\n`);
  expect(await reader.next(false)).toEqual([
    {
      id: 'session_1/main@1796076548743',
      at: 1_796_076_548_743,
      model: 'kimi-k3',
      uncachedInput: 1000,
      cachedInput: 2000,
      cacheWrite: 0,
      output: 40,
      reasoning: 0,
      toolCalls: 1,
    },
    {
      id: 'session_1/main@1796076550653',
      at: 1_796_076_550_653,
      model: 'kimi-k3',
      uncachedInput: 1001,
      cachedInput: 2001,
      cacheWrite: 5,
      output: 41,
      reasoning: 0,
      toolCalls: 0,
    },
  ]);
  expect(await reader.next(true)).toEqual([]);
});

const wall = Date.parse('2026-11-30T22:00:00Z');
const endWith = (text: string): AttemptEnd => ({
  wall,
  exit: {
    nonce: 'n',
    code: 1,
    signal: null,
    cause: 'exit',
    outOfMemory: false,
    wall,
    mono: 0,
    boot: 'b',
    outputBytes: 1,
  },
  outputTail: Buffer.from(`{"role":"meta"}\nerror: failed to run prompt: ${text}\nSee log: /h/kimi-code.log\n`),
});

// Each as the real CLI ended at the scripted fault.
it.each([
  ['provider.auth_error: 401 Incorrect API key provided: dummy.', 'login_expired'],
  ['provider.auth_error: 403 You have insufficient permissions for this operation.', 'login_expired'],
  ['provider.api_error: 404 The model `kimi-k3` does not exist or you do not have access to it.', 'model_not_found'],
  ['provider.rate_limit: 429 The usage limit has been reached', 'usage_limit'],
  [
    'provider.api_error: 429 You exceeded your current quota, please check your plan and billing details.',
    'usage_limit',
  ],
  ['provider.overloaded: 503 The server is currently overloaded with other requests.', 'overloaded'],
  ['provider.overloaded: 529 Overloaded', 'overloaded'],
  [
    'compaction.failed: APIContextOverflowError: 400 Your input exceeds the context window of this model.',
    'context_overflow',
  ],
  ['provider.connection_error: terminated', 'network'],
  ['provider.connection_error: Connection error.', 'network'],
])('%s', (text, reason) => {
  expect(classifyKimi(endWith(text))).toEqual({ reason, detail: `Kimi Code: ${text}` });
});

it('a rate limit tells when to come again', () => {
  const text = 'provider.rate_limit: 429 Rate limit reached for kimi-k3. Please try again in 20s.';
  expect(classifyKimi(endWith(text))).toMatchObject({ reason: 'overloaded', resetAt: wall + 20_000 });
});

it('is refused in words where it could not be held, has no model or no login', async () => {
  const bin = write(aFolder(), { kimi: '#!/bin/sh\n' });
  const outerEnvironment = { PATH: '/usr/bin:/bin', MOONSHOT_API_KEY: 'k' };
  const program = join(bin, 'kimi');
  chmodSync(program, 0o755);
  const detail = async (agent: object, parts: object = {}): Promise<string> => {
    const launch = await kimiAdapter.prepare(
      aSession({ adapter: 'kimi', program, ...agent }, { outerEnvironment, ...parts }),
    );
    return launch.ok ? 'started' : launch.refusal.detail;
  };
  expect(await detail({ model: 'kimi-k3' })).toBe('started');
  expect(await detail({})).toContain('preset: kimi');
  expect(await detail({ model: 'kimi-k3' }, { isolated: false })).toContain('permissions: bypass');
  expect(await detail({ model: 'kimi-k3', permissions: 'limited' })).toContain('no limited mode');
  expect(await detail({ model: 'kimi-k3' }, { outerEnvironment: { PATH: '/usr/bin:/bin' } })).toContain(
    'hma login kimi',
  );
});

it('with a login it finds a configuration of ours, never one that a session left', async () => {
  const login = write(aFolder(), {
    '.kimi-code/credentials/kimi-code.json': '{"access_token":"a","refresh_token":"r"}',
    '.kimi-code/config.toml': '[[hooks]]\n',
  });
  const program = join(write(aFolder(), { kimi: '#!/bin/sh\n' }), 'kimi');
  chmodSync(program, 0o755);
  const context = aSession({ adapter: 'kimi', program }, { login });
  expect(await kimiAdapter.prepare(context)).toMatchObject({ ok: true });
  const config = readFileSync(join(context.home, '.kimi-code/config.toml'), 'utf8');
  expect(config).toContain('default_model = "kimi-code/kimi-for-coding"');
  expect(config).not.toContain('hooks');
});
