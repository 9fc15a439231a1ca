import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { until } from '../../machines/machineRoom.ts';
import { startAgentsRun, submitCommand } from '../../rig/agentsRun.ts';
import type { Fault } from '../../rig/modelServer.ts';
import { claudeSessions, type ClaudeSessions } from '../claudeSessions.ts';
import { wrote } from '../realSession.ts';
import { sumOf } from '../responses.ts';
import { thinking } from './pairs.ts';

let claude: ClaudeSessions;
beforeEach(async () => {
  claude = await claudeSessions();
});
afterEach(() => claude[Symbol.asyncDispose]());

describe('what goes wrong with Claude Code is named', () => {
  it.each<[string, Fault, string]>([
    ['a rate limit', { kind: 'rate_limited' }, 'usage_limit'],
    ['a login that has expired', { kind: 'login_expired' }, 'login_expired'],
    ['a forbidden key', { kind: 'forbidden' }, 'login_expired'],
    ['a model that does not exist', { kind: 'model_not_found' }, 'model_not_found'],
    ['an unavailable provider', { kind: 'unavailable' }, 'overloaded'],
    ['no credit', { kind: 'no_credit' }, 'usage_limit'],
    ['a context that is full', { kind: 'context_overflow' }, 'context_overflow'],
    ['a connection that is cut before the answer', { kind: 'cut', when: 'before' }, 'network'],
  ])('%s', async (_, fault, reason) => {
    const { session } = await claude.start([{ shell: 'echo one' }, { fault }]);
    const exit = await session.ended();
    expect(session.failure(exit), session.output()).toMatchObject({ reason });
  });

  it('a hiccup is survived', async () => {
    const { session, name } = await claude.start(
      [{ shell: 'echo one' }, { fault: { kind: 'overloaded' }, faultTimes: 3, text: 'Done.' }],
      { outer: { CLAUDE_CODE_MAX_RETRIES: '6' } },
    );
    const exit = await session.ended();
    expect(session.failure(exit), session.output()).toBeNull();
    expect(sumOf(await session.responses())).toEqual(claude.server.sent(name));
  });
});

describe('a session of Claude Code, further', () => {
  it('is kept to the workspace where it is limited, and never hangs at a question', async () => {
    const outside = join('/tmp', `hma-outside-${process.pid}`);
    const { session } = await claude.start(
      ({ turn, body }) => {
        const cwd =
          /Primary working directory: ([^\\"]+)/u.exec(JSON.stringify(body))?.[1]?.replace(/\\n.*/su, '') ?? '';
        const steps = [
          { tool: 'Write', args: { file_path: join(cwd, 'inside.txt'), content: 'x' } },
          { tool: 'Write', args: { file_path: outside, content: 'x' } },
          { shell: 'echo ran > ran.txt' },
        ];
        return steps[turn] ?? { text: 'Done.' };
      },
      { tier: 'none' },
    );
    const exit = await session.ended();
    expect(session.failure(exit), session.output()).toBeNull();
    expect([wrote(session, 'inside.txt'), wrote(session, 'ran.txt'), existsSync(outside)], session.output()).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('goes on after a wake-up that it asked for', async () => {
    const { session } = await claude.start(({ turn }) =>
      turn === 0
        ? { tool: 'ScheduleWakeup', args: { delaySeconds: 60, prompt: 'Look at the training.', reason: 'training' } }
        : { text: 'I sleep.' },
    );
    // it wakes at a full minute, and by this script asks for the next wake-up
    const turns = (): number => session.events().filter(({ type }) => type === 'result').length;
    await until('the second turn to end', () => turns() === 2, 170_000);
    expect(session.events()).toContainEqual(
      expect.objectContaining({ state: 'started', wakeup_source: 'loop_wakeup' }),
    );
  });

  it('has the tokens of its sub-agents in its responses', async () => {
    const { session, name } = await claude.start(({ body, prompt }) => {
      if (prompt.includes('SUBTASK')) return { text: 'The sub-agent is done.' };
      return JSON.stringify(body).includes('subagent_type\\":') || JSON.stringify(body).includes('"tool_result"')
        ? { text: 'Done.' }
        : { tool: 'Agent', args: { description: 'a part', prompt: 'SUBTASK: look', subagent_type: 'general-purpose' } };
    });
    const exit = await session.ended();
    expect(session.failure(exit), session.output()).toBeNull();
    expect(session.output()).toContain('local_agent');
    expect(sumOf(await session.responses())).toEqual(claude.server.sent(name));
  });
});

describe('the next session of Claude Code in the same workspace', () => {
  it('sees nothing of the one before, and obeys none of what that one planted', async () => {
    const plant = [
      'mkdir -p .claude',
      `printf '%s' '{"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:9"},"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch hooked"}]}]}}' > .claude/settings.json`,
      `printf '%s' '{"mcpServers":{"planted":{"command":"touch","args":["hooked"]}}}' > .mcp.json`,
      'mkdir -p ~/.claude && echo MARK-OF-A-MEMORY > ~/.claude/CLAUDE.md',
      'echo INSTRUCTION-LEFT > CLAUDE.md',
      submitCommand(1),
    ].join('; ');
    await using run = await startAgentsRun({
      A: { adapter: 'claude-code', script: [{ say: 'MARK-OF-A-CONTEXT', shell: plant }, thinking] },
      B: { adapter: 'claude-code', script: [{ shell: `echo seen > b.txt; ${submitCommand(2)}` }, thinking] },
      contract: { policy: { cap: 1 }, budgets: { total: '10m', review: '1m', experiments: 2 } },
    });
    const state = await run.finished(150_000);
    expect(
      state.options.map(({ accepted }) => accepted),
      run.log(),
    ).toEqual([['e1'], ['e2']]);
    const seen = JSON.stringify(run.server.requests.filter(({ script }) => script === 'B').map(({ body }) => body));
    expect(seen).toContain('INSTRUCTION-LEFT');
    expect(seen).not.toContain('MARK-OF-A');
    expect(existsSync(join(run.folders.workspace, 'hooked'))).toBe(false);
    expect(readFileSync(join(run.folders.workspace, 'b.txt'), 'utf8')).toBe('seen\n');
    for (const slot of ['A', 'B'] as const) expect(run.recorded(slot)).toEqual(run.server.sent(slot));
  });
});
