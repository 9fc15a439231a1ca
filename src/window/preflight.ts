import * as vscode from 'vscode';

import type { Preflight, PreflightItem } from '../client/preflight.ts';
import { failureOf, jsonOf } from './commandReply.ts';
import { hma } from './hmaCommand.ts';
import type { WindowRoom } from './room.ts';
import { openContract } from './contractPlace.ts';

/** Looks at all that a run needs, through `hma check`; undefined where that failed (the person was told). */
export async function lookBeforeStart({
  folder,
  log,
}: Pick<WindowRoom, 'folder' | 'log'>): Promise<Preflight | undefined> {
  const end = await hma(folder, ['check', '--json', '--no-evaluate']);
  const found = jsonOf<Preflight>(end);
  if (found && Array.isArray(found.items)) return found;
  log.error(`hma check: ${end.stderr}`);
  const show = 'Show Log';
  const answer = await vscode.window.showErrorMessage(
    `HMA: the task could not be checked: ${failureOf(end).text}`,
    show,
  );
  if (answer === show) log.show();
  return undefined;
}

const icons = { good: 'pass', warning: 'warning', bad: 'error' } as const;
const spoken = { good: 'in order', warning: 'to know', bad: 'stops the start' } as const;

interface Row extends vscode.QuickPickItem {
  readonly about: PreflightItem | 'start';
}

/** `hma.check`: the list of what a run needs, each with what to do about it. */
export function registerPreflight(room: WindowRoom): vscode.Disposable {
  return vscode.commands.registerCommand('hma.check', () => check(room));
}

async function check(room: WindowRoom): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    await openContract(room.folder);
    void vscode.window.showInformationMessage(
      'HMA: in an untrusted folder only hma.yaml is checked; its problems are marked in the editor.',
    );
    return;
  }
  const list = vscode.window.createQuickPick<Row>();
  list.title = 'HMA: Check the Task';
  list.placeholder = 'Looking …';
  list.busy = true;
  list.matchOnDetail = true;
  list.show();
  const chosen = new Promise<Row | undefined>((resolve) => {
    list.onDidAccept(() => resolve(list.selectedItems[0]));
    list.onDidHide(() => resolve(undefined));
  });
  const found = await lookBeforeStart(room);
  if (!found) return list.dispose();
  list.busy = false;
  list.items = rowsOf(found);
  list.placeholder = found.items.some(({ state }) => state === 'bad')
    ? 'Not ready yet. Choose an entry to see what can be done.'
    : 'Ready.';
  const row = await chosen;
  list.dispose();
  if (row) await actOn(room, row.about);
}

const order = { bad: 0, warning: 1, good: 2 } as const;

/** What stops the start comes first; with nothing in the way, the start itself does. */
export function rowsOf({ items }: Pick<Preflight, 'items'>): Row[] {
  const rows = items
    .toSorted((a, b) => order[a.state] - order[b.state])
    .map((item): Row => ({
      label: `$(${icons[item.state]}) ${item.what}`,
      description: spoken[item.state],
      ...(item.state === 'good' && item.detail === ''
        ? {}
        : { detail: item.fix === null ? item.detail : `${item.detail} ${item.fix}`.trim() }),
      about: item,
    }));
  const ready = items.every(({ state }) => state !== 'bad');
  return ready ? [{ label: '$(play) Start Alternation', about: 'start' }, ...rows] : rows;
}

async function actOn(room: WindowRoom, about: PreflightItem | 'start'): Promise<void> {
  if (about === 'start') return void (await vscode.commands.executeCommand('hma.start'));
  if (about.topic === 'run' && about.state !== 'good')
    return void (await vscode.commands.executeCommand('hma.run.focus'));
  if (about.code === 'agent_not_signed_in') return void (await vscode.commands.executeCommand('hma.signIn'));
  if (about.topic === 'contract' || about.topic === 'evaluator' || about.topic === 'agent')
    return await openContract(room.folder);
  void vscode.window.showInformationMessage(`HMA: ${about.what}`, {
    modal: true,
    detail: [about.detail, about.fix ?? ''].filter((text) => text !== '').join('\n\n'),
  });
}
