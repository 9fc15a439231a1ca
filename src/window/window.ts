import * as vscode from 'vscode';

import { registerApplyFinal } from './applyFinal.ts';
import { ArchiveReader, registerArchiveFiles } from './archiveFiles.ts';
import { ask } from './asking.ts';
import { isHiding } from './candidateStory.ts';
import { registerCandidatesTree } from './candidatesTree.ts';
import { registerContractEditor } from './contractEditor.ts';
import { registerControls } from './controls.ts';
import { registerDecorations } from './decorations.ts';
import { registerDiffs } from './diffs.ts';
import { registerErrands } from './errands.ts';
import { hasContract, taskFolder } from './folder.ts';
import { CandidateMarks } from './marks.ts';
import { registerNotifications } from './notifications.ts';
import { registerPreflight } from './preflight.ts';
import { registerReview } from './review.ts';
import type { WindowRoom } from './room.ts';
import { registerEmptyTrees } from './rowTree.ts';
import { RunModel } from './runModel.ts';
import { registerRunTree } from './runTree.ts';
import { arriveInSample, registerSample } from './sample.ts';
import { registerSetup } from './setup.ts';
import { registerSignIn } from './signIn.ts';
import { registerStart } from './startRun.ts';
import { registerStatusBar } from './statusBar.ts';
import { registerTerminals } from './terminals.ts';
import { registerWorkspaceTree } from './workspaceTree.ts';

/** Everything of ours in one window. Nothing here outlives it, and nothing of a run depends on it. */
export function openWindow(context: vscode.ExtensionContext): vscode.Disposable {
  const folder = taskFolder();
  const parts: vscode.Disposable[] = [registerSample(context)];
  parts.push(folder === undefined ? registerEmptyTrees() : openFolder(context, folder));
  if (folder !== undefined) void arriveInSample(context, folder);
  return vscode.Disposable.from(...parts);
}

function openFolder(context: vscode.ExtensionContext, folder: string): vscode.Disposable {
  const log = vscode.window.createOutputChannel('HMA', { log: true });
  const model = new RunModel(folder);
  const marks = new CandidateMarks(context.workspaceState);
  const base = { context, folder, model, marks, log };
  const room: WindowRoom = { ...base, ask: (wish) => ask(base, wish) };
  const contract = vscode.workspace.createFileSystemWatcher(
    new vscode.RelativePattern(folder, 'hma.yaml'),
    false,
    true,
    false,
  );
  const tell = (): void => setContexts(room);
  tell();
  const views = [
    registerRunTree,
    registerCandidatesTree,
    registerWorkspaceTree,
    registerDecorations,
    registerStatusBar,
    registerNotifications,
    registerControls,
  ];
  const reader = new ArchiveReader(model);
  const acts = [
    registerReview,
    registerContractEditor,
    registerPreflight,
    registerStart,
    registerTerminals,
    registerApplyFinal,
    registerErrands,
    registerSignIn,
  ];
  const parts = [
    ...[...views, ...acts].map((register) => register(room)),
    registerArchiveFiles(reader, folder),
    registerDiffs(room, reader),
    registerSetup(folder),
  ];
  return vscode.Disposable.from(
    ...parts,
    log,
    model,
    marks,
    contract,
    contract.onDidCreate(tell),
    contract.onDidDelete(tell),
    model.onDidChange(tell),
  );
}

/** What menus, buttons and welcome texts depend on. */
function setContexts({ folder, model }: WindowRoom): void {
  const { state, presence } = model;
  const running = state !== null && state.phase !== 'finished' && presence !== 'none';
  const contexts: Record<string, unknown> = {
    'hma.hasContract': hasContract(folder),
    'hma.hasRun': state !== null,
    'hma.running': running && presence !== 'lost',
    'hma.lost': running && presence === 'lost',
    'hma.live': presence === 'live',
    'hma.paused': running && state.pause !== null,
    'hma.phase': state?.phase ?? '',
    'hma.canAsk': presence === 'live' || presence === 'over',
    'hma.grades': state?.terms.grades === true,
    'hma.hiding': state !== null && isHiding(state),
    'hma.hasDisqualified': state?.archive.some(({ disqualified }) => disqualified !== undefined) ?? false,
    'hma.hasCandidates': (state?.archive.length ?? 0) > 0,
    'hma.pinned': state?.selections.findLast((one) => one.by === 'person')?.candidate != null,
  };
  for (const [name, value] of Object.entries(contexts)) void vscode.commands.executeCommand('setContext', name, value);
}
