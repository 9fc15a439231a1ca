import { connect, type Socket } from 'node:net';

/** Why a call got no answer: nobody listens (worth another try), the way is barred (not), it took too long, or the other side refused the call itself. */
export type LinkFailure =
  | { readonly kind: 'away'; readonly detail: string }
  | { readonly kind: 'barred'; readonly detail: string }
  | { readonly kind: 'error'; readonly code: number; readonly detail: string };

/** The answer to one call, not validated: the controller on the other side is of the same copy as this program. */
export type LinkAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly failure: LinkFailure };

interface Message {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: number; readonly message?: string };
}

/** No reply of a session is longer, bytes: the largest is a file of a candidate in base64. */
const longestMessage = 1024 * 1024 * 1024;

const away = (detail: string): LinkAnswer => ({ ok: false, failure: { kind: 'away', detail } });

/**
 * A JSON-RPC client of the base protocol that vscode-jsonrpc speaks (`Content-Length` framing), as much of it as `hma submit` needs:
 * written out here because that library alone would cost as much start-up time as the whole command may.
 */
export class Link {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, (answer: LinkAnswer) => void>();
  #received: Buffer[] = [];
  #length = 0;
  #wanted = 0;
  #lastId = 0;
  #gone: string | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('error', (error) => this.#lose(error.message));
    socket.on('close', () => this.#lose('the connection was closed'));
  }

  /** Connects to a Unix socket; never rejects. */
  static open(path: string): Promise<Link | LinkFailure> {
    return new Promise((resolve) => {
      const socket = connect(path);
      const failed = (error: NodeJS.ErrnoException) => {
        const barred =
          error.code === 'EACCES' || error.code === 'EPERM' || error.code === 'ENOTSOCK' || error.code === 'EINVAL';
        resolve({ kind: barred ? 'barred' : 'away', detail: error.message });
      };
      socket.once('error', failed);
      socket.once('connect', () => {
        socket.off('error', failed);
        resolve(new Link(socket));
      });
    });
  }

  /** Whether the other side has gone. */
  get isGone(): boolean {
    return this.#gone !== undefined;
  }

  /** One call; answers `away` when the connection drops or nothing comes within `timeoutMs`. */
  request(method: string, params: object, timeoutMs: number): Promise<LinkAnswer> {
    if (this.#gone !== undefined) return Promise.resolve(away(this.#gone));
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#lose(`no answer within ${Math.round(timeoutMs / 1000)} s`);
        this.#socket.destroy();
      }, timeoutMs);
      this.#waiting.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.#send({ jsonrpc: '2.0', id, method, params });
    });
  }

  /** A notification; resolves when the kernel has taken it: true, or false when it could not be sent. */
  notify(method: string, params: object): Promise<boolean> {
    if (this.#gone !== undefined) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#send({ jsonrpc: '2.0', method, params }, (error) => resolve(!error));
    });
  }

  /** Closes after everything is flushed; waits at most a second for the other side. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket.destroyed) return resolve();
      const timer = setTimeout(() => this.#socket.destroy(), 1000);
      this.#socket.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
      // from here on only the flush counts: an answer that still comes is nobody's
      this.#socket.end(() => this.#socket.destroySoon());
    });
  }

  #send(message: object, done?: (error?: Error | null) => void): void {
    const body = Buffer.from(JSON.stringify(message));
    this.#socket.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]), done);
  }

  #take(bytes: Buffer): void {
    this.#received.push(bytes);
    this.#length += bytes.length;
    // a large file comes in thousands of pieces: they are joined only when a whole message may be there
    while (this.#length > 0 && this.#length >= this.#wanted) {
      const all = this.#received.length === 1 ? (this.#received[0] as Buffer) : Buffer.concat(this.#received);
      this.#received = [all];
      const head = all.indexOf('\r\n\r\n');
      if (head < 0) return this.#length > 4096 ? this.#fail('the answer is no JSON-RPC') : undefined;
      const size = Number(/content-length: *(\d+)/i.exec(all.toString('latin1', 0, head))?.[1] ?? Number.NaN);
      if (!(size >= 0 && size <= longestMessage)) return this.#fail('the answer is no JSON-RPC');
      this.#wanted = head + 4 + size;
      if (all.length < this.#wanted) return;
      const rest = all.subarray(this.#wanted);
      this.#received = rest.length > 0 ? [rest] : [];
      this.#length = rest.length;
      this.#wanted = 0;
      this.#answer(all.toString('utf8', head + 4, head + 4 + size));
    }
  }

  #answer(text: string): void {
    let message: Message;
    try {
      message = JSON.parse(text) as Message;
    } catch {
      return this.#fail('the answer is no JSON');
    }
    const settle = typeof message.id === 'number' ? this.#waiting.get(message.id) : undefined;
    if (!settle) return; // a notification or an answer that nobody waits for
    this.#waiting.delete(message.id as number);
    if (!message.error) return settle({ ok: true, value: message.result });
    settle({
      ok: false,
      failure: { kind: 'error', code: message.error.code ?? 0, detail: message.error.message ?? 'no words' },
    });
  }

  #fail(why: string): void {
    this.#lose(why);
    this.#socket.destroy();
  }

  #lose(why: string): void {
    this.#gone ??= why;
    for (const settle of this.#waiting.values()) settle(away(why));
    this.#waiting.clear();
  }
}
