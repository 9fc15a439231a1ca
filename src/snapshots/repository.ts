import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { simpleGit } from 'simple-git';
import { syncFolder } from './durable.ts';

/*
 * The run's private bare repository. It is written by hand (a HEAD, a config, empty folders), so no template of the machine gets in;
 * git runs with an empty HOME of ours, without system and global configuration, and with none of our own environment but PATH.
 */

const CONFIG = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\tfsync = all
\tfsyncMethod = batch
\thooksPath = /dev/null
\tlogAllRefUpdates = false
\tprotectHFS = false
\tprotectNTFS = false
\tquotePath = true
[gc]
\tauto = 0
[pack]
\tcompression = 1
\tthreads = 1
[fastimport]
\tunpackLimit = 1
[repack]
\twriteBitmaps = false
[maintenance]
\tauto = false
`;

/** git's name for a tree without entries, known to every repository. */
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Refs under which snapshots are kept. */
const REF_PREFIX = 'refs/hma/';

/** An open repository: where it lies and what its git processes see. */
export interface Repository {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Opens the repository in a store's folder, creating what is missing and clearing away what a killed writer left half done. */
export function openRepository(dir: string, pathVariable: string): Repository {
  const path = join(dir, 'repo.git');
  const home = join(dir, 'home');
  for (const folder of [home, join(path, 'objects', 'pack'), join(path, 'objects', 'info'), join(path, 'refs', 'hma')])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!existsSync(join(path, 'HEAD'))) {
    // HEAD last: git takes the folder for a repository only from then on, so a killed start is simply done again
    for (const [name, text] of [
      ['config', CONFIG],
      ['HEAD', 'ref: refs/heads/none\n'],
    ] as const) {
      writeFileSync(join(path, `${name}.new`), text, { flush: true });
      renameSync(join(path, `${name}.new`), join(path, name));
    }
    syncFolder(path);
    syncFolder(dir);
  }
  const repository = repositoryAt(dir, pathVariable);
  sweepRepository(repository);
  return repository;
}

/** The repository in a store's folder as it stands: nothing is made, nothing is cleared away. For readers beside a living writer. */
export function repositoryAt(dir: string, pathVariable: string): Repository {
  const path = join(dir, 'repo.git');
  return {
    path,
    env: {
      PATH: pathVariable,
      HOME: join(dir, 'home'),
      GIT_DIR: path,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_ATTR_NOSYSTEM: '1',
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_TERMINAL_PROMPT: '0',
      LC_ALL: 'C',
    },
  };
}

/** Removes what a git that died leaves behind: half written packs, crash reports, lock files. */
export function sweepRepository({ path }: Repository): void {
  sweep(
    join(path, 'objects', 'pack'),
    (name) => name.startsWith('tmp_') || name.startsWith('.tmp-') || name.endsWith('.keep'),
  );
  sweep(path, (name) => name.startsWith('fast_import_crash_') || name.endsWith('.lock'));
  sweep(join(path, 'refs', 'hma'), (name) => name.endsWith('.lock'), true);
}

function sweep(folder: string, isLeftOver: (name: string) => boolean, recursive = false): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive }))
    if (entry.isFile() && isLeftOver(entry.name)) rmSync(join(entry.parentPath, entry.name), { force: true });
}

/** Runs a plumbing command to its end and gives its output. Throws simple-git's error with git's words. */
export function raw(repository: Repository, ...args: string[]): Promise<string> {
  // simple-git guards GIT_CONFIG_GLOBAL against foreign input; ours is the constant /dev/null
  const unsafe = { allowUnsafeConfigPaths: true };
  return simpleGit({ baseDir: repository.path, trimmed: false, allowEnvironment: Object.keys(repository.env), unsafe })
    .env({ ...repository.env })
    .raw(...args);
}

/**
 * Points `refs/hma/<ref>` at a commit, durably: a loose ref as git writes it, under git's own name for a lock. Not by `git update-ref`, whose
 * start every receipt would wait for.
 */
export function setRef(repository: Repository, ref: string, commit: string): void {
  const file = join(repository.path, REF_PREFIX, ref);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.lock`, `${commit}\n`, { flush: true });
  renameSync(`${file}.lock`, file);
  syncUpTo(dirname(file), join(repository.path, 'refs', 'hma'));
}

/** Syncs a folder and those around it, up to `root`. */
export function syncUpTo(folder: string, root: string): void {
  syncFolder(folder);
  if (folder !== root) syncUpTo(dirname(folder), root);
}

/** All refs behind `refs/hma/`, and the commits that they point at. */
export async function getRefs(repository: Repository): Promise<ReadonlyMap<string, string>> {
  const text = await raw(repository, 'for-each-ref', '--format=%(objectname) %(refname)', REF_PREFIX);
  const lines = text.split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => [line.slice(41 + REF_PREFIX.length), line.slice(0, 40)]));
}

/** The commit at `refs/hma/<ref>`, if there is one. */
export async function getRef(repository: Repository, ref: string): Promise<string | undefined> {
  const text = await raw(repository, 'for-each-ref', '--format=%(objectname)', REF_PREFIX + ref);
  return text.trim().split('\n')[0] || undefined;
}

/** Whether a name can stand behind `refs/hma/`. */
export const isRefName = (ref: string): boolean =>
  /^[A-Za-z0-9_][A-Za-z0-9_.-]*(\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/.test(ref) && !/\.\.|\.lock(\/|$)|\.(\/|$)/.test(ref);

/** A git process with both its ends open to us. */
export interface Streaming {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Settles when the process has ended: resolves on success, throws with git's words otherwise. */
  readonly ended: Promise<void>;
}

/** Starts a git process that is fed or read while it runs (fast-import, cat-file --batch, check-ignore). */
export function stream(
  repository: Repository,
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Streaming {
  const child = spawn('git', args, {
    cwd: options.cwd ?? repository.path,
    env: { ...repository.env, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-4000)));
  child.stdin.on('error', () => undefined); // a git that died says why on stderr; its exit is what counts
  const ended = new Promise<void>((resolve, reject) => {
    child.on('error', (error) =>
      reject(new Error('git could not be started. Install git 2.36 or newer.', { cause: error })),
    );
    child.on('close', (code, signal) =>
      code === 0
        ? resolve()
        : reject(
            new Error(
              `git ${args[0]} ended with ${signal ?? code}: ${words.match(/^(fatal|error): .*/m)?.[0] ?? words.trim()}`,
            ),
          ),
    );
  });
  ended.catch(() => undefined);
  return { child, ended };
}

/** Writes to a git process, waiting while its pipe is full. Returns quietly when it has died: `ended` tells. */
export async function feed({ child, ended }: Streaming, data: Buffer | string): Promise<void> {
  if (child.stdin.destroyed || child.stdin.write(data)) return;
  await Promise.race([once(child.stdin, 'drain'), ended.catch(() => undefined)]).catch(() => undefined);
}
