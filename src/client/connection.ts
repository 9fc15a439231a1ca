import { connect, type Socket } from 'node:net';

import {
  createMessageConnection,
  SocketMessageReader,
  SocketMessageWriter,
  type MessageConnection,
} from 'vscode-jsonrpc/node';
import * as z from 'zod';

import { readJson } from '../base/files.ts';
import { runFiles } from '../ledger/places.ts';
import type { LedgerEvent } from '../ledger/port.ts';
import {
  clientEvent,
  clientRequests,
  protocolVersion,
  type AttachReply,
  type Intent,
  type IntentReply,
} from '../protocol/client.ts';
import { evolveRun } from '../run/evolve.ts';
import type { RunState } from '../run/model.ts';

const endpointSchema = z.object({ clientSocket: z.string(), pid: z.number() });
const eventSchema = z.object({
  seq: z.number(),
  v: z.number(),
  wall: z.number(),
  mono: z.number(),
  active: z.number(),
  type: z.string(),
  data: z.unknown(),
});
const attachSchema = z.object({
  seq: z.number(),
  version: z.string(),
  state: z.looseObject({ seq: z.number() }).nullable(),
  missed: z.array(eventSchema),
});
const intentSchema = z.union([
  z.object({ done: z.literal(true), seq: z.number() }),
  z.object({ done: z.literal(false), reason: z.string(), text: z.string() }),
]);

/** What a connection reports: each event once, in order, with the states around it. */
export type OnEvent = (before: RunState | null, event: LedgerEvent, after: RunState | null) => void;

/** A connection to a run's controller; `closed` resolves when the other side has gone. */
export interface RunConnection {
  /** The state with every event so far folded in. */
  readonly state: RunState | null;
  readonly closed: Promise<void>;
  intend(intent: Intent): Promise<IntentReply>;
  close(): void;
}

/** The controller is there but did not answer as it should: it is stopped, or of another version. Turned into words at the rim. */
export class ControllerError extends Error {
  override readonly name = 'ControllerError';
}

/** Longest wait for an answer of the controller, ms: it never does anything long before it answers. */
const answerMs = 10_000;

const openSocket = (path: string): Promise<Socket | null> =>
  new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(null));
  });

/** Rejects when an answer doesn't come: a stopped controller takes connections, but says nothing. */
function within<Value>(answer: Promise<Value>, what: string): Promise<Value> {
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new ControllerError(`the controller did not answer ${what} within ${answerMs / 1000} s; is it stopped?`),
        ),
      answerMs,
    );
  });
  const told = answer.catch((cause: unknown) => {
    throw new ControllerError(
      `the controller refused ${what}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  });
  return Promise.race([told, late]).finally(() => clearTimeout(timer));
}

/**
 * Attaches to the controller that `endpoint.json` names; null when nobody listens there. `base` is a state from before: only later
 * events are asked for, and reported; without it the run's whole history is (`history`), or none of it.
 */
export async function attach(
  runFolder: string,
  given: { readonly onEvent?: OnEvent; readonly base?: RunState | null; readonly history?: boolean } = {},
): Promise<RunConnection | null> {
  const endpoint = readJson(runFiles(runFolder).endpoint);
  const known = endpoint.ok ? endpointSchema.safeParse(endpoint.value) : undefined;
  if (!known?.success) return null;
  const socket = await openSocket(known.data.clientSocket);
  if (!socket) return null;
  socket.on('error', () => socket.destroy());
  const connection = createMessageConnection(new SocketMessageReader(socket), new SocketMessageWriter(socket));
  const folded = fold(given.base ?? null, given.onEvent);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  connection.onError(() => socket.destroy());
  connection.onNotification(clientEvent, (event: unknown) => folded.take(eventSchema.parse(event) as LedgerEvent));
  connection.listen();
  try {
    const after = given.base?.seq ?? (given.history ? 0 : undefined);
    const reply = await within(
      Promise.race([
        connection.sendRequest(clientRequests.attach, {
          protocol: protocolVersion,
          ...(after === undefined ? {} : { after }),
        }),
        gone(closed),
      ]),
      'attach',
    );
    if (reply === null) return null;
    folded.begin(attachSchema.parse(reply) as unknown as AttachReply);
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return {
    get state() {
      return folded.state;
    },
    closed,
    intend: (intent) => sendIntent(connection, closed, intent),
    close() {
      connection.dispose();
      socket.destroy();
    },
  };
}

const gone = (closed: Promise<void>): Promise<null> => closed.then(() => null);

async function sendIntent(connection: MessageConnection, closed: Promise<void>, intent: Intent): Promise<IntentReply> {
  const reply = await within(
    Promise.race([connection.sendRequest(clientRequests.intend, intent), gone(closed)]),
    intent.kind,
  );
  if (reply === null)
    return {
      done: false,
      reason: 'connection_lost',
      text: 'the controller went away before it answered; look with hma status, then ask again',
    };
  return intentSchema.parse(reply);
}

/** Parts of the state that a controller of an earlier version doesn't tell: a run keeps the version that it began with. */
const withoutThem = { disk: [] } as const satisfies Partial<RunState>;

/** Folds events in order, each once; those that overtake the answer to `attach` wait for it. */
function fold(base: RunState | null, onEvent: OnEvent | undefined) {
  let state = base;
  let early: LedgerEvent[] | null = [];
  const step = (event: LedgerEvent): void => {
    if (state !== null && event.seq <= state.seq) return;
    const before = state;
    state = evolveRun(state, event);
    onEvent?.(before, event, state);
  };
  return {
    get state() {
      return state;
    },
    take(event: LedgerEvent): void {
      if (early) early.push(event);
      else step(event);
    },
    begin(reply: AttachReply): void {
      if (reply.state) state = { ...withoutThem, ...reply.state };
      reply.missed.forEach(step);
      early?.forEach(step);
      early = null;
    },
  };
}
