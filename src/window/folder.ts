import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

import * as vscode from 'vscode';

/** The folder that HMA works on in this window: the first with an hma.yaml, else the first of all. Its real path; undefined without a folder. */
export function taskFolder(): string | undefined {
  const folders = (vscode.workspace.workspaceFolders ?? [])
    .filter(({ uri }) => existsSync(uri.fsPath))
    .map(({ uri }) => realpathSync(uri.fsPath));
  return folders.find((folder) => existsSync(join(folder, 'hma.yaml'))) ?? folders[0];
}

/** Whether a folder has a task contract. */
export const hasContract = (folder: string | undefined): boolean =>
  folder !== undefined && existsSync(join(folder, 'hma.yaml'));
