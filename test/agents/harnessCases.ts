import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';

import type { AgentAdapter, FailureReason } from '../../src/agents/port.ts';
import type { Tier } from '../../src/machines/port.ts';
import { allProcesses, signalProcess } from '../../src/machines/processes.ts';
import { observeRunner } from '../../src/machines/runnerControl.ts';
import type { RunnerExit } from '../../src/machines/runnerFiles.ts';
import { until as waitFor } from '../machines/machineRoom.ts';
import {
  startModelServer,
  type Fault,
  type ModelRequest,
  type ModelServer,
  type Script,
  type Sent,
} from '../rig/modelServer.ts';
import { scriptedKey, startRealSession, wrote, type RealSession, type RealSessionWish } from './realSession.ts';
import { sumOf } from './responses.ts';

/** A harness whose real CLI is driven through the adapter's own `prepare`, and what is special about it. */
export interface HarnessUnderTest {
  readonly adapter: AgentAdapter;
  readonly model: string;
  /** What follows a script's base URL. */
  readonly path: '' | '/v1';
  /** Plants what could take the next agent over; whatever works leaves a file named `planted-…`. */
  plant(workspace: string, evil: string): void;
  /** Files by which a workspace instructs agents. */
  readonly instructions: readonly string[];
  /** It tells what a call cost only once its tools are done: of a call that was cut off in a tool nothing is known. */
  readonly lastStepUntold?: boolean;
}

/** A server and sessions for one test file. After each test they are ended and closed, which throws when anything lives. */
export function harnessRig(harness: HarnessUnderTest) {
  let server: ModelServer;
  let count = 0;
  const opened: RealSession[] = [];
  beforeAll(async () => {
    server = await startModelServer();
  });
  afterEach(async () => {
    for (const session of opened.splice(0)) {
      await session.end();
      session.close();
    }
  });
  afterAll(() => server[Symbol.asyncDispose]());
  return {
    get server() {
      return server;
    },
    requestsOf: (name: string): readonly ModelRequest[] => server.requests.filter(({ script }) => script === name),
    async start(script: Script, wish: Partial<RealSessionWish> = {}) {
      const name = `s${++count}`;
      server.script(name, script);
      const session = await startRealSession({
        adapter: harness.adapter,
        tier: 'bubblewrap',
        ...wish,
        agent: { model: harness.model, baseUrl: `${server.url(name)}${harness.path}`, ...wish.agent },
      });
      opened.push(session);
      return { session, name };
    },
  };
}

/** Waits for something outside of the output. */
const until = (session: RealSession, what: string, holds: () => boolean): Promise<unknown> =>
  waitFor(`${what}\n${session.output().slice(-3000)}`, holds, 90_000);

/** Its own end: a harness that tries again takes its time. */
export async function ended(session: RealSession): Promise<RunnerExit> {
  const { dir } = session.started;
  await waitFor(`its end\n${session.output().slice(-3000)}`, () => observeRunner(dir).kind === 'ended', 165_000);
  return session.ended();
}

/** Whether the whole matrix is wanted (`npm run test:agents:all`); the default set has to be short. */
const all = process.env['HMA_AGENTS'] === 'all';
const tiers: readonly Tier[] = all ? ['bubblewrap', 'none'] : ['bubblewrap'];
const works: Script = [
  { shell: 'echo one' },
  { shell: 'touch running; (setsid sleep 86413 &); sleep 86412' },
  { text: 'never' },
];

