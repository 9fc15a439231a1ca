import * as vscode from 'vscode';

import { lostTelling, tellingOf, weightier, type Telling } from './notificationsDecide.ts';
import type { WindowRoom } from './room.ts';
import type { Presence } from './runModel.ts';
import { settings } from './settings.ts';

/** What happens within this time is told as one thing, ms: the end of a review and of its run, say. */
const gatherMs = 2000;
/** A notification that nobody answers makes room for the next after this time, ms. */
const patienceMs = 20_000;

/** Tells a person of what needs them, as the settings say: one thing at a time, none of what was before this window. */
export function registerNotifications({ model, log }: WindowRoom): vscode.Disposable {
  const sinceWall = Date.now();
  let presence: Presence = model.presence;
  let pending: Telling | null = null;
  let timer: NodeJS.Timeout | null = null;
  let busy = false;

  const tell = async (): Promise<void> => {
    timer = null;
    if (busy || pending === null) return;
    const telling: Telling = pending;
    pending = null;
    busy = true;
    log.info(telling.text);
    await Promise.race([show(telling), new Promise((resolve) => setTimeout(resolve, patienceMs))]);
    busy = false;
    if (pending !== null) plan();
  };
  const plan = (): void => {
    timer ??= setTimeout(() => void tell(), gatherMs);
  };
  const take = (telling: Telling | null): void => {
    if (telling === null) return;
    pending = weightier(pending, telling);
    plan();
  };
  const listening = model.onDidChange((change) => {
    const { notify } = settings();
    take(tellingOf(change, { sinceWall, notify }));
    // Only a controller that this window saw is lost news; one that was gone before is told by the view and the status bar.
    if (presence !== model.presence && model.presence === 'lost' && presence === 'away' && notify.paused)
      take(lostTelling(model.why));
    presence = model.presence;
  });
  return vscode.Disposable.from(listening, { dispose: () => void (timer === null || clearTimeout(timer)) });
}

async function show({ warns, text, actions }: Telling): Promise<void> {
  const titles = actions.map(({ title }) => title);
  const ask = warns ? vscode.window.showWarningMessage : vscode.window.showInformationMessage;
  const chosen = await ask(`HMA: ${text}`, ...titles);
  const action = actions.find(({ title }) => title === chosen);
  if (action) await vscode.commands.executeCommand(action.command, ...(action.argument ? [action.argument] : []));
}
