import { existsSync } from 'node:fs';

import * as vscode from 'vscode';

import { readOffline } from '../client/readRun.ts';
import type { RunPlace } from '../client/lookup.ts';
import { oneLine } from '../base/oneLine.ts';
import { count } from '../base/words.ts';
import { runFiles } from '../ledger/places.ts';
import { confirmed } from './asking.ts';
import { budgetEntries, readBudget } from './controlsBudget.ts';
import { menuEntries, reviewConfirmation, stopConfirmation } from './controlsWords.ts';
import { hasContract } from './folder.ts';
import type { WindowRoom } from './room.ts';
import { runningSession } from '../run/runningSession.ts';
import { sayRunTime } from './runRows.ts';
import { joined, sayPhase } from './runWords.ts';

/** What a person can do about a run: each command asks the controller; what loses something is confirmed before. */
export function registerControls(room: WindowRoom): vscode.Disposable {
  const commands: Readonly<Record<string, (argument?: unknown) => unknown>> = {
    'hma.pause': () => room.ask({ kind: 'pause', after: false }),
    'hma.pauseAfter': () => room.ask({ kind: 'pause', after: true }),
    'hma.resume': () => resume(room),
    'hma.handOff': () => room.ask({ kind: 'handoff' }),
    'hma.sendMessage': () => sendMessage(room),
    'hma.beginReview': () => beginReview(room),
    'hma.stop': () => stop(room),
    'hma.editBudget': () => editBudget(room),
    'hma.chooseRun': (run) => chooseRun(room, typeof run === 'string' ? run : undefined),
    'hma.showLog': () => showLog(room),
    'hma.menu': () => menu(room),
  };
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([id, run]) => vscode.commands.registerCommand(id, run)),
  );
}

/** A run without a controller gets one first, which takes seconds: the view shows that something goes on. */
async function resume(room: WindowRoom): Promise<void> {
  await vscode.window.withProgress({ location: { viewId: 'hma.run' } }, () => room.ask({ kind: 'resume' }));
}

async function sendMessage(room: WindowRoom): Promise<void> {
  const { state } = room.model;
  const running = state && runningSession(state);
  if (!running)
    return void vscode.window.showInformationMessage('HMA: No session runs now, so nobody can take a message.');
  const agent = oneLine(state.terms.agents[running.agent].name, 40);
  const text = await vscode.window.showInputBox({
    title: `Send a Message to ${agent}`,
    prompt: 'It gets it at its next step; the message stays on record',
    placeHolder: 'Look at the learning rate first',
  });
  if (text?.trim()) await room.ask({ kind: 'message', text: text.trim() });
}

async function stop(room: WindowRoom): Promise<void> {
  const { state } = room.model;
  if (state && (await confirmed(stopConfirmation(state)))) await room.ask({ kind: 'stop' });
}

async function beginReview(room: WindowRoom): Promise<void> {
  const { state } = room.model;
  if (state && (await confirmed(reviewConfirmation(state, room.model.given())))) await room.ask({ kind: 'review' });
}

async function editBudget(room: WindowRoom): Promise<void> {
  const { model } = room;
  if (!model.state) return;
  const title = 'Edit the Remaining Budget';
  const items = budgetEntries(model.state).map((entry) => ({ label: entry.label, description: entry.now, entry }));
  const chosen = await vscode.window.showQuickPick(items, { title: `${title} (1/2)`, placeHolder: 'Which budget?' });
  if (!chosen) return;
  const { field, label, now, typed, prompt } = chosen.entry;
  const read = (text: string): ReturnType<typeof readBudget> =>
    model.state ? readBudget(model.state, { field, text }, model.given()) : { why: 'The run is gone.' };
  const text = await vscode.window.showInputBox({
    ...{ title: `${title}: ${label} (2/2)`, prompt: `${prompt}. Now: ${now}`, value: typed },
    validateInput: (words) => {
      const value = read(words);
      return 'why' in value ? value.why : null;
    },
  });
  if (text === undefined || text.trim() === typed) return;
  const value = read(text);
  if ('wish' in value) await room.ask({ kind: 'budget', ...value.wish });
  else void vscode.window.showWarningMessage(`HMA: ${value.why}`);
}

/** How many of the newest runs are told about in detail: that reads their ledgers. */
const toldRuns = 8;

async function chooseRun({ model }: WindowRoom, run: string | undefined): Promise<void> {
  const runs = model.runs();
  const newest = runs[0]?.run;
  // The newest is followed, so that a run that starts later is shown by itself.
  const show = (wanted: string): void => model.choose(wanted === newest ? null : wanted);
  if (run !== undefined) return show(run);
  if (runs.length === 0)
    return void vscode.window.showInformationMessage('HMA: This folder has no runs yet. Start Alternation begins one.');
  const items = runs.map((place, index) =>
    runItem(place, { told: index < toldRuns, shown: place.run === model.place?.run }),
  );
  const chosen = await vscode.window.showQuickPick(items, {
    title: 'Show Another Run',
    placeHolder: 'Looking changes nothing of a run',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (chosen) show(chosen.run);
}

function runItem(
  place: RunPlace,
  { told, shown }: { readonly told: boolean; readonly shown: boolean },
): vscode.QuickPickItem & { readonly run: string } {
  const item = {
    run: place.run,
    label: `$(${shown ? 'circle-filled' : 'circle-outline'}) ${sayRunTime(place.run)}`,
    description: joined(place.run, shown && 'shown now'),
  };
  const read = told ? readOffline(place) : null;
  if (!read?.ok) return item;
  const { state } = read.value;
  const final = state.selections.at(-1)?.candidate;
  const detail = joined(
    oneLine(state.terms.name, 40),
    sayPhase(state),
    count(state.options.length, 'option'),
    count(state.archive.length, 'candidate'),
    final && `final ${final}`,
  );
  return { ...item, detail };
}

async function showLog({ model }: WindowRoom): Promise<void> {
  const path = model.place && runFiles(model.place.folder).log;
  if (!path || !existsSync(path)) return void vscode.window.showInformationMessage('HMA: The run has no log yet.');
  await vscode.window.showTextDocument(vscode.Uri.file(path), { preview: true });
}

async function menu({ model, folder }: WindowRoom): Promise<void> {
  const { state, presence } = model;
  const entries = menuEntries({
    state,
    presence,
    trusted: vscode.workspace.isTrusted,
    hasContract: hasContract(folder),
  });
  const title = state ? `HMA: ${oneLine(state.terms.name, 40)}, ${sayPhase(state)}` : 'HMA';
  const chosen = await vscode.window.showQuickPick([...entries], {
    title,
    placeHolder: 'What can be done now',
    matchOnDetail: true,
  });
  if (chosen) await vscode.commands.executeCommand(chosen.command);
}
