import type { BigIntStats, Dirent } from 'node:fs';
import { errorCode } from '../base/files.ts';
import { breather } from './breather.ts';
import { joinBytes, pathBytes, pathText } from './bytePaths.ts';
import { FolderCursor, listFolder, openFolder, splitPath, statChild, type Folder } from './folders.ts';
import type { CaptureRequest } from './port.ts';
import { readingError, Refusal } from './refusals.ts';
import { globBase, globMatcher, isGlob, type Selection } from './selection.ts';

/** What the file system says about one path at one moment; equal stamps mean that nothing was written in between (see statCache.ts). */
export interface Stamp {
  readonly dev: string;
  readonly ino: string;
  readonly bytes: number;
  readonly mode: number;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
}

/** One path that belongs to a capture. `listed` are paths that are only named (workspace provenance). */
export interface Node {
  readonly path: string;
  readonly kind: 'file' | 'link' | 'folder' | 'listed';
  readonly stamp: Stamp;
}

/** All that one walk found, in the order of the walk; folders only where nothing inside them was taken. */
export interface Survey {
  readonly nodes: readonly Node[];
  readonly files: number;
  readonly bytes: number;
}

/** Says which names of a folder are ignored; see ignoring.ts. */
export type Ignoring = (folder: string, names: readonly Dirent<Buffer>[]) => Promise<ReadonlySet<string>>;

/** What a walk needs: the open root, what to take, and how strict to be. */
export interface WalkOptions {
  readonly root: Folder;
  readonly selection: Selection;
  readonly limits?: CaptureRequest['limits'];
  /** Given for workspace provenance: what can't be taken is listed, not refused. */
  readonly ignoring?: Ignoring | undefined;
}

/** The stamp of a stat. */
export const stampOf = (stat: BigIntStats): Stamp => ({
  dev: String(stat.dev),
  ino: String(stat.ino),
  bytes: Number(stat.size),
  mode: Number(stat.mode),
  mtimeNs: String(stat.mtimeNs),
  ctimeNs: String(stat.ctimeNs),
});

/** Whether two stamps are the same in everything. */
export const sameStamp = (left: Stamp, right: Stamp): boolean =>
  left.ino === right.ino &&
  left.ctimeNs === right.ctimeNs &&
  left.mtimeNs === right.mtimeNs &&
  left.bytes === right.bytes &&
  left.mode === right.mode &&
  left.dev === right.dev;

/** Whether two surveys saw the same tree. */
export const sameSurvey = (left: Survey, right: Survey): boolean =>
  left.nodes.length === right.nodes.length &&
  left.nodes.every((node, at) => {
    const other = right.nodes[at];
    if (other === undefined || node.path !== other.path || node.kind !== other.kind) return false;
    return node.kind === 'folder' || node.kind === 'listed' || sameStamp(node.stamp, other.stamp);
  });

/**
 * Walks what a request names, without following a link or opening a file.
 * Throws `Refusal` (missing, outside, special_file, too_large, unreadable) or `Changed`.
 */
export async function survey(options: WalkOptions): Promise<Survey> {
  const walk = new Walk(options);
  for (const spec of options.selection.specs) await walk.take(spec);
  return walk.survey();
}

class Walk {
  readonly #options: WalkOptions;
  readonly #nodes = new Map<string, Node>();
  readonly #breathe = breather();
  #files = 0;
  #bytes = 0;

  constructor(options: WalkOptions) {
    this.#options = options;
  }

