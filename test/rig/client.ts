import { connect, type Socket } from 'node:net';

import {
  createMessageConnection,
  SocketMessageReader,
  SocketMessageWriter,
  type MessageConnection,
} from 'vscode-jsonrpc/node';

import { readEndpoint } from '../../src/controller/launch.ts';
import type { LedgerEvent } from '../../src/ledger/port.ts';
import {
  clientEvent,
  clientRequests,
  protocolVersion,
  type AttachReply,
  type Intent,
  type IntentReply,
} from '../../src/protocol/client.ts';
import { evolveRun } from '../../src/run/evolve.ts';
import type { RunState } from '../../src/run/model.ts';

/** A client of a controller that survives the controller's death: it attaches again after the event it saw last. */
export class RunClient implements Disposable {
  readonly #runFolder: string;
  readonly events: LedgerEvent[] = [];
  readonly #listeners = new Set<() => void>();
  #state: RunState | null = null;
  #connection: MessageConnection | null = null;
  #socket: Socket | null = null;
  #closed = false;

  constructor(runFolder: string) {
    this.#runFolder = runFolder;
    void this.#attach();
  }

  /** The state as folded here, from the first snapshot and the events since. */
  get state(): RunState | null {
    return this.#state;
  }

  async #attach(): Promise<void> {
    if (this.#closed) return;
    const endpoint = readEndpoint(this.#runFolder);
    const again = (): void => void (this.#closed || setTimeout(() => void this.#attach(), 100));
    if (!endpoint) return again();
    const socket = connect(endpoint.clientSocket);
    this.#socket = socket;
    socket.once('error', () => socket.destroy());
    socket.once('close', () => {
      this.#connection?.dispose();
      this.#connection = null;
      again();
    });
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
    const connection = createMessageConnection(new SocketMessageReader(socket), new SocketMessageWriter(socket));
    connection.onNotification(clientEvent, (event: LedgerEvent) => this.#take(event));
    connection.listen();
    this.#connection = connection;
    try {
      const after = this.#state?.seq;
      const reply: AttachReply = await connection.sendRequest(clientRequests.attach, {
        protocol: protocolVersion,
        ...(after === undefined ? {} : { after }),
      });
      if (reply.state) this.#state = reply.state;
      for (const event of reply.missed) this.#take(event);
      this.#told();
    } catch {
      // the controller died in between: the close attaches again
    }
  }

  #take(event: LedgerEvent): void {
    if (this.#state && event.seq <= this.#state.seq) return;
    if (this.#state && event.seq !== this.#state.seq + 1) throw new Error(`gap before event ${event.seq}`);
    this.events.push(event);
    this.#state = evolveRun(this.#state, event);
    this.#told();
  }

  #told(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Resolves once the state fulfils a condition; rejects in words after `ms`. */
  until(what: string, holds: (state: RunState) => boolean, ms = 60_000): Promise<RunState> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (!this.#state || !holds(this.#state)) return;
        clearTimeout(timer);
        this.#listeners.delete(look);
        resolve(this.#state);
      };
      const timer = setTimeout(() => {
        this.#listeners.delete(look);
        reject(
          new Error(`waited ${ms} ms for: ${what}; state: ${JSON.stringify(this.#state, null, 1)?.slice(0, 6000)}`),
        );
      }, ms);
      this.#listeners.add(look);
      look();
    });
  }

  /** Sends an intent, waiting for a controller if there is none at the moment. */
  async intend(intent: Intent): Promise<IntentReply> {
    for (let tries = 0; tries < 100; tries++) {
      if (this.#connection) return await this.#connection.sendRequest(clientRequests.intend, intent);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error('no controller to send an intent to');
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#socket?.destroy();
    this.#connection?.dispose();
  }
}