/** What every harness does: works, alone with its workspace's instructions, and ends when it is told to with each token counted. */
export function commonCases(harness: HarnessUnderTest, rig: ReturnType<typeof harnessRig>): void {
  /** What was sent to a session that was cut off in a tool, as far as its harness could tell. */
  const sentBefore = (name: string): Sent => {
    const sent = rig.server.sent(name);
    const usage = rig.requestsOf(name).at(-1)?.usage;
    if (harness.lastStepUntold !== true || !usage) return sent;
    return {
      ...sent,
      responses: sent.responses - 1,
      uncachedInput: sent.uncachedInput - usage.input,
      cachedInput: sent.cachedInput - usage.cached,
      output: sent.output - usage.output,
      reasoning: sent.reasoning - usage.reasoning,
    };
  };
  it('works with its own key, obeys the instruction files of the workspace and nothing else in it', async () => {
    const evil = `${rig.server.url('evil')}${harness.path}`;
    const { session, name } = await rig.start(
      [
        { say: 'First I look.', shell: 'hma status; env | sort > env.txt; pwd > pwd.txt' },
        { shell: 'cat pwd.txt > again.txt && (echo more; echo lines) | tail -1 >> again.txt' },
        { text: 'Done.' },
      ],
      {
        files: (workspace) => {
          harness.plant(workspace, evil);
          for (const [index, file] of harness.instructions.entries())
            writeFileSync(join(workspace, file), `INSTRUCTION-${index} of the workspace.\n`);
        },
      },
    );
    const exit = await ended(session);
    expect(session.failure(exit), session.output()).toBeNull();
    const [first] = rig.requestsOf(name);
    expect(first).toMatchObject({ model: harness.model, key: scriptedKey });
    const body = JSON.stringify(first?.body);
    for (const index of harness.instructions.keys()) expect(body).toContain(`INSTRUCTION-${index}`);
    expect(body).toContain('Improve the candidate.');
    expect(body).not.toContain('PLANTED');
    expect(rig.requestsOf('evil')).toEqual([]);
    const listed = session.room.read('again.txt');
    expect(listed, session.output()).toBe(`${session.context.workspace}\nlines\n`);
    for (const mark of ['hook', 'mcp', 'plugin', 'tool']) expect(wrote(session, `planted-${mark}`), mark).toBe(false);
    expect(session.output()).toContain('this is the shim: status');
    const environment = session.room.read('env.txt') ?? '';
    expect(environment).not.toContain('PLANTED');
    expect(environment).not.toContain('SCRIPTED_KEY=');
    expect(environment).toContain(`HOME=${session.context.home}`);
    expect(sumOf(await session.responses())).toEqual(rig.server.sent(name, 'all'));
    const calls = (await session.responses()).reduce((sum, { toolCalls }) => sum + toolCalls, 0);
    expect(calls).toBe(2);
    const said = session
      .output()
      .split('\n')
      .flatMap((line) => harness.adapter.say?.(line) ?? []);
    expect(said).toContainEqual({ kind: 'text', text: 'Done.' });
    expect(said.map(({ text }) => text).join('\n')).toContain('$ hma status');
  });

  it.each(tiers)('ended while a tool runs leaves nothing alive and every token counted (%s)', async (tier) => {
    const { session, name } = await rig.start(works, { tier, agent: { permissions: 'bypass' } });
    await until(session, 'the tool to run', () => wrote(session, 'running'));
    await session.end();
    expect(sumOf(await session.responses())).toEqual(sentBefore(name));
  });

  if (!all) return;

  it('takes a prompt beyond the longest argument, and one that begins like a command of its own', async () => {
    const prompt = `/clear is the first word of ${'a long task '.repeat(20_000)}THE-END`;
    const { session, name } = await rig.start([{ text: 'Read.' }], { context: { prompt } });
    const exit = await ended(session);
    expect(session.failure(exit), session.output()).toBeNull();
    const body = JSON.stringify(rig.requestsOf(name)[0]?.body);
    for (const part of ['/clear is the first word', 'THE-END']) expect(body).toContain(part);
  });

  it.each(tiers)(
    'ended while the model is waited for leaves nothing alive and every token counted (%s)',
    async (tier) => {
      const script: Script = [{ shell: 'echo one' }, { fault: { kind: 'hang', when: 'before' } }];
      const { session, name } = await rig.start(script, { tier, agent: { permissions: 'bypass' } });
      await rig.server.until('the second request', () => rig.requestsOf(name).length >= 2, 90_000);
      const began = performance.now();
      expect((await session.end()).cause).toBe('ended');
      expect(performance.now() - began).toBeLessThan(harness.adapter.graceMs + 15_000);
      expect(sumOf(await session.responses())).toEqual(rig.server.sent(name));
    },
  );

  it('killed while a tool runs loses no token', async () => {
    const { session, name } = await rig.start(works, { tier: 'none', agent: { permissions: 'bypass' } });
    await until(session, 'the tool to run', () => wrote(session, 'running'));
    for (const [pid, one] of allProcesses())
      if (belongsTo(pid, session.context.home) && !isRunner(pid)) signalProcess({ pid, start: one.start }, 'SIGKILL');
    const exit = await ended(session);
    expect(exit.signal).toBe('SIGKILL');
    expect(session.failure(exit)).toMatchObject({ reason: 'crash' });
    expect(sumOf(await session.responses())).toEqual(sentBefore(name));
  });
}

const read = (file: string): string => {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return ''; // it is gone
  }
};
const belongsTo = (pid: number, home: string): boolean => read(`/proc/${pid}/environ`).includes(`HOME=${home}\0`);
const isRunner = (pid: number): boolean => /machines\/(?:runner|reaper)/u.test(read(`/proc/${pid}/cmdline`));

/** A fault that the first request meets, and what it is. */
export type FaultCase = readonly [what: string, Fault, FailureReason, resetAt?: number];

/** The classes of failures that a provider's answers make. A reset told as "in 60 minutes" counts from when it was told last. */
export function faultCases(
  harness: HarnessUnderTest,
  rig: ReturnType<typeof harnessRig>,
  cases: readonly FaultCase[],
): void {
  for (const [what, fault, reason, resetAt] of cases)
    it(`${what} is told`, async () => {
      const { session, name } = await rig.start([{ fault }], { tier: 'none', agent: { permissions: 'bypass' } });
      const failure = session.failure(await ended(session));
      expect(failure, session.output()).toMatchObject({
        reason,
        detail: expect.stringContaining(harness.adapter.harness?.title ?? '?') as string,
        ...(resetAt !== undefined && {
          resetAt: expect.toSatisfy((at: number) => Math.abs(at - resetAt) <= 600_000) as number,
        }),
      });
      expect(rig.requestsOf(name).length).toBeLessThanOrEqual(12);
    });

  it('a hiccup is survived', async () => {
    const { session, name } = await rig.start([{ text: 'Done.', fault: { kind: 'unavailable' }, faultTimes: 2 }]);
    expect(session.failure(await ended(session)), session.output()).toBeNull();
    expect(sumOf(await session.responses())).toEqual(rig.server.sent(name));
  });
}
