import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { adapterNames } from '../../src/agents/adapterNames.ts';
import { adapterFor, adapters } from '../../src/agents/adapters.ts';
import { commandAdapter } from '../../src/agents/command/adapter.ts';
import type { Launch, SessionContext } from '../../src/agents/port.ts';
import { sessionEnvironment } from '../../src/agents/sessionEnvironment.ts';
import type { ExitReport } from '../../src/machines/port.ts';
import { aSession } from './aSession.ts';

async function launched(context: SessionContext): Promise<Launch> {
  const launch = await commandAdapter.prepare(context);
  if (!launch.ok) throw new Error(launch.refusal.detail);
  return launch.value;
}

const refusalOf = async (context: SessionContext) => {
  const launch = await commandAdapter.prepare(context);
  return launch.ok ? null : launch.refusal;
};

/** Really starts what was prepared and gives its output. */
async function outputOf(context: SessionContext): Promise<string> {
  const launch = await launched(context);
  const env = sessionEnvironment({
    context,
    launch,
    named: [],
    token: 't',
    socket: '/s',
    shimFolder: '/shim',
    run: 'r',
  });
  const ran = spawnSync(launch.argv[0], launch.argv.slice(1), {
    cwd: context.cwd,
    env,
    input: launch.stdin ?? '',
    encoding: 'utf8',
  });
  expect(ran.status).toBe(0);
  return ran.stdout;
}

const prompt = 'Line one "quoted" $HOME `id`\n{promptFile} {prompt} $& end\n';

describe('the prompt reaches any program', () => {
  it.each([
    ['as the file that HMA_PROMPT names', { command: ['sh', '-c', 'cat "$HMA_PROMPT"'], prompt: 'file' }],
    ['on stdin', { command: ['cat'], prompt: 'stdin' }],
    ['as its last argument', { command: ['printf', '%s'], prompt: 'argument' }],
    [
      'in the place of {prompt}',
      { command: ['sh', '-c', 'printf %s "$1"', 'sh', '{prompt}', 'more'], prompt: 'argument' },
    ],
    ['in the file named in the place of {promptFile}', { command: ['cat', '{promptFile}'], prompt: 'file' }],
  ] as const)('%s', async (_, agent) => {
    expect(await outputOf(aSession(agent, { prompt }))).toBe(prompt);
  });

  it('within an argument, replaced once and only there', async () => {
    const context = aSession({ command: ['tool', '--task={prompt}', '{promptfile}'], prompt: 'argument' }, { prompt });
    mkdirSync(join(context.workspace, 'bin'));
    writeFileSync(join(context.workspace, 'bin', 'tool'), '#!/bin/sh\n', { mode: 0o755 });
    const inWorkspace = {
      ...context,
      agent: { ...context.agent, command: ['bin/tool', '--task={prompt}', '{promptfile}'] as const },
    };
    const launch = await launched(inWorkspace);
    expect(launch.argv).toEqual([join(context.workspace, 'bin', 'tool'), `--task=${prompt}`, '{promptfile}']);
    expect(launch.readable).toEqual([]);
  });
});

describe('what can not be started is refused with what to do', () => {
  it('names the program and the PATH', async () => {
    expect(await refusalOf(aSession({ command: ['no-such-agent', 'go'] }))).toEqual({
      reason: 'not_installed',
      detail:
        "agent mine can't start: `no-such-agent` was not found on PATH (/usr/bin:/bin); install it, or write its absolute path",
    });
    expect(await refusalOf(aSession({ command: ['./agent.sh'] }))).toMatchObject({
      reason: 'not_installed',
      detail: expect.stringContaining('/w/agent.sh') as string,
    });
  });

  it('never takes a program from the working directory by an empty or relative PATH entry', async () => {
    const context = aSession({ command: ['planted'] }, { outerEnvironment: { PATH: ':.:bin:/usr/bin' } });
    writeFileSync(join(context.workspace, 'planted'), '#!/bin/sh\n', { mode: 0o755 });
    expect((await refusalOf(context))?.detail).toContain('PATH (/usr/bin)');
  });

  it('asks for a command, and for another way when the prompt is no argument', async () => {
    expect(await refusalOf(aSession())).toMatchObject({
      reason: 'not_configured',
      detail: expect.stringContaining('names no command') as string,
    });
    const long = { prompt: 'x'.repeat(131_072) };
    const longest = { prompt: 'x'.repeat(131_071) };
    expect(await refusalOf(aSession({ command: ['printf', '%s'], prompt: 'argument' }, long))).toMatchObject({
      reason: 'not_configured',
      detail: expect.stringContaining('128 KiB') as string,
    });
    expect(await outputOf(aSession({ command: ['printf', '%s'], prompt: 'argument' }, longest))).toBe(longest.prompt);
    expect(await refusalOf(aSession({ command: ['true'], prompt: 'argument' }, { prompt: 'a\0b' }))).toMatchObject({
      reason: 'not_configured',
    });
    expect(await refusalOf(aSession({ command: ['cat'], prompt: 'stdin' }, long))).toBeNull();
  });
});

