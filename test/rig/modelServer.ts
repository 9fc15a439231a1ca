import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json, text } from 'node:stream/consumers';

import { wireError, type Fault } from './model/faults.ts';
import { keyOf, routeOf, seenIn, type Route } from './model/requests.ts';
import {
  callFor,
  stepFor,
  type Api,
  type Call,
  type Json,
  type Script,
  type Step,
  type Usage,
} from './model/script.ts';
import * as wire from './model/wire.ts';

export type { Fault } from './model/faults.ts';
export type { Script, Seen, Step } from './model/script.ts';

/** One request to the model, and what became of it. */
export interface ModelRequest {
  readonly n: number;
  /** Unix ms. */
  readonly at: number;
  readonly api: Api;
  readonly script: string;
  readonly path: string;
  readonly model: string;
  readonly turn: number;
  readonly prompts: number;
  readonly prompt: string;
  /** Without tools: a title, a summary, a check of the connection. */
  readonly side: boolean;
  readonly tools: readonly string[];
  readonly call: Call | null;
  readonly headers: IncomingHttpHeaders;
  /** The key that arrived; null where there was none. */
  readonly key: string | null;
  readonly body: Json;
  readonly usage: Usage;
  /** Usage that went out before an answer was broken off: Anthropic's streams begin with it, and harnesses keep it. */
  begun: Usage | null;
  /** `answered` once the last byte went out; `left` when the client hung up before; `failed` for a scripted fault. */
  outcome: 'open' | 'answered' | 'failed' | 'left';
}

