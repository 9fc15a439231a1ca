import { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { claudeCodeAdapter } from '../../src/agents/claudeCode/adapter.ts';
import { workspaceInstructions } from '../../src/agents/claudeCode/instructions.ts';
import { claudeLogin } from '../../src/agents/claudeCode/login.ts';
import { failureIn, failureLine, limitReset, sayClaude } from '../../src/agents/claudeCode/said.ts';
import { fieldsOf } from '../../src/agents/fields.ts';
import type { Failure, SessionContext } from '../../src/agents/port.ts';
import type { AgentChoice } from '../../src/task/model.ts';
import { aFolder } from '../evaluators/folders.ts';
import { aSession } from './aSession.ts';

const recorded = (name: string): string => readFileSync(join(import.meta.dirname, 'recorded/claudeCode', name), 'utf8');
const linesOf = (name: string): string[] => recorded(name).trimEnd().split('\n');

describe('what a session says', () => {
  it('reads as text, thoughts, tools with their results, and tokens', () => {
    expect(linesOf('output.jsonl').flatMap(sayClaude)).toEqual([
      { kind: 'note', text: 'Claude Code 2.1.332 · claude-opus-5-5' },
      { kind: 'thinking', text: 'hmm' },
      { kind: 'text', text: 'Running.' },
      { kind: 'tool', text: '$ echo line1 >> notes.txt; env | sort > env.txt; echo first-done' },
      { kind: 'result', text: 'first-done' },
      { kind: 'text', text: 'All done.' },
      { kind: 'usage', text: '6,603 in (4,001 cached), 81 out (15 reasoning), 2 turns' },
    ]);
  });

  it('names what went wrong, a person’s message, and keeps plain text', () => {
    const say = (value: unknown) => sayClaude(JSON.stringify(value));
    expect(
      say({
        type: 'system',
        subtype: 'api_retry',
        attempt: 1,
        max_retries: 6,
        retry_delay_ms: 1144,
        error_status: 529,
        error: 'overloaded',
      }),
    ).toEqual([{ kind: 'note', text: 'The model did not answer (529 overloaded); try 1 of 6 in 2 s' }]);
    expect(
      say({
        type: 'rate_limit_event',
        rate_limit_info: { status: 'rejected', resetsAt: 1796082102, rateLimitType: 'five_hour' },
      }),
    ).toEqual([
      { kind: 'error', text: 'The usage limit is reached (five hour); it resets at 2026-11-30T23:41:42.000Z' },
    ]);
    expect(say({ type: 'hma.delivered', id: 'm', text: 'look here' })).toEqual([{ kind: 'person', text: 'look here' }]);
    expect(sayClaude('\u001b[31m[claude-code:unrecognized_model]\u001b[0m x')).toEqual([
      { kind: 'note', text: '[claude-code:unrecognized_model] x' },
    ]);
    const long = {
      type: 'tool_result',
      content: Array.from({ length: 30 }, (_, n) => ({ type: 'text', text: `line ${n}` })),
      is_error: true,
    };
    const [shown] = say({ type: 'user', parent_tool_use_id: 'toolu_1', message: { content: [long] } });
    expect(shown?.text.split('\n')).toHaveLength(10);
    expect(shown?.text).toMatch(/^ {4}failed: line 0\n/u);
    for (const line of [
      '',
      '{',
      '{"type":"assistant"}',
      '{"type":"later"}',
      '[1]',
      '{"type":"user","message":{"content":"x"}}',
    ])
      expect(sayClaude(line).filter(({ kind }) => kind !== 'note')).toEqual([]);
  });
});

describe('responses', () => {
  const place = () => {
    const home = aFolder();
    const output = join(home, 'output.log');
    const transcript = join(home, '.claude/projects/-w/s.jsonl');
    const sub = join(home, '.claude/projects/-w/s/subagents/agent-1.jsonl');
    mkdirSync(dirname(sub), { recursive: true });
    const reader = claudeCodeAdapter.responses?.({ home, cwd: '/w', output, sessionId: 's', startedAt: 0 });
    if (!reader) throw new Error('there is no reader');
    return { output, transcript, sub, reader };
  };
  const first = {
    id: 'msg_mock000073',
    model: 'claude-opus-5-5',
    uncachedInput: 1000,
    cachedInput: 2000,
    cacheWrite: 300,
    output: 40,
    reasoning: 7,
    toolCalls: 1,
  };

  it('come once each, however the lines arrive, with those of sub-agents', async () => {
    const { transcript, sub, reader } = place();
    const told = [];
    const bytes = recorded('transcript.jsonl');
    for (let at = 0; at < bytes.length; at += 777) {
      appendFileSync(transcript, bytes.slice(at, at + 777));
      told.push(...(await reader.next(false)));
    }
    expect(told.map(({ output, toolCalls }) => [output, toolCalls])).toEqual([[40, 1]]); // the last one may not be whole yet
    const rest = await reader.next(true);
    expect(rest.map(({ output, reasoning, toolCalls }) => [output, reasoning, toolCalls])).toEqual([[41, 8, 0]]);
    writeFileSync(sub, recorded('subagent.jsonl'));
    appendFileSync(transcript, bytes); // told before
    expect((await reader.next(true)).map(({ id, output }) => [id, output])).toEqual([
      ['msg_mock000050', 40],
      ['msg_mock000053', 41],
    ]);
    expect(told[0]).toMatchObject({
      ...first,
      id: expect.stringMatching(/^msg_mock\d+$/u) as string,
      at: expect.any(Number) as number,
    });
    expect(await reader.next(true)).toEqual([]);
  });

  it('leave out what Claude Code says itself, and answers that were cut off', async () => {
    const { transcript, reader } = place();
    const line = (message: unknown): string =>
      `${JSON.stringify({ type: 'assistant', uuid: 'u', timestamp: '2026-11-30T00:00:00Z', message })}\n`;
    const usage = { input_tokens: 5, output_tokens: 1 };
    writeFileSync(
      transcript,
      line({ id: 'a', model: '<synthetic>', stop_reason: 'stop_sequence', content: [], usage }) +
        line({ id: 'b', model: 'm', stop_reason: null, content: [], usage }) +
        '{"type":"assistant"}\nnonsense\n[]\n',
    );
    expect(await reader.next(true)).toEqual([]);
  });

  it('count what Claude Code counts beyond its transcripts, such as judging a goal', async () => {
    const { transcript, output, reader } = place();
    writeFileSync(transcript, recorded('transcript.jsonl'));
    const modelUsage = (inputTokens: number) => ({
      'claude-opus-5-5': {
        inputTokens,
        outputTokens: 121,
        thinkingTokens: 15,
        cacheReadInputTokens: 4001,
        cacheCreationInputTokens: 601,
      },
    });
    writeFileSync(
      output,
      [2001, 3001].map((input) => `${JSON.stringify({ type: 'result', modelUsage: modelUsage(input) })}\n`).join(''),
    );
    const told = await reader.next(true);
    expect(told.at(-1)).toMatchObject({
      id: 'beyond:claude-opus-5-5',
      uncachedInput: 1000,
      output: 40,
      cachedInput: 0,
      toolCalls: 0,
    });
    expect(await reader.next(true)).toEqual([]);
  });
});

describe('how an attempt ended', () => {
  const exit = {
    nonce: 'n',
    code: 1,
    signal: null,
    cause: 'exit',
    outOfMemory: false,
    wall: 0,
    mono: 0,
    boot: 'b',
    outputBytes: 0,
  } as const;
  const classify = (output: string, parts: Partial<typeof exit> = {}): Failure | null =>
    claudeCodeAdapter.classify({
      exit: { ...exit, ...parts },
      outputTail: new TextEncoder().encode(output),
      wall: 1796074920000,
    });
  const cases = JSON.parse(recorded('failures.json')) as { case: string; limit: unknown; result: unknown }[];

  it.each([
    ['e401', 'login_expired'],
    ['e403', 'login_expired'],
    ['e404', 'model_not_found'],
    ['e429', 'usage_limit'],
    ['e429u', 'usage_limit'],
    ['e529', 'overloaded'],
    ['e503', 'overloaded'],
    ['e500', 'overloaded'],
    ['e400ctx', 'context_overflow'],
    ['e400credit', 'usage_limit'],
    ['net', 'network'],
  ])('recorded %s is %s', (name, reason) => {
    const found = cases.find((each) => each.case === name);
    const failure = failureIn(fieldsOf(found?.result), limitReset(fieldsOf(found?.limit)));
    expect(failure).not.toBeNull();
    if (!failure) return;
    const told = classify(`x\n${failureLine(failure)}\n`);
    expect(told).toMatchObject({ reason, detail: expect.stringMatching(/^Claude Code: ./u) as string });
    expect(told?.resetAt).toBe(name === 'e429u' ? 1796082102000 : undefined);
  });

  it('reads a reset from the words alone', () => {
    const text = "You've hit your 5-hour limit · resets 11:41pm (UTC)";
    const line = failureLine({ status: 429, kind: 'rate_limit_error', terminal: 'api_error', text, resetsAt: null });
    expect(classify(line)).toMatchObject({ reason: 'usage_limit', resetAt: Date.parse('2026-11-30T23:41:00Z') });
  });

  it('is natural with 0, nothing when we ended it, and a crash otherwise', () => {
    expect(classify('', { code: 0 as never })).toBeNull();
    expect(classify('', { cause: 'ended' as never })).toBeNull();
    expect(classify('boom\n')).toMatchObject({ reason: 'crash', detail: expect.stringContaining('boom') as string });
    expect(classify('Invalid API key · Please run /login\n')).toMatchObject({ reason: 'login_expired' });
  });
});

describe('how it is started', () => {
  const program = (root: string): string => {
    const file = join(root, 'claude');
    writeFileSync(file, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    return file;
  };
  async function launched(agent: Partial<AgentChoice>, parts: Partial<SessionContext> = {}) {
    const context = aSession(
      { adapter: 'claude-code', ...agent },
      {
        outerEnvironment: {
          PATH: '/usr/bin:/bin',
          HOME: '/home/u',
          ANTHROPIC_API_KEY: 'k',
          MY_KEY: 'mine',
          ANTHROPIC_BASE_URL: 'http://evil',
        },
        ...parts,
      },
    );
    const launch = await claudeCodeAdapter.prepare({
      ...context,
      agent: { ...context.agent, program: program(context.folder) },
    });
    if (!launch.ok) throw new Error(launch.refusal.detail);
    const drive = JSON.parse(launch.value.stdin ?? '') as { argv: string[]; prompt: string };
    return { ...launch.value, drive, context };
  }

  it('gives the key under the name that Claude Code reads, and no other variable', async () => {
    const plain = await launched({});
    expect(plain.environment).toMatchObject({ ANTHROPIC_API_KEY: 'k' });
    expect(plain.environment).not.toHaveProperty('ANTHROPIC_BASE_URL');
    expect((await launched({ keyVariable: 'MY_KEY' })).environment).toMatchObject({ ANTHROPIC_API_KEY: 'mine' });
    const glm = await launched({ preset: 'glm', keyVariable: 'MY_KEY' });
    expect(glm.environment).toMatchObject({
      ANTHROPIC_AUTH_TOKEN: 'mine',
      ANTHROPIC_BASE_URL: 'https://api.z.ai/api/anthropic',
      ANTHROPIC_DEFAULT_HAIKU_MODEL: 'glm-5.3',
    });
    expect(glm.environment).not.toHaveProperty('ANTHROPIC_API_KEY');
    expect(glm.drive.argv).toContain('glm-5.3');
  });

  it('asks before it acts neither isolated nor where the author said so, and else is limited to the workspace', async () => {
    expect((await launched({})).drive.argv).toContain('--dangerously-skip-permissions');
    expect((await launched({ permissions: 'bypass' }, { isolated: false })).drive.argv).toContain(
      '--dangerously-skip-permissions',
    );
    for (const [agent, isolated] of [
      [{}, false],
      [{ permissions: 'limited' }, true],
    ] as const) {
      const { drive, environment, context } = await launched(agent, { isolated });
      expect(drive.argv).not.toContain('--dangerously-skip-permissions');
      expect(drive.argv.find((each) => each.startsWith('--allowedTools='))).toContain(`Edit(/${context.workspace}/**)`);
      expect(environment).not.toHaveProperty('IS_SANDBOX');
    }
  });

  it('loads no settings of the workspace, and the user’s only in the user’s own HOME', async () => {
    const { drive } = await launched({});
    expect(drive.argv).toEqual(
      expect.arrayContaining(['--setting-sources=', '--strict-mcp-config', '--effort', 'max']),
    );
    const own = await launched({ effort: 'high' }, { home: '/home/u' });
    expect(own.drive.argv).toEqual(expect.arrayContaining(['--setting-sources=user', '--effort', 'high']));
  });

  it('sends a prompt that begins with a slash as a text', async () => {
    expect((await launched({}, { prompt: '/data holds it' })).drive.prompt).toBe(' /data holds it');
    const goal = (await launched({}, { mode: 'single' })).drive.prompt;
    expect(goal).toMatch(/^\/goal /u);
    expect(goal.length).toBeLessThan(4000);
  });

  it('is refused without a login, with what to do', async () => {
    const context = aSession({ adapter: 'claude-code' });
    const launch = await claudeCodeAdapter.prepare({
      ...context,
      agent: { ...context.agent, program: program(context.folder) },
    });
    expect(launch).toMatchObject({
      ok: false,
      refusal: { reason: 'not_configured', detail: expect.stringContaining('hma login claude-code') as string },
    });
  });
});

describe('instruction files of the workspace', () => {
  it('are read with their imports, each once, and nothing outside of the workspace', async () => {
    const root = aFolder();
    const secret = join(aFolder(), 'secret.md');
    writeFileSync(secret, 'SECRET');
    mkdirSync(join(root, 'docs'));
    writeFileSync(
      join(root, 'CLAUDE.md'),
      'See @AGENTS.md, @docs/a.md and `@docs/code.md`.\n@/etc/hostname\n@~/x\n@docs/link.md\nmail me@docs/code.md\n',
    );
    writeFileSync(join(root, 'AGENTS.md'), 'FOR ALL\n');
    writeFileSync(join(root, 'docs/a.md'), 'A, and back to @../CLAUDE.md\n');
    writeFileSync(join(root, 'docs/code.md'), 'NOT IMPORTED\n');
    symlinkSync(secret, join(root, 'docs/link.md'));
    const text = (await workspaceInstructions(root)) ?? '';
    for (const part of ['FOR ALL', 'A, and back']) expect(text.split(part)).toHaveLength(2);
    for (const part of ['SECRET', 'NOT IMPORTED']) expect(text).not.toContain(part);
    expect(await workspaceInstructions(aFolder())).toBeNull();
  });
});

describe('the login file', () => {
  it('is well-formed only whole', () => {
    const whole = JSON.stringify({ claudeAiOauth: { accessToken: 'a', refreshToken: 'r', expiresAt: 1 } });
    expect(claudeLogin.wellFormed('', whole)).toBe(true);
    for (const torn of ['', whole.slice(0, -3), '{}', '{"claudeAiOauth":{"accessToken":"a","refreshToken":""}}'])
      expect(claudeLogin.wellFormed('', torn)).toBe(false);
  });
});
