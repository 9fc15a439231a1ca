import type { ChildProcess } from 'node:child_process';
import * as z from 'zod';

import { ok, refused, type Result } from '../../base/result.ts';
import { parseJsonLine } from '../jsonLine.ts';
import { endOf, startHarness, type Drive } from '../driver.ts';

/** A message of the server: a notification (`method`), a request of its own (`method` and `id`), or an answer (`id`). */
const messageSchema = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.looseObject({ message: z.string() }).optional(),
});

/** Why a request was not fulfilled, in the server's words. */
export interface RpcRefusal {
  readonly reason: 'refused' | 'gone';
  readonly detail: string;
}

/** What is told of the server as it comes. */
export interface AppServerEvents {
  /** Each line that says something to a person: notifications, its own requests, and what is no protocol. */
  print(line: string): void;
  notified(method: string, params: unknown): void;
}

/** `codex app-server` as a running program: JSON-RPC, one message a line, without the version field. */
export interface AppServer {
  request(method: string, params: unknown): Promise<Result<unknown, RpcRefusal>>;
  notify(method: string): void;
  /** Closes its stdin, upon which it ends; a second call does nothing. */
  close(): void;
  kill(signal: NodeJS.Signals): void;
  /** Its exit code, once all of its output is read. */
  readonly ended: Promise<number>;
}

/**
 * Starts it. Questions that it asks of a person (approvals, input, sign-ins) are declined at once: nobody is there to answer, and a
 * session must not hang on one.
 */
export function startAppServer(drive: Drive, events: AppServerEvents): AppServer {
  const waiting = new Map<string | number, (answer: Result<unknown, RpcRefusal>) => void>();
  const child: ChildProcess = startHarness(drive, (line) => {
    const message = messageSchema.safeParse(parseJsonLine(line)).data;
    if (!message) return events.print(line);
    const { id, method } = message;
    if (method === undefined) return id === undefined ? events.print(line) : answered(id, message);
    events.print(line);
    if (id === undefined) events.notified(method, message.params);
    else send({ id, ...declined(method) });
  });
  const answered = (id: string | number, { result, error }: z.infer<typeof messageSchema>): void => {
    waiting.get(id)?.(error ? refused({ reason: 'refused', detail: error.message }) : ok(result));
    waiting.delete(id);
  };
  const send = (message: unknown): void => void child.stdin?.write(`${JSON.stringify(message)}\n`);
  const ended = endOf(child);
  void ended.then(() => {
    for (const [, answer] of waiting) answer(refused({ reason: 'gone', detail: 'codex app-server ended' }));
  });
  let lastId = 0;
  return {
    request(method, params) {
      const id = ++lastId;
      const { promise, resolve } = Promise.withResolvers<Result<unknown, RpcRefusal>>();
      waiting.set(id, resolve);
      send({ id, method, params });
      return promise;
    },
    notify: (method) => send({ method }),
    close: () => void child.stdin?.end(),
    kill: (signal) => void child.kill(signal),
    ended,
  };
}

/** The answer to a question of the server's. */
function declined(method: string): { readonly result: unknown } | { readonly error: unknown } {
  if (method === 'item/commandExecution/requestApproval' || method === 'item/fileChange/requestApproval')
    return { result: { decision: 'decline' } };
  if (method === 'mcpServer/elicitation/request') return { result: { action: 'decline', content: null } };
  return { error: { code: -32601, message: 'this session runs unattended; nobody can answer' } };
}
