import { spawn, type ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';

import type { ProcessIdentity } from './port.ts';
import { identify } from './processes.ts';
import { runnerEnvironment } from './runnerEnvironment.ts';

/** What a runner that stands by is told in the end: its folder, and the environment that it would have been started with. */
export interface RunnerOrder {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The word after `runner.js`, instead of a folder, that makes a runner stand by. */
export const standbyWord = '--standby';

/** How long a runner stands by for a start that doesn't come, ms. */
const keptMs = 10_000;

/**
 * A runner started a little early: its Node comes up while the submission is still being stored. It owns no folder, claims nothing and
 * leaves when its stdin closes, so it goes with the controller. Its order is sent after the intent and `spec.json` are on disk; from
 * then on it is a runner like any other, and nothing ties it to the controller.
 */
export class Standby implements Disposable {
  readonly #program: readonly [node: string, runnerJs: string];
  #waiting: (ChildProcess & { readonly stdin: Writable }) | undefined;
  #patience: NodeJS.Timeout | undefined;

  constructor(program: { readonly node: string; readonly runner: string }) {
    this.#program = [program.node, program.runner];
  }

  /** A start has become likely. Without a process to be had nothing happens: the start itself will say why. */
  expect(): void {
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => this[Symbol.dispose](), keptMs).unref();
    if (this.#waiting) return;
    const [node, runnerJs] = this.#program;
    const child = spawn(node, [runnerJs, standbyWord], {
      detached: true,
      env: runnerEnvironment({}),
      stdio: ['pipe', 'ignore', 'inherit'],
    }) as ChildProcess & { readonly stdin: Writable & { unref?(): void } };
    const forget = (): void => {
      if (this.#waiting === child) this.#waiting = undefined;
    };
    child.once('error', forget);
    child.once('exit', forget);
    child.stdin.on('error', () => undefined); // it died: `send` is told
    child.unref();
    child.stdin.unref?.();
    this.#waiting = child;
  }

  /** Sends the one that stands by to work. Undefined when there is none, or it died; then nothing has been started. */
  async send(order: RunnerOrder): Promise<ProcessIdentity | undefined> {
    const child = this.#waiting;
    this.#waiting = undefined;
    clearTimeout(this.#patience);
    if (child?.pid === undefined) return undefined;
    const sent = await new Promise<boolean>((resolve) => {
      child.stdin.end(JSON.stringify(order), (error?: Error | null) => resolve(!error));
    });
    return sent ? (identify(child.pid) ?? { pid: child.pid, start: '0' }) : undefined;
  }

  /** Lets the one that stands by go. */
  [Symbol.dispose](): void {
    clearTimeout(this.#patience);
    this.#waiting?.stdin.end();
    this.#waiting = undefined;
  }
}
