import { fstatSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { breather } from './breather.ts';
import { comparePaths } from './bytePaths.ts';
import type { ContentStore } from './contentStore.ts';
import type { SnapshotCrashPoint } from './crashPoints.ts';
import { blobId, contentPath, FastImport, type TreeFile } from './fastImport.ts';
import { FolderCursor, type Folder } from './folders.ts';
import { GitIgnore } from './ignoring.ts';
import { contentHash, writeManifest, type ListedEntry, type Manifest, type ManifestEntry } from './manifest.ts';
import type { CaptureRequest, Snapshot, SnapshotEntry } from './port.ts';
import { LARGE_BYTES, largePointer, readFileNode, readLinkNode, type Reading } from './reading.ts';
import { Changed, Refusal } from './refusals.ts';
import type { Repository } from './repository.ts';
import { selectionOf } from './selection.ts';
import { cachesSafely, type Remembered, type StatCache } from './statCache.ts';
import { sameSurvey, survey, type Node, type Survey, type WalkOptions } from './walk.ts';

/** Largest text file taken whole as workspace provenance. */
const TEXT_BYTES = 10 * 1000 * 1000;
const TRIES = 3;

/** What a capture works with. */
export interface CaptureTools {
  readonly repository: Repository;
  readonly large: ContentStore;
  readonly cache: StatCache;
  /** Commits by the blob id of their manifest: an unchanged tree needs no new objects. */
  readonly commits: Map<string, string>;
  readonly crashPoint: (name: SnapshotCrashPoint) => void;
}

/**
 * Takes what a request names: survey, read, survey again (candidates), commit; three tries when something changed meanwhile.
 * All objects are synced when it returns; the ref is the caller's. Throws `Refusal`, or the store's own error.
 */
export async function captureObjects(request: CaptureRequest, root: Folder, tools: CaptureTools): Promise<Snapshot> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptCapture(request, root, tools);
    } catch (error) {
      if (!(error instanceof Changed)) throw error;
      if (attempt === TRIES) {
        const detail = `${error.path} kept changing while it was read (${TRIES} tries). Let whatever writes it finish, then try again.`;
        throw new Refusal({ reason: 'unstable', path: error.path, detail }, error);
      }
      await setTimeout(50 * attempt);
    }
  }
}

async function attemptCapture(request: CaptureRequest, root: Folder, tools: CaptureTools): Promise<Snapshot> {
  const selection = selectionOf(request.include, request.exclude);
  const ignore = request.kind === 'workspace' ? new GitIgnore(tools.repository, request.root) : undefined;
  const walk: WalkOptions = {
    root,
    selection,
    ...(request.limits ? { limits: request.limits } : {}),
    ignoring: ignore && ((folder, names) => ignore.among(folder, names)),
  };
  const session = new CaptureSession(request, root, tools);
  try {
    const found = await survey(walk);
    const latest = ignore === undefined && (await session.isLatest(found));
    if (latest) return latest;
    await session.read(found);
    if (ignore === undefined) expectSame(found, await survey(walk));
    const snapshot = await session.commit();
    if (ignore === undefined) tools.cache.rememberLatest(found, snapshot);
    return snapshot;
  } finally {
    await session.end();
    await ignore?.close();
  }
}

function expectSame(before: Survey, after: Survey): void {
  if (sameSurvey(before, after)) return;
  const known = new Map(before.nodes.map((node) => [node.path, node]));
  const differs = (node: Node): boolean => {
    const other = known.get(node.path);
    return other === undefined || !sameSurvey({ ...before, nodes: [other] }, { ...before, nodes: [node] });
  };
  const path =
    after.nodes.find(differs)?.path ??
    before.nodes.find(({ path: old }) => !after.nodes.some((node) => node.path === old))?.path;
  throw new Changed(path ?? 'The folder');
}

/** One try: collects contents, sends git what is new, and commits. `end` ends git; nothing is published without `commit`. */
class CaptureSession {
  readonly #request: CaptureRequest;
  readonly #root: Folder;
  readonly #tools: CaptureTools;
  readonly #entries: ManifestEntry[] = [];
  readonly #folders: string[] = [];
  readonly #listed: ListedEntry[] = [];
  readonly #readings = new Map<string, Remembered>();
  #git: FastImport | undefined;

  constructor(request: CaptureRequest, root: Folder, tools: CaptureTools) {
    this.#request = request;
    this.#root = root;
    this.#tools = tools;
  }

