import { userInfo } from 'node:os';

import * as vscode from 'vscode';

import type { Intent, IntentReply } from '../protocol/client.ts';
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

/** After the end of a run only its selection changes; `hma` brings the single writer back for it. */
async function throughCommand(room: Omit<WindowRoom, 'ask'>, intent: Intent): Promise<IntentReply> {
  const run = room.model.place?.run ?? '';
  const words =
    intent.kind === 'select'
      ? ['select', intent.candidate, '--reason', intent.reason]
      : intent.kind === 'clearSelection'
        ? ['select', '--clear', '--reason', intent.reason]
        : intent.kind === 'resume'
          ? ['resume', run]
          : null;
  if (words === null)
    return { done: false, reason: 'no_controller', text: 'the run has no controller at the moment; resume it first' };
  const done = await hma(room.folder, intent.kind === 'resume' ? words : [...words, '--run', run]);
  room.model.look();
  if (done.code === 0) return { done: true, seq: room.model.state?.seq ?? 0 };
  return {
    done: false,
    reason: 'command_failed',
    text: done.stderr.trim() || `hma ${words[0]} ended with ${done.code}`,
  };
}
