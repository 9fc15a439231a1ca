import { join } from 'node:path';

import * as vscode from 'vscode';

/** Opens hma.yaml at its first problem. */
export async function openContract(folder: string): Promise<void> {
  const uri = vscode.Uri.file(join(folder, 'hma.yaml'));
  const editor = await vscode.window.showTextDocument(uri);
  const first = vscode.languages.getDiagnostics(uri)[0];
  if (!first) return;
  editor.selection = new vscode.Selection(first.range.start, first.range.end);
  editor.revealRange(first.range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
