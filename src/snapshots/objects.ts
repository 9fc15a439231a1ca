import type { Readable } from 'node:stream';
import { stream, type Repository, type Streaming } from './repository.ts';

/** An object as the repository gives it; without `content` it is missing or can't be unpacked. */
export interface StoredObject {
  readonly id: string;
  readonly type?: string;
  readonly content?: Buffer;
}

/** Reads objects, in order, through a `git cat-file --batch` of its own. `ids` are object ids or `commit:path` names without line ends. */
export async function* readObjects(repository: Repository, ids: readonly string[]): AsyncGenerator<StoredObject> {
  const reader = new ObjectReader(repository);
  try {
    yield* reader.read(ids);
  } finally {
    await reader.close();
  }
}

/** One `git cat-file --batch` for several lists of objects, one after the other; begun again after each object that makes git give up. */
export class ObjectReader {
  readonly #repository: Repository;
  #open: { readonly git: Streaming; readonly reader: StreamReader } | undefined;
  #midway = false;

  constructor(repository: Repository) {
    this.#repository = repository;
  }

  /** Reads one object. */
  async one(name: string): Promise<StoredObject | undefined> {
    let found: StoredObject | undefined;
    for await (const object of this.read([name])) found = object;
    return found;
  }

  /** Reads objects in order. A list that is not read to its end spoils the reader for another. */
  async *read(ids: readonly string[]): AsyncGenerator<StoredObject> {
    for (let next = 0; next < ids.length;) {
      this.#open ??= this.#start();
      const { git, reader } = this.#open;
      const names = ids.slice(next).map((id) => `${id}\n`);
      git.child.stdin.write(names.join(''));
      this.#midway = true;
      for (; next < ids.length; next++) {
        const id = ids[next] ?? '';
        const object = await readOne(reader, id);
        if (object === undefined) {
          await this.close();
          yield { id };
          next++;
          break;
        }
        yield object;
      }
      this.#midway = false;
    }
  }

  #start() {
    const git = stream(this.#repository, ['cat-file', '--batch']);
    return { git, reader: new StreamReader(git.child.stdout) };
  }

  /** Ends git. */
  async close(): Promise<void> {
    if (!this.#open) return;
    const { git, reader } = this.#open;
    this.#open = undefined;
    if (this.#midway) git.child.kill('SIGKILL');
    else git.child.stdin.end();
    reader.stop();
    await git.ended.catch(() => undefined);
  }
}

/** One answer of git; `undefined` when git ended instead. */
async function readOne(reader: StreamReader, id: string): Promise<StoredObject | undefined> {
  const head = await reader.line();
  if (head === undefined) return undefined;
  const [, type, size] = /^[0-9a-f]{40} (\w+) (\d+)$/.exec(head) ?? [];
  if (type === undefined) return { id };
  const content = await reader.take(Number(size) + 1);
  return content && { id, type, content: content.subarray(0, -1) };
}

/** Takes lines and counted bytes from a stream. */
class StreamReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #pending: Buffer = Buffer.alloc(0);

  constructor(source: Readable) {
    this.#chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  async line(): Promise<string | undefined> {
    for (;;) {
      const at = this.#pending.indexOf(0x0a);
      if (at >= 0) {
        const line = this.#pending.toString('utf8', 0, at);
        this.#pending = this.#pending.subarray(at + 1);
        return line;
      }
      const chunk = await this.#chunks.next();
      if (chunk.done) return undefined;
      this.#pending = Buffer.concat([this.#pending, chunk.value]);
    }
  }

  async take(count: number): Promise<Buffer | undefined> {
    const parts = [this.#pending];
    let length = this.#pending.length;
    while (length < count) {
      const chunk = await this.#chunks.next();
      if (chunk.done) return undefined;
      parts.push(chunk.value);
      length += chunk.value.length;
    }
    const all = parts.length === 1 ? this.#pending : Buffer.concat(parts);
    this.#pending = all.subarray(count);
    return all.subarray(0, count);
  }

  stop(): void {
    void this.#chunks.return?.();
  }
}
