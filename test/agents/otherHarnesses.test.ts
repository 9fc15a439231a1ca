import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';

import { apiFailure } from '../../src/agents/apiFailure.ts';
import { geminiAdapter } from '../../src/agents/gemini/adapter.ts';
import { opencodeAdapter } from '../../src/agents/opencode/adapter.ts';
import { streamError } from '../../src/agents/opencode/driver.ts';
import { workspacePlugins } from '../../src/agents/opencode/workspacePlugins.ts';
import type { AgentAdapter, AttemptPlace, Failure, ResponseReader } from '../../src/agents/port.ts';
import { qwenAdapter } from '../../src/agents/qwen/adapter.ts';
import { aFolder } from '../evaluators/folders.ts';
import { aSession } from './aSession.ts';
import { sumOf } from './responses.ts';

const recorded = (name: string): string => readFileSync(join(import.meta.dirname, 'recorded', name), 'utf8');
const wall = Date.parse('2026-11-30T21:40:00Z');

function failureOf(adapter: AgentAdapter, output: string, code = 1): Failure | null {
  const exit = { nonce: 'n', code, signal: null, cause: 'exit', outOfMemory: false, wall, mono: 0, boot: 'b' } as const;
  return adapter.classify({ exit: { ...exit, outputBytes: 0 }, outputTail: new TextEncoder().encode(output), wall });
}

function aPlace(): AttemptPlace & { write(path: string, text: string): void } {
  const home = aFolder();
  return {
    home,
    cwd: '/w',
    output: join(home, 'output.log'),
    sessionId: 's',
    startedAt: 0,
    write(path, text) {
      mkdirSync(dirname(join(home, path)), { recursive: true });
      writeFileSync(join(home, path), text);
    },
  };
}

const readerOf = (adapter: AgentAdapter, place: AttemptPlace): ResponseReader => {
  if (!adapter.responses) throw new Error('no reader');
  return adapter.responses(place);
};

/** What the model server sent to the sessions that were recorded: three answers, each one token larger than the one before. */
const sent = { responses: 3, uncachedInput: 3003, cachedInput: 6003, cacheWrite: 0, output: 123, reasoning: 24 };

describe("Gemini CLI's transcript", () => {
  const session = recorded('gemini/session.jsonl');
  const file = '.gemini/tmp/w/chats/session-2026-11-30T21-33-6f1c9a52.jsonl';

  it('tells each response once although it is written twice, with its calls', async () => {
    const place = aPlace();
    place.write(file, session);
    const reader = readerOf(geminiAdapter, place);
    const live = await reader.next(false);
    expect(live.map(({ toolCalls }) => toolCalls)).toEqual([1, 1]); // the last one may still get calls
    const rest = await reader.next(true);
    // recorded without "output with reasoning": Gemini counts thoughts beside the output
    expect(sumOf([...live, ...rest])).toEqual({ ...sent, output: 123 + 24 });
    expect(await reader.next(true)).toEqual([]);
    expect(live[0]).toMatchObject({ model: 'gemini-3.8-flash', at: Date.parse('2026-11-30T21:33:31.666Z') });
  });

  it('tells it of a session that was cut off in the middle of a line', async () => {
    const place = aPlace();
    const lines = session.split('\n');
    const second = lines.findIndex((line) => line.includes('"toolCalls"'));
    place.write(file, `${lines.slice(0, second).join('\n')}\n${lines[second]?.slice(0, 200)}`);
    expect(sumOf(await readerOf(geminiAdapter, place).next(true))).toMatchObject({ responses: 1, uncachedInput: 1000 });
  });

  it('counts calls that are only in the sums at the end', async () => {
    const place = aPlace();
    place.write(file, session);
    const models = {
      'gemini-3.5-flash-lite': { total_tokens: 3047, input_tokens: 3000, output_tokens: 40, cached: 2000, input: 1000 },
      'gemini-3.8-flash': { total_tokens: 9153, input_tokens: 9006, output_tokens: 123, cached: 6003, input: 3003 },
    };
    place.write('output.log', `${JSON.stringify({ type: 'result', status: 'success', stats: { models } })}\n`);
    const responses = await readerOf(geminiAdapter, place).next(true);
    expect(responses.filter(({ id }) => id.startsWith('side:'))).toEqual([
      {
        ...{ id: 'side:gemini-3.5-flash-lite', at: 0, model: 'gemini-3.5-flash-lite', toolCalls: 0 },
        ...{ uncachedInput: 1000, cachedInput: 2000, cacheWrite: 0, output: 47, reasoning: 7 },
      },
    ]);
  });
});

