import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';
import type { CaptureRequest, Snapshot, Snapshots } from '../../src/snapshots/port.ts';
import { openSnapshots, type SnapshotOptions } from '../../src/snapshots/store.ts';

const made: string[] = [];
const opened: Snapshots[] = [];

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A new folder of its own, removed after the test. */
export function newFolder(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'hma-snapshots-'));
  made.push(folder);
  return folder;
}

/** A workspace with these files (text, bytes, `{link}` or `{run}` for an executable) and a store beside it. */
export async function rig(files: Readonly<Record<string, FileSpec>> = {}, options: Partial<SnapshotOptions> = {}) {
  const base = newFolder();
  const workspace = join(base, 'work space');
  mkdirSync(workspace);
  write(workspace, files);
  const dir = options.dir ?? join(base, 'state', 'snapshots');
  const store = await open({ ...options, dir });
  let next = 1;
  const capture = (request: Partial<CaptureRequest> = {}) =>
    store.capture({ root: workspace, include: ['.'], kind: 'candidate', ref: `e${next++}`, ...request });
  const taken = async (request: Partial<CaptureRequest> = {}): Promise<Snapshot> => {
    const result = await capture(request);
    if (!result.ok) throw new Error(`refused: ${JSON.stringify(result.refusal)}`);
    return result.value;
  };
  const restored = async (id: string, only?: readonly string[]): Promise<string> => {
    const target = join(newFolder(), 'restored');
    const result = await store.restore(id, target, only ? { only } : {});
    if (!result.ok) throw new Error(`refused: ${JSON.stringify(result.refusal)}`);
    return target;
  };
  return { base, workspace, dir, store, capture, taken, restored };
}

/** Opens a store that the test's end closes. */
export async function open(options: SnapshotOptions): Promise<Snapshots> {
  const store = await openSnapshots(options);
  opened.push(store);
  return store;
}

/** What a test puts at a path. */
export type FileSpec = string | Buffer | { readonly link: string } | { readonly run: string };

/** Writes files below a folder. */
export function write(root: string, files: Readonly<Record<string, FileSpec>>): void {
  for (const [path, spec] of Object.entries(files)) {
    const target = join(root, path);
    mkdirSync(dirname(target), { recursive: true });
    if (typeof spec === 'string' || Buffer.isBuffer(spec)) writeFileSync(target, spec);
    else if ('link' in spec) symlinkSync(spec.link, target);
    else {
      writeFileSync(target, spec.run);
      chmodSync(target, 0o755);
    }
  }
}

/** Everything below a folder: latin1 path → kind and latin1 content; folders only when empty. Names are compared as bytes. */
export function contentsOf(root: string): Record<string, string> {
  const contents: Record<string, string> = {};
  const visit = (folder: Buffer, prefix: string): void => {
    const names = readdirSync(folder, { encoding: 'buffer' });
    if (names.length === 0 && prefix !== '') contents[prefix.slice(0, -1)] = 'folder';
    for (const name of names) {
      const path = Buffer.concat([folder, Buffer.from('/'), name]);
      const at = prefix + name.toString('latin1');
      const stat = lstatSync(path);
      if (stat.isDirectory()) visit(path, `${at}/`);
      else if (stat.isSymbolicLink()) contents[at] = `link ${readlinkSync(path, 'latin1' as BufferEncoding)}`;
      else contents[at] = `${stat.mode & 0o100 ? 'run' : 'file'} ${readFileSync(path, 'latin1')}`;
    }
  };
  visit(Buffer.from(root), '');
  return contents;
}
