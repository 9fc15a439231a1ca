import { lstatSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import * as vscode from 'vscode';

import { lookAtFile } from '../client/applyLook.ts';
import { sayBytes } from '../base/numbers.ts';
import { standing } from '../archive/order.ts';
import { firstFiles } from '../run/goOn.ts';
import { finalCandidate } from '../review/selection.ts';
import type { SnapshotEntry } from '../snapshots/port.ts';
import type { ArchivedCandidate, ArchiveReader } from './archiveFiles.ts';
import {
  archiveAddress,
  archiveScheme,
  differencesOf,
  isBinary,
  isLarge,
  beginningId,
  startId,
  type FileDifference,
} from './archivePlace.ts';
import { candidatesMeant } from './candidateChoice.ts';
import type { WindowRoom } from './room.ts';

/** One side of a comparison: its name in titles, its files, and where they are shown from. */
interface Side {
  readonly name: string;
  readonly entries: readonly SnapshotEntry[];
  uri(path: string): vscode.Uri;
  read(path: string): Promise<Uint8Array>;
}

/** Looking at candidates: their files, and what differs between two of them or between one and the workspace, in native editors. */
export function registerDiffs(room: WindowRoom, reader: ArchiveReader): vscode.Disposable {
  const desk = { room, reader };
  const command = (id: string, act: (ids: readonly string[]) => Promise<void>): vscode.Disposable =>
    vscode.commands.registerCommand(id, async (...given: readonly unknown[]) => {
      const ids = await candidatesMeant(room, given, { title: 'HMA: Which Candidate?' });
      if (ids.length > 0) await act(ids).catch((error: unknown) => tellFailure(room, error));
    });
  return vscode.Disposable.from(
    command('hma.showFiles', ([id]) => showFiles(desk, id ?? '')),
    command('hma.diffPrevious', ([id]) => diffWith(desk, id ?? '', 'previous')),
    command('hma.diffStanding', ([id]) => diffWith(desk, id ?? '', 'standing')),
    command('hma.diffSelected', ([id]) => diffWith(desk, id ?? '', 'final')),
    command('hma.diffWorkspace', ([id]) => diffWorkspace(desk, id ?? '')),
    command('hma.compare', (ids) => compare(desk, ids)),
  );
}

interface Desk {
  readonly room: WindowRoom;
  readonly reader: ArchiveReader;
}

function tellFailure({ log }: WindowRoom, error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  log.error(text);
  void vscode.window.showErrorMessage(`HMA: the candidate's files can't be shown: ${text}`);
}

async function archived({ room, reader }: Desk, id: string): Promise<ArchivedCandidate> {
  const found = await reader.candidate(room.model.state?.run ?? '', id);
  if (!found) throw new Error(`there is no candidate ${id} in this run`);
  return found;
}

const uriOf = ({ room }: Desk, { run, id }: ArchivedCandidate, path: string): vscode.Uri =>
  vscode.Uri.from({ scheme: archiveScheme, ...archiveAddress({ run, candidate: id, path }, room.folder) });

const sideOf = (desk: Desk, one: ArchivedCandidate): Side => ({
  name: one.id,
  entries: one.entries,
  uri: (path) => uriOf(desk, one, path),
  read: (path) => one.store.read(one.snapshot, path),
});

async function showFiles(desk: Desk, id: string): Promise<void> {
  const one = await archived(desk, id);
  const [only, another] = one.entries;
  if (only && !another)
    return void (await vscode.commands.executeCommand(
      'vscode.open',
      uriOf(desk, one, only.path),
      { preview: true },
      `${only.path} (${id})`,
    ));
  const rows = one.entries.map((entry) => ({
    label: entry.path.slice(entry.path.lastIndexOf('/') + 1),
    description: entry.path.includes('/') ? entry.path.slice(0, entry.path.lastIndexOf('/')) : '',
    detail: `${sayBytes(entry.bytes)}${entry.kind === 'file' ? '' : entry.kind === 'link' ? ', a symbolic link' : ', executable'}`,
    iconPath: entry.kind === 'link' ? new vscode.ThemeIcon('file-symlink-file') : vscode.ThemeIcon.File,
    resourceUri: uriOf(desk, one, entry.path),
    path: entry.path,
  }));
  const chosen = await vscode.window.showQuickPick(rows, {
    title: `HMA: Files of ${id}`,
    placeHolder: `${rows.length} files; read-only`,
    matchOnDescription: true,
  });
  if (chosen)
    await vscode.commands.executeCommand(
      'vscode.open',
      uriOf(desk, one, chosen.path),
      { preview: true },
      `${chosen.path} (${id})`,
    );
}

async function diffWith(desk: Desk, id: string, other: 'previous' | 'standing' | 'final'): Promise<void> {
  const { state } = desk.room.model;
  const at = state?.archive.findIndex((one) => one.id === id) ?? -1;
  if (!state || at < 0) throw new Error(`there is no candidate ${id} in this run`);
  const against =
    other === 'previous'
      ? state.archive[at - 1]?.id
      : other === 'standing'
        ? standing(state.archive)?.id
        : finalCandidate({ ...state, ...state.terms })?.candidate;
  const carried = state.archive[at]?.origin !== undefined;
  if (against === undefined && (carried ? firstFiles(state) : state.initial) === null)
    return void vscode.window.showInformationMessage(
      `HMA: ${id} is the first candidate, and there were no candidate files before it.`,
    );
  if (against === id) return void vscode.window.showInformationMessage(`HMA: ${id} is the ${other} candidate itself.`);
  const one = await archived(desk, id);
  const before = sideOf(desk, await archived(desk, against ?? (carried ? beginningId : startId)));
  // the earlier one on the left, whichever was asked for
  const later = against !== undefined && state.archive.findIndex((each) => each.id === against) > at;
  await show(desk.room, later ? [sideOf(desk, one), before] : [before, sideOf(desk, one)]);
}

async function diffWorkspace(desk: Desk, id: string): Promise<void> {
  const one = await archived(desk, id);
  const { folder } = desk.room;
  const here = await Promise.all(
    one.entries.map(async (entry): Promise<SnapshotEntry | undefined> => {
      const path = join(folder, entry.path);
      const stats = lstatSync(path, { throwIfNoEntry: false });
      const look = stats?.isFile() === true || stats?.isSymbolicLink() === true ? await lookAtFile(path) : undefined;
      return look && { path: entry.path, bytes: stats?.size ?? 0, ...look };
    }),
  );
  const workspace: Side = {
    name: 'workspace',
    entries: here.filter((entry) => entry !== undefined),
    uri: (path) => vscode.Uri.file(join(folder, path)),
    read: (path) => readFile(join(folder, path)),
  };
  await show(desk.room, [sideOf(desk, one), workspace]);
}

async function compare(desk: Desk, ids: readonly string[]): Promise<void> {
  const order = desk.room.model.state?.archive.map(({ id }) => id) ?? [];
  const sorted = ids.toSorted((a, b) => order.indexOf(a) - order.indexOf(b));
  const [first, second, ...more] = sorted;
  if (first === undefined || second === undefined)
    return void vscode.window.showInformationMessage(
      'HMA: select two or more candidates (Ctrl or Shift and click) to compare them.',
    );
  const base = sideOf(desk, await archived(desk, first));
  if (more.length === 0) return await show(desk.room, [base, sideOf(desk, await archived(desk, second))]);
  const others = await Promise.all(sorted.slice(1).map(async (id) => sideOf(desk, await archived(desk, id))));
  const parts = await Promise.all(others.map((other) => textsOf([base, other])));
  const resources = parts.flatMap((part, index) =>
    part.shown.map((one) => resourceOf([base, others[index] as Side], one)),
  );
  if (resources.length === 0)
    return void vscode.window.showInformationMessage(
      `HMA: nothing that can be shown as text differs between ${sorted.join(', ')}.`,
    );
  await vscode.commands.executeCommand('vscode.changes', `${first} ↔ ${sorted.slice(1).join(', ')}`, resources);
  sayLeftOut(parts.flatMap((part) => part.leftOut));
}

type Sides = readonly [Side, Side];

/** What differs as text, and what is not shown as such, in words. */
async function textsOf([left, right]: Sides): Promise<{
  readonly shown: readonly FileDifference[];
  readonly leftOut: readonly string[];
}> {
  const shown: FileDifference[] = [];
  const leftOut: string[] = [];
  for (const one of differencesOf(left.entries, right.entries)) {
    const binary =
      !isLarge(one) &&
      ((one.before && isBinary(await left.read(one.path))) || (one.after && isBinary(await right.read(one.path))));
    if (!isLarge(one) && !binary) shown.push(one);
    else
      leftOut.push(
        `${one.path} (${isLarge(one) ? 'large' : 'binary'}, ${one.before ? sayBytes(one.before.bytes) : 'absent'} → ${one.after ? sayBytes(one.after.bytes) : 'absent'})`,
      );
  }
  return { shown, leftOut };
}

type Resource = [vscode.Uri, vscode.Uri | undefined, vscode.Uri | undefined];

const resourceOf = ([left, right]: Sides, { path, before, after }: FileDifference): Resource => [
  right.uri(path),
  before ? left.uri(path) : undefined,
  after ? right.uri(path) : undefined,
];

async function show(room: WindowRoom, sides: Sides): Promise<void> {
  const [left, right] = sides;
  const title = `${left.name} ↔ ${right.name}`;
  const { shown, leftOut } = await textsOf(sides);
  room.log.debug(`${title}: ${shown.length} files differ, ${leftOut.length} not shown as text`);
  const [only, another] = shown;
  if (!only) {
    const words =
      leftOut.length === 0
        ? `${left.name} and ${right.name} have the same files`
        : `${left.name} and ${right.name} differ only in files that are not shown as text: ${leftOut.join(', ')}`;
    return void vscode.window.showInformationMessage(`HMA: ${words}.`);
  }
  if (!another && only.before && only.after)
    await vscode.commands.executeCommand(
      'vscode.diff',
      left.uri(only.path),
      right.uri(only.path),
      `${title}: ${only.path}`,
      { preview: true },
    );
  else
    await vscode.commands.executeCommand(
      'vscode.changes',
      title,
      shown.map((one) => resourceOf(sides, one)),
    );
  sayLeftOut(leftOut);
}

function sayLeftOut(leftOut: readonly string[]): void {
  if (leftOut.length === 0) return;
  const few =
    leftOut.length <= 3 ? leftOut.join(', ') : `${leftOut.slice(0, 3).join(', ')} and ${leftOut.length - 3} more`;
  void vscode.window.showInformationMessage(
    `HMA: ${leftOut.length === 1 ? 'one file differs too and is' : `${leftOut.length} files differ too and are`} not shown as text: ${few}.`,
  );
}
