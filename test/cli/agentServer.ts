import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  createMessageConnection,
  SocketMessageReader,
  SocketMessageWriter,
  type MessageConnection,
} from 'vscode-jsonrpc/node';

import { receiptSeen } from '../../src/protocol/agent.ts';

/** One call as the server got it. */
export interface Call {
  readonly method: string;
  readonly params: Record<string, unknown>;
}

type Handler = (params: Record<string, unknown>, server: AgentServer) => unknown;

/** A real agent socket that speaks the protocol with vscode-jsonrpc, as the controller does; answers come from a script. */
export class AgentServer {
  readonly folder = mkdtempSync(join(tmpdir(), 'hma-cli-'));
  readonly path = join(this.folder, 'agent.sock');
  readonly calls: Call[] = [];
  #server: Server | undefined;
  readonly #sockets = new Set<Socket>();
  readonly #watchers: (() => void)[] = [];
  readonly #handlers: Readonly<Record<string, Handler>>;

  constructor(handlers: Readonly<Record<string, Handler>>) {
    this.#handlers = handlers;
  }

  async listen(): Promise<this> {
    const server = createServer((socket) => this.#serve(socket));
    this.#server = server;
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(this.path, resolve));
    return this;
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket)).on('error', () => undefined);
    const connection: MessageConnection = createMessageConnection(
      new SocketMessageReader(socket),
      new SocketMessageWriter(socket),
    );
    connection.onRequest((method, params) => {
      this.#note({ method, params: params as Record<string, unknown> });
      const handler = this.#handlers[method];
      if (!handler) throw new Error(`no handler for ${method}`);
      return handler(params as Record<string, unknown>, this);
    });
    connection.onNotification((method, params) => this.#note({ method, params: params as Record<string, unknown> }));
    connection.onError(() => undefined);
    connection.listen();
  }

  #note(call: Call): void {
    this.calls.push(call);
    for (const watcher of this.#watchers.splice(0)) watcher();
  }

  /** Ends every connection at once, as a controller does that is killed. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Stops listening and drops everybody; `listen` starts again on the same path. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    this.drop();
    if (server) await new Promise((resolve) => server.close(resolve));
    rmSync(this.path, { force: true });
  }

  /** Waits until a call like this has come; says what it waited for when it never does. */
  async called(method: string, times = 1): Promise<void> {
    const deadline = setTimeout(() => this.#note({ method: 'deadline', params: {} }), 10_000);
    while (this.calls.filter((call) => call.method === method).length < times) {
      if (this.calls.some((call) => call.method === 'deadline'))
        throw new Error(
          `waited 10 s for ${times} × ${method}; got ${this.calls.map((call) => call.method).join(', ')}`,
        );
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
    clearTimeout(deadline);
  }

  /** Ids whose receipts were said to have been seen. */
  get seen(): unknown[] {
    return this.calls.filter((call) => call.method === receiptSeen).map((call) => call.params['id']);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
