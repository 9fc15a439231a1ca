import { realpath } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';

import { deliveredLine, type Drive, type Driver, type DriverSession, type InboxMessage } from '../driver.ts';
import { startAppServer, type AppServer } from './appServer.ts';
import {
  errorSchema,
  goalSchema,
  modelsSchema,
  terminalsSchema,
  threadSchema,
  turnEventSchema,
  turnSchema,
  unwanted,
  warningSchema,
} from './protocol.ts';

/** What the adapter tells its driver. */
const driveSettings = z.object({
  /** The thread gets a goal: Codex goes on by itself, turn after turn, until the goal is reached. At most 4,000 characters. */
  goal: z.string().max(4000).nullable(),
  /** A given effort is in the configuration; without one the model's highest is used. */
  effortGiven: z.boolean(),
  /** What the thread must turn out to have: with a configuration that it did not take Codex goes on with its defaults. */
  expected: z.object({ modelProvider: z.string().nullable(), sandbox: z.enum(['dangerFullAccess', 'workspaceWrite']) }),
  /** Text of instruction files, for where Codex doesn't read them by itself. */
  instructions: z.string().nullable(),
  /** How long Codex may try again and again without anything coming of it, ms: by itself it waits for a network for ever. */
  patienceMs: z.number(),
});

/** The same as a type. */
export type DriveSettings = z.infer<typeof driveSettings>;

/** How long commands that still run after the last turn are waited for; what runs longer was left behind. */
const settleMs = 120_000;
const settlePollMs = 500;

/** How long the server may take to interrupt a turn, and to end once its stdin is closed, before it is signalled. */
const interruptMs = 3000;
const closeMs = 5000;

/** Exit codes of the driver itself: a turn failed, the configuration was not taken. */
const exits = { failed: 1, misconfigured: 78 } as const;

/**
 * Speaks the protocol of `codex app-server`: one thread, the prompt as its first turn, a person's messages steered into the running
 * turn, an interrupt when the session is to end.
 *
 * ```
 * starting ─▶ working ─▶ settling ─▶ closing        turn completed: commands in the background are waited for, then stdin is closed
 *    │          │  ▲        │                       a message, or an active goal, begins another turn
 *    │          │  └────────┘
 *    └──────────┴── ending, turn failed ─▶ closing  a failed turn makes the exit code 1
 * ```
 */
export const codexDriver: Driver = async (drive, session) => new Conversation(drive, session).run();

class Conversation {
  readonly #drive: Drive;
  readonly #session: DriverSession;
  readonly #settings: DriveSettings;
  readonly #server: AppServer;
  readonly #queued: InboxMessage[] = [];
  #threadId: string | null = null;
  #turnId: string | null = null;
  #goal: string | null = null;
  #closing = false;
  /** Runs while Codex only tries again. */
  #patience: NodeJS.Timeout | null = null;
  /** The code to exit with; null = nothing went wrong so far, and nothing is complete either. */
  #exit: number | null = null;

