import * as vscode from 'vscode';

import { readOffline } from '../client/readRun.ts';
import { runFiles } from '../ledger/places.ts';
import { firstFiles } from '../run/goOn.ts';
import type { RunState } from '../run/model.ts';
import type { SnapshotEntry, SnapshotsReader } from '../snapshots/port.ts';
import { archiveScheme, beginningId, childrenOf, placeIn, startId } from './archivePlace.ts';
import type { RunModel } from './runModel.ts';

/** Snapshots whose list of files is remembered. */
const mostLists = 100;
/** The largest file that is given to an editor whole, bytes. */
const mostBytes = 256 * 1024 * 1024;

/** A candidate and where its files are read. */
export interface ArchivedCandidate {
  readonly run: string;
  /** A candidate's id, or `start` for the candidate files as they were when the run began. */
  readonly id: string;
  readonly snapshot: string;
  /** Unix ms of its acceptance. */
  readonly wall: number;
  readonly store: SnapshotsReader;
  readonly entries: readonly SnapshotEntry[];
}

function contentOf(state: RunState, id: string): { readonly snapshot: string; readonly wall: number } | undefined {
  if (id === startId) return state.initial === null ? undefined : { snapshot: state.initial, wall: state.openedWall };
  const first = firstFiles(state);
  if (id === beginningId) return first === null ? undefined : { snapshot: first, wall: state.openedWall };
  const found = state.archive.find((one) => one.id === id);
  return found && { snapshot: found.snapshot, wall: found.acceptedWall };
}

/** Reads candidates of any run of the folder from its store, beside the controller that may be writing there; nothing is changed. */
export class ArchiveReader {
  readonly #model: RunModel;
  readonly #stores = new Map<string, SnapshotsReader>();
  readonly #lists = new Map<string, Promise<readonly SnapshotEntry[]>>();
  readonly #past = new Map<string, RunState>();

  constructor(model: RunModel) {
    this.#model = model;
  }

  /** A candidate with its list of files; undefined where there is none such. */
  async candidate(run: string, id: string): Promise<ArchivedCandidate | undefined> {
    const state = this.#stateOf(run, id);
    const found = state && contentOf(state, id);
    const store = found && (await this.#storeOf(run));
    return found && store && { run, id, ...found, store, entries: await this.#entries(store, found.snapshot) };
  }

  #stateOf(run: string, id: string): RunState | undefined {
    const { state } = this.#model;
    if (state?.run === run) return state;
    const known = this.#past.get(run);
    if (known && contentOf(known, id)) return known;
    const place = this.#model.runs().find((one) => one.run === run);
    const read = place && readOffline(place);
    if (read?.ok !== true) return undefined;
    this.#past.set(run, read.value.state);
    return read.value.state;
  }

  async #storeOf(run: string): Promise<SnapshotsReader | undefined> {
    const known = this.#stores.get(run);
    if (known) return known;
    const place = this.#model.runs().find((one) => one.run === run);
    if (!place) return undefined;
    const { openSnapshotsReadOnly } = await import('../snapshots/store.ts');
    const { absolutePath } = await import('../base/program.ts');
    const store = openSnapshotsReadOnly({
      dir: runFiles(place.folder).snapshots,
      env: { PATH: absolutePath(process.env['PATH']) },
    });
    this.#stores.set(run, store);
    return store;
  }

  /** A snapshot never changes: its list is read once. */
  #entries(store: SnapshotsReader, snapshot: string): Promise<readonly SnapshotEntry[]> {
    const known = this.#lists.get(snapshot);
    if (known) return known;
    const list = store.entries(snapshot);
    list.catch(() => this.#lists.delete(snapshot));
    this.#lists.set(snapshot, list);
    const oldest = this.#lists.size > mostLists ? this.#lists.keys().next().value : undefined;
    if (oldest !== undefined) this.#lists.delete(oldest);
    return list;
  }
}

/** Candidates' files as documents, `hma-archive://CANDIDATE.RUN/WORKSPACE/PATH`: read-only, for native editors and diffs. */
export class ArchiveFiles implements vscode.FileSystemProvider {
  readonly #reader: ArchiveReader;
  readonly #folder: string;
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.#changed.event;

  constructor(reader: ArchiveReader, folder: string) {
    this.#reader = reader;
    this.#folder = folder;
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined); // an archived file never changes
  }

  async #find(uri: vscode.Uri): Promise<{ readonly found: ArchivedCandidate; readonly path: string }> {
    const place = placeIn(uri, this.#folder);
    const found =
      place &&
      (await this.#reader.candidate(place.run, place.candidate).catch((error: unknown) => {
        throw vscode.FileSystemError.Unavailable(
          `The archive can't be read: ${error instanceof Error ? error.message : String(error)}`,
        );
      }));
    if (!found) throw vscode.FileSystemError.FileNotFound(uri);
    return { found, path: place.path };
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { found, path } = await this.#find(uri);
    const ctime = found.wall;
    const rest = { ctime, mtime: ctime, permissions: vscode.FilePermission.Readonly };
    const entry = found.entries.find((one) => one.path === path);
    if (entry) return { type: vscode.FileType.File, size: entry.bytes, ...rest };
    if (path === '' || childrenOf(found.entries, path).length > 0)
      return { type: vscode.FileType.Directory, size: 0, ...rest };
    throw vscode.FileSystemError.FileNotFound(uri);
  }

  async readDirectory(uri: vscode.Uri): Promise<[string, vscode.FileType][]> {
    const { found, path } = await this.#find(uri);
    return childrenOf(found.entries, path).map(({ name, folder }) => [
      name,
      folder ? vscode.FileType.Directory : vscode.FileType.File,
    ]);
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const { found, path } = await this.#find(uri);
    const entry = found.entries.find((one) => one.path === path);
    if (!entry) throw vscode.FileSystemError.FileNotFound(uri);
    if (entry.bytes > mostBytes)
      throw vscode.FileSystemError.Unavailable(
        `${path} is too large for an editor (${entry.bytes} bytes). Bring it into a folder: hma apply ${found.id} --to folder DIR.`,
      );
    return await found.store.read(found.snapshot, path);
  }

  writeFile(): never {
    throw vscode.FileSystemError.NoPermissions('A candidate in the archive never changes.');
  }
  createDirectory(): never {
    return this.writeFile();
  }
  delete(): never {
    return this.writeFile();
  }
  rename(): never {
    return this.writeFile();
  }

  dispose(): void {
    this.#changed.dispose();
  }
}

/** Registers the archive's documents. */
export function registerArchiveFiles(reader: ArchiveReader, folder: string): vscode.Disposable {
  const files = new ArchiveFiles(reader, folder);
  const why = new vscode.MarkdownString(
    'A candidate in the archive never changes. Apply it to a folder or branch to work on it.',
  );
  return vscode.Disposable.from(
    files,
    vscode.workspace.registerFileSystemProvider(archiveScheme, files, { isCaseSensitive: true, isReadonly: why }),
  );
}
