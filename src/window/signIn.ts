import * as vscode from 'vscode';

import { failureOf, jsonOf } from './commandReply.ts';
import { hma, hmaArguments } from './hmaCommand.ts';
import type { WindowRoom } from './room.ts';
import { needsPerson } from './runWords.ts';
import { settings } from './settings.ts';
import { agentRows, canLogin, type AgentRow, type AgentSeen } from './signInRows.ts';

/** Signing agents in and out, for HMA alone: the harness's own sign-in, in a terminal. */
export function registerSignIn(room: WindowRoom): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand('hma.signIn', (name?: unknown) =>
      typeof name === 'string' ? openTerminal(room, name) : signIn(room),
    ),
    vscode.commands.registerCommand('hma.signOut', () => signOut(room)),
  );
}

/** Lists agents as they are on this machine, which takes a moment, and gives back the chosen one. */
async function chooseAgent(
  room: WindowRoom,
  asking: { readonly title: string; readonly placeholder: string; readonly fits: (agent: AgentSeen) => boolean },
): Promise<AgentSeen | undefined> {
  const list = vscode.window.createQuickPick<AgentRow>();
  list.title = asking.title;
  list.placeholder = 'Looking …';
  list.busy = true;
  list.show();
  const chosen = new Promise<AgentRow | undefined>((resolve) => {
    list.onDidAccept(() => resolve(list.selectedItems[0]));
    list.onDidHide(() => resolve(undefined));
  });
  const end = await hma(room.folder, ['agents', '--json']);
  const found = jsonOf<{ readonly agents: readonly AgentSeen[] }>(end);
  if (found) list.items = agentRows(found.agents.filter(asking.fits));
  else void vscode.window.showErrorMessage(`HMA: ${failureOf(end).text}`);
  list.busy = false;
  list.placeholder = list.items.length > 0 ? asking.placeholder : 'No agent is signed in for HMA.';
  const row = found && (await chosen);
  list.dispose();
  return row?.agent;
}

/** Says which of these agents are installed but not signed in, where any is: before the first start, not at it. */
export async function offerSignIn(
  folder: string,
  wanted: readonly ({ readonly name: string } | null)[],
): Promise<void> {
  if (!vscode.workspace.isTrusted) return;
  const end = await hma(folder, ['agents', '--json']);
  const seen = jsonOf<{ readonly agents: readonly AgentSeen[] }>(end)?.agents ?? [];
  const out = seen.filter(
    ({ adapter, program, signedIn }) =>
      program !== null && signedIn.by === 'nothing' && wanted.some((one) => one?.name === adapter),
  );
  const [only, another] = out;
  if (!only) return;
  const open = 'Sign In…';
  const words = `${out.map(({ title }) => title).join(' and ')} ${another ? 'are' : 'is'} not signed in for HMA yet.`;
  if ((await vscode.window.showInformationMessage(`HMA: ${words}`, open)) === open)
    await vscode.commands.executeCommand('hma.signIn', another || !canLogin(only) ? undefined : only.adapter);
}

async function signIn(room: WindowRoom): Promise<void> {
  const agent = await chooseAgent(room, {
    title: 'HMA: Sign In an Agent',
    placeholder: 'Which agent? Its own sign-in opens in a terminal; your own login is left alone.',
    fits: () => true,
  });
  if (!agent) return;
  const { title, program, install, signedIn, adapter } = agent;
  if (program === null)
    return void vscode.window.showInformationMessage(`HMA: ${title} is not installed here. Install it: ${install}`);
  if (signedIn.by === 'nothing' && !canLogin(agent))
    return void vscode.window.showInformationMessage(
      `HMA: ${title} has no login of its own. Set ${signedIn.variables.join(' or ')}, or keep it with hma secrets set.`,
    );
  openTerminal(room, adapter);
}

/** Opens a terminal with `hma login NAME`; it closes when that went well. */
function openTerminal(room: WindowRoom, name: string): void {
  const [shellPath, ...shellArgs] = hmaArguments(['login', name]);
  const { stateFolder } = settings();
  const terminal = vscode.window.createTerminal({
    ...{ name: `Sign in: ${name}`, shellPath, shellArgs, cwd: room.folder, isTransient: true },
    iconPath: new vscode.ThemeIcon('account'),
    env: stateFolder === '' ? {} : { HMA_HOME: stateFolder },
  });
  terminal.show();
  const closing = vscode.window.onDidCloseTerminal((closed) => {
    if (closed !== terminal) return;
    closing.dispose();
    if (terminal.exitStatus?.code === 0) void tellSignedIn(room, name);
  });
}

async function tellSignedIn({ model }: WindowRoom, name: string): Promise<void> {
  const action = needsPerson(model.state, model.presence)
    ? { title: 'Resume', command: 'hma.resume' }
    : { title: 'Check the Task', command: 'hma.check' };
  const chosen = await vscode.window.showInformationMessage(`HMA: ${name} is signed in for HMA.`, action.title);
  if (chosen) await vscode.commands.executeCommand(action.command);
}

async function signOut(room: WindowRoom): Promise<void> {
  const agent = await chooseAgent(room, {
    title: 'HMA: Sign Out an Agent',
    placeholder: 'Which agent? HMA forgets its login; revoke it with its provider where it should be void at once.',
    fits: ({ signedIn }) => signedIn.by === 'login',
  });
  if (!agent) return;
  const end = await hma(room.folder, ['logout', agent.adapter]);
  const words = end.code === 0 ? end.stdout.trim() : failureOf(end).text;
  void vscode.window.showInformationMessage(`HMA: ${words}`);
}