describe("Qwen Code's transcript", () => {
  const session = recorded('qwen/session.jsonl');
  const file = '.qwen/projects/-w/chats/6f1c9a52.jsonl';

  it('tells each call once, under the id of its provider, with its tools', async () => {
    const place = aPlace();
    place.write(file, session);
    const responses = await readerOf(qwenAdapter, place).next(true);
    expect(sumOf(responses)).toEqual(sent);
    expect(responses.map(({ id, toolCalls }) => [id, toolCalls])).toEqual([
      ['chatcmpl_mock000024', 1],
      ['chatcmpl_mock000027', 1],
      ['chatcmpl_mock000030', 0],
    ]);
  });

  it('counts what was said where no call is told, and adds thoughts that stand beside the output', async () => {
    const place = aPlace();
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 4, thoughtsTokenCount: 2, totalTokenCount: 16 };
    place.write(file, `${JSON.stringify({ type: 'assistant', uuid: 'u', usageMetadata })}\n`);
    expect(await readerOf(qwenAdapter, place).next(true)).toMatchObject([{ id: 'u', output: 6, reasoning: 2 }]);
  });
});

describe("opencode's database", () => {
  function aDatabase(place: AttemptPlace): DatabaseSync {
    const folder = join(place.home, '.local/share/opencode');
    mkdirSync(folder, { recursive: true });
    const database = new DatabaseSync(join(folder, 'opencode.db'));
    database.exec(`PRAGMA journal_mode = WAL;
      CREATE TABLE session (id text PRIMARY KEY, directory text);
      CREATE TABLE message (id text PRIMARY KEY, session_id text, data text);
      CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, data text);
      INSERT INTO session VALUES ('ses_1', '/w'), ('ses_2', '/another');
      INSERT INTO message VALUES ('msg_1', 'ses_1', '{"role":"assistant","modelID":"qm"}'), ('msg_2', 'ses_2', '{}');
      INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', 5000, '{"type":"tool","tool":"bash"}');
      INSERT INTO part VALUES ('prt_2', 'msg_1', 'ses_1', 5001, '{"reason":"tool-calls","type":"step-finish","tokens":{"total":3040,"input":1000,"output":33,"reasoning":7,"cache":{"write":0,"read":2000}},"cost":0}');
      INSERT INTO part VALUES ('prt_3', 'msg_2', 'ses_2', 5002, '{"type":"step-finish","tokens":{"input":9}}');`);
    return database;
  }

  it('tells each finished step of the session once, also while opencode writes', async () => {
    const place = aPlace();
    using database = aDatabase(place);
    const reader = readerOf(opencodeAdapter, place);
    expect(await reader.next(false)).toEqual([
      {
        ...{ id: 'prt_2', at: 5001, model: 'qm', toolCalls: 1 },
        ...{ uncachedInput: 1000, cachedInput: 2000, cacheWrite: 0, output: 40, reasoning: 7 },
      },
    ]);
    database.exec(`INSERT INTO part VALUES ('prt_4', 'msg_1', 'ses_1', 5003, '{"type":"step-finish","tokens":{}}')`);
    expect((await reader.next(false)).map(({ id }) => id)).toEqual(['prt_4']);
    expect(await reader.next(true)).toEqual([]);
  });

  it('tells nothing where there is none, or something else', async () => {
    const place = aPlace();
    expect(await readerOf(opencodeAdapter, place).next(true)).toEqual([]);
    place.write('.local/share/opencode/opencode.db', 'no database');
    expect(await readerOf(opencodeAdapter, place).next(true)).toEqual([]);
  });

  it('warns of no experiment', () => {
    const place = aPlace();
    aDatabase(place).close();
    const module = join(import.meta.dirname, '../../src/agents/opencode/responses.ts');
    const code = `const { opencodeResponses } = await import(${JSON.stringify(module)});
      console.log((await opencodeResponses(${JSON.stringify(place)}).next(true)).length);`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
    expect(stdout).toBe('1\n');
    expect(stderr).not.toContain('SQLite');
  });
});

