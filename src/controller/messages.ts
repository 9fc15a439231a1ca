import { appendFileSync, existsSync, readFileSync } from 'node:fs';

import type { InboxMessage } from '../agents/driver.ts';
import type { SessionName } from '../options/model.ts';
import { runningSession } from '../run/runningSession.ts';
import type { Room } from './room.ts';
import { SessionFolder } from './sessionFolders.ts';

/**
 * Writes the messages of the running attempt into its inbox, those that are not there yet: idempotent, so that a controller that
 * died between the event and the file makes up for it. The session reads the file, only we write it.
 */
export function deliverMessages(room: Room): void {
  const { state } = room.recorder;
  const running = runningSession(state);
  if (!running) return;
  const file = new SessionFolder(room.files.sessions, running.name).inbox(running.attempt);
  const there = new Set(inboxIds(file));
  const due = state.messages.filter(
    ({ id, session, attempt }) => attempt === running.attempt && same(session, running.name) && !there.has(id),
  );
  for (const { id, at, text } of due) {
    const message: InboxMessage = { id, at, text };
    appendFileSync(file, `${JSON.stringify(message)}\n`, { mode: 0o644 });
  }
}

const same = (a: SessionName, b: SessionName): boolean =>
  a.kind === 'option' && b.kind === 'option' ? a.number === b.number : a.kind === b.kind;

function inboxIds(file: string): string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as InboxMessage).id);
}
