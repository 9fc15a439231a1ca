import { homedir } from 'node:os';
import { join } from 'node:path';

import * as vscode from 'vscode';

import { count } from '../base/words.ts';
import type { Applied } from '../client/apply.ts';
import { finalCandidate } from '../review/selection.ts';
import { candidateIds } from './archivePlace.ts';
import { failureOf, jsonOf } from './commandReply.ts';
import { hma } from './hmaCommand.ts';
import type { WindowRoom } from './room.ts';

interface Target extends vscode.QuickPickItem {
  readonly to: Applied['target'];
}

const targets: readonly Target[] = [
  {
    to: 'workspace',
    label: '$(root-folder) The Workspace',
    detail: 'The candidate’s files take the place of those here; you see first what changes. Other files stay.',
  },
  { to: 'folder', label: '$(new-folder) A New Folder…', detail: 'The candidate’s files alone.' },
  {
    to: 'branch',
    label: '$(git-branch) A New Git Branch…',
    detail: 'A commit on top of HEAD. Your HEAD, index and files are not touched.',
  },
];

/** `hma.applyFinal`: brings the final candidate (or the one it was called on) to the workspace, a new folder or a branch; by `hma apply`. */
export function registerApplyFinal(room: WindowRoom): vscode.Disposable {
  return vscode.commands.registerCommand('hma.applyFinal', (given: unknown) => apply(room, candidateIds(given)[0]));
}

async function apply(room: WindowRoom, asked: string | undefined): Promise<void> {
  const { state } = room.model;
  const final = state && finalCandidate({ ...state, ...state.terms });
  const id = asked ?? final?.candidate;
  if (!state || id === undefined) return void vscode.window.showInformationMessage('HMA: there is no candidate yet.');
  const why =
    id === final?.candidate
      ? `the final candidate (${final.by === 'person' ? 'your selection' : final.by === 'reviewer' ? 'the reviewer’s' : final.reason})`
      : 'not the final candidate';
  const target = await vscode.window.showQuickPick(targets, {
    title: `HMA: Apply ${id}, ${why}`,
    placeHolder: 'Where should its files go?',
  });
  if (target?.to === 'workspace') await toWorkspace(room, id);
  else if (target?.to === 'folder') await toFolder(room, id);
  else if (target?.to === 'branch') await toBranch(room, id);
}

/** Runs `hma apply` and tells a failure; undefined then. */
async function run(room: WindowRoom, id: string, words: readonly string[]): Promise<Applied | undefined> {
  const task = () => hma(room.folder, ['apply', id, '--json', '--run', room.model.state?.run ?? '', ...words]);
  const end = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: `HMA: applying ${id}` },
    task,
  );
  if (end.code === 0) return jsonOf<Applied>(end);
  room.log.error(`hma apply: ${end.stderr}`);
  void vscode.window.showErrorMessage(`HMA: not applied: ${failureOf(end).text}`);
  return undefined;
}

