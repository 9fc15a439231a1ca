import { execFile } from 'node:child_process';
import { access, mkdtemp, open, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { absolutePath, findProgram, programFolders } from '../base/program.ts';
import { ok, refused, type Result } from '../base/result.ts';
import type { AgentChoice } from '../task/model.ts';
import type { Installed, PrepareRefusal, SessionContext } from './port.ts';

const run = promisify(execFile);

/** Which harness is looked for. */
export interface HarnessSearch {
  readonly agent: Pick<AgentChoice, 'name' | 'program'>;
  /** Base of `agent.program` when it is a relative path. */
  readonly cwd: string;
  readonly environment: SessionContext['outerEnvironment'];
  /** The usual name of its program on PATH, its title, and the command that installs it. */
  readonly program: string;
  readonly title: string;
  readonly install: string;
  /**
   * Finds the native binary behind an npm wrapper, where killing the wrapper would leave it alive; gets the program's real path. null =
   * there is none, and the program itself is started.
   */
  native?(program: string): Promise<string | null>;
}

/** A harness that was found. */
export interface HarnessProgram {
  /** What a person would call it: the path on PATH or as configured. */
  readonly found: string;
  /** How it is started: the binary, or Node and its script. */
  readonly argv: readonly [string, ...string[]];
  /** Folders that must be readable for it to start: its own, its package's dependencies, Node's. */
  readonly readable: readonly string[];
}

/** Finds a harness's program. A script for Node is started with a Node of version 22 or later, whatever the session's PATH has. */
export async function findHarness(search: HarnessSearch): Promise<Result<HarnessProgram, PrepareRefusal>> {
  const { agent, environment, title } = search;
  const path = environment['PATH'];
  const wanted = agent.program ?? search.program;
  const program = await findProgram(wanted, { path, cwd: search.cwd });
  if (!program.ok) {
    const how = agent.program === undefined ? `install it (${search.install})` : `correct \`program\``;
    const detail = `agent ${agent.name} can't start ${title}: ${program.refusal.detail}; or ${how}`;
    return refused({ reason: 'not_installed', detail });
  }
  const found = program.value;
  const real = await realpath(found).catch(() => found);
  const file = (await search.native?.(real)) ?? real;
  const home = environment['HOME'];
  const folders = [...(await programFolders(found, home)), ...(await programFolders(file, home)), ...modulesOf(file)];
  if (!(await isNodeScript(file))) return ok({ found, argv: [file], readable: unique(folders) });
  const node = await findProgram('node', { path, cwd: search.cwd });
  const binary = node.ok ? node.value : process.execPath;
  return ok({ found, argv: [binary, file], readable: unique([...folders, ...(await programFolders(binary, home))]) });
}

/**
 * Asks a harness for its version: what looks like one in the first lines of `--version`. null when it says none within 20 s. It runs
 * in an empty folder with an empty HOME, so that it can't find or leave anything.
 */
export async function harnessVersion(
  program: HarnessProgram,
  given: { readonly path: string | undefined; readonly environment?: Readonly<Record<string, string>> },
): Promise<string | null> {
  const home = await mkdtemp(join(tmpdir(), 'hma-version-'));
  try {
    const [file, ...args] = program.argv;
    const env = { PATH: absolutePath(given.path), HOME: home, ...given.environment };
    const { stdout } = await run(file, [...args, '--version'], {
      cwd: home,
      env,
      timeout: 20_000,
      killSignal: 'SIGKILL',
    });
    return /\d+\.\d+\.\d+[\w.+-]*/u.exec(stdout)?.[0] ?? null;
  } catch {
    return null; // it can't even say its version: the doctor shows that, and a session would tell why
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** What `Harness.find` answers: the program as a person would call it, and its version. */
export async function findInstalled(
  search: HarnessSearch,
  environment?: Readonly<Record<string, string>>,
): Promise<Result<Installed, PrepareRefusal>> {
  const program = await findHarness(search);
  if (!program.ok) return program;
  const version = await harnessVersion(program.value, {
    path: search.environment['PATH'],
    ...(environment === undefined ? {} : { environment }),
  });
  return ok({ program: program.value.found, version });
}

/**
 * The first file with one of these names below `node_modules` as Node would look for it from a program's place: an optional
 * dependency with the binary of this platform, such as `@openai/codex-linux-x64/vendor/…/codex`.
 */
export async function besideProgram(program: string, names: readonly string[]): Promise<string | null> {
  for (let folder = dirname(program); ; folder = dirname(folder)) {
    for (const name of names) {
      const file = join(folder, 'node_modules', name);
      const there = await access(file).then(
        () => true,
        () => false,
      );
      if (there) return realpath(file);
    }
    if (folder === dirname(folder)) return null;
  }
}

/** The outermost `node_modules` that a file lies in: npm puts the dependencies of a package beside it. */
function modulesOf(file: string): string[] {
  const at = file.indexOf('/node_modules/');
  return at < 0 ? [] : [file.slice(0, at + '/node_modules'.length)];
}

async function isNodeScript(file: string): Promise<boolean> {
  if (!(await stat(file)).isFile()) return false;
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(128), 0, 128, 0);
    return /^#!\s*\S*(?:env\s+(?:-S\s+)?node|\/node)\b/u.test(buffer.toString('latin1', 0, bytesRead));
  } finally {
    await handle.close();
  }
}

const unique = (folders: readonly string[]): string[] => [...new Set(folders)];
