import { execa } from 'execa';

import { errorCode } from '../base/files.ts';
import type { LedgerEvent } from '../ledger/port.ts';
import type { RunEvent } from '../run/events.ts';
import type { RunState } from '../run/model.ts';
import { finalCandidate } from '../review/selection.ts';
import type { Notify } from '../task/model.ts';

/** What a person is told of outside: the JSON that a command gets on stdin, or a URL as the body of a POST. */
export interface Notification {
  /** What it is about; more may come. */
  readonly kind: 'started' | 'paused' | 'needs_person' | 'review_ready' | 'finished' | 'keeper_gave_up';
  /** The run's id; `test` from `hma notify --test`. */
  readonly run: string;
  /** Absolute path of the workspace. */
  readonly workspace: string;
  /** One line for a person. */
  readonly text: string;
  /** Unix ms. */
  readonly wall: number;
}

/** Longest time a notification may take, ms. */
const timeoutMs = 30_000;

/** Sends one notification; resolves with null, or with why it did not arrive. Never throws. */
export async function notify(how: Notify, notification: Notification): Promise<string | null> {
  const body = JSON.stringify(notification);
  try {
    switch (how.kind) {
      case 'none':
        return null;
      case 'command': {
        const [program, ...args] = how.command;
        await execa(program, args, { input: `${body}\n`, timeout: timeoutMs, stdout: 'ignore', stderr: 'pipe' });
        return null;
      }
      case 'url': {
        const reply = await fetch(how.url, {
          method: 'POST',
          body,
          headers: { 'content-type': 'application/json' },
          signal: AbortSignal.timeout(timeoutMs),
        });
        return reply.ok ? null : `${how.url} answered ${reply.status}`;
      }
    }
  } catch (error) {
    if (how.kind === 'command' && errorCode(error) === 'ENOENT') return `\`${how.command[0]}\` was not found on PATH`;
    return error instanceof Error ? (error.message.split('\n')[0] ?? error.message) : String(error);
  }
}

/** What an event is worth telling; null for most. A pause that the person asked for is not. */
export function notificationFor(event: LedgerEvent, state: RunState): Notification | null {
  const known = event as RunEvent;
  const of = (kind: Notification['kind'], text: string): Notification => ({
    kind,
    run: state.run,
    workspace: state.workspace,
    text,
    wall: event.wall,
  });
  switch (known.type) {
    case 'run.paused':
      return known.data.reason === 'requested'
        ? null
        : of(
            known.data.reason === 'disk_low' || known.data.until !== undefined ? 'paused' : 'needs_person',
            `${known.data.reason}: ${known.data.detail}`,
          );
    case 'run.noticed':
      return known.data.level === 'person' ? of('needs_person', known.data.text) : null;
    case 'review.closed':
      return of('review_ready', `final review: ${known.data.outcome} (${known.data.detail})`);
    case 'run.finished': {
      const final = finalCandidate({ ...state, ...state.terms });
      return of(
        'finished',
        final ? `final candidate ${final.candidate}, by ${final.by}: ${final.reason}` : 'finished without a candidate',
      );
    }
    default:
      return null;
  }
}