/** A request that is none to a model: lists of models, counts of tokens, anything unknown. */
export interface OtherRequest {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** Sums over answered requests, in the words of the ledger: output with reasoning. */
export interface Sent {
  readonly responses: number;
  readonly uncachedInput: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

/**
 * A scripted model on 127.0.0.1 that speaks Anthropic's Messages, OpenAI's Responses and Chat completions and Gemini's
 * generateContent: real CLIs work with it, without account or key. The first part of a path picks the script.
 */
export interface ModelServer extends AsyncDisposable {
  readonly port: number;
  /** Base URL of a script, without `/v1`. */
  url(script: string): string;
  /** Adds or replaces a script, from the next request on. */
  script(name: string, script: Script): void;
  readonly requests: readonly ModelRequest[];
  readonly others: readonly OtherRequest[];
  /** What a script, or all, answered: of the sessions' turns; with side requests too; or with turns that were broken off after they had told usage. */
  sent(script?: string, which?: 'turns' | 'all' | 'begun', without?: ModelRequest): Sent;
  /** Resolves once the log fulfils a condition; rejects in words after `ms`. */
  until(what: string, holds: (requests: readonly ModelRequest[]) => boolean, ms?: number): Promise<void>;
}

/** Starts a server with scripts by name. */
export async function startModelServer(scripts: Readonly<Record<string, Script>> = {}): Promise<ModelServer> {
  const model = new ScriptedModel(scripts);
  const server = createServer((request, response) => void model.answer(request, response));
  server.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n'));
  server.keepAliveTimeout = 2000; // clients believe the header, and some (Qwen Code) end only when their connection has
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: (name) => `http://127.0.0.1:${port}/${name}`,
    script: (name, script) => void model.scripts.set(name, script),
    requests: model.requests,
    others: model.others,
    sent: (script, which = 'turns', without) =>
      sumOf(
        model.requests.filter((one) => one !== without),
        script,
        which,
      ),
    until: (what, holds, ms = 60_000) => model.until(what, holds, ms),
    async [Symbol.asyncDispose]() {
      model.stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function sumOf(requests: readonly ModelRequest[], script: string | undefined, which: 'turns' | 'all' | 'begun'): Sent {
  const told = requests
    .filter((one) => (script ?? one.script) === one.script && (which === 'all' || !one.side))
    .flatMap((one) => {
      const usage = one.outcome === 'answered' ? one.usage : which === 'begun' ? one.begun : null;
      return usage ? [{ ...usage, cacheWrite: one.api === 'anthropic' ? usage.cacheWrite : 0 }] : []; // only there it is told
    });
  const sum = (count: (usage: Usage) => number): number => told.reduce((total, usage) => total + count(usage), 0);
  return {
    responses: told.length,
    uncachedInput: sum(({ input }) => input),
    cachedInput: sum(({ cached }) => cached),
    cacheWrite: sum(({ cacheWrite }) => cacheWrite),
    output: sum(({ output }) => output),
    reasoning: sum(({ reasoning }) => reasoning),
  };
}

/** Every response differs by its turn, so that a sum can't be right by chance. */
const usageOf = (turn: number, step: Step): Usage => ({
  input: 1000 + turn,
  cached: 2000 + turn,
  cacheWrite: 300 + turn,
  output: 40 + turn,
  reasoning: 7 + turn,
  ...step.usage,
});

class ScriptedModel {
  readonly scripts: Map<string, Script>;
  readonly requests: ModelRequest[] = [];
  readonly others: OtherRequest[] = [];
  readonly #met = new Map<string, number>();
  readonly #listeners = new Set<() => void>();
  readonly #stopped = new AbortController();

  constructor(scripts: Readonly<Record<string, Script>>) {
    this.scripts = new Map(Object.entries(scripts));
  }

  stop(): void {
    this.#stopped.abort();
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://model');
    const path = url.pathname.replaceAll(/\/+/g, '/');
    const body = await bodyOf(request);
    const route = routeOf(request.method ?? 'GET', path, body);
    const { headers } = request;
    if (!route.api) {
      this.others.push({ at: Date.now(), method: request.method ?? 'GET', path, headers });
      return answerOther(response, path);
    }
    const { one, step } = this.#take(
      { ...route, api: route.api },
      { path, headers, key: keyOf(headers, url.searchParams), body },
    );
    response.once('close', () => {
      if (one.outcome === 'open') one.outcome = step.fault ? 'failed' : 'left';
      this.#told();
    });
    this.#told();
    await this.#reply({ response, one, step, stream: route.stream });
  }

  /** Notes a request and chooses what answers it. */
  #take(
    { api, script, model }: Route & { readonly api: Api },
    came: Pick<ModelRequest, 'path' | 'headers' | 'key' | 'body'>,
  ): { one: ModelRequest; step: Step } {
    const seen = seenIn(api, came.body);
    const side = seen.tools.length === 0;
    const scripted = this.scripts.get(script) ?? [{ text: `There is no script "${script}".` }];
    let step = side ? { text: 'A side request.' } : stepFor(scripted, seen);
    const call = callFor(step, seen.tools);
    if (call === undefined) step = { text: `No tool on offer can do what the script asks: ${JSON.stringify(step)}` };
    if (step.fault && this.#overcome(step, `${script}/${seen.prompts}/${seen.turn}`)) {
      step = answered(step);
    }
    const one: ModelRequest = {
      n: this.requests.length + 1,
      at: Date.now(),
      ...{ api, script, model, side },
      ...came,
      ...{ turn: seen.turn, prompts: seen.prompts, prompt: seen.prompt },
      tools: seen.tools.map(({ name, ns }) => (ns === undefined ? name : `${ns}.${name}`)),
      call: call ?? null,
      usage: usageOf(seen.turn, step),
      begun: null,
      outcome: 'open',
    };
    this.requests.push(one);
    return { one, step };
  }

  /** Whether a fault was met often enough. */
  #overcome({ faultTimes = Infinity }: Step, place: string): boolean {
    const met = this.#met.get(place) ?? 0;
    this.#met.set(place, met + 1);
    return met >= faultTimes;
  }

  async #reply(given: { response: ServerResponse; one: ModelRequest; step: Step; stream: boolean }): Promise<void> {
    const { response, one, step, stream } = given;
    const { fault } = step;
    await this.#silence(step.delayMs ?? 0, response);
    if (fault && !isWithin(fault, one.api, stream)) return this.#failNow(fault, one, response);
    const answer: wire.Answer = { id: one.n, step, call: one.call, usage: one.usage, model: one.model, body: one.body };
    response.once('finish', () => (one.outcome = fault ? 'failed' : 'answered'));
    if (!stream) return sendJson(response, whole[one.api](answer));
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    response.flushHeaders();
    await streams[one.api](answer, {
      send: (event, data) => {
        if (response.destroyed) return;
        const line = typeof data === 'string' ? data : JSON.stringify(data);
        response.write(`${event === null ? '' : `event: ${event}\n`}data: ${line}\n\n`);
      },
      pause: () => {
        if (one.api === 'anthropic') one.begun = { ...one.usage, output: 1, reasoning: 0 };
        return this.#pause(step, response);
      },
    });
    if (!response.destroyed) response.end();
  }

