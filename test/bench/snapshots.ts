import { execFileSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openSnapshots, type Snapshots } from '../../src/snapshots/store.ts';
import { count, megabytes, median, ms, ratioRow, seconds, type Form, type Row } from './row.ts';

/** The tree: small files like source, and large ones like weights, which don't compress. */
const small = { files: 20_000, folders: 200, bytes: 1200 };
const largeBytes = 10e6;
const wantedLarge: Readonly<Record<Form, number>> = { short: 100, long: 200 };
/** The tree lies in the workspace, in our store, in git's, and in a copy; and some air. */
const copies = 5;

const snapshots = 10;
/** Every so many snapshots the tree is also copied. */
const copyEvery = 3;
/** The part of the small files, and of the large ones, that changes between two snapshots. */
const part = 0.02;

/** A place with a workspace, our store and git's, each of which has seen everything up to now. */
interface Place {
  readonly base: string;
  readonly root: string;
  readonly large: number;
  readonly store: Snapshots;
  /** Snapshots taken. */
  taken: number;
}

/** What one snapshot cost each, ms. */
interface Round {
  readonly ours: number;
  readonly git: number;
  /** Not in every round: a copy of it all takes longer than the rest. */
  readonly copy: number | null;
  readonly changed: number;
  readonly grown: { readonly ours: number; readonly git: number };
}

/**
 * Ten snapshots of a tree beside `git add -A && git commit` (as durable: core.fsync=all) and `cp -a` of the same, by turns; then the tree
 * as it is once more, beside `git status`.
 */
export async function snapshotRows(form: Form): Promise<Row[]> {
  const place = await layOut(form);
  const realNow = Date.now;
  try {
    const rounds: Round[] = [];
    for (let at = 0; at < snapshots; at++) {
      // the clock that our cache of readings looks at runs on by a minute a round, as if the files had been written that long ago
      const ahead = (at + 1) * 60_000;
      Date.now = () => realNow() + ahead;
      const changed = at === 0 ? 0 : change(place, at);
      rounds.push(await oneRound(place, changed));
    }
    Date.now = () => realNow() + (snapshots + 1) * 60_000;
    await capture(place);
    return [...rowsOf(place, rounds), await unchangedRow(place)];
  } finally {
    Date.now = realNow;
    await place.store.close();
    rmSync(place.base, { recursive: true, force: true });
  }
}

function rowsOf(place: Place, [first, ...later]: readonly Round[]): Row[] {
  if (!first) return [];
  const reduced = place.large < wantedLarge.long ? ` (reduced from ${megabytes(wantedLarge.long * largeBytes)})` : '';
  const tree = `${count(small.files)} small files and ${megabytes(place.large * largeBytes)} of large ones${reduced}`;
  const of = (which: (round: Round) => number | null): number => median(later.flatMap((round) => which(round) ?? []));
  const sum = (which: (round: Round) => number): number => later.reduce((all, round) => all + which(round), 0);
  const changed = sum((round) => round.changed);
  return [
    ratioRow({
      what: `snapshots 2 to ${snapshots} of ${tree}, ${100 * part} % of the files changed each time: bytes`,
      ours: sum((round) => round.grown.ours),
      reference: changed,
      called: `git: ${megabytes(sum((round) => round.grown.git))}; changed files`,
      unit: megabytes,
      most: 1.1,
    }),
    ...[
      { called: '`git add -A && git commit`', which: (round: Round) => round.git },
      { called: '`cp -a`', which: (round: Round) => round.copy },
    ].map(({ called, which }) =>
      ratioRow({
        what: `the same: time of one, beside ${called}`,
        ours: of((round) => round.ours),
        reference: of(which),
        called,
        unit: ms,
        most: null,
      }),
    ),
    ratioRow({
      what: 'the first snapshot: time',
      ours: first.ours,
      reference: first.git,
      called: `\`cp -a\`: ${seconds(first.copy ?? Number.NaN)}; \`git add -A && git commit\``,
      unit: seconds,
      most: null,
    }),
  ];
}

async function unchangedRow(place: Place): Promise<Row> {
  const pairs: (readonly [ours: number, git: number])[] = [];
  for (let at = 0; at < 7; at++)
    pairs.push([await timed(() => capture(place)), await timed(() => git(place, 'status'))]);
  return ratioRow({
    what: 'a snapshot of the unchanged tree',
    ours: median(pairs.map(([ours]) => ours)),
    reference: median(pairs.map(([, status]) => status)),
    called: '`git status`',
    unit: ms,
    most: 2,
  });
}

