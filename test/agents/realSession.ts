import { appendFileSync, chmodSync, existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Drive } from '../../src/agents/driver.ts';
import type { AgentAdapter, Failure, Response, SessionContext } from '../../src/agents/port.ts';
import { sessionEnvironment } from '../../src/agents/sessionEnvironment.ts';
import { readOutput, outputLength } from '../../src/machines/outputLog.ts';
import type { Tier } from '../../src/machines/port.ts';
import { endRunner } from '../../src/machines/runnerControl.ts';
import { runnerFile, type RunnerExit } from '../../src/machines/runnerFiles.ts';
import type { AgentChoice } from '../../src/task/model.ts';
import { MachineRoom, observed, repository, until, type Started } from '../machines/machineRoom.ts';
import { pathWithClis } from '../rig/agentsRun.ts';

/** What a session of a real CLI is made from. */
export interface RealSessionWish {
  readonly adapter: AgentAdapter;
  readonly tier: Tier;
  /** `keyVariable: null` takes the scripted key away: a login is used. */
  readonly agent?: Partial<Omit<AgentChoice, 'keyVariable'>> & { readonly keyVariable?: string | null };
  readonly context?: Partial<SessionContext>;
  /** Variables of the controller, beside PATH and the key SCRIPTED_KEY. */
  readonly outer?: Readonly<Record<string, string>>;
  /** Files of the workspace before it starts. */
  readonly files?: (workspace: string) => void;
  /** Files of its HOME before the adapter prepares it: a login. */
  readonly homeFiles?: (home: string) => void;
  /** Called between the preparation and the start. */
  readonly prepared?: (context: SessionContext) => void;
  /** What is changed of the drive that the adapter's driver gets. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** One attempt of a real CLI under a real runner, started as the adapter's `prepare` says; without a controller. */
export interface RealSession {
  readonly context: SessionContext;
  readonly started: Started;
  readonly room: MachineRoom;
  output(): string;
  /** The output's lines that are JSON objects. */
  events(): readonly Readonly<Record<string, unknown>>[];
  /** Sends a person's message. */
  message(id: string, text: string): void;
  /** Waits for its own end. */
  ended(): Promise<RunnerExit>;
  /** Ends it as the controller would, and gives the runner's report. */
  end(): Promise<RunnerExit>;
  /** What the adapter makes of its end; null = natural. */
  failure(exit: RunnerExit): Failure | null;
  /** All responses that the adapter's reader finds. */
  responses(): Promise<readonly Response[]>;
  /** Removes all; throws when something is still running. */
  close(): void;
}

/** The key that its requests must carry. */
export const scriptedKey = 'scripted-key-0123456789abcdef';

/** Prepares and starts a session; throws the adapter's refusal. */
export async function startRealSession(wish: RealSessionWish): Promise<RealSession> {
  const { adapter, tier } = wish;
  const room = new MachineRoom();
  const { context, shims } = contextIn(room, wish);
  const launch = await adapter.prepare(context);
  if (!launch.ok) throw new Error(launch.refusal.detail);
  wish.prepared?.(context);
  const { argv, readable, writable, hidden } = launch.value;
  const stdin = withSettings(launch.value.stdin, wish.settings);
  const environment = sessionEnvironment({
    context,
    launch: launch.value,
    named: [],
    token: 'token-of-the-option',
    socket: join(room.state, 'none.sock'),
    shimFolder: shims,
    run: 'run-of-a-test',
  });
  const startedAt = Date.now();
  const started = await room.start(tier, argv, {
    env: environment,
    spec: {
      cwd: context.cwd,
      timeoutMs: 150_000,
      graceMs: adapter.graceMs,
      polite: { signal: adapter.politeSignal, to: adapter.politeTo },
      ...(stdin === undefined ? {} : { stdin }),
    },
    confinement: {
      home: context.home,
      tmp: context.tmp,
      readable: [join(repository, 'dist'), join(context.promptFile, '..'), shims, ...readable],
      writable: [room.workspace, ...writable],
      ...(hidden === undefined ? {} : { hidden: [room.state, ...hidden] }),
    },
  });
  const output = (): string => Buffer.from(readOutput(started.dir, 0, outputLength(started.dir)).bytes).toString();
  return {
    context,
    started,
    room,
    output,
    events: () => output().split('\n').flatMap(objectIn),
    message: (id, text) => appendFileSync(context.inbox, `${JSON.stringify({ id, at: Date.now(), text })}\n`),
    async ended() {
      try {
        return (await observed(started, 'ended')).report;
      } catch (error) {
        throw new Error(`it did not end; its output: ${output().slice(-4000)}`, { cause: error });
      }
    },
    async end() {
      await endRunner({ ...started, graceMs: adapter.graceMs });
      return (await observed(started, 'ended')).report;
    },
    failure: (exit) => adapter.classify({ exit, outputTail: Buffer.from(output()).subarray(-65_536), wall: exit.wall }),
    async responses() {
      const place = { home: context.home, cwd: context.cwd, output: join(started.dir, runnerFile.output) };
      const reader = adapter.responses?.({ ...place, sessionId: context.sessionId, startedAt });
      return (await reader?.next(true)) ?? [];
    },
    close: () => room.close(),
  };
}

function withSettings(stdin: string | undefined, settings: RealSessionWish['settings']): string | undefined {
  if (stdin === undefined || settings === undefined) return stdin;
  const drive = JSON.parse(stdin) as Drive;
  return JSON.stringify({ ...drive, settings: { ...drive.settings, ...settings } } satisfies Drive);
}

function contextIn(room: MachineRoom, wish: RealSessionWish): { context: SessionContext; shims: string } {
  const base = realpathSync(room.base);
  const session = join(base, 'state', 'session');
  const [home, tmp, shown, shims] = ['home', 'tmp', 'shown', 'shims'].map((name) => join(session, name)) as [
    string,
    string,
    string,
    string,
  ];
  for (const folder of [home, tmp, shown, shims]) mkdirSync(folder, { recursive: true, mode: 0o755 });
  writeFileSync(join(shims, 'hma'), '#!/bin/sh\necho "this is the shim: $*"\n');
  chmodSync(join(shims, 'hma'), 0o755);
  wish.files?.(room.workspace);
  wish.homeFiles?.(home);
  const prompt = wish.context?.prompt ?? 'Improve the candidate.\n';
  const promptFile = join(shown, 'prompt.md');
  writeFileSync(promptFile, prompt);
  const inbox = join(shown, 'inbox-1.jsonl');
  writeFileSync(inbox, '');
  const workspace = join(base, 'workspace');
  const { keyVariable = 'SCRIPTED_KEY', ...rest } = wish.agent ?? {};
  const context: SessionContext = {
    role: 'explore',
    workspace,
    cwd: workspace,
    home,
    tmp,
    folder: session,
    prompt,
    promptFile,
    option: 1,
    attempt: 1,
    sessionId: crypto.randomUUID(),
    isolated: wish.tier !== 'none',
    hides: wish.tier === 'bubblewrap',
    mode: 'alternate',
    drive: [process.execPath, join(repository, 'dist/drive.js')],
    inbox,
    login: join(base, 'state', 'login'),
    outerEnvironment: { PATH: pathWithClis, HOME: '/nonexistent', SCRIPTED_KEY: scriptedKey, ...wish.outer },
    ...wish.context,
    agent: {
      name: 'mine',
      adapter: wish.adapter.name,
      prompt: 'file',
      environment: [],
      ...rest,
      ...(keyVariable !== null && { keyVariable }),
    },
  };
  return { context, shims };
}

function objectIn(line: string): Readonly<Record<string, unknown>>[] {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? [value as Readonly<Record<string, unknown>>] : [];
  } catch {
    return []; // plain text among the events
  }
}

/** Waits until a line of the session's output fulfils a condition. */
export const untilSaid = (
  session: RealSession,
  what: string,
  holds: (event: Readonly<Record<string, unknown>>) => boolean,
): Promise<unknown> => until(`${what}\n${session.output().slice(-3000)}`, () => session.events().some(holds), 60_000);

/** Whether the workspace got a file. */
export const wrote = (session: RealSession, name: string): boolean => existsSync(join(session.room.workspace, name));
