import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { quotePath, treePath } from './bytePaths.ts';
import { syncFolder } from './durable.ts';
import { feed, stream, sweepRepository, type Repository, type Streaming } from './repository.ts';

/** One file of a commit: `blob` must be in the repository or have been sent before. */
export interface TreeFile {
  readonly mode: '100644' | '100755' | '120000';
  readonly blob: string;
  readonly path: string;
}

/** git's id of an object of this type and content. */
export const objectId = (type: string, content: Buffer): string =>
  createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex');

/** git's id of a blob with this content. */
export const blobId = (content: Buffer): string => objectId('blob', content);

const NOBODY = 'HMA <hma@localhost> 0 +0000';

/**
 * One `git fast-import` session: blobs, then one commit. It writes a single pack, syncs it, and no ref: the branch that the protocol
 * asks for is deleted again in the same stream. Without the closing `done`, as when we are killed, git publishes nothing.
 */
export class FastImport {
  readonly #repository: Repository;
  readonly #git: Streaming;
  readonly #sent = new Set<string>();
  #output = '';

  constructor(repository: Repository) {
    this.#repository = repository;
    this.#git = stream(repository, ['fast-import', '--quiet', '--done', '--force', '--depth=10']);
    this.#git.child.stdout.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
  }

  /** Stores a blob, whose id the caller has computed with `blobId`; equal ones go once. */
  async blob(id: string, content: Buffer): Promise<void> {
    if (this.#sent.has(id)) return;
    this.#sent.add(id);
    await feed(this.#git, `blob\ndata ${content.length}\n`);
    if (content.length > 0) await feed(this.#git, content);
    await feed(this.#git, '\n');
  }

  /**
   * Commits exactly these files and waits until git has synced everything; then syncs the folder of the packs.
   * Equal files give an equal id: the commit has no parent and no time. Throws an Error with git's words.
   */
  async commit(message: string, files: readonly TreeFile[]): Promise<string> {
    const text = Buffer.from(message);
    await feed(this.#git, `commit refs/import\nmark :1\ncommitter ${NOBODY}\ndata ${text.length}\n${message}\n`);
    for (let at = 0; at < files.length; at += 1000) {
      const lines = files.slice(at, at + 1000).map(({ mode, blob, path }) => `M ${mode} ${blob} ${quotePath(path)}\n`);
      await feed(this.#git, lines.join(''));
    }
    await feed(this.#git, `\nget-mark :1\nreset refs/import\nfrom ${'0'.repeat(40)}\n\ndone\n`);
    this.#git.child.stdin.end();
    await this.#git.ended;
    const commit = this.#output.trim();
    if (!/^[0-9a-f]{40}$/.test(commit)) throw new Error(`git fast-import gave no commit: ${JSON.stringify(commit)}`);
    syncFolder(join(this.#repository.path, 'objects', 'pack'));
    return commit;
  }

  /** Ends the session without storing anything, and waits until it is gone. Harmless after `commit`. */
  async abort(): Promise<void> {
    if (this.#git.child.exitCode === null && this.#git.child.signalCode === null) this.#git.child.kill('SIGKILL');
    await this.#git.ended.catch(() => undefined);
    sweepRepository(this.#repository);
  }
}

/** Where a captured file lies in the commit's tree. */
export const contentPath = (path: string): string => `files/${treePath(path)}`;
