import { createRequire } from 'node:module';
import { join } from 'node:path';

import * as vscode from 'vscode';

import type { openWindow as OpenWindow } from './window/window.ts';

/*
 * What VS Code waits for when it starts us: a few kilobytes that put stand-ins in place. All else, `window.cjs`, is loaded right after,
 * when VS Code has gone on, or before that by the first command that needs it.
 */

/** A window starts: everything of ours in it hangs on the context and goes with it. The run itself doesn't. */
export function activate(context: vscode.ExtensionContext): void {
  const standIns: vscode.Disposable[] = [];
  let opened = false;
  const open = (): void => {
    if (opened) return;
    opened = true;
    for (const standIn of standIns) standIn.dispose(); // the commands' own registrations follow at once
    const load = createRequire(join(context.extensionPath, 'dist', 'extension.cjs'));
    const { openWindow } = load('./window.cjs') as { readonly openWindow: typeof OpenWindow };
    context.subscriptions.push(openWindow(context));
  };
  for (const command of promised(context))
    standIns.push(
      vscode.commands.registerCommand(command, (...given: unknown[]) => {
        open();
        return vscode.commands.executeCommand(command, ...given);
      }),
    );
  context.subscriptions.push({ dispose: () => (opened = true) });
  if (isShown()) open();
  else setImmediate(open);
}

/** The commands that package.json promises. */
function promised({ extension }: vscode.ExtensionContext): string[] {
  const { contributes } = extension.packageJSON as { contributes: { commands: { command: string }[] } };
  return contributes.commands.map(({ command }) => command);
}

/** Whether the window has come back with something of ours open, which is asked for as soon as we have started. */
const isShown = (): boolean =>
  vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .some(
      ({ input }) =>
        (input instanceof vscode.TabInputWebview && input.viewType.includes('hma.review')) ||
        (input instanceof vscode.TabInputText && input.uri.scheme === 'hma-archive') ||
        (input instanceof vscode.TabInputTextDiff &&
          [input.original, input.modified].some(({ scheme }) => scheme === 'hma-archive')),
    );
