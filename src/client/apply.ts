import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { standing } from '../archive/order.ts';
import { authorName } from '../archive/origin.ts';
import type { Candidate } from '../archive/model.ts';
import { ok, refused, type Result } from '../base/result.ts';
import { runFiles } from '../ledger/places.ts';
import { finalCandidate } from '../review/selection.ts';
import type { RunState } from '../run/model.ts';
import type { SnapshotEntry, SnapshotsReader } from '../snapshots/port.ts';
import { openSnapshotsReadOnly } from '../snapshots/store.ts';
import { branchFrom, committedContent } from './applyGit.ts';
import { lookAtFile } from './applyLook.ts';
import { failure, type Failure } from './failure.ts';
import type { RunView } from './readRun.ts';

/** Where a candidate is to go. */
export type ApplyTarget =
  | { readonly to: 'workspace' }
  | { readonly to: 'folder'; readonly folder: string }
  | { readonly to: 'branch'; readonly branch: string };

/** What happens to one file. `lost`: its present content stands in no commit and no candidate. */
export interface ApplyChange {
  readonly path: string;
  readonly change: 'added' | 'changed';
  readonly lost: boolean;
}

/** What was done, or with `dryRun` would be. */
export interface Applied {
  readonly candidate: string;
  readonly target: ApplyTarget['to'];
  /** The folder written to, or the branch made. */
  readonly where: string;
  readonly changes: readonly ApplyChange[];
  /** Files that were as the candidate has them already. */
  readonly unchanged: number;
  /** Folder that overwritten content was copied to first, where it stands nowhere else. */
  readonly kept: string | null;
  /** The branch's commit. */
  readonly commit: string | null;
}

