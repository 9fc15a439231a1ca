import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import * as vscode from 'vscode';

import { freeName, layOutSample } from './samplePlace.ts';

/** Where the way into a sample that was just laid out is kept between two windows. */
const arrivalKey = 'sample.arrival';
/** A window that opens later than this after the sample was laid out is another one, ms. */
const arrivalMs = 120_000;

interface Arrival {
  readonly workspace: string;
  /** Unix ms. */
  readonly wall: number;
}

/** In the window that opens on a sample just laid out: shows where its start is. */
export async function arriveInSample({ globalState }: vscode.ExtensionContext, folder: string): Promise<void> {
  const arrival = globalState.get<Arrival>(arrivalKey);
  if (arrival?.workspace !== folder) return;
  await globalState.update(arrivalKey, undefined);
  if (Date.now() - arrival.wall < arrivalMs) await vscode.commands.executeCommand('hma.run.focus');
}

/** `hma.openSample`: lays the bundled sample task out in a folder and opens it; Start is then one click. Two scripted agents, no keys. */
export function registerSample(context: vscode.ExtensionContext): vscode.Disposable {
  return vscode.commands.registerCommand('hma.openSample', () => openSample(context));
}

interface Place extends vscode.QuickPickItem {
  readonly folder: string | null;
}

async function openSample(context: vscode.ExtensionContext): Promise<void> {
  const usual = freeName(join(homedir(), 'hma-sample'));
  const places: Place[] = [
    { label: `$(home) ${usual.replace(homedir(), '~')}`, detail: 'A new folder in your home', folder: usual },
    { label: '$(folder-opened) Another Folder…', detail: 'A new folder is made in it', folder: null },
  ];
  const place = await vscode.window.showQuickPick(places, {
    title: 'HMA: Open the Sample Task',
    placeHolder: 'Where should it lie? Recognizing digits: two scripted agents, no keys, about a minute.',
  });
  if (!place) return;
  const parent = place.folder ?? (await chooseParent());
  if (parent === undefined) return;
  try {
    const workspace = await layOutSample(context.extensionPath, parent);
    const arrival: Arrival = { workspace: realpathSync(workspace), wall: Date.now() };
    await context.globalState.update(arrivalKey, arrival);
    const empty = (vscode.workspace.workspaceFolders ?? []).length === 0;
    await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(workspace), { forceNewWindow: !empty });
  } catch (error) {
    void vscode.window.showErrorMessage(
      `HMA: the sample could not be laid out in ${parent}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function chooseParent(): Promise<string | undefined> {
  const [chosen] =
    (await vscode.window.showOpenDialog({
      canSelectFiles: false,
      canSelectFolders: true,
      title: 'HMA: Folder for the Sample Task',
      openLabel: 'Lay Out Here',
    })) ?? [];
  return chosen && freeName(join(chosen.fsPath, 'hma-sample'));
}
