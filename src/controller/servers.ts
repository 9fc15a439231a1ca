import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';

import {
  createMessageConnection,
  SocketMessageReader,
  SocketMessageWriter,
  type MessageConnection,
} from 'vscode-jsonrpc/node';
import type { ZodType } from 'zod';

import type { LedgerEvent } from '../ledger/port.ts';
import { agentRequests, receiptSeen } from '../protocol/agent.ts';
import { clientEvent, clientRequests, protocolVersion, type AttachReply } from '../protocol/client.ts';
import * as schemas from '../protocol/schemas.ts';
import { crashAt } from './crashPoints.ts';
import type { Gate } from './gate.ts';
import { carryOut } from './intents.ts';
import type { Room } from './room.ts';

/** Listens on a socket path, replacing a dead owner's file; every connection is a JSON-RPC peer. Resolves when it listens. */
async function listen(path: string, mode: number, serve: (connection: MessageConnection) => void): Promise<Server> {
  rmSync(path, { force: true });
  const server = createServer((socket: Socket) => {
    socket.on('error', () => socket.destroy());
    const connection = createMessageConnection(new SocketMessageReader(socket), new SocketMessageWriter(socket));
    connection.onError(() => socket.destroy());
    // A disposed connection drops what it has read but not yet handled: a session says "seen" and closes at once.
    connection.onClose(() => setTimeout(() => connection.dispose(), 1000).unref());
    serve(connection);
    connection.listen();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  chmodSync(path, mode);
  return server;
}

/** Registers a request whose parameters are checked first; a malformed one is an error for the caller alone. */
function answer<Request>(
  connection: MessageConnection,
  method: string,
  schema: ZodType<Request>,
  act: (request: Request) => unknown,
): void {
  connection.onRequest(method, async (raw: unknown) => {
    const parsed = schema.safeParse(raw);
    if (!parsed.success)
      throw new Error(
        `malformed ${method}: ${parsed.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; ')}`,
      );
    return await act(parsed.data);
  });
}

/** Opens the agent socket: what sessions may ask, and nothing else. */
export const serveAgents = (path: string, gate: Gate): Promise<Server> =>
  listen(path, 0o666, (connection) => {
    answer(connection, agentRequests.submit, schemas.submitRequest, (request) => gate.submit(request));
    answer(connection, agentRequests.result, schemas.resultRequest, (request) => gate.result(request));
    answer(connection, agentRequests.validate, schemas.withToken, ({ token }) => gate.validate(token));
    answer(connection, agentRequests.status, schemas.withToken, ({ token }) => gate.status(token));
    answer(connection, agentRequests.archive, schemas.withToken, ({ token }) => gate.archive(token));
    answer(connection, agentRequests.file, schemas.fileRequest, (request) => gate.file(request));
    answer(connection, agentRequests.nominate, schemas.nominateRequest, (request) => gate.nominate(request));
    connection.onNotification(receiptSeen, (raw: unknown) => {
      const parsed = schemas.seenNotification.safeParse(raw);
      if (parsed.success) gate.receiptSeen(parsed.data.token, parsed.data.id);
    });
  });

/** Opens the client socket: state, then numbered events without gaps, and intents. */
export const serveClients = (
  path: string,
  room: Room,
  onClients: (count: number, heard: boolean) => void,
): Promise<Server> => {
  let clients = 0;
  return listen(path, 0o600, (connection) => {
    onClients(++clients, false);
    let subscription: Disposable | undefined;
    connection.onClose(() => {
      subscription?.[Symbol.dispose]();
      onClients(--clients, false);
    });
    answer(connection, clientRequests.attach, schemas.attachRequest, ({ protocol, after }): AttachReply => {
      onClients(clients, true);
      if (protocol !== protocolVersion)
        throw new Error(
          `this controller speaks protocol ${protocolVersion}, the client ${protocol}: use the same version of HMA`,
        );
      const { recorder } = room;
      subscription?.[Symbol.dispose]();
      subscription = recorder.subscribe((events) => publish(connection, events));
      const base = {
        protocol: protocolVersion,
        version: room.runtime.version,
        runFolder: room.folder,
        seq: recorder.state.seq,
      };
      // A client that has seen more than the ledger holds (a damaged disk cut it) begins anew.
      return after === undefined || after > recorder.state.seq
        ? { ...base, state: recorder.state, missed: [] }
        : { ...base, state: null, missed: recorder.eventsAfter(after) };
    });
    answer(connection, clientRequests.intend, schemas.intent, (intent) => {
      onClients(clients, true);
      const reply = carryOut(room, intent);
      crashAt('reply.intent');
      return reply;
    });
  });
};

function publish(connection: MessageConnection, events: readonly LedgerEvent[]): void {
  // A client that went away is told by its close; its missed events are in the ledger.
  for (const event of events) connection.sendNotification(clientEvent, event).catch(() => undefined);
}
