import type { Dirent } from 'node:fs';
import { joinBytes, pathBytes, pathText } from './bytePaths.ts';
import { Refusal } from './refusals.ts';
import { feed, stream, type Repository, type Streaming } from './repository.ts';

/** How long git may be silent. */
const ANSWER_MILLISECONDS = 30_000;
const FIELDS = 4;

/**
 * Asks git which names the workspace's .gitignore files ignore, without touching the user's repository: one `git check-ignore` with our
 * own empty repository as GIT_DIR, so neither the user's index, configuration nor `info/exclude` is looked at.
 */
export class GitIgnore {
  readonly #git: Streaming;
  /** Folders whose .gitignore is no regular file: git would wait for ever at a FIFO. They and all below are taken as not ignored. */
  readonly #strange: string[] = [];
  #answer: Buffer[] = [];
  #waiting: { fields: number; readonly settle: (error?: Error) => void; readonly deadline: NodeJS.Timeout } | undefined;

  constructor(repository: Repository, root: string) {
    this.#git = stream(repository, ['check-ignore', '--no-index', '--stdin', '-z', '--verbose', '--non-matching'], {
      cwd: root,
      env: { GIT_WORK_TREE: root },
    });
    this.#git.child.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#git.ended.then(
      () => this.#waiting?.settle(new Error('git check-ignore ended early')),
      (error: Error) => this.#waiting?.settle(error),
    );
  }

  /** The ignored ones among a folder's names, as paths from the root. Throws `Refusal` (failed) when git doesn't answer. */
  async among(folder: string, names: readonly Dirent<Buffer>[]): Promise<ReadonlySet<string>> {
    if (names.some((entry) => entry.name.equals(GITIGNORE) && !entry.isFile())) this.#strange.push(folder);
    if (this.#strange.some((path) => path === '' || folder === path || folder.startsWith(`${path}/`))) return NONE;
    const base = pathBytes(folder);
    const asked = names.filter(({ name }) => !name.equals(DOT_GIT)).map(({ name }) => joinBytes(base, name));
    if (asked.length === 0) return NONE;
    const answered = this.#next(asked.length * FIELDS);
    // './' in front, because a name that begins with ':' would be pathspec magic
    await feed(this.#git, Buffer.concat(asked.flatMap((path) => [HERE, path, NUL])));
    await answered;
    return this.#ignored();
  }

  /** Ends git and waits for it. */
  async close(): Promise<void> {
    this.#git.child.stdin.end();
    const deadline = setTimeout(() => this.#git.child.kill('SIGKILL'), 2000);
    await this.#git.ended.catch(() => undefined);
    clearTimeout(deadline);
  }

  #next(fields: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (cause: unknown): void =>
        reject(
          new Refusal(
            {
              reason: 'failed',
              detail: 'git check-ignore did not answer, so it is unknown which files are ignored. Try again.',
            },
            cause,
          ),
        );
      const deadline = setTimeout(() => this.#git.child.kill('SIGKILL'), ANSWER_MILLISECONDS);
      const settle = (error?: Error): void => {
        clearTimeout(deadline);
        this.#waiting = undefined;
        if (error) fail(error);
        else resolve();
      };
      this.#waiting = { fields, settle, deadline };
      if (this.#git.child.exitCode !== null || this.#git.child.signalCode !== null)
        settle(new Error('git check-ignore has ended'));
    });
  }

  /** git flushes after each name, so chunks are small and many: each is looked at once. */
  #receive(chunk: Buffer): void {
    this.#answer.push(chunk);
    if (this.#waiting === undefined) return;
    this.#waiting.deadline.refresh();
    for (let at = chunk.indexOf(0); at >= 0; at = chunk.indexOf(0, at + 1)) this.#waiting.fields--;
    if (this.#waiting.fields <= 0) this.#waiting.settle();
  }

  /** Reads (source, line, pattern, path) four times over; a pattern with `!` un-ignores. */
  #ignored(): ReadonlySet<string> {
    const answer = Buffer.concat(this.#answer.splice(0));
    const fields: Buffer[] = [];
    let start = 0;
    for (let at = answer.indexOf(0); at >= 0; at = answer.indexOf(0, start)) {
      fields.push(answer.subarray(start, at));
      start = at + 1;
    }
    const ignored = new Set<string>();
    for (let at = 0; at + FIELDS <= fields.length; at += FIELDS) {
      const [pattern, path] = [fields[at + 2], fields[at + 3]];
      if (pattern && path && pattern.length > 0 && pattern[0] !== 0x21)
        ignored.add(pathText(path.subarray(HERE.length)));
    }
    return ignored;
  }
}

const NONE: ReadonlySet<string> = new Set();
const HERE = Buffer.from('./');
const NUL = Buffer.of(0);
const DOT_GIT = Buffer.from('.git');
const GITIGNORE = Buffer.from('.gitignore');
