import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startModelServer, type Fault, type ModelServer, type Step } from './modelServer.ts';

const tools = {
  anthropic: [{ name: 'Bash', input_schema: { type: 'object', properties: { command: { type: 'string' } } } }],
  responses: [{ type: 'function', name: 'exec_command', parameters: { properties: { cmd: { type: 'string' } } } }],
  chat: [{ type: 'function', function: { name: 'bash', parameters: { properties: { command: { type: 'string' } } } } }],
  gemini: [{ functionDeclarations: [{ name: 'run_shell_command', parameters: { properties: { command: {} } } }] }],
};

/** A request of each protocol with a prompt and, if asked for, one result of a tool after it. */
const requests = {
  anthropic: (results: number) => ({
    path: '/v1/messages',
    headers: { 'x-api-key': 'secret' },
    body: {
      model: 'm',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '<system-reminder>x</system-reminder>' },
            { type: 'text', text: 'go' },
          ],
        },
        ...(results > 0
          ? [
              { role: 'assistant', content: [] },
              { role: 'user', content: [{ type: 'tool_result' }] },
            ]
          : []),
      ],
      tools: tools.anthropic,
    },
  }),
  responses: (results: number) => ({
    path: '/v1/responses',
    headers: { authorization: 'Bearer secret' },
    body: {
      model: 'm',
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: '<environment_context>' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] },
        ...(results > 0 ? [{ type: 'function_call' }, { type: 'function_call_output' }] : []),
      ],
      tools: tools.responses,
    },
  }),
  chat: (results: number) => ({
    path: '/v1/chat/completions',
    headers: { authorization: 'Bearer secret' },
    body: {
      model: 'm',
      messages: [{ role: 'user', content: 'go' }, ...(results > 0 ? [{ role: 'assistant' }, { role: 'tool' }] : [])],
      tools: tools.chat,
    },
  }),
  gemini: (results: number) => ({
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    headers: { 'x-goog-api-key': 'secret' },
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'go' }] },
        ...(results > 0
          ? [
              { role: 'model', parts: [] },
              { role: 'user', parts: [{ functionResponse: {} }] },
            ]
          : []),
      ],
      tools: tools.gemini,
    },
  }),
};

type Api = keyof typeof requests;
const apis = Object.keys(requests) as readonly Api[];

const steps: readonly Step[] = [
  { think: 'hm', say: 'I look.', shell: 'ls -l' },
  { text: 'It is done.', usage: { output: 99 } },
];

describe('the scripted model server', () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const ask = (script: string, api: Api, results = 0, signal?: AbortSignal): Promise<Response> => {
    const { path, headers, body } = requests[api](results);
    return fetch(server.url(script) + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ ...body, ...(api !== 'gemini' && { stream: true }) }),
      ...(signal && { signal }),
    });
  };
  const faulty = async (api: Api, fault: Fault): Promise<Response> => {
    const name = `${api}-${fault.kind}`;
    server.script(name, [{ fault }]);
    return ask(name, api);
  };

  it.each(apis)('%s: asks for a command, answers its result, and knows what it sent', async (api) => {
    server.script(api, steps);
    const first = await (await ask(api, api)).text();
    expect(first).toContain('ls -l');
    expect(first).toContain('I look.');
    const second = await (await ask(api, api, 1)).text();
    expect(second).toContain('It is done.');
    expect(server.sent(api)).toEqual({
      responses: 2,
      uncachedInput: 2001,
      cachedInput: 4001,
      cacheWrite: api === 'anthropic' ? 601 : 0,
      output: 139,
      reasoning: 15,
    });
    const log = server.requests.filter(({ script }) => script === api);
    expect(log.map(({ turn, prompts, prompt, key, outcome }) => ({ turn, prompts, prompt, key, outcome }))).toEqual([
      { turn: 0, prompts: 1, prompt: 'go', key: 'secret', outcome: 'answered' },
      { turn: 1, prompts: 1, prompt: 'go', key: 'secret', outcome: 'answered' },
    ]);
  });

  const resetAt = Date.now() + 3_600_000;
  it.each([
    ['anthropic', { kind: 'unauthorized' }, 401, 'invalid x-api-key'],
    ['anthropic', { kind: 'overloaded' }, 529, 'overloaded_error'],
    ['anthropic', { kind: 'context_overflow' }, 400, 'prompt is too long'],
    ['anthropic', { kind: 'usage_limit', text: 'Usage limit reached, resets 3pm' }, 429, 'resets 3pm'],
    ['responses', { kind: 'model_not_found' }, 404, 'model_not_found'],
    ['responses', { kind: 'usage_limit', resetAt }, 429, `"resets_at":${Math.round(resetAt / 1000)}`],
    ['responses', { kind: 'context_overflow' }, 200, 'response.failed'],
    ['chat', { kind: 'context_overflow' }, 400, 'context_length_exceeded'],
    ['chat', { kind: 'unavailable' }, 503, 'server_is_overloaded'],
    ['gemini', { kind: 'invalid_key' }, 400, 'API_KEY_INVALID'],
    ['gemini', { kind: 'rate_limited', retryAfter: 34 }, 429, '"retryDelay":"34s"'],
  ] as const)('%s: %o as its provider says it', async (api, fault, status, word) => {
    const answer = await faulty(api, fault);
    expect(answer.status).toBe(status);
    expect(await answer.text()).toContain(word);
  });

  it('tells when a limit ends in headers', async () => {
    const { headers } = await faulty('anthropic', { kind: 'rate_limited', resetAt });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(3590);
    expect(headers.get('anthropic-ratelimit-tokens-reset')).toBe(new Date(resetAt).toISOString());
  });

  it.each(apis)('%s: a stream is cut after its first event', async (api) => {
    const answer = await faulty(api, { kind: 'cut', when: 'within' });
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow('terminated');
  });

  it('cuts a connection before the headers', async () => {
    await expect(faulty('chat', { kind: 'cut', when: 'before' })).rejects.toThrow('fetch failed');
  });

  it('is silent until the client leaves, and counts nothing of it', async () => {
    server.script('silent', [{ fault: { kind: 'hang', when: 'before' } }]);
    const leaving = new AbortController();
    const asked = ask('silent', 'anthropic', 0, leaving.signal);
    await server.until('the request', (all) => all.some(({ script }) => script === 'silent'));
    leaving.abort();
    await expect(asked).rejects.toThrow('aborted');
    await server.until('its end', (all) => all.some((one) => one.script === 'silent' && one.outcome !== 'open'));
    expect(server.sent('silent').responses).toBe(0);
  });

  it('overcomes a fault after so many requests', async () => {
    server.script('hiccup', [{ fault: { kind: 'overloaded' }, faultTimes: 2, text: 'Here I am.' }]);
    const statuses = [];
    for (let n = 0; n < 3; n++) statuses.push((await ask('hiccup', 'anthropic')).status);
    expect(statuses).toEqual([529, 529, 200]);
  });

  it('says plainly where there is no script', async () => {
    expect(await (await ask('nothing', 'chat')).text()).toContain('There is no script');
  });
});