/** How a candidate is applied. */
export interface ApplyWish {
  /** A candidate's id; null = the final one. */
  readonly candidate: string | null;
  readonly target: ApplyTarget;
  readonly dryRun: boolean;
  /** Overwrite content that stands nowhere else. */
  readonly overwrite: boolean;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Puts a candidate's files into the workspace, a new folder or a new git branch. Other files are never deleted; a symbolic link in the
 * workspace is never followed; a branch is made without touching HEAD, the index or the work tree (invariant 8).
 */
export async function applyCandidate(view: RunView, wish: ApplyWish): Promise<Result<Applied, Failure>> {
  const candidate = chosen(view.state, wish.candidate);
  if (!candidate.ok) return candidate;
  const { snapshots } = runFiles(view.place.folder);
  const store = openSnapshotsReadOnly({ dir: snapshots });
  if (!(await store.has(candidate.value.snapshot))) return refused(filesMissing(candidate.value.id, snapshots));
  const task = {
    view,
    wish,
    store,
    candidate: candidate.value,
    entries: await store.entries(candidate.value.snapshot),
  };
  switch (wish.target.to) {
    case 'workspace':
      return await toWorkspace(task);
    case 'folder':
      return await toFolder(task, wish.target.folder);
    case 'branch':
      return await toBranch(task, wish.target.branch);
  }
}

/** A candidate's files are not where the run keeps them. */
export const filesMissing = (id: string, snapshots: string): Failure =>
  failure('failed', 'no_snapshot', {
    what: `the files of candidate ${id} are missing in ${snapshots}`,
    fix: 'Put the run folder back from a copy, such as one that hma export made.',
  });

/** What applying works with. */
interface ApplyTask {
  readonly view: RunView;
  readonly wish: ApplyWish;
  readonly store: SnapshotsReader;
  readonly candidate: Candidate;
  readonly entries: readonly SnapshotEntry[];
}

function chosen(state: RunState, wanted: string | null): Result<Candidate, Failure> {
  const id = wanted ?? finalCandidate({ ...state, ...state.terms })?.candidate;
  const found = state.archive.find((one) => one.id === id);
  if (found) return ok(found);
  return refused(
    id === undefined
      ? failure('noCandidate', 'no_candidate', {
          what: `run ${state.run} has no candidate yet`,
          fix: 'Wait for the first accepted experiment.',
        })
      : failure('refused', 'unknown_candidate', {
          what: `run ${state.run} has no candidate ${id}`,
          fix: 'hma candidates lists them.',
        }),
  );
}

const done = (task: ApplyTask, where: string, rest: Partial<Applied> = {}): Applied => ({
  candidate: task.candidate.id,
  target: task.wish.target.to,
  where,
  changes: [],
  unchanged: 0,
  kept: null,
  commit: null,
  ...rest,
});

async function toFolder(task: ApplyTask, folder: string): Promise<Result<Applied, Failure>> {
  const path = resolve(folder);
  const changes = task.entries.map((entry): ApplyChange => ({ path: entry.path, change: 'added', lost: false }));
  if (!task.wish.dryRun) {
    const restored = await task.store.restore(task.candidate.snapshot, path);
    if (!restored.ok)
      return refused(
        failure('failed', restored.refusal.reason, {
          what: restored.refusal.detail,
          fix: `Then: hma apply ${task.candidate.id} --to folder DIR`,
        }),
      );
  } else if (existsSync(path) && !lstatSync(path).isDirectory())
    return refused(
      failure('failed', 'not_empty', { what: `${path} is no folder`, fix: 'Name a new or empty folder.' }),
    );
  return ok(done(task, path, { changes }));
}

async function toBranch(task: ApplyTask, branch: string): Promise<Result<Applied, Failure>> {
  const { state } = task.view;
  const agent = authorName(task.candidate, state.terms.agents);
  return await withStaged(task, async (folder) => {
    const made = await branchFrom({
      workspace: state.workspace,
      branch,
      folder,
      entries: task.entries,
      author: agent,
      message: messageOf(task, agent),
      dryRun: task.wish.dryRun,
      env: task.wish.env,
    });
    if (!made.ok) return made;
    const { changes, commit } = made.value;
    return ok(done(task, branch, { changes, unchanged: task.entries.length - changes.length, commit }));
  });
}

function messageOf({ candidate, view: { state } }: ApplyTask, agent: string): string {
  const score =
    state.terms.feedback === 'blind'
      ? candidate.reported === null
        ? ''
        : `, reported ${candidate.reported}`
      : `, ${state.terms.metric.name} ${candidate.score}`;
  const note = candidate.note === null ? '' : `\n${candidate.note.trim()}\n`;
  return `${state.terms.name}: candidate ${candidate.id}${score}\n${note}\nBy ${agent} in option ${candidate.option} of HMA run ${candidate.origin?.run ?? state.run}.\n`;
}

/** Lays the candidate out in a folder of ours first: every byte is checked against its hash before anything of the person's is touched. */
async function withStaged<Value>(
  task: ApplyTask,
  use: (folder: string) => Promise<Result<Value, Failure>>,
): Promise<Result<Value, Failure>> {
  const base = mkdtempSync(join(tmpdir(), 'hma-apply-'));
  try {
    const folder = join(base, 'candidate');
    const restored = await task.store.restore(task.candidate.snapshot, folder);
    if (!restored.ok)
      return refused(
        failure('failed', restored.refusal.reason, {
          what: restored.refusal.detail,
          fix: `Make room in ${tmpdir()}, or set TMPDIR.`,
        }),
      );
    return await use(folder);
  } finally {
    rmSync(base, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function toWorkspace(task: ApplyTask): Promise<Result<Applied, Failure>> {
  const { workspace, phase } = task.view.state;
  if (task.view.live && phase !== 'finished' && !task.wish.dryRun)
    return refused(
      failure('refused', 'running', {
        what: 'the run goes on, and its agents work in this folder',
        fix: 'Apply to a new folder or a branch, or wait until the run is over.',
      }),
    );
  const planned = await planWorkspace(task);
  if (!planned.ok) return planned;
  const { changes } = planned.value;
  const plan = { changes, unchanged: task.entries.length - changes.length };
  if (task.wish.dryRun) return ok(done(task, workspace, plan));
  const lost = changes.filter((one) => one.lost);
  if (lost.length > 0 && !task.wish.overwrite)
    return refused(
      failure('refused', 'unsaved_work', {
        what: `${sayPaths(lost.map(({ path }) => path))} would be overwritten, and what stands there now is in no commit and no candidate`,
        fix: 'Commit it first, or add --overwrite: a copy is then kept in the run folder.',
      }),
    );
  const kept = lost.length === 0 ? null : keep(task, lost);
  return await withStaged(task, async (folder) => {
    const byPath = new Map(task.entries.map((entry) => [entry.path, entry]));
    for (const { path } of changes) put(join(folder, path), join(workspace, path), byPath.get(path)?.kind ?? 'file');
    return ok(done(task, workspace, { ...plan, kept }));
  });
}

const sayPaths = (paths: readonly string[]): string =>
  paths.length <= 3 ? paths.join(', ') : `${paths.slice(0, 3).join(', ')} and ${paths.length - 3} more`;

/** Copies what would be lost into the run folder, under the time of the overwriting. */
function keep(task: ApplyTask, lost: readonly ApplyChange[]): string {
  const folder = join(task.view.place.folder, 'overwritten', new Date().toISOString().replaceAll(':', ''));
  for (const { path } of lost)
    put(
      join(task.view.state.workspace, path),
      join(folder, path),
      lstatSync(join(task.view.state.workspace, path)).isSymbolicLink() ? 'link' : 'file',
    );
  return folder;
}

/** Puts one file in place whole: beside it first, then renamed over. */
function put(source: string, target: string, kind: SnapshotEntry['kind']): void {
  mkdirSync(dirname(target), { recursive: true });
  const fresh = `${target}.hma-${process.pid}`;
  rmSync(fresh, { force: true });
  if (kind === 'link') symlinkSync(readlinkSync(source), fresh);
  else {
    const before = lstatSync(target, { throwIfNoEntry: false });
    copyFileSync(source, fresh);
    // the person's own bits stay; what the candidate can be run by is added
    if (before?.isFile()) chmodSync(fresh, (before.mode & 0o777 & ~0o111) | (kind === 'executable' ? 0o111 : 0));
  }
  renameSync(fresh, target);
}

type Plan = { readonly changes: readonly ApplyChange[] };

/** What applying to the workspace would change. Refuses where a folder or a link stands in the way. */
async function planWorkspace(task: ApplyTask): Promise<Result<Plan, Failure>> {
  const { workspace } = task.view.state;
  const differing: { entry: SnapshotEntry; here: 'absent' | 'other'; sha256?: string }[] = [];
  for (const entry of task.entries) {
    const blocked = inTheWay(workspace, entry.path);
    if (blocked !== undefined) return refused(blocked);
    const here = await lookAtFile(join(workspace, entry.path));
    if (here === undefined) differing.push({ entry, here: 'absent' });
    else if (here.sha256 !== entry.sha256 || here.kind !== entry.kind)
      differing.push({ entry, here: 'other', sha256: here.sha256 });
  }
  const overwritten = differing.filter(({ here }) => here === 'other').map(({ entry }) => entry.path);
  const known = await archivedContents(task);
  const strangers = overwritten.filter(
    (path) => !known.has(`${path}\0${differing.find(({ entry }) => entry.path === path)?.sha256}`),
  );
  const committed =
    strangers.length === 0 ? new Set<string>() : await committedContent(workspace, strangers, task.wish.env);
  const lost = new Set(strangers.filter((path) => !committed.has(path)));
  const changes = differing.map(({ entry, here }): ApplyChange => ({
    path: entry.path,
    change: here === 'absent' ? 'added' : 'changed',
    lost: lost.has(entry.path),
  }));
  return ok({ changes });
}

/** A link or file where a folder is needed, or a folder where the file goes. */
function inTheWay(workspace: string, path: string): Failure | undefined {
  const parts = path.split('/');
  for (let depth = 1; depth <= parts.length; depth++) {
    const here = parts.slice(0, depth).join('/');
    const stats = lstatSync(join(workspace, here), { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    const last = depth === parts.length;
    if (last ? !stats.isDirectory() : stats.isDirectory()) continue;
    const what = stats.isSymbolicLink() ? 'a symbolic link' : stats.isDirectory() ? 'a folder' : 'a file';
    return failure('refused', 'in_the_way', {
      what: `${here} in the workspace is ${what}, where the candidate has ${last ? 'a file' : 'a folder'}`,
      fix: 'Move it away, or apply to a new folder or a branch.',
    });
  }
  return undefined;
}

/** How many of the latest candidates are asked whether they have a content. */
const mostAsked = 20;

/** `path NUL hash` of what the latest candidates and the files at the start hold: content that overwriting doesn't lose. */
async function archivedContents({ view: { state }, store }: ApplyTask): Promise<ReadonlySet<string>> {
  const ids = [
    standing(state.archive)?.snapshot,
    state.initial,
    ...state.archive.slice(-mostAsked).map(({ snapshot }) => snapshot),
  ];
  const known = new Set<string>();
  for (const id of new Set(ids.filter((one) => typeof one === 'string')))
    for (const { path, sha256 } of await store.entries(id).catch(() => [])) known.add(`${path}\0${sha256}`);
  return known;
}
