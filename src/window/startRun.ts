import { join } from 'node:path';

import * as vscode from 'vscode';

import type { Preflight } from '../client/preflight.ts';
import { failureOf } from './commandReply.ts';
import { openContract } from './contractPlace.ts';
import { hma, type CommandEnd } from './hmaCommand.ts';
import { lookBeforeStart } from './preflight.ts';
import type { WindowRoom } from './room.ts';
import { pastRunOf, sayRunTime } from './runRows.ts';

/**
 * `hma.start`: checks the task, asks once what must be known, and starts the run; it lives on without the window. `hma.goOn` does the
 * same with the candidates of a finished run.
 */
export function registerStart(room: WindowRoom): vscode.Disposable {
  let starting = false;
  const once = async (from?: string): Promise<void> => {
    if (starting) return;
    starting = true;
    try {
      await start(room, from);
    } finally {
      starting = false;
    }
  };
  return vscode.Disposable.from(
    vscode.commands.registerCommand('hma.start', () => once()),
    vscode.commands.registerCommand('hma.goOn', async (given?: { readonly id?: unknown }) => {
      const run = pastRunOf(given?.id) ?? room.model.place?.run;
      if (run !== undefined && (await wantsToGoOn(run))) await once(run);
    }),
  );
}

async function wantsToGoOn(run: string): Promise<boolean> {
  const go = 'Go On';
  const answer = await vscode.window.showInformationMessage(
    `Go on from the run of ${sayRunTime(run)}?`,
    { modal: true, detail: 'A new run begins in this folder with its candidates, under the budgets of hma.yaml.' },
    go,
  );
  return answer === go;
}

async function start(room: WindowRoom, from: string | undefined): Promise<void> {
  if (!(await trusted())) return;
  if (!(await saved(room.folder))) return;
  await vscode.commands.executeCommand('hma.run.focus');
  const found = await working('Checking the task …', () => lookBeforeStart(room));
  if (found === undefined || !(await fitToStart(room, found)) || !(await understood(room, found))) return;
  const run = (more: readonly string[]): Promise<CommandEnd> =>
    working('Starting the run …', () =>
      hma(room.folder, ['run', '--detach', '--json', ...(from === undefined ? [] : ['--from', from]), ...more]),
    );
  let end = await run([]);
  if (end.code !== 0 && failureOf(end).code === 'bypass') {
    if (!(await acceptsBypass(end))) return;
    end = await run(['--accept-bypass']);
  }
  room.model.choose(null);
  if (end.code === 0) return;
  room.log.error(`hma run: ${end.stderr}`);
  await sayFailure(room, end);
}

/** Progress where the person looks: in the run's view. */
const working = <Value>(title: string, work: () => Promise<Value>): Promise<Value> =>
  Promise.resolve(vscode.window.withProgress({ location: { viewId: 'hma.run' }, title }, work));

/** Nothing runs in an untrusted workspace (invariant 9). */
async function trusted(): Promise<boolean> {
  if (vscode.workspace.isTrusted) return true;
  const manage = 'Manage Workspace Trust';
  const answer = await vscode.window.showWarningMessage(
    'HMA starts agents and the evaluator, which run programs of this folder. It does so only in a folder that you trust.',
    manage,
  );
  if (answer === manage) await vscode.commands.executeCommand('workbench.trust.manage');
  return false;
}

/** What runs is what lies on disk: an unsaved hma.yaml is saved first, if the person wants. */
async function saved(folder: string): Promise<boolean> {
  const document = vscode.workspace.textDocuments.find(
    ({ uri, isDirty }) => isDirty && uri.fsPath === join(folder, 'hma.yaml'),
  );
  if (!document) return true;
  const save = 'Save and Start';
  const answer = await vscode.window.showInformationMessage(
    'hma.yaml has unsaved changes.',
    { modal: true, detail: 'A run takes the task as it is saved.' },
    save,
  );
  return answer === save && (await document.save());
}

async function fitToStart(room: WindowRoom, { items }: Preflight): Promise<boolean> {
  const bad = items.filter(({ state }) => state === 'bad');
  const [first] = bad;
  if (!first) return true;
  const more = bad.length === 1 ? '' : ` (and ${bad.length - 1} more)`;
  const [open, sign, all] = ['Open hma.yaml', 'Sign In…', 'Show All'];
  const answer = await vscode.window.showErrorMessage(
    `HMA: not started: ${first.what}${more}. ${first.detail} ${first.fix ?? ''}`.trim(),
    ...(first.topic === 'contract' ? [open] : []),
    ...(first.code === 'agent_not_signed_in' ? [sign] : []),
    all,
  );
  if (answer === open) await openContract(room.folder);
  if (answer === sign) await vscode.commands.executeCommand('hma.signIn');
  if (answer === all) await vscode.commands.executeCommand('hma.check');
  return false;
}

/** Before the first start in a folder, and again when the isolation is weaker than it was: what agents may do here. */
async function understood({ context, folder }: WindowRoom, { tier }: Preflight): Promise<boolean> {
  if (!tier) return true;
  const key = `understood.${folder}`;
  const known = context.workspaceState.get<string[]>(key, []);
  if (known.includes(tier.tier)) return true;
  const detail = [
    `Agents work in ${folder} without asking: they may change, create and delete files there and run programs, also the evaluator on what they submit. A commit before the start is a good idea.`,
    tier.tier === 'none'
      ? 'Isolation: none. Nothing keeps them from what else you can reach on this machine.'
      : `Isolation: ${tier.tier}. Outside of the folder they write nothing but temporary files. Its limits:`,
    tier.cannot
      .slice(0, 4)
      .map((one) => `• ${one}`)
      .join('\n'),
  ].join('\n\n');
  const go = tier.tier === 'none' ? 'Start Without Isolation' : 'Start';
  const answer = await vscode.window.showWarningMessage(
    'Two agents are about to work in this folder.',
    { modal: true, detail },
    go,
  );
  if (answer !== go) return false;
  await context.workspaceState.update(key, [...known, tier.tier]);
  return true;
}

/** Agents that never ask, and nothing around them: only after a yes to just that, each time. */
async function acceptsBypass(end: CommandEnd): Promise<boolean> {
  const go = 'Start Without Asking and Without Isolation';
  const detail = `${failureOf(end).text} A container or a machine of its own is the safer way.`;
  const answer = await vscode.window.showWarningMessage(
    'Agents would act without asking and without isolation.',
    { modal: true, detail },
    go,
  );
  return answer === go;
}

async function sayFailure({ folder, log }: WindowRoom, end: CommandEnd): Promise<void> {
  const { code, text } = failureOf(end);
  const [open, show, again] = ['Open hma.yaml', 'Show Log', 'Check the Task'];
  const answer = await vscode.window.showErrorMessage(
    `HMA: the run was not started: ${text}`,
    ...(code === 'contract_errors' ? [open] : [again]),
    show,
  );
  if (answer === open) await openContract(folder);
  if (answer === again) await vscode.commands.executeCommand('hma.check');
  if (answer === show) log.show();
}