describe('how a session failed', () => {
  it.each([
    [geminiAdapter, 'gemini/401.txt', 145, 'login_expired', 'Gemini CLI: scripted error'],
    [geminiAdapter, 'gemini/429.txt', 173, 'usage_limit', 'Gemini CLI: scripted error'],
    [qwenAdapter, 'qwen/529.txt', 1, 'overloaded', 'Qwen Code: scripted error'],
  ] as const)('%# is read from what was recorded: %s %s', (adapter, file, code, reason, detail) => {
    expect(failureOf(adapter, recorded(file), code)).toEqual({ reason, detail });
  });

  it("opencode's failed calls stand in its log, with their words", () => {
    const lines = recorded('opencode/429.txt').split('\n').filter(Boolean);
    expect(lines.map(streamError)).toEqual(lines.map(() => 'scripted error'));
    expect(streamError('timestamp=1 level=INFO message="stream error"')).toBeNull();
    expect(
      streamError('timestamp=1 level=ERROR run=1 message="stream error" error.error="AI_APICallError: say \\"no\\""'),
    ).toBe('say "no"');
  });

  it("opencode's failure is the driver's last line; one without a status may pass", () => {
    const line = (failure: object): string => `${JSON.stringify({ type: 'hma.failed', failure })}\n`;
    expect(failureOf(opencodeAdapter, line({ status: 404, text: 'No such thing' }))?.reason).toBe('model_not_found');
    expect(failureOf(opencodeAdapter, line({ status: null, text: 'scripted error' }))?.reason).toBe('overloaded');
    expect(failureOf(opencodeAdapter, 'a stack trace\n')?.reason).toBe('crash');
  });

  it('is no failure at its natural end', () => {
    for (const adapter of [geminiAdapter, qwenAdapter, opencodeAdapter]) expect(failureOf(adapter, '', 0)).toBeNull();
  });

  it.each([
    [400, 'The input token count (1200000) exceeds the maximum number of tokens allowed', 'context_overflow'],
    [400, 'API key not valid. Please pass a valid API key.', 'login_expired'],
    [400, 'models/x is not found for API version v1beta', 'model_not_found'],
    [429, 'slow down', 'usage_limit'],
    [null, 'fetch failed sending request', 'network'],
    [null, 'TypeError: x is not a function', 'crash'],
    [502, 'Bad gateway', 'overloaded'],
  ] as const)('%s "%s" is %s', (status, text, reason) => {
    expect(apiFailure({ title: 'T', status, text, wall }).reason).toBe(reason);
  });

  it('tells when a limit is over, and only when that is still to come', () => {
    const limit = (text: string) => apiFailure({ title: 'T', status: 429, text, wall });
    expect(limit('Please retry in 3600s.')).toMatchObject({ reason: 'usage_limit', resetAt: wall + 3_600_000 });
    expect(limit('Too many')).not.toHaveProperty('resetAt');
  });
});

describe('before a session', () => {
  it.each([geminiAdapter, qwenAdapter])('$name is refused in the user’s own HOME', async (adapter) => {
    const context = aSession({ adapter: adapter.name });
    const own = { ...context, outerEnvironment: { ...context.outerEnvironment, HOME: context.home } };
    expect(await adapter.prepare(own)).toMatchObject({
      ok: false,
      refusal: { detail: expect.stringContaining('isolation.ownHome: true') as string },
    });
  });

  it('Qwen Code offers no MCP server, and says what to do', async () => {
    expect(await qwenAdapter.prepare(aSession({ adapter: 'qwen', tools: 'mcp' }))).toMatchObject({
      refusal: { reason: 'not_configured', detail: expect.stringContaining('use `tools: shell`') as string },
    });
  });

  it('opencode needs a model for an endpoint', async () => {
    expect(
      await opencodeAdapter.prepare(aSession({ adapter: 'opencode', baseUrl: 'http://127.0.0.1:1/v1' })),
    ).toMatchObject({
      refusal: { detail: expect.stringContaining('needs a `model`') as string },
    });
  });

  it('finds plugins of opencode in the workspace and above it, up to its repository', async () => {
    const root = aFolder();
    const write = (path: string, text: string): string => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
      return join(root, path);
    };
    write('repository/.git/HEAD', '');
    write('repository/w/opencode.json', '{"model": "a/b"}');
    write('opencode.json', '{"plugin": ["above"]}');
    expect(await workspacePlugins(join(root, 'repository/w'))).toEqual([]);
    const above = write('repository/opencode.jsonc', '{\n // one\n "plugin": ["x"] }');
    const inside = write('repository/w/.opencode/plugins/x.js', '');
    expect(await workspacePlugins(join(root, 'repository/w'))).toEqual([inside, above]);
  });
});

describe('what a session says', () => {
  const say = (adapter: AgentAdapter, event: unknown) => adapter.say?.(JSON.stringify(event));

  it('is readable: text, commands, results, failures', () => {
    const shell = { command: 'ls' };
    expect(say(geminiAdapter, { type: 'tool_use', tool_name: 'run_shell_command', parameters: shell })).toEqual([
      { kind: 'tool', text: '$ ls' },
    ]);
    const content = [{ type: 'tool_use', name: 'run_shell_command', input: shell }];
    expect(say(qwenAdapter, { type: 'assistant', message: { content } })).toEqual([{ kind: 'tool', text: '$ ls' }]);
    const part = { tool: 'bash', state: { status: 'completed', input: shell, output: 'a\nb\n' } };
    expect(say(opencodeAdapter, { type: 'tool_use', part })).toEqual([
      { kind: 'tool', text: '$ ls' },
      { kind: 'result', text: 'a\nb' },
    ]);
    for (const adapter of [geminiAdapter, qwenAdapter, opencodeAdapter]) {
      expect(adapter.say?.('a plain line')).toEqual([{ kind: 'note', text: 'a plain line' }]);
      for (const odd of ['{}', '[]', '{"type":"assistant"}', '{"type":"tool_use","part":3}', 'null'])
        expect(() => adapter.say?.(odd)).not.toThrow();
    }
  });
});