describe('how an attempt ended', () => {
  const classify = (parts: Partial<ExitReport>, output = '') =>
    commandAdapter.classify({
      exit: {
        nonce: 'n',
        code: 0,
        signal: null,
        cause: 'exit',
        outOfMemory: false,
        wall: 0,
        mono: 0,
        boot: 'b',
        outputBytes: 0,
        ...parts,
      },
      outputTail: new TextEncoder().encode(output),
      wall: 0,
    });

  it('is natural with exit code 0 and not a failure when the runner ended it', () => {
    expect(classify({})).toBeNull();
    expect(classify({ code: null, signal: 'SIGKILL', cause: 'timeout' })).toBeNull();
    expect(classify({ code: null, signal: 'SIGTERM', cause: 'ended' })).toBeNull();
  });

  it('is a crash with any other code or a signal, with its last words', () => {
    expect(classify({ code: 1 }, 'working\n\u001b[31mError: no key\u001b[0m\r\n\n')).toEqual({
      reason: 'crash',
      detail: 'the program exited with code 1; its last output: Error: no key',
    });
    expect(classify({ code: null, signal: 'SIGSEGV' })).toEqual({
      reason: 'crash',
      detail: 'the program was killed by SIGSEGV',
    });
    expect(classify({ code: 127 })?.detail).toContain('not found');
  });

  it('is out of memory or not started where it was', () => {
    expect(classify({ code: null, signal: 'SIGKILL', outOfMemory: true })?.reason).toBe('out_of_memory');
    expect(classify({ code: null, cause: 'spawn', error: 'spawn EACCES' })).toEqual({
      reason: 'not_started',
      detail: 'the program could not be started: spawn EACCES',
    });
  });
});

describe('adapters by name', () => {
  it('agree with their own names, and each harness declares what it is', () => {
    expect(Object.keys(adapters).toSorted()).toEqual([...adapterNames].toSorted());
    for (const [name, adapter] of Object.entries(adapters)) {
      expect(adapter.name).toBe(name);
      if (adapter.harness) expect(adapter.harness.tested.length, name).toBeGreaterThan(0);
    }
    expect(adapterFor({ name: 'a', adapter: 'command' })).toEqual({ ok: true, value: commandAdapter });
  });

  it('refuse a harness that is not there yet, and a name that none has', () => {
    expect(adapterFor({ name: 'a', adapter: 'copilot' })).toEqual({
      ok: false,
      refusal: {
        reason: 'unknown_adapter',
        detail:
          'the adapter `copilot` of agent a is not available yet in this version; use the adapter `command` with its command line',
      },
    });
    for (const adapter of ['comand', 'constructor', '__proto__', '']) {
      expect(adapterFor({ name: 'a', adapter })).toMatchObject({
        ok: false,
        refusal: { detail: expect.stringContaining('use one of `command`, `demo`') as string },
      });
    }
  });

  it('refuse a preset that does not exist or that the harness does not speak', () => {
    const detailOf = (preset: string, adapter: string): string => {
      const found = adapterFor({ name: 'a', adapter, preset });
      return found.ok ? '' : found.refusal.detail;
    };
    expect(detailOf('glm', 'claude-code')).toBe('');
    expect(detailOf('gml', 'claude-code')).toContain('use one of `glm`');
    expect(detailOf('glm', 'codex')).toContain('it is for `claude-code`');
  });
});
