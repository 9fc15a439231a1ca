import { mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { absolutePath } from '../base/program.ts';
import { ok, refused, type Result } from '../base/result.ts';
import { feed, stream, type Repository } from '../snapshots/repository.ts';
import type { SnapshotEntry } from '../snapshots/port.ts';
import type { ApplyChange } from './apply.ts';
import { failure, type Failure } from './failure.ts';

/*
 * The person's own repository, written to by "apply to a branch" alone. Only objects and one new ref are added: an index of our own, no
 * hooks, no filters, no monitor, no optional locks, and none of the person's global configuration.
 */

/** What can start a program of the repository's choosing is switched off. `safe.directory`: whose folder it is, the person knows. */
const harmless = [
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'safe.directory=*',
  '-c',
  'core.quotePath=false',
];

class UserRepository {
  readonly #repository: Repository;

  constructor(workspace: string, home: string, env: NodeJS.ProcessEnv) {
    this.#repository = {
      path: workspace,
      env: {
        PATH: absolutePath(env['PATH']),
        HOME: home,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_ATTR_NOSYSTEM: '1',
        GIT_INDEX_FILE: join(home, 'index'),
        GIT_OPTIONAL_LOCKS: '0',
        GIT_NO_REPLACE_OBJECTS: '1',
        GIT_TERMINAL_PROMPT: '0',
        LC_ALL: 'C',
      },
    };
  }

  /** Runs git with input and gives its output. Throws an Error with git's words. */
  async run(
    args: readonly string[],
    given: { readonly input?: string | Buffer; readonly env?: Record<string, string> } = {},
  ): Promise<Buffer> {
    const git = stream(this.#repository, [...harmless, ...args], given.env === undefined ? {} : { env: given.env });
    const chunks: Buffer[] = [];
    git.child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    if (given.input !== undefined) await feed(git, given.input);
    git.child.stdin.end();
    await git.ended;
    return Buffer.concat(chunks);
  }

  /** The same as one line of text; undefined where git says no. */
  async line(...args: readonly string[]): Promise<string | undefined> {
    return await this.run(args).then(
      (output) => output.toString('utf8').replace(/\n$/, ''),
      () => undefined,
    );
  }
}

async function inRepository<Value>(
  workspace: string,
  env: NodeJS.ProcessEnv,
  use: (git: UserRepository) => Promise<Value>,
): Promise<Value> {
  const home = mkdtempSync(join(tmpdir(), 'hma-git-'));
  try {
    return await use(new UserRepository(workspace, home, env));
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Of these paths of the workspace, those whose present content is what HEAD has. None outside of a repository. */
export async function committedContent(
  workspace: string,
  paths: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ReadonlySet<string>> {
  return await inRepository(workspace, env, async (git) => {
    const [prefix, head] = [
      await git.line('rev-parse', '--show-prefix'),
      await git.line('rev-parse', '--verify', '--quiet', 'HEAD^{tree}'),
    ];
    const plain = paths.filter((path) => !path.includes('\n'));
    if (prefix === undefined || head === undefined || plain.length === 0) return new Set<string>();
    const listed = await listTree(git, head);
    try {
      const hashes = (
        await git.run(['hash-object', '--no-filters', '--stdin-paths'], {
          input: plain.map((path) => `${join(workspace, path)}\n`).join(''),
        })
      )
        .toString('latin1')
        .split('\n');
      return new Set(plain.filter((path, index) => listed.get(prefix + path)?.id === hashes[index]));
    } catch {
      return new Set<string>(); // something unreadable among them, such as a broken link: then nothing counts as committed
    }
  });
}

interface TreeEntry {
  readonly mode: string;
  readonly id: string;
}

/** All files of a tree by their path from the repository's root. */
async function listTree(git: UserRepository, tree: string): Promise<ReadonlyMap<string, TreeEntry>> {
  const output = await git.run(['ls-tree', '-r', '-z', '--full-tree', tree]);
  const entries = output
    .toString('utf8')
    .split('\0')
    .filter((line) => line !== '');
  return new Map(
    entries.map((line) => {
      const [facts, path] = [line.slice(0, line.indexOf('\t')), line.slice(line.indexOf('\t') + 1)];
      const [mode, , id] = facts.split(' ') as [string, string, string];
      return [path, { mode, id }];
    }),
  );
}

/** What a branch is made from. */
export interface BranchWish {
  /** Any folder in the repository; the candidate's paths are relative to it. */
  readonly workspace: string;
  readonly branch: string;
  /** The candidate's files, laid out. */
  readonly folder: string;
  readonly entries: readonly SnapshotEntry[];
  readonly author: string;
  readonly message: string;
  readonly dryRun: boolean;
  readonly env: NodeJS.ProcessEnv;
}

/** What the branch's commit changes against HEAD, and the commit itself (null for a dry run). */
export interface BranchMade {
  readonly changes: readonly ApplyChange[];
  readonly commit: string | null;
}

/** Makes a new branch on top of HEAD with the candidate's files in it. HEAD, index and work tree are not touched (invariant 8). */
export async function branchFrom(wish: BranchWish): Promise<Result<BranchMade, Failure>> {
  return await inRepository(wish.workspace, wish.env, async (git) => {
    const checked = await checkBranch(git, wish);
    if (!checked.ok) return checked;
    try {
      return ok(await commit(git, wish, checked.value));
    } catch (error) {
      return refused(
        failure('failed', 'git_failed', {
          what: `the branch could not be made: ${error instanceof Error ? error.message : String(error)}`,
          fix: 'Nothing of the repository was changed; apply to a new folder instead.',
        }),
      );
    }
  });
}

async function checkBranch(git: UserRepository, { workspace, branch }: BranchWish): Promise<Result<string, Failure>> {
  if ((await git.line('--version')) === undefined)
    return refused(
      failure('failed', 'no_git', { what: 'git could not be started', fix: 'Install git, or apply to a new folder.' }),
    );
  const prefix = await git.line('rev-parse', '--show-prefix');
  if (prefix === undefined || (await git.line('rev-parse', '--is-inside-work-tree')) !== 'true')
    return refused(
      failure('refused', 'no_repository', {
        what: `${workspace} is in no git repository`,
        fix: 'Apply to the workspace or to a new folder, or run git init there first.',
      }),
    );
  if (branch.startsWith('-') || (await git.line('check-ref-format', `refs/heads/${branch}`)) === undefined)
    return refused(
      failure('usage', 'bad_branch', {
        what: `${JSON.stringify(branch)} can't be a branch's name`,
        fix: 'Use letters, digits, - and /, such as hma/e7.',
      }),
    );
  if ((await git.line('rev-parse', '--verify', '--quiet', `refs/heads/${branch}`)) !== undefined)
    return refused(
      failure('refused', 'branch_exists', {
        what: `the branch ${branch} is there already`,
        fix: 'Choose another name; an existing branch is never changed.',
      }),
    );
  return ok(prefix);
}

const modes: Readonly<Record<SnapshotEntry['kind'], string>> = { file: '100644', executable: '100755', link: '120000' };

async function commit(git: UserRepository, wish: BranchWish, prefix: string): Promise<BranchMade> {
  const head = await git.line('rev-parse', '--verify', '--quiet', 'HEAD^{commit}');
  const before = head === undefined ? new Map<string, TreeEntry>() : await listTree(git, head);
  const ids = await storeObjects(git, wish);
  const changes = wish.entries.flatMap(({ path, kind }): ApplyChange[] => {
    const was = before.get(prefix + path);
    if (was?.id === ids.get(path) && was?.mode === modes[kind]) return [];
    return [{ path, change: was ? 'changed' : 'added', lost: false }];
  });
  if (wish.dryRun) return { changes, commit: null };
  if (head !== undefined) await git.run(['read-tree', head]);
  const info = wish.entries.map(({ path, kind }) => `${modes[kind]} ${ids.get(path)}\t${prefix}${path}\0`).join('');
  await git.run(['update-index', '-z', '--index-info'], { input: info });
  const tree = (await git.run(['write-tree'])).toString().trim();
  const who = {
    GIT_AUTHOR_NAME: `${oneName(wish.author)} (HMA)`,
    GIT_AUTHOR_EMAIL: 'hma@localhost',
    GIT_COMMITTER_NAME: 'HMA',
    GIT_COMMITTER_EMAIL: 'hma@localhost',
  };
  const made = (
    await git.run(['commit-tree', ...(head === undefined ? [] : ['-p', head]), '-F', '-', tree], {
      input: wish.message,
      env: who,
    })
  )
    .toString()
    .trim();
  // the empty old value: only if there is still none of that name
  await git.run(['update-ref', '-m', 'hma apply', `refs/heads/${wish.branch}`, made, '']);
  return { changes, commit: made };
}

const oneName = (text: string): string => text.replace(/[<>\n\0]/g, ' ').trim() || 'agent';

/** Hashes the candidate's files as git objects, as bytes; written into the repository unless it is a dry run. */
async function storeObjects(
  git: UserRepository,
  { folder, entries, dryRun }: BranchWish,
): Promise<ReadonlyMap<string, string>> {
  const write = dryRun ? [] : ['-w'];
  const plain = entries.filter(({ path, kind }) => kind !== 'link' && !path.includes('\n'));
  const others = entries.filter((entry) => !plain.includes(entry));
  const input = plain.map(({ path }) => `${join(folder, path)}\n`).join('');
  const hashes =
    plain.length === 0
      ? []
      : (await git.run(['hash-object', ...write, '--no-filters', '--stdin-paths'], { input }))
          .toString('latin1')
          .split('\n');
  const ids = new Map(plain.map(({ path }, index) => [path, hashes[index] ?? '']));
  for (const { path, kind } of others) {
    if (kind !== 'link')
      throw new Error(`${JSON.stringify(path)} has a line end in its name, which is not brought into a branch`);
    const target = readlinkSync(join(folder, path), { encoding: 'buffer' });
    ids.set(
      path,
      (await git.run(['hash-object', ...write, '--no-filters', '--stdin'], { input: target })).toString().trim(),
    );
  }
  return ids;
}
