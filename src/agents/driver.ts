import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync, watchFile } from 'node:fs';
import { createInterface } from 'node:readline';

/**
 * A driver is the small program that sits between the runner and a harness whose stdin is a protocol: it lives inside the session,
 * starts the harness, hands it the prompt and a person's messages, and turns the polite signal into the harness's own interrupt. It
 * needs no controller, so a session goes on, and ends by itself, while none lives.
 */
export type Driver = (drive: Drive, session: DriverSession) => Promise<number>;

/** What a driver is started with: JSON on its stdin, made by the adapter's `prepare`. */
export interface Drive {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly prompt: string;
  /** File of JSON lines `{id, at, text}`. */
  readonly inbox: string;
  /** What the adapter tells its own driver. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** A message of a person to the running session. */
export interface InboxMessage {
  readonly id: string;
  readonly at: number;
  readonly text: string;
}

/** What surrounds a driver. */
export interface DriverSession {
  /** Aborted when the session is to end politely: interrupt the harness, close its stdin, wait for its end. */
  readonly ending: AbortSignal;
  /** Writes one line of output; what the harness printed goes through unchanged. */
  print(line: string): void;
  /** Calls back with each message of a person, those written before included, in order. */
  messages(onMessage: (message: InboxMessage) => void): void;
}

/** Output line by which a driver says that a message was handed to the harness. */
export const deliveredLine = (message: InboxMessage): string =>
  JSON.stringify({ type: 'hma.delivered', id: message.id, text: message.text });

/** Starts the harness with a pipe to its stdin, and calls back with each line that it prints. stderr is passed on. */
export function startHarness(drive: Drive, onLine: (line: string) => void): ChildProcess {
  const child = spawn(drive.argv[0], drive.argv.slice(1), { cwd: drive.cwd, stdio: ['pipe', 'pipe', 'inherit'] });
  createInterface({ input: child.stdout, crlfDelay: Infinity }).on('line', onLine);
  child.stdin.on('error', () => undefined); // it ended while we wrote: its exit tells
  return child;
}

/** Resolves with the exit code of a harness, 128 + n for a signal, once its output is read; 127 when it could not be started. */
export function endOf(child: ChildProcess): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  child.once('error', (error) => {
    process.stderr.write(`the program could not be started: ${error.message}\n`);
    resolve(127);
  });
  child.once('close', (code, signal) =>
    resolve(code ?? 128 + (signal === 'SIGKILL' ? 9 : signal === 'SIGINT' ? 2 : 15)),
  );
  return promise;
}

/** How often an inbox is looked at, ms: a file that another user writes over a mount tells no change. */
const inboxPollMs = 250;

/** Follows an inbox from its beginning. */
export function followInbox(file: string, onMessage: (message: InboxMessage) => void): void {
  let offset = 0;
  let rest: Buffer = Buffer.alloc(0);
  const look = (): void => {
    const fresh = readFrom(file, offset);
    offset += fresh.length;
    rest = Buffer.concat([rest, fresh]);
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      onMessage(JSON.parse(rest.toString('utf8', 0, end)) as InboxMessage);
      rest = rest.subarray(end + 1);
    }
  };
  look();
  watchFile(file, { interval: inboxPollMs, persistent: false }, look);
}

/** The bytes of a file from an offset on; none when it isn't there: nobody has written yet. */
function readFrom(file: string, offset: number): Buffer {
  try {
    return readFileSync(file).subarray(offset); // a person's few lines
  } catch {
    return Buffer.alloc(0);
  }
}
