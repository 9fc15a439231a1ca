import { execFile } from 'node:child_process';
import { access, constants, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ok, refused, type Result } from './result.ts';

const run = promisify(execFile);

/** PATH of a program whose starter has none. */
const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The oldest major version of Node that an evaluator or agent called plainly `node` gets. */
const oldestNode = 22;

/** Where a program is looked for. */
export interface ProgramSearch {
  /** A PATH; entries that are not absolute are ignored, since they would mean the working directory. */
  readonly path: string | undefined;
  /** Base of a relative name with a slash in it, absolute. */
  readonly cwd: string;
  /** The Node binary that stands in for a `node` that is missing or too old on PATH. Default: this process's own. */
  readonly ownNode?: string;
}

/** Why no program was found, in words for a person. */
export interface ProgramRefusal {
  readonly reason: 'not_found';
  readonly detail: string;
}

/** PATH with only its absolute entries: an empty entry or `.` would let the working directory decide what `git` is. */
export function absolutePath(path: string | undefined): string {
  const entries = (path ?? '').split(':').filter((entry) => isAbsolute(entry));
  return entries.length > 0 ? entries.join(':') : defaultPath;
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false; // absent, a broken link or not executable: not a program, and the caller says so
  }
}

async function onPath(name: string, path: string): Promise<string | null> {
  for (const folder of path.split(':')) {
    const file = join(folder, name);
    if (await isProgram(file)) return file;
  }
  return null;
}

const nodeVersions = new Map<string, number>();

/** Major version of a Node binary, asked once per process; 0 when it doesn't answer. */
async function nodeMajor(file: string): Promise<number> {
  const known = nodeVersions.get(file);
  if (known !== undefined) return known;
  let major = 0;
  try {
    const { stdout } = await run(file, ['-p', 'process.versions.node'], { timeout: 10_000, env: {} });
    major = Number.parseInt(stdout, 10) || 0;
  } catch {
    major = 0; // a `node` that can't even say its version is no use to an evaluator
  }
  nodeVersions.set(file, major);
  return major;
}

/**
 * The absolute path of the program that `name` means.
 *
 * A name with a slash is resolved against `cwd`; any other is looked up on PATH. Plain `node` is PATH's own when that is
 * at least version 22 (so that native modules built for it still load), else `ownNode`: a task written as
 * `node evaluate.mjs` then works on a machine whose Node is old or missing.
 */
export async function findProgram(name: string, search: ProgramSearch): Promise<Result<string, ProgramRefusal>> {
  if (name.includes('/')) {
    const file = resolve(search.cwd, name);
    if (await isProgram(file)) return ok(file);
    const detail = `\`${name}\` is no executable file (looked at ${file}); check the path, or run chmod +x on it`;
    return refused({ reason: 'not_found', detail });
  }
  const path = absolutePath(search.path);
  const found = await onPath(name, path);
  if (name === 'node' && (found === null || (await nodeMajor(found)) < oldestNode)) {
    return ok(search.ownNode ?? process.execPath);
  }
  if (found !== null) return ok(found);
  const detail = `\`${name}\` was not found on PATH (${path}); install it, or write its absolute path`;
  return refused({ reason: 'not_found', detail });
}

/**
 * Folders that a program needs to be readable to start at all: its own, and for `<prefix>/bin/<program>` the prefix (a virtual
 * environment, a Node installation), for the name as given and for what it links to. Never `home` itself, and of the root's own
 * folders only /usr: a program in /tmp/bin is no reason to show all of /tmp.
 */
export async function programFolders(program: string, home?: string): Promise<string[]> {
  const folders = new Set<string>();
  const real = await realpath(program).catch(() => program);
  for (const file of [program, real]) {
    const folder = dirname(file);
    const prefix = dirname(folder);
    const usable =
      folder.endsWith('/bin') && prefix !== home && (prefix === '/usr' || dirname(prefix) !== '/') && prefix !== '/';
    folders.add(usable ? prefix : folder);
  }
  return [...folders].filter((folder) => folder !== '/' && folder !== home);
}
