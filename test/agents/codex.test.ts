import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { classifyCodex } from '../../src/agents/codex/classify.ts';
import { authFile, codexLogin } from '../../src/agents/codex/login.ts';
import { codexResponses } from '../../src/agents/codex/responses.ts';
import { sayCodex } from '../../src/agents/codex/said.ts';
import { configArguments, configToml, settingsFor } from '../../src/agents/codex/settings.ts';
import type { AttemptEnd } from '../../src/agents/port.ts';
import { aFolder } from '../evaluators/folders.ts';
import { aSession } from './aSession.ts';

// Lines of Codex 0.171.0 against the scripted server, shortened.
const at = '2026-11-30T21:32:29.423Z';
const rollout = [
  `{"timestamp":"${at}","ordinal":0,"type":"session_meta","payload":{"session_id":"t1","id":"t1","timestamp":"${at}","cwd":"/w","model_provider":"mock"}}`,
  `{"timestamp":"${at}","ordinal":5,"type":"turn_context","payload":{"turn_id":"u1","cwd":"/w","approval_policy":"never","model":"gpt-5.6","effort":"high"}}`,
  `{"timestamp":"${at}","ordinal":13,"type":"response_item","payload":{"type":"function_call","status":"completed","name":"exec_command","arguments":"{}","call_id":"c1"}}`,
  `{"timestamp":"${at}","ordinal":14,"type":"token_usage_record","payload":{"thread_id":"t1","turn_id":"u1","response_id":"resp_2","usage":{"input_tokens":3000,"cached_input_tokens":2000,"cache_write_input_tokens":0,"output_tokens":40,"reasoning_output_tokens":7,"total_tokens":3040}}}`,
  `{"timestamp":"${at}","ordinal":17,"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":3000}}}}`,
  'a line of a version to come',
  `{"timestamp":"${at}","ordinal":20,"type":"token_usage_record","payload":{"thread_id":"t1","turn_id":"u1","response_id":"resp_8","usage":{"input_tokens":3002,"cached_input_tokens":2001,"cache_write_input_tokens":300,"output_tokens":41,"reasoning_output_tokens":8}}}`,
];

it('reads responses as they come, none twice, none of another session', async () => {
  const home = aFolder();
  const folder = join(home, '.codex/sessions/2026/11/30');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'rollout-2026-11-30T21-32-29-t1.jsonl');
  writeFileSync(file, `${rollout.slice(0, 4).join('\n')}\n`);
  writeFileSync(
    join(folder, 'rollout-2026-11-30T21-32-30-t2.jsonl'),
    rollout.join('\n').replaceAll('"/w"', '"/other"'),
  );
  const place = { home, cwd: '/w', output: '', sessionId: '', startedAt: Date.parse(at) - 100 };
  const reader = codexResponses(place);
  const common = { at: Date.parse(at), model: 'gpt-5.6' };
  expect(await reader.next(false)).toEqual([
    {
      id: 'resp_2',
      ...common,
      uncachedInput: 1000,
      cachedInput: 2000,
      cacheWrite: 0,
      output: 40,
      reasoning: 7,
      toolCalls: 1,
    },
  ]);
  writeFileSync(file, rollout.join('\n'));
  expect(await reader.next(true)).toEqual([
    {
      id: 'resp_8',
      ...common,
      uncachedInput: 701,
      cachedInput: 2001,
      cacheWrite: 300,
      output: 41,
      reasoning: 8,
      toolCalls: 0,
    },
  ]);
  expect(await reader.next(true)).toEqual([]);
});

