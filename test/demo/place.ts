import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { layOut } from '../../media/sample/digits/layOut.mjs';
import { readJson } from '../../src/base/files.ts';
import { identify, isAlive } from '../../src/machines/processes.ts';
import { root as repository } from '../bootstrap/environment.mjs';

/** The folders of one demonstration, all below `root`. */
export interface DemoPlace {
  readonly root: string;
  readonly workspace: string;
  /** Labels that agents must not read, and the grader. */
  readonly hidden: string;
  /** HMA_HOME of this demonstration. */
  readonly home: string;
  /** Folder with an `hma` that belongs to this demonstration, to be put on PATH. */
  readonly bin: string;
}

/** How the sample is laid out. */
export interface DemoWish {
  readonly seed: number;
  readonly experiments: number;
  readonly cap: number;
  /** One agent alone, the baseline: no cap, no review. */
  readonly alone?: 'A' | 'B';
}

/** The `hma` bundle that everything here runs. */
export const hmaBundle = join(repository, 'dist', 'cli.js');

const note = (folder: string): string => join(folder, 'demo.json');

/**
 * A new folder below the system's temporary one. Earlier demonstrations are removed: they hold a copy of Node each. Those
 * that were to be kept, still run or are somebody else's stay.
 */
export function newDemoFolder(keep: boolean): string {
  const parent = realpathSync(tmpdir());
  for (const name of readdirSync(parent).filter((each) => each.startsWith('hma-demo-'))) {
    const folder = join(parent, name);
    if (statSync(folder, { throwIfNoEntry: false })?.uid === process.getuid?.() && isLeftOver(folder))
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
  const folder = mkdtempSync(join(parent, 'hma-demo-'));
  signDemoFolder(folder, keep);
  return folder;
}

/** Notes whose folder this is, so that a later demonstration knows whether it may remove it. */
export const signDemoFolder = (folder: string, keep: boolean): void =>
  writeFileSync(note(folder), JSON.stringify({ ...identify(process.pid), keep }));

function isLeftOver(folder: string): boolean {
  if (!existsSync(note(folder))) return false;
  const read = readJson(note(folder));
  if (!read.ok) return false;
  const { pid, start, keep } = read.value as { pid: number; start: string; keep: boolean };
  return !keep && !isAlive({ pid, start });
}

/** Lays the sample out in an empty or absent folder. Throws in words when there is something in it already. */
export function layOutDemo(folder: string, wish: DemoWish): DemoPlace {
  mkdirSync(folder, { recursive: true });
  const root = realpathSync(resolve(folder));
  const [workspace, hidden, home, bin] = [
    join(root, 'workspace'),
    join(root, 'hidden'),
    join(root, 'state'),
    join(root, 'bin'),
  ];
  const { contract } = layOut(workspace, hidden, {
    seed: wish.seed,
    experiments: wish.experiments,
    cap: wish.cap,
    agents: join(root, 'agents'),
  });
  if (wish.alone !== undefined) layOutAlone({ contract, private: join(hidden, 'private.yaml') }, wish.alone);
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'hma'), launcher(home));
  chmodSync(join(bin, 'hma'), 0o755);
  return { root, workspace, hidden, home, bin };
}

/** The same task for one agent: what alternation needs is taken out of the two files, everything else stays. */
function layOutAlone(files: { readonly contract: string; readonly private: string }, alone: 'A' | 'B'): void {
  replaceIn(
    files.contract,
    /^policy: \{ mode: alternate, first: [AB] \}$/m,
    `policy: { mode: single, first: ${alone} }`,
  );
  replaceIn(files.contract, /, review: \w+/, '');
  replaceIn(files.private, /^policy: .*$/m, '');
  appendFileSync(files.contract, 'failures: { wait: 0s }\n'); // one that ended its turn is asked again at once
}

function replaceIn(file: string, what: RegExp, by: string): void {
  const text = readFileSync(file, 'utf8');
  if (!what.test(text))
    throw new Error(`${file} holds no ${String(what)}; the sample has changed, and test/demo/place.ts must follow`);
  writeFileSync(file, text.replace(what, by));
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A program that is `hma` for this demonstration: its state folder, this repository's bundle, the Node that runs this. */
const launcher = (home: string): string => `#!/bin/sh
# hma for this demonstration
export HMA_HOME=${quoted(home)}
exec ${quoted(process.execPath)} ${quoted(hmaBundle)} "$@"
`;
