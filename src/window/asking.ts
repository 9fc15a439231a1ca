import { userInfo } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';

import * as vscode from 'vscode';

import type { Intent, IntentReply } from '../protocol/client.ts';
import type { Confirmation } from './controlsWords.ts';
import { hma } from './hmaCommand.ts';
import type { Wish, WindowRoom } from './room.ts';

/** Says a wish to the controller in this person's name. A run without a controller gets one first; a refusal is shown as it stands. */
export async function ask(room: Omit<WindowRoom, 'ask'>, wish: Wish): Promise<IntentReply> {
  const intent = { ...wish, by: userInfo().username } as Intent;
  let reply = await room.model.intend(intent);
  if (!reply.done && reply.reason === 'no_controller' && room.model.place) reply = await throughCommand(room, intent);
  if (!reply.done) void vscode.window.showWarningMessage(`HMA: ${reply.text}`);
  return reply;
}

/** Whether a person says yes to what a confirmation says; without one nothing is asked. */
export async function confirmed(confirmation: Confirmation | null): Promise<boolean> {
  if (confirmation === null) return true;
  const { message, detail, button } = confirmation;
  return (await vscode.window.showWarningMessage(message, { modal: true, detail }, button)) === button;
}

/** What is left to be done about a run without a controller; `hma` brings the single writer back for it. */
async function throughCommand(room: Omit<WindowRoom, 'ask'>, intent: Intent): Promise<IntentReply> {
  const { model, folder } = room;
  const run = model.place?.run ?? '';
  const words = commandWords(intent);
  if (words === null)
    return { done: false, reason: 'no_controller', text: 'the run has no controller at the moment; resume it first' };
  const ended = hma(folder, intent.kind === 'resume' ? [...words, run] : [...words, '--run', run]);
  // errands go on for long: as soon as the ledger has them, the rows tell how they get on
  const asked = new AbortController();
  const begun = isErrand(intent) ? errandsBegin(room, asked.signal) : new Promise<never>(() => undefined);
  const end = await Promise.race([ended, begun]);
  asked.abort();
  model.look();
  if (end === 'begun' || end.code === 0) return { done: true, seq: model.state?.seq ?? 0 };
  return { done: false, reason: 'command_failed', text: end.stderr.trim() || `hma ${words[0]} ended with ${end.code}` };
}

const isErrand = ({ kind }: Intent): boolean => kind === 'grade' || kind === 'reevaluate';

/** The command that asks for the same; null where a run without a controller can't be asked for it. */
function commandWords(intent: Intent): readonly [string, ...string[]] | null {
  switch (intent.kind) {
    case 'select':
      return ['select', intent.candidate, '--reason', intent.reason];
    case 'clearSelection':
      return ['select', '--clear', '--reason', intent.reason];
    case 'revealGrades':
      return ['reveal'];
    case 'grade':
      return [
        'grade',
        ...(intent.candidates.length === 0 ? ['--all'] : intent.candidates),
        ...(intent.again ? ['--regrade'] : []),
      ];
    case 'reevaluate':
      return ['reevaluate', intent.candidate, '-n', String(intent.times)];
    case 'disqualify':
      return ['disqualify', intent.candidate, '--reason', intent.reason, ...(intent.undo ? ['--undo'] : [])];
    case 'resume':
      return ['resume'];
    default:
      return null;
  }
}

/** Looks at the ledger each half second until it has errands that it hadn't. */
async function errandsBegin({ model }: Pick<WindowRoom, 'model'>, signal: AbortSignal): Promise<'begun'> {
  const before = model.state?.seq ?? 0;
  const begun = (): boolean => (model.state?.seq ?? 0) > before && model.state?.errands.length !== 0;
  while (!begun()) {
    await wait(500, undefined, { signal });
    model.look();
  }
  return 'begun';
}
