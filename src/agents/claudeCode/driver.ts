import { randomUUID } from 'node:crypto';
import type { ChildProcess } from 'node:child_process';

import {
  deliveredLine,
  endOf,
  startHarness,
  type Drive,
  type Driver,
  type DriverSession,
  type InboxMessage,
} from '../driver.ts';
import { fieldsOf, listOf, numberOf, textOf, type Fields } from '../fields.ts';
import { parseJsonLine } from '../jsonLine.ts';
import { messageText } from './messageText.ts';
import { failureIn, failureLine, limitReset, type ClaudeFailure } from './said.ts';

/** How long Claude Code gets to end by itself once its stdin is closed at a polite end or after a failed turn, ms; then SIGTERM. */
const closingMs = 2500;
/** How long an answer to the interrupt is waited for before stdin is closed all the same, ms. */
const interruptMs = 1500;
/** A wake-up that the model asked for comes at the latest this long after its time, ms. */
const wakeUpLateMs = 60_000;
/** A finished background task wakes the model in this time, ms. */
const settleMs = 1000;

/**
 * Claude Code over stream-json. What keeps stdin open, and so the session alive:
 *
 *   prompt ─► busy ──result──► quiet ──nothing running in the background, no message under way, no wake-up due──► stdin closed ─► exit
 *              ▲                 │
 *              └──task finished, wake-up, a person's message──┘
 *
 * A turn that failed (usage limit, login, network …) closes it too: the exit code is then never 0. A polite end interrupts first.
 */
export const claudeCodeDriver: Driver = (drive, session) => new Conversation(drive, session).end;

class Conversation {
  readonly end: Promise<number>;
  readonly #session: DriverSession;
  readonly #child: ChildProcess;
  /** Prompts and messages by the uuid they were sent with, until Claude Code says that they are done. */
  readonly #underWay = new Map<string, InboxMessage | null>();
  #busy = true;
  #background = 0;
  #wakeUpAt: number | null = null;
  #failure: ClaudeFailure | null = null;
  #limitResetsAt: number | null = null;
  /** Whether this version tells of each message when it begins and ends. */
  #tellsMessages = true;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;
  #onAnswer: () => void = () => undefined;

  constructor(drive: Drive, session: DriverSession) {
    this.#session = session;
    this.#child = startHarness(drive, (line) => this.#onLine(line));
    this.#send(drive.prompt, null);
    session.messages((message) => {
      if (!this.#closed) this.#send(messageText(message.text), message);
    });
    const politely = (): void => void this.#endPolitely();
    if (session.ending.aborted) politely();
    else session.ending.addEventListener('abort', politely, { once: true });
    this.end = this.#outcome();
  }

  async #outcome(): Promise<number> {
    const code = await endOf(this.#child);
    clearTimeout(this.#timer);
    if (!this.#failure) return code;
    this.#session.print(failureLine(this.#failure)); // short and last, where the tail of a long output still has it
    return code === 0 ? 1 : code;
  }

  #write(message: unknown): void {
    this.#child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  #send(text: string, message: InboxMessage | null): void {
    const uuid = randomUUID();
    this.#underWay.set(uuid, message);
    this.#write({ type: 'user', uuid, message: { role: 'user', content: [{ type: 'text', text }] } });
    if (!this.#tellsMessages) this.#handedOver();
  }

  #onLine(line: string): void {
    this.#session.print(line);
    const said = fieldsOf(parseJsonLine(line));
    switch (said['type']) {
      case 'system':
        this.#onSystem(said);
        break;
      case 'command_lifecycle':
        if (said['state'] === 'started' && textOf(said['wakeup_source']) !== '') this.#wakeUpAt = null;
        this.#onLifecycle(textOf(said['command_uuid']), textOf(said['state']));
        break;
      case 'rate_limit_event':
        this.#limitResetsAt = limitReset(said) ?? this.#limitResetsAt;
        break;
      case 'user':
        this.#wakeUpAt = numberOf(fieldsOf(said['tool_use_result'])['scheduledFor']) ?? this.#wakeUpAt;
        break;
      case 'control_response':
        this.#onAnswer();
        break;
      case 'result':
        this.#onResult(said);
        break;
    }
    this.#look(0);
  }

  #onSystem(said: Fields): void {
    switch (said['subtype']) {
      case 'init': // comes at the beginning of each turn
        this.#busy = true;
        this.#tellsMessages = listOf(said['capabilities']).includes('msg_lifecycle_v1');
        if (!this.#tellsMessages) this.#handedOver();
        break;
      case 'background_tasks_changed':
        this.#background = listOf(said['tasks']).length;
        break;
    }
  }

  #onLifecycle(uuid: string, state: string): void {
    const message = this.#underWay.get(uuid);
    if (state === 'started' && message) {
      this.#session.print(deliveredLine(message));
      this.#underWay.set(uuid, null);
    }
    if (state === 'completed' || state === 'cancelled') this.#underWay.delete(uuid);
  }

  /** For a version that says nothing of messages: written is handed over. */
  #handedOver(): void {
    for (const message of this.#underWay.values()) if (message) this.#session.print(deliveredLine(message));
    this.#underWay.clear();
  }

  #onResult(said: Fields): void {
    this.#busy = false;
    this.#failure = failureIn(said, this.#limitResetsAt);
    this.#onAnswer();
  }

  /** Closes stdin once nothing more can come of itself; looks again later where only time is missing. */
  #look(quietMs: number): void {
    clearTimeout(this.#timer);
    if (this.#closed || this.#session.ending.aborted || this.#busy) return;
    if (this.#failure) return this.#close(closingMs);
    if (this.#underWay.size > 0 || this.#background > 0) return;
    const wait = this.#wakeUpAt === null ? settleMs - quietMs : this.#wakeUpAt + wakeUpLateMs - Date.now();
    if (wait <= 0) this.#close(null);
    else this.#timer = setTimeout(() => this.#look(settleMs), wait);
  }

  /** With a patience: what goes on in the background is ended after it, by a signal that Claude Code takes well (its transcript is whole). */
  #close(patienceMs: number | null): void {
    this.#closed = true;
    this.#child.stdin?.end();
    if (patienceMs !== null) this.#timer = setTimeout(() => this.#child.kill('SIGTERM'), patienceMs);
  }

  async #endPolitely(): Promise<void> {
    clearTimeout(this.#timer);
    if (!this.#closed && this.#busy) {
      const { promise, resolve } = Promise.withResolvers<void>();
      // first the answer to the request comes, then the interrupted turn's result
      let answers = 0;
      this.#onAnswer = () => void (++answers === 2 && resolve());
      const patience = setTimeout(resolve, interruptMs);
      this.#write({ type: 'control_request', request_id: randomUUID(), request: { subtype: 'interrupt' } });
      await promise;
      clearTimeout(patience);
    }
    this.#close(closingMs);
  }
}