  survey(): Survey {
    return { nodes: [...this.#nodes.values()], files: this.#files, bytes: this.#bytes };
  }

  /** One name of the request: a path if there is such a path, else a glob. */
  async take(spec: string): Promise<void> {
    if (spec === '') return this.#whole('');
    const before = this.#nodes.size;
    if (this.#exists(spec)) await this.#whole(spec);
    else if (isGlob(spec)) await this.#glob(spec);
    if (this.#nodes.size === before && !this.#nodes.has(spec)) {
      if (isGlob(spec) && before > 0) return;
      throw new Refusal({
        reason: 'missing',
        path: spec,
        detail: `Nothing in the workspace matches "${spec}". Create it, or correct the candidate's paths.`,
      });
    }
  }

  #exists(path: string): boolean {
    if (this.#excluded(path)) return false;
    const { folder, name } = splitPath(path);
    const cursor = new FolderCursor(this.#options.root);
    try {
      statChild(this.#enter(cursor, folder), pathBytes(name));
      return true;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return false;
      throw error instanceof Refusal ? error : readingError(error, path);
    } finally {
      cursor.close();
    }
  }

  /** Opens the folder an explicit name goes through: a link on the way leads outside. */
  #enter(cursor: FolderCursor, path: string): Folder {
    const parts = path === '' ? [] : path.split('/');
    for (let count = 1; count <= parts.length; count++) {
      const part = parts.slice(0, count).join('/');
      const { folder, name } = splitPath(part);
      const stat = statChild(cursor.enter(folder), pathBytes(name));
      if (stat.isSymbolicLink())
        throw new Refusal({
          reason: 'outside',
          path: part,
          detail: `"${part}" is a symbolic link, so what lies behind it may be outside the workspace. Name the real path.`,
        });
      if (!stat.isDirectory()) throw Object.assign(new Error(`${part} is no folder`), { code: 'ENOENT' });
    }
    return cursor.enter(path);
  }

  #excluded(path: string): boolean {
    const parts = path.split('/');
    return parts.some((_, at) => this.#options.selection.excludes(parts.slice(0, at + 1).join('/')));
  }

  /** Everything at and below a path that exists. */
  async #whole(path: string): Promise<void> {
    if (path === '') return this.#children(this.#options.root, '', () => true);
    const { folder, name } = splitPath(path);
    const cursor = new FolderCursor(this.#options.root);
    try {
      await this.#child(
        { parent: this.#enter(cursor, folder), name: pathBytes(name), path, ignored: false },
        () => true,
      );
    } finally {
      cursor.close();
    }
  }

  async #glob(spec: string): Promise<void> {
    const base = globBase(spec);
    if (base !== '' && !this.#exists(base)) return;
    const cursor = new FolderCursor(this.#options.root);
    try {
      await this.#children(this.#enter(cursor, base), base, globMatcher(spec));
    } finally {
      cursor.close();
    }
  }

  async #children(folder: Folder, prefix: string, matches: (path: string) => boolean): Promise<void> {
    let list: Dirent<Buffer>[];
    try {
      list = listFolder(folder);
    } catch (error) {
      throw readingError(error, prefix);
    }
    const base = pathBytes(prefix);
    const ignored = await this.#options.ignoring?.(prefix, list);
    for (const { name } of list) {
      const path = pathText(joinBytes(base, name));
      if (this.#options.selection.excludes(path)) continue;
      await this.#child({ parent: folder, name, path, ignored: ignored?.has(path) ?? false }, matches);
      const pause = this.#breathe();
      if (pause) await pause;
    }
  }

  async #child(
    at: { parent: Folder; name: Buffer; path: string; ignored: boolean },
    matches: (path: string) => boolean,
  ): Promise<void> {
    let stat: BigIntStats;
    try {
      stat = statChild(at.parent, at.name);
    } catch (error) {
      throw readingError(error, at.path);
    }
    const stamp = stampOf(stat);
    const inside = matches(at.path);
    const provenance = this.#options.ignoring !== undefined;
    if (provenance && (at.ignored || at.name.equals(DOT_GIT)))
      return this.#add({ path: at.path, kind: 'listed', stamp });
    if (stat.isDirectory()) return this.#folder(at, stamp, inside ? () => true : matches);
    if (!inside) return undefined;
    if (stat.isSymbolicLink()) return this.#add({ path: at.path, kind: 'link', stamp });
    if (stat.isFile()) return this.#add({ path: at.path, kind: 'file', stamp });
    if (provenance) return this.#add({ path: at.path, kind: 'listed', stamp });
    throw new Refusal({
      reason: 'special_file',
      path: at.path,
      detail: `${at.path} is a FIFO, socket or device, which can't be part of a candidate. Remove it or leave it out.`,
    });
  }

  async #folder(
    at: { parent: Folder; name: Buffer; path: string },
    stamp: Stamp,
    matches: (path: string) => boolean,
  ): Promise<void> {
    const before = this.#nodes.size;
    let folder: Folder | undefined;
    try {
      folder = openFolder(at.parent, at.name);
      await this.#children(folder, at.path, matches);
    } catch (error) {
      if (error instanceof Refusal && error.refusal.reason !== 'unreadable') throw error;
      const known = error instanceof Refusal ? error : readingError(error, at.path);
      if (this.#options.ignoring === undefined) throw known;
      return this.#add({ path: at.path, kind: 'listed', stamp });
    } finally {
      folder?.close();
    }
    if (this.#nodes.size === before && matches(at.path) && !this.#nodes.has(at.path))
      this.#add({ path: at.path, kind: 'folder', stamp });
  }

  #add(node: Node): void {
    if (this.#nodes.has(node.path)) return;
    this.#nodes.set(node.path, node);
    if (node.kind !== 'file' && node.kind !== 'link') return;
    this.#files++;
    this.#bytes += node.stamp.bytes;
    const limits = this.#options.limits;
    if (limits === undefined || (this.#files <= limits.files && this.#bytes <= limits.bytes)) return;
    throw new Refusal({
      reason: 'too_large',
      path: node.path,
      detail: `The files are more than the limit of ${limits.files} files or ${limits.bytes} bytes allows. Remove what is not needed, or raise the limit in the task.`,
    });
  }
}

const DOT_GIT = Buffer.from('.git');