async function toWorkspace(room: WindowRoom, id: string): Promise<void> {
  const plan = await run(room, id, ['--to', 'workspace', '--dry-run']);
  if (!plan) return;
  if (plan.changes.length === 0)
    return void vscode.window.showInformationMessage(`HMA: the workspace has the files of ${id} already.`);
  const paths = new Set(plan.changes.map(({ path }) => join(room.folder, path)));
  const dirty = vscode.workspace.textDocuments.filter(({ isDirty, uri }) => isDirty && paths.has(uri.fsPath));
  if (dirty.length > 0) {
    const names = dirty.map(({ uri }) => vscode.workspace.asRelativePath(uri)).join(', ');
    return void vscode.window.showWarningMessage(
      `HMA: not applied: ${names} ${dirty.length === 1 ? 'has' : 'have'} unsaved changes. Save or revert ${dirty.length === 1 ? 'it' : 'them'} first.`,
    );
  }
  const lost = plan.changes.filter((one) => one.lost);
  const [go, preview] = [lost.length > 0 ? 'Overwrite and Apply' : 'Apply', 'Show the Differences'];
  const answer = await vscode.window.showWarningMessage(
    `Apply ${id} to the workspace?`,
    {
      modal: true,
      detail: sayPlan(
        plan,
        lost.map(({ path }) => path),
      ),
    },
    go,
    preview,
  );
  if (answer === preview) return void (await vscode.commands.executeCommand('hma.diffWorkspace', id));
  if (answer !== go) return;
  const done = await run(room, id, ['--to', 'workspace', ...(lost.length > 0 ? ['--overwrite'] : [])]);
  if (!done) return;
  const kept = done.kept === null ? '' : ` What was overwritten is kept in ${done.kept}.`;
  const look = 'Show Source Control';
  const next = await vscode.window.showInformationMessage(
    `HMA: ${id} is in the workspace: ${count(done.changes.length, 'file')} written.${kept}`,
    look,
  );
  if (next === look) await vscode.commands.executeCommand('workbench.view.scm');
}

/** What applying would change, for the dialog. */
export function sayPlan(
  { changes, unchanged }: Pick<Applied, 'changes' | 'unchanged'>,
  lost: readonly string[],
): string {
  const shown = changes.slice(0, 12).map(({ path, change }) => `${change === 'added' ? '+' : '~'} ${path}`);
  const more = changes.length > shown.length ? [`… and ${changes.length - shown.length} more`] : [];
  const same = unchanged > 0 ? [`${unchanged} files are so already.`] : [];
  const few = lost.length <= 4 ? lost.join(', ') : `${lost.slice(0, 4).join(', ')} and ${lost.length - 4} more`;
  const warning =
    lost.length > 0
      ? [`What stands in ${few} now is in no commit and no candidate. A copy is kept in the run’s folder.`]
      : [];
  return [[...shown, ...more].join('\n'), ...same, ...warning, 'No other file is changed or deleted.'].join('\n\n');
}

async function toFolder(room: WindowRoom, id: string): Promise<void> {
  const beside = vscode.Uri.file(join(room.folder, '..', `${room.model.state?.terms.name ?? 'task'}-${id}`));
  const folder = await vscode.window.showSaveDialog({
    title: `HMA: New Folder for ${id}`,
    defaultUri: beside,
    saveLabel: 'Apply Here',
  });
  if (!folder) return;
  const done = await run(room, id, ['--to', 'folder', folder.fsPath]);
  if (!done) return;
  const [open, diff] = ['Open in New Window', 'Compare with the Workspace'];
  const next = await vscode.window.showInformationMessage(
    `HMA: ${id} is in ${done.where.replace(homedir(), '~')}: ${count(done.changes.length, 'file')}.`,
    open,
    diff,
  );
  if (next === open) await vscode.commands.executeCommand('vscode.openFolder', folder, { forceNewWindow: true });
  if (next === diff) await vscode.commands.executeCommand('hma.diffWorkspace', id);
}

async function toBranch(room: WindowRoom, id: string): Promise<void> {
  const branch = await vscode.window.showInputBox({
    title: `HMA: New Branch for ${id}`,
    value: `hma/${id}`,
    valueSelection: [4, 4 + id.length],
    prompt: 'A new branch on top of HEAD. HEAD, index and files stay as they are.',
  });
  if (branch === undefined) return;
  const done = await run(room, id, ['--to', 'branch', branch.trim()]);
  if (!done) return;
  const [diff, open] = ['Show the Differences', 'Switch to…'];
  const next = await vscode.window.showInformationMessage(
    `HMA: branch ${done.where} has ${id}: commit ${done.commit?.slice(0, 8) ?? ''}, ${count(done.changes.length, 'file')} changed against HEAD.`,
    diff,
    open,
  );
  if (next === diff) await vscode.commands.executeCommand('hma.diffWorkspace', id);
  if (next === open) await vscode.commands.executeCommand('git.checkout');
}
