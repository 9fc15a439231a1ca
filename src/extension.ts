import type { ExtensionContext } from 'vscode';

import { openWindow } from './window/window.ts';

/** A window starts: everything of ours in it hangs on the context and goes with it. The run itself doesn't. */
export function activate(context: ExtensionContext): void {
  context.subscriptions.push(openWindow(context));
}
