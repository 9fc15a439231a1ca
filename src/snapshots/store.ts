import { hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { errorCode } from '../base/files.ts';
import { ok, refused, type Result } from '../base/result.ts';
import { adoptSnapshots, type Adopted } from './adopt.ts';
import { captureObjects } from './capture.ts';
import { ContentStore } from './contentStore.ts';
import type { SnapshotCrashPoint } from './crashPoints.ts';
import { changesBetween, patchBetween, plainEntry } from './diff.ts';
import { openAbsolute, type Folder } from './folders.ts';
import { contentHash, readManifest, type Manifest } from './manifest.ts';
import { ObjectReader, readObjects } from './objects.ts';
import type {
  CaptureRefusal,
  CaptureRequest,
  RestoreRefusal,
  Snapshot,
  SnapshotDamage,
  Snapshots,
  SnapshotsReader,
} from './port.ts';
import { isDiskFull, Refusal, storeRefusal } from './refusals.ts';
import {
  getRef,
  isRefName,
  openRepository,
  raw,
  repositoryAt,
  setRef,
  sweepRepository,
  type Repository,
} from './repository.ts';
import { restoreInto } from './restore.ts';
import { StatCache } from './statCache.ts';
import { verifySnapshot } from './verify.ts';

export type { Snapshots } from './port.ts';

/** Packs above this many are merged after a capture, in the background. */
const MANY_PACKS = 30;

/** Where the store lies and how it runs git. */
export interface SnapshotOptions {
  /** Absolute path of the run's snapshots folder; created if missing. Not inside the workspace. */
  readonly dir: string;
  /** PATH that finds git (default: this process's). */
  readonly env?: { readonly PATH?: string };
  /** Called at each named instant; a test kills the process there. */
  readonly crashPoint?: (name: SnapshotCrashPoint) => void;
}

/** Opens the run's snapshots, clearing away what a killed writer left. One process at a time writes to a store: its controller. */
export async function openSnapshots(options: SnapshotOptions): Promise<Snapshots> {
  await mkdir(join(options.dir, 'cache'), { recursive: true, mode: 0o700 });
  const repository = openRepository(options.dir, pathFor(options));
  const large = await ContentStore.open(join(options.dir, 'large'));
  return new SnapshotStore(options, { repository, large });
}

/**
 * The run's snapshots for those who only look: windows, `hma apply`. Unlike `openSnapshots` it makes and clears away nothing, so it is
 * safe beside the controller that is writing. A store that isn't there yet is empty.
 */
export function openSnapshotsReadOnly(options: Omit<SnapshotOptions, 'crashPoint'>): SnapshotsReader {
  const repository = repositoryAt(options.dir, pathFor(options));
  return new SnapshotStore(options, { repository, large: ContentStore.at(join(options.dir, 'large')) });
}

const pathFor = ({ env }: Pick<SnapshotOptions, 'env'>): string =>
  env?.PATH ?? process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin';

class SnapshotStore implements Snapshots {
  readonly #dir: string;
  readonly #repository: Repository;
  readonly #large: ContentStore;
  readonly #crashPoint: (name: SnapshotCrashPoint) => void;
  readonly #caches = new Map<string, StatCache>();
  readonly #commits = new Map<string, string>();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: SnapshotOptions, parts: { repository: Repository; large: ContentStore }) {
    this.#dir = options.dir;
    this.#crashPoint = options.crashPoint ?? (() => undefined);
    this.#repository = parts.repository;
    this.#large = parts.large;
  }

  capture(request: CaptureRequest): Promise<Result<Snapshot, CaptureRefusal>> {
    if (!isRefName(request.ref)) throw new TypeError(`not a ref name: ${request.ref}`);
    return this.#inTurn(() => this.#capture(request));
  }

  async #capture(request: CaptureRequest): Promise<Result<Snapshot, CaptureRefusal>> {
    const cache = this.#cacheFor(request);
    let root: Folder | undefined;
    try {
      root = openRoot(request.root);
      this.#crashPoint('snapshot.begin');
      const snapshot = await this.#withObjects(request, root, cache);
      setRef(this.#repository, request.ref, snapshot.id);
      this.#crashPoint('snapshot.ref');
      void this.#inTurn(() => this.#mergePacks()).catch(() => undefined);
      return ok(snapshot);
    } catch (error) {
      const refusal = storeRefusal(error, this.#dir); // before sweeping, which frees what it looks at
      await this.#sweep();
      return refused(refusal);
    } finally {
      root?.close();
    }
  }

  adopt(dir: string, wanted: readonly Adopted[]): Promise<Result<null, CaptureRefusal>> {
    const odd = wanted.find(({ ref }) => !isRefName(ref));
    if (odd) throw new TypeError(`not a ref name: ${odd.ref}`);
    return this.#inTurn(async () => {
      try {
        const from = {
          repository: repositoryAt(dir, this.#repository.env['PATH'] ?? ''),
          large: ContentStore.at(join(dir, 'large')),
        };
        const into = { repository: this.#repository, large: this.#large };
        await adoptSnapshots(wanted, { from, into, crashPoint: this.#crashPoint });
        return ok(null);
      } catch (error) {
        const refusal = storeRefusal(error, this.#dir);
        await this.#sweep();
        return refused(refusal);
      }
    });
  }

  /** Captures; if git misses something the cache promised, forgets the cache and reads everything once more. */
  async #withObjects(request: CaptureRequest, root: Folder, cache: StatCache): Promise<Snapshot> {
    const tools = {
      repository: this.#repository,
      large: this.#large,
      cache,
      commits: this.#commits,
      crashPoint: this.#crashPoint,
    };
    try {
      return await captureObjects(request, root, tools);
    } catch (error) {
      if (error instanceof Refusal || isDiskFull(error)) throw error;
      cache.clear();
      this.#commits.clear();
      return captureObjects(request, root, tools);
    }
  }

  /** After a failure: nothing half written stays. Best effort, since the disk may be what failed; the next opening sweeps again. */
  async #sweep(): Promise<void> {
    try {
      sweepRepository(this.#repository);
      await this.#large.sweep();
    } catch (error) {
      if (errorCode(error) === undefined) throw error;
    }
  }

  #cacheFor({ root, kind, include, exclude }: CaptureRequest): StatCache {
    const key = hash('sha256', JSON.stringify([root, kind, include, exclude ?? []]), 'hex').slice(0, 32);
    const cache = this.#caches.get(key) ?? new StatCache(join(this.#dir, 'cache', key));
    this.#caches.set(key, cache);
    return cache;
  }

  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const turn = this.#queue.then(work);
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  /** Many small packs make git slow; geometric repacking keeps every object and is safe to kill. */
  async #mergePacks(): Promise<void> {
    const names = await readdir(join(this.#repository.path, 'objects', 'pack'));
    if (names.filter((name) => name.endsWith('.pack')).length > MANY_PACKS)
      await raw(this.#repository, 'repack', '--geometric=2', '-d', '-q');
  }

  async restore(
    id: string,
    folder: string,
    options: { readonly only?: readonly string[] } = {},
  ): ReturnType<Snapshots['restore']> {
    const objects = new ObjectReader(this.#repository);
    try {
      const stored = await this.#stored(id, objects);
      if (stored === undefined)
        return refused({ reason: 'unknown', detail: `There is no snapshot ${id} in ${this.#dir}.` });
      const manifest = manifestOf(id, stored);
      if (!manifest.ok) return manifest;
      const tools = { objects, large: this.#large, crashPoint: this.#crashPoint };
      const done = await restoreInto({ manifest: manifest.value, folder, only: options.only }, tools);
      return 'reason' in done ? refused(done) : ok(done);
    } finally {
      await objects.close();
    }
  }

  async has(id: string): Promise<boolean> {
    return (await this.#stored(id)) !== undefined;
  }

  async find(ref: string): Promise<Snapshot | undefined> {
    const id = await getRef(this.#repository, ref);
    return id === undefined ? undefined : this.describe(id);
  }

  async describe(id: string): Promise<Snapshot> {
    const { entries } = await this.#manifest(id);
    return {
      id,
      contentHash: contentHash(entries),
      files: entries.length,
      bytes: entries.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  }

  async entries(id: string): ReturnType<Snapshots['entries']> {
    return (await this.#manifest(id)).entries.map(plainEntry);
  }

  async listing(id: string): ReturnType<Snapshots['listing']> {
    const { listed, folders } = await this.#manifest(id);
    return { listed, emptyFolders: folders };
  }

  async read(id: string, path: string): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of await this.readStream(id, path)) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }

  async readStream(id: string, path: string): Promise<Readable> {
    const entry = (await this.#manifest(id)).entries.find((candidate) => candidate.path === path);
    if (entry === undefined) throw new Error(`Snapshot ${id} has no file ${path}.`);
    if (entry.large) return createReadStream(this.#large.pathOf(entry.sha256));
    const content = await this.#object(entry.blob);
    if (content === undefined || hash('sha256', content, 'hex') !== entry.sha256)
      throw new Error(`The stored content of ${path} in snapshot ${id} is gone or damaged. Verify the snapshot.`);
    return Readable.from(content.length === 0 ? [] : [content]);
  }

  async diff(before: string, after: string): ReturnType<Snapshots['diff']> {
    return changesBetween(await this.#manifest(before), await this.#manifest(after));
  }

  async patch(before: string, after: string, options: { readonly contextLines?: number } = {}): Promise<string> {
    const sides = {
      before: { id: before, manifest: await this.#manifest(before) },
      after: { id: after, manifest: await this.#manifest(after) },
    };
    return patchBetween(this.#repository, sides, options.contextLines ?? 3);
  }

  verify(id: string): Promise<readonly SnapshotDamage[]> {
    return verifySnapshot(id, this.#repository, this.#large);
  }

  async close(): Promise<void> {
    await this.#queue;
  }

  async #manifest(id: string): Promise<Manifest> {
    const stored = await this.#stored(id);
    if (stored === undefined) throw new Error(`There is no snapshot ${id} in ${this.#dir}.`);
    return readManifest(stored);
  }

  /** The manifest's text of a snapshot that there is. */
  async #stored(id: string, objects?: ObjectReader): Promise<Buffer | undefined> {
    if (!/^[0-9a-f]{40}$/.test(id)) return undefined;
    const name = `${id}:manifest`;
    return objects ? (await objects.one(name))?.content : await this.#object(name);
  }

  async #object(name: string): Promise<Buffer | undefined> {
    for await (const { content } of readObjects(this.#repository, [name])) return content;
    return undefined;
  }
}

function manifestOf(id: string, stored: Buffer): Result<Manifest, RestoreRefusal> {
  try {
    return ok(readManifest(stored));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return refused({ reason: 'damaged', detail: `The list of snapshot ${id} can't be read: ${why}` });
  }
}

/** Opens the workspace. It may not be reached through a link: the caller resolves its real path once, at the start of the run. */
function openRoot(root: string): Folder {
  try {
    return openAbsolute(root);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT')
      throw new Refusal({ reason: 'missing', path: '', detail: `The folder ${root} does not exist.` }, error);
    if (code === 'ENOTDIR' || code === 'ELOOP')
      throw new Refusal(
        {
          reason: 'outside',
          path: '',
          detail: `${root} is no folder, or a symbolic link lies on the way to it. Give its real path.`,
        },
        error,
      );
    throw new Refusal(
      {
        reason: 'unreadable',
        path: '',
        detail: `The folder ${root} can't be opened (${code}). Check its permissions.`,
      },
      error,
    );
  }
}