async function oneRound(place: Place, changed: number): Promise<Round> {
  const copy = join(place.base, 'copy');
  const stores = [join(place.base, 'ours'), join(place.base, 'git')] as const;
  const [oursBefore, gitBefore] = stores.map(bytesIn) as [number, number];
  const ours = (): Promise<number> => timed(() => capture(place));
  const theirs = (): Promise<number> =>
    timed(() => {
      git(place, 'add', '-A');
      git(place, 'commit', '-q', '-m', 'x');
    });
  // by turns: whoever reads first warms the other's cache
  const times =
    place.taken % 2 === 0 ? { ours: await ours(), git: await theirs() } : { git: await theirs(), ours: await ours() };
  let copied: number | null = null;
  if (place.taken % copyEvery === 1) {
    copied = await timed(() => void execFileSync('cp', ['-a', place.root, copy]));
    rmSync(copy, { recursive: true });
  }
  const [oursAfter, gitAfter] = stores.map(bytesIn) as [number, number];
  return { ...times, copy: copied, changed, grown: { ours: oursAfter - oursBefore, git: gitAfter - gitBefore } };
}

async function layOut(form: Form): Promise<Place> {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'hma-bench-tree-'));
  const { bavail, bsize } = statfsSync(base);
  const room = Math.floor((bavail * bsize) / copies / largeBytes);
  const place: Place = {
    base,
    root: join(base, 'workspace'),
    large: Math.max(1, Math.min(wantedLarge[form], room)),
    store: await openSnapshots({ dir: join(base, 'ours') }),
    taken: 0,
  };
  mkdirSync(join(place.root, 'large'), { recursive: true });
  mkdirSync(join(base, 'home'));
  for (let at = 0; at < small.folders; at++) mkdirSync(join(place.root, `d${at}`));
  for (let at = 0; at < small.files; at++) writeSmall(place, at);
  for (let at = 0; at < place.large; at++) writeLarge(place, at);
  git(place, 'init', '-q');
  return place;
}

/** Like small source files: half of it unlike any other, half of it the same words again. */
function writeSmall({ root }: Place, at: number): number {
  const unlike = randomFillSync(Buffer.alloc(small.bytes / 4)).toString('hex');
  const text = `${unlike}\n${'import numpy as np\n'.repeat(small.bytes / 2 / 19)}`;
  writeFileSync(join(root, `d${at % small.folders}`, `f${at}.py`), text);
  return text.length;
}

function writeLarge({ root }: Place, at: number): number {
  writeFileSync(join(root, 'large', `weights-${at}.bin`), randomFillSync(Buffer.allocUnsafe(largeBytes)));
  return largeBytes;
}

/** Writes 2 % of the files anew, others each round, and gives the bytes of those files. */
function change(place: Place, round: number): number {
  const some = (all: number): number[] => {
    const each = Math.max(1, Math.round(all * part));
    return Array.from({ length: each }, (_, at) => (round * each + at) % all);
  };
  const written = [
    ...some(small.files).map((at) => writeSmall(place, at)),
    ...some(place.large).map((at) => writeLarge(place, at)),
  ];
  return written.reduce((sum, bytes) => sum + bytes, 0);
}

async function capture(place: Place): Promise<void> {
  const { store, root } = place;
  const taken = await store.capture({ root, include: ['.'], kind: 'candidate', ref: `bench/${++place.taken}` });
  if (!taken.ok) throw new Error(taken.refusal.detail);
}

/** A git of its own beside the workspace: ignores files by no configuration, and syncs as ours does. */
function git({ base, root }: Place, ...args: string[]): void {
  const settings = {
    'core.fsync': 'all',
    'core.fsyncMethod': 'batch',
    'gc.auto': '0',
    'user.name': 'x',
    'user.email': 'x',
  };
  const given = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  execFileSync('git', [...given, ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', HOME: join(base, 'home'), GIT_DIR: join(base, 'git'), GIT_WORK_TREE: root },
    stdio: 'ignore',
  });
}

async function timed(work: () => Promise<void> | void): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

const bytesIn = (folder: string): number =>
  readdirSync(folder, { withFileTypes: true, recursive: true }).reduce(
    (sum, entry) => (entry.isFile() ? sum + statSync(join(entry.parentPath, entry.name)).size : sum),
    0,
  );