  /** The scripted silence after the first event, or its end there. */
  async #pause({ stallMs = 0, fault }: Step, response: ServerResponse): Promise<boolean> {
    await this.#silence(fault?.kind === 'hang' ? Infinity : stallMs, response);
    if (fault?.kind === 'cut') await flushed(response);
    if (fault?.kind === 'cut') response.destroy();
    return !response.destroyed;
  }

  async #failNow(fault: Fault, one: ModelRequest, response: ServerResponse): Promise<void> {
    const error = wireError(fault, one.api, one.model);
    if (fault.kind === 'hang') await this.#silence(Infinity, response);
    if (!error) return void response.destroy();
    response.writeHead(error.status, error.headers);
    response.end(error.body);
  }

  /** Waits; over at once when the client leaves or the server stops. */
  #silence(ms: number, response: ServerResponse): Promise<void> {
    if (ms === 0 || response.destroyed || this.#stopped.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = Number.isFinite(ms) ? setTimeout(resolve, ms) : undefined;
      const over = (): void => {
        clearTimeout(timer);
        resolve();
      };
      response.once('close', over);
      this.#stopped.signal.addEventListener('abort', over, { once: true });
    });
  }

  #told(): void {
    for (const listener of this.#listeners) listener();
  }

  until(what: string, holds: (requests: readonly ModelRequest[]) => boolean, ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        this.#listeners.delete(look);
        settle();
      };
      const look = (): void => {
        if (holds(this.requests)) end(resolve);
      };
      const timer = setTimeout(() => {
        const log = this.requests.map((one) => `${one.n} ${one.script} turn ${one.turn} ${one.outcome}`).join('\n');
        end(() => reject(new Error(`waited ${ms} ms for the model server to see: ${what}\n${log}`)));
      }, ms);
      this.#listeners.add(look);
      look();
    });
  }
}

/** A step without its fault. */
function answered(step: Step): Step {
  const rest: { -readonly [Key in keyof Step]: Step[Key] } = { ...step };
  delete rest.fault;
  return rest;
}

/** Whether a fault comes after the headers of a good answer. */
const isWithin = (fault: Fault, api: Api, stream: boolean): boolean =>
  fault.kind === 'context_overflow'
    ? api === 'responses' && stream
    : 'when' in fault && fault.when === 'within' && stream;

const whole: Readonly<Record<Api, (answer: wire.Answer) => Json>> = {
  anthropic: wire.anthropicWhole,
  responses: wire.responsesWhole,
  chat: wire.chatWhole,
  gemini: wire.geminiWhole,
};

const streams: Readonly<Record<Api, (answer: wire.Answer, stream: wire.Stream) => Promise<void>>> = {
  anthropic: wire.anthropicStream,
  responses: wire.responsesStream,
  chat: wire.chatStream,
  gemini: wire.geminiStream,
};

async function bodyOf(request: IncomingMessage): Promise<Json> {
  if (request.method !== 'POST') return {};
  try {
    return (await json(request)) as Json;
  } catch {
    return { unreadable: await text(request).catch(() => '') };
  }
}

/** Waits until what was written has left, so that a cut comes after it. */
const flushed = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => void response.write(':\n\n', () => setImmediate(resolve)));

function sendJson(response: ServerResponse, body: Json, status = 200): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function answerOther(response: ServerResponse, path: string): void {
  if (/count_?tokens$/i.test(path)) return sendJson(response, { input_tokens: 1234, totalTokens: 1234 });
  if (path.endsWith('/models'))
    return sendJson(response, {
      object: 'list',
      data: [{ id: 'scripted', object: 'model', type: 'model' }],
      models: [],
    });
  return sendJson(response, { error: { type: 'not_found_error', message: `nothing is at ${path}` } }, 404);
}