  /** The latest snapshot, when the tree is still the one that it holds, and its large files are there. */
  async isLatest(found: Survey): Promise<Snapshot | false> {
    const latest = this.#tools.cache.sameAsLatest(found);
    if (latest === undefined) return false;
    for (const node of found.nodes) if (node.stamp.bytes > LARGE_BYTES && !(await this.#unchanged(node))) return false;
    return latest;
  }

  async read(found: Survey): Promise<void> {
    const cursor = new FolderCursor(this.#root);
    // what lies on another device is on a mount of its own, whose kind was not looked at
    const cached = cachesSafely(this.#root) ? String(fstatSync(this.#root.fd).dev) : undefined;
    const breathe = breather();
    try {
      for (const node of found.nodes) {
        if (node.kind === 'folder') this.#folders.push(node.path);
        else if (node.kind === 'listed') this.#list(node);
        else await this.#take(cursor, node, cached === node.stamp.dev);
        const pause = breathe();
        if (pause) await pause;
      }
    } finally {
      cursor.close();
    }
  }

  async #take(cursor: FolderCursor, node: Node, cacheable: boolean): Promise<void> {
    const known = await this.#unchanged(node);
    if (known) {
      this.#readings.set(node.path, known);
      return this.#enter(node, known);
    }
    const provenance = this.#request.kind === 'workspace';
    if (provenance && node.kind === 'file' && node.stamp.bytes > TEXT_BYTES) return this.#list(node);
    let reading: Reading;
    try {
      const large = { store: this.#tools.large, above: provenance ? TEXT_BYTES : LARGE_BYTES };
      reading = node.kind === 'link' ? readLinkNode(cursor, node) : await readFileNode(cursor, node, large);
    } catch (error) {
      if (provenance && (error instanceof Changed || error instanceof Refusal)) return this.#list(node);
      throw error;
    }
    if (reading.content.large) this.#tools.crashPoint('snapshot.large');
    if (provenance && node.kind === 'file' && reading.data?.includes(0)) return this.#list(node);
    if (reading.data && reading.content.blob !== this.#tools.cache.knownBlob(node.path))
      await this.#import().blob(reading.content.blob, reading.data);
    if (cacheable)
      this.#readings.set(node.path, { stamp: reading.stamp, content: reading.content, readAt: reading.readAt });
    return this.#enter(node, reading);
  }

  async #unchanged(node: Node): Promise<Remembered | undefined> {
    const known = this.#tools.cache.unchanged(node.path, node.stamp);
    if (known?.content.large && !(await this.#tools.large.has(known.content.sha256, known.content.bytes)))
      return undefined;
    return known;
  }

  #enter(node: Node, { content }: Remembered): void {
    const kind: SnapshotEntry['kind'] = node.kind === 'link' ? 'link' : node.stamp.mode & 0o100 ? 'executable' : 'file';
    this.#entries.push({
      path: node.path,
      kind,
      bytes: content.bytes,
      sha256: content.sha256,
      blob: content.blob,
      large: content.large,
    });
  }

  #list({ path, stamp }: Node): void {
    const type = stamp.mode & 0o170000;
    const kind = type === 0o100000 ? 'file' : type === 0o040000 ? 'folder' : 'other';
    this.#listed.push({
      path,
      kind,
      bytes: kind === 'folder' ? 0 : stamp.bytes,
      mtimeMs: Math.floor(Number(stamp.mtimeNs) / 1e6),
    });
  }

  #import(): FastImport {
    this.#git ??= new FastImport(this.#tools.repository);
    return this.#git;
  }

  async commit(): Promise<Snapshot> {
    const entries = this.#entries.sort((left, right) => comparePaths(left.path, right.path));
    const listed = this.#listed.sort((left, right) => comparePaths(left.path, right.path));
    const manifest: Manifest = { kind: this.#request.kind, entries, folders: this.#folders.sort(comparePaths), listed };
    const text = writeManifest(manifest);
    const manifestBlob = blobId(text);
    let id = this.#tools.commits.get(manifestBlob);
    if (id === undefined) {
      const git = this.#import();
      // pointers of unchanged large files too: a repository that lost one would refuse the commit
      for (const { large, blob, sha256, bytes } of entries)
        if (large) await git.blob(blob, largePointer(sha256, bytes));
      await git.blob(manifestBlob, text);
      const files = entries.map((entry): TreeFile => ({
        mode: MODES[entry.kind],
        blob: entry.blob,
        path: contentPath(entry.path),
      }));
      id = await git.commit(`hma ${this.#request.kind} snapshot\n`, [
        ...files,
        { mode: '100644', blob: manifestBlob, path: 'manifest' },
      ]);
      this.#tools.commits.set(manifestBlob, id);
    }
    this.#tools.crashPoint('snapshot.objects');
    this.#tools.cache.replace(this.#readings);
    this.#tools.crashPoint('snapshot.cache');
    const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
    return { id, contentHash: contentHash(entries), files: entries.length, bytes };
  }

  async end(): Promise<void> {
    await this.#git?.abort();
  }
}

const MODES = { file: '100644', executable: '100755', link: '120000' } as const;
