import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import * as vscode from 'vscode';

import type { layOut as layOutTask } from '../../media/sample/digits/layOut.mjs';

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

/** A name that nothing has yet: the wanted one, or with a number. */
export function freeName(wanted: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    if (!existsSync(name) || readdirSync(name).length === 0) return name;
  }
}

/**
 * Lays the sample out below `parent` (made if missing) and gives its workspace. The agents are copied beside it, since an editor deletes an
 * old extension's folder; the labels that agents must not read lie beside it, too.
 */
export async function layOutSample(extensionPath: string, parent: string): Promise<string> {
  mkdirSync(parent, { recursive: true });
  const { layOut } = (await import(
    pathToFileURL(join(extensionPath, 'media', 'sample', 'digits', 'layOut.mjs')).href
  )) as { layOut: typeof layOutTask };
  const made = layOut(join(parent, 'digits'), join(parent, 'hidden'), {
    agents: join(parent, 'agents'),
    total: '5m',
    review: '1m',
  });
  // below a home nothing is seen inside a session but what is named
  await appendFile(made.contract, `isolation: { readable: [${JSON.stringify(made.agents)}] }\n`);
  return made.workspace;
}