  constructor(drive: Drive, session: DriverSession) {
    this.#drive = drive;
    this.#session = session;
    this.#settings = driveSettings.parse(drive.settings);
    this.#server = startAppServer(drive, {
      print: (line) => session.print(line),
      notified: (method, params) => this.#notified(method, params),
    });
  }

  async run(): Promise<number> {
    const { ending } = this.#session;
    const end = (): void => void this.#endPolitely();
    if (ending.aborted) end();
    ending.addEventListener('abort', end);
    void this.#begin();
    this.#session.messages((message) => void this.#deliver(message));
    const code = await this.#server.ended;
    return this.#exit ?? (code === 0 ? exits.failed : code);
  }

  async #begin(): Promise<void> {
    const begun = await this.#open();
    if (begun === null || this.#closing) return;
    const { threadId, effort } = begun;
    this.#threadId = threadId;
    const { instructions, goal } = this.#settings;
    const texts = [...(instructions === null ? [] : [instructions]), this.#drive.prompt];
    if (goal !== null) this.#goal = 'active'; // before the turn: a short one must not be taken for the end
    const started = await this.#ask('turn/start', { threadId, input: texts.map(textInput), ...effort }, turnSchema);
    if (!started) return;
    if (goal !== null)
      await this.#ask('thread/goal/set', { threadId, objective: goal, status: 'active', origin: 'user' }, z.unknown());
    for (const message of this.#queued.splice(0)) await this.#deliver(message);
  }

  /** Opens the thread; null when it could not be. */
  async #open(): Promise<{ threadId: string; effort: { effort?: string } } | null> {
    const clientInfo = { name: 'hma', title: 'HMA', version: '1' };
    const capabilities = { experimentalApi: true, requestAttestation: false, optOutNotificationMethods: unwanted };
    if (!(await this.#ask('initialize', { clientInfo, capabilities }, z.unknown()))) return null;
    this.#server.notify('initialized');
    // No `cwd` here: a folder that is named is trusted from then on, and its .codex is obeyed. It is the program's own working folder.
    const opened = await this.#ask('thread/start', {}, threadSchema);
    if (!opened) return null;
    const { thread, model, cwd } = opened;
    const wrong = await this.#differenceIn(opened);
    if (wrong !== null) {
      this.#fail(exits.misconfigured, `codex did not take its configuration: ${wrong}`);
      return null;
    }
    const effort = this.#settings.effortGiven ? {} : { effort: await this.#highestEffort(model) };
    this.#session.print(
      JSON.stringify({ method: 'hma/thread', params: { threadId: thread.id, model, cwd, ...effort } }),
    );
    return { threadId: thread.id, effort };
  }

  /** What a thread has that the session was not to have; null = nothing. */
  async #differenceIn(opened: z.infer<typeof threadSchema>): Promise<string | null> {
    const { modelProvider, sandbox } = this.#settings.expected;
    const wanted = await realpath(this.#drive.cwd);
    if ((await realpath(opened.cwd).catch(() => opened.cwd)) !== wanted)
      return `it works in ${opened.cwd} instead of ${wanted}`;
    if (modelProvider !== null && opened.modelProvider !== modelProvider)
      return `its provider is ${opened.modelProvider} instead of ${modelProvider}`;
    if (opened.sandbox.type !== sandbox) return `its sandbox is ${opened.sandbox.type} instead of ${sandbox}`;
    return opened.approvalPolicy === 'never' ? null : 'it would ask a person for approval';
  }

  /** The strongest effort of a model, but for `ultra`, which is a team of agents; `high` of a model that Codex doesn't know. */
  async #highestEffort(model: string): Promise<string> {
    const listed = await this.#server.request('model/list', { includeHidden: true, limit: 200 });
    const models = modelsSchema.safeParse(listed.ok ? listed.value : null).data?.data ?? [];
    const efforts = models.find((each) => each.model === model)?.supportedReasoningEfforts ?? [];
    return efforts.findLast(({ reasoningEffort }) => reasoningEffort !== 'ultra')?.reasoningEffort ?? 'high';
  }

  /** A request whose failure ends the session; null then. */
  async #ask<Answer>(method: string, params: unknown, schema: z.ZodType<Answer>): Promise<Answer | null> {
    const answer = await this.#server.request(method, params);
    const value = answer.ok ? schema.safeParse(answer.value) : null;
    if (value?.success) return value.data;
    const why = answer.ok ? 'its answer is none that this version of HMA knows' : answer.refusal.detail;
    if (!this.#closing) this.#fail(exits.failed, `codex refused ${method}: ${why}`);
    return null;
  }

  #notified(method: string, params: unknown): void {
    switch (method) {
      case 'turn/started':
        return this.#turnStarted(params);
      case 'turn/completed':
        return this.#turnCompleted(params);
      case 'thread/goal/updated': {
        const told = goalSchema.safeParse(params).data;
        if (!told || told.threadId !== this.#threadId) return;
        this.#goal = told.goal.status;
        if (this.#goal !== 'active' && this.#turnId === null) void this.#settle();
        return;
      }
      case 'error':
        return this.#failedRequest(params);
      case 'item/started':
      case 'item/completed':
      case 'thread/tokenUsage/updated':
        return this.#wentOn();
      case 'configWarning': {
        const warning = warningSchema.safeParse(params).data;
        // A file that it can't read. Without a path it is a startup that was overtaken by a login's renewal: the thread reads anew.
        if (warning?.path && warning.summary.startsWith('Invalid configuration'))
          this.#fail(
            exits.misconfigured,
            `codex did not take its configuration: ${warning.details ?? warning.summary}`,
          );
        return;
      }
      default:
    }
  }

  /** A request to the model failed; Codex may try again, but not without end. */
  #failedRequest(params: unknown): void {
    const told = errorSchema.safeParse(params).data;
    if (!told?.willRetry || !this.#isOurs(told.threadId) || this.#patience) return;
    const why = told.error.additionalDetails ?? told.error.message;
    const { patienceMs } = this.#settings;
    const giveUp = (): void =>
      this.#fail(exits.failed, `nothing came of new tries for ${Math.round(patienceMs / 1000)} s: ${why}`);
    this.#patience = setTimeout(giveUp, patienceMs);
  }

  #wentOn(): void {
    if (this.#patience) clearTimeout(this.#patience);
    this.#patience = null;
  }

  #turnStarted(params: unknown): void {
    const told = turnEventSchema.safeParse(params).data;
    if (told && this.#isOurs(told.threadId)) this.#turnId = told.turn.id;
  }

  #turnCompleted(params: unknown): void {
    const told = turnEventSchema.safeParse(params).data;
    if (!told || !this.#isOurs(told.threadId)) return;
    this.#turnId = null;
    if (this.#closing) return;
    const { status, error } = told.turn;
    if (status !== 'completed')
      return this.#fail(exits.failed, `the turn ${status}: ${error?.message ?? 'no reason told'}`);
    if (this.#goal === 'active') return; // Codex begins the next turn by itself
    void this.#settle();
  }

  /** Agents that Codex starts have threads of their own, which are not the session's. */
  #isOurs(threadId: string): boolean {
    return this.#threadId === null || threadId === this.#threadId;
  }

  /** Waits for what still runs in the background, then ends, unless another turn has begun. */
  async #settle(): Promise<void> {
    const due = performance.now() + settleMs;
    for (;;) {
      if (this.#turnId !== null || this.#closing) return;
      const answer = await this.#server.request('thread/backgroundTerminals/list', { threadId: this.#threadId });
      const running = terminalsSchema.safeParse(answer.ok ? answer.value : null).data?.data ?? [];
      if (running.length === 0 || performance.now() >= due) break;
      await sleep(settlePollMs);
    }
    if (this.#turnId !== null || this.#closing) return;
    this.#exit = 0;
    this.#close();
  }

  async #deliver(message: InboxMessage): Promise<void> {
    const threadId = this.#threadId;
    if (threadId === null) return void this.#queued.push(message);
    if (this.#closing) return;
    const input = [textInput(message.text)];
    const steered =
      this.#turnId !== null &&
      (await this.#server.request('turn/steer', { threadId, expectedTurnId: this.#turnId, input })).ok;
    if (!steered) {
      // between two turns, or the turn ended just now: the message begins another one
      const begun = await this.#server.request('turn/start', { threadId, input });
      const turn = turnSchema.safeParse(begun.ok ? begun.value : null).data?.turn;
      if (!turn) return;
      this.#turnId = turn.id;
    }
    this.#session.print(deliveredLine(message));
  }

  async #endPolitely(): Promise<void> {
    this.#closing = true;
    this.#exit ??= 0;
    const threadId = this.#threadId;
    if (threadId !== null) {
      const stopped = async (): Promise<void> => {
        if (this.#turnId !== null) await this.#server.request('turn/interrupt', { threadId, turnId: this.#turnId });
        await this.#server.request('thread/backgroundTerminals/clean', { threadId });
      };
      await Promise.race([stopped(), sleep(interruptMs, undefined, { ref: false }), this.#server.ended]);
    }
    this.#close();
  }

  #fail(code: number, why: string): void {
    process.stderr.write(`${why}\n`);
    this.#exit ??= code;
    this.#close();
  }

  #close(): void {
    this.#closing = true;
    this.#wentOn();
    this.#server.close();
    setTimeout(() => this.#server.kill('SIGTERM'), closeMs).unref();
  }
}

const textInput = (text: string): unknown => ({ type: 'text', text, text_elements: [] });