it('says what its lines mean', () => {
  const item = (type: string, rest: object): string =>
    JSON.stringify({ method: `item/${type}`, params: { item: rest } });
  const lines = [
    item('started', {
      type: 'commandExecution',
      command: `/bin/bash -c "echo hello; env | grep -E 'HMA' ; which hma"`,
    }),
    item('completed', { type: 'commandExecution', status: 'failed', aggregatedOutput: 'hello\n', exitCode: 1 }),
    item('completed', { type: 'agentMessage', text: 'all done' }),
    item('completed', { type: 'fileChange', changes: [{ path: '/w/a.py', kind: { type: 'update' } }] }),
    '{"method":"error","params":{"error":{"message":"Reconnecting... 1/3","additionalDetails":"unexpected status 503"},"willRetry":true}}',
    '{"type":"hma.delivered","id":"m1","text":"Try it."}',
    '\u001b[31mERROR\u001b[0m codex_core: something',
    '{"method":"thread/readState/changed","params":{}}',
  ];
  expect(lines.flatMap(sayCodex)).toEqual([
    { kind: 'tool', text: `$ echo hello; env | grep -E 'HMA' ; which hma` },
    { kind: 'result', text: 'hello\n(exit code 1)' },
    { kind: 'text', text: 'all done' },
    { kind: 'tool', text: 'update /w/a.py' },
    { kind: 'note', text: 'Reconnecting... 1/3: unexpected status 503' },
    { kind: 'person', text: 'Try it.' },
    { kind: 'note', text: 'ERROR codex_core: something' },
  ]);
});

const wall = Date.parse('2026-11-30T21:35:38Z');
const endWith = (...lines: string[]): AttemptEnd => ({
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
  outputTail: Buffer.from(lines.join('\n')),
});
const failed = (error: object): string =>
  JSON.stringify({ method: 'turn/completed', params: { turn: { status: 'failed', error } } });

it('takes the reset of a used up plan from its windows, which are exact', () => {
  const limits =
    '{"method":"account/rateLimits/updated","params":{"rateLimits":{"primary":{"usedPercent":100,"windowDurationMins":300,"resetsAt":1796100000},"secondary":null}}}';
  const error = failed({
    message: 'You’ve hit your usage limit. Upgrade to Pro, or try again at Dec 1st, 2026 4:40 AM.',
    codexErrorInfo: 'usageLimitExceeded',
  });
  expect(classifyCodex(endWith(limits, error))).toMatchObject({ reason: 'usage_limit', resetAt: 1_796_100_000_000 });
  expect(classifyCodex(endWith(error))).toMatchObject({ reason: 'usage_limit' });
});

it('classifies by the last error only, and an end without one as a crash', () => {
  const http = failed({
    message: 'unexpected status 401 Unauthorized: no',
    codexErrorInfo: { httpConnectionFailed: { httpStatusCode: 401 } },
  });
  expect(classifyCodex(endWith(http))).toEqual({
    reason: 'login_expired',
    detail: 'Codex: unexpected status 401 Unauthorized: no',
  });
  expect(classifyCodex(endWith(http, '{"method":"turn/started","params":{}}'))).toMatchObject({ reason: 'crash' });
});

it('writes a configuration that is the same as a file and as arguments, whatever a name holds', () => {
  const context = aSession({ model: 'a "b" \\ c', tools: 'mcp' }, { isolated: false });
  const settings = settingsFor(context, { baseUrl: 'http://127.0.0.1:1/v1', keyVariable: 'K' });
  const toml = configToml(settings);
  expect(toml).toContain('model = "a \\"b\\" \\\\ c"\n');
  expect(toml).toContain('sandbox_mode = "workspace-write"\n');
  expect(toml).toContain('shell_environment_policy.exclude = ["K"]\n');
  const args = configArguments(settings);
  expect(args.filter((arg) => arg !== '-c').map((arg) => arg.replace('=', ' = '))).toEqual(
    toml.trimEnd().split('\n').slice(1),
  );
});

it('knows a whole login from a torn one', () => {
  const whole = '{"OPENAI_API_KEY":null,"tokens":{"id_token":"i","access_token":"a","refresh_token":"r"}}';
  expect(codexLogin.wellFormed(authFile, whole)).toBe(true);
  for (const torn of ['', '{}', whole.slice(0, 60), '{"tokens":{"access_token":"a","refresh_token":""}}'])
    expect(codexLogin.wellFormed(authFile, torn)).toBe(false);
});
