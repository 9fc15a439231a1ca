import { latestAttempt } from '../options/evolve.ts';
import type { SessionName } from '../options/model.ts';
import type { AgentSlot } from '../task/model.ts';
import type { RunState } from './model.ts';

/** The session that runs now; null when none does. */
export function runningSession(
  state: RunState,
): { readonly name: SessionName; readonly agent: AgentSlot; readonly attempt: number } | null {
  const option = state.options.at(-1);
  const { review } = state;
  const open =
    review?.state === 'open'
      ? { name: { kind: 'review' } as const, agent: review.reviewer, session: review }
      : option?.state === 'open'
        ? { name: { kind: 'option', number: option.number } as const, agent: option.agent, session: option }
        : null;
  const attempt = open ? latestAttempt(open.session) : undefined;
  return open && attempt?.state === 'running' ? { name: open.name, agent: open.agent, attempt: attempt.number } : null;
}
