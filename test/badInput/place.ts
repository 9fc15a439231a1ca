import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';

import type { Desk } from '../../src/cli/desk.ts';
import { runCli } from '../../src/cli/program.ts';
import { runFiles, runFolderOf } from '../../src/ledger/places.ts';
import { runSession } from '../../src/session/main.ts';
import { history, wholeRun, type At } from '../cli/history.ts';
import { createLedger } from '../cli/ledgerOnDisk.ts';

/** The run that places have, and an older one that was interrupted. */
export const [theRun, olderRun] = ['20261130-181123-ab12', '20261130-171123-ab00'];

/** Noon of the day on which everything here happens. */
export const wall = Date.UTC(2026, 10, 30, 12);

/** What a command said, and how it ended. */
export interface Said {
  readonly text: string;
  /** What of it went to stderr. */
  readonly err: string;
  readonly exit: number;
}

/** How a command is called. */
export interface Call {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

const git = (process.env['PATH'] ?? '')
  .split(':')
  .map((folder) => join(folder, 'git'))
  .find((file) => existsSync(file));

/** A temporary machine of one case: a workspace, a state folder, a HOME, git alone on PATH; removed afterwards. */
export class Place {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'hma-bad-')));
  readonly workspace = join(this.root, 'houses');
  readonly home = join(this.root, 'state');
  readonly user = join(this.root, 'ada');

  constructor() {
    for (const folder of [this.workspace, this.home, this.user, join(this.user, 'bin')]) mkdirSync(folder);
    if (git !== undefined) symlinkSync(git, join(this.user, 'bin/git'));
  }

  /** Writes a file of the workspace, or an absolute one; answers its path. */
  write(path: string, content: string | Uint8Array): string {
    const file = path.startsWith('/') ? path : join(this.workspace, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  }

  /** Puts a run on disk: finished, unless other facts are given. Answers its folder. */
  layRun(run: string = theRun, facts: readonly At[] = wholeRun()): string {
    const folder = runFolderOf(this.home, this.workspace, run);
    mkdirSync(folder, { recursive: true });
    const record = { run, workspace: this.workspace, home: this.home, name: 'houses', openedWall: 0 };
    writeFileSync(runFiles(folder).run, JSON.stringify(record));
    if (facts.length > 0) createLedger(folder, history(...facts));
    return folder;
  }

  /** The folder of the run. */
  layout(): string {
    return runFolderOf(this.home, this.workspace, theRun);
  }

  /** A person's command in this process, in a terminal that is none. */
  async hma(words: readonly string[], { cwd = this.workspace, env = {}, input = '' }: Call = {}): Promise<Said> {
    const [stdout, stderr, stdin] = [new PassThrough(), new PassThrough(), new PassThrough()];
    let [text, err] = ['', ''];
    for (const stream of [stdout, stderr]) stream.on('data', (bytes: Buffer) => (text += bytes.toString()));
    stderr.on('data', (bytes: Buffer) => (err += bytes.toString()));
    stdin.end(input);
    const clock = { now: () => ({ wall, mono: 0, boot: '' }) };
    const all = { HMA_HOME: this.home, HOME: this.user, PATH: join(this.user, 'bin'), USER: 'ada', ...env };
    const exit = await runCli({ stdout, stderr, stdin, cwd, env: all, clock } as unknown as Desk, words);
    return { text: this.plain(text), err: this.plain(err), exit };
  }

  /** An agent's command in this process. */
  async session(words: readonly string[], env: Readonly<Record<string, string | undefined>> = {}): Promise<Said> {
    let [text, err] = ['', ''];
    const keep = async (piece: string | Uint8Array): Promise<boolean> => {
      text += typeof piece === 'string' ? piece : Buffer.from(piece).toString();
      return true;
    };
    const output = { print: keep, remark: async (piece: string) => void ((err += piece), await keep(piece)) };
    const exit = await runSession({ words, env, output, patienceMs: 0 });
    return { text: this.plain(text), err: this.plain(err), exit };
  }

  /** A text with the folders of this place under names that stay the same. */
  plain(text: string): string {
    return text
      .replaceAll(this.root, '/work')
      .replace(/(houses-)[0-9a-f]{10}\b/g, '$10123456789')
      .replace(/[ \t]+$/gm, '')
      .trim();
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
