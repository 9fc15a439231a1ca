import type { RunFact } from '../run/events.ts';
import type { RunState } from '../run/model.ts';
import type { Given } from '../base/fact.ts';
import type { Intent, IntentReply } from '../protocol/client.ts';
import { takesMessages } from '../agents/adapterNames.ts';
import { pin } from '../review/selection.ts';
import { decideBudget } from '../run/budget.ts';
import { runningSession } from '../run/runningSession.ts';
import type { Room } from './room.ts';
import { deliverMessages } from './messages.ts';
import { newNonce } from './sessionFolders.ts';
import { intendEnd } from './sessions.ts';

/** Carries out what a person wants, or says why it can't be: in words, with nothing changed. */
export function carryOut(room: Room, intent: Intent): IntentReply {
  const { recorder } = room;
  if (intent.kind === 'handoff') return handOff(room);
  if (intent.kind === 'message') return sendMessage(room, intent);
  const decided = decideIntent(recorder.state, intent, recorder.given());
  if ('reason' in decided) return { done: false, ...decided };
  recorder.append(decided.facts);
  return { done: true, seq: recorder.state.seq };
}

function handOff(room: Room): IntentReply {
  const { recorder } = room;
  const option = recorder.state.options.at(-1);
  if (option?.state !== 'open')
    return { done: false, reason: 'no_option', text: 'no option is open: there is nothing to hand over' };
  intendEnd(room, { kind: 'option', number: option.number, reason: 'handoff' });
  return { done: true, seq: recorder.state.seq };
}

/** Records a person's message to the session that runs, then hands it over. */
function sendMessage(room: Room, { text, by }: Extract<Intent, { kind: 'message' }>): IntentReply {
  const { recorder, contract } = room;
  const session = runningSession(recorder.state);
  if (!session)
    return { done: false, reason: 'no_session', text: 'no session runs now: there is nobody to take a message' };
  const { name, agent, attempt } = session;
  const choice = contract.agents[agent];
  if (!takesMessages.has(choice.adapter))
    return {
      done: false,
      reason: 'no_steering',
      text: `${choice.name} takes no message in mid-session (adapter ${choice.adapter}); write it to a file in the workspace, or hand over with hma handoff`,
    };
  const data = { session: name, attempt, id: newNonce(), text, by };
  recorder.append([{ type: 'message.sent', data }]);
  deliverMessages(room);
  return { done: true, seq: recorder.state.seq };
}

/** What a person can still do when the run is over. */
const afterTheEnd: ReadonlySet<Intent['kind']> = new Set([
  'select',
  'clearSelection',
  'revealGrades',
  'grade',
  'reevaluate',
  'disqualify',
]);

type Decided = { readonly facts: readonly RunFact[] } | { readonly reason: string; readonly text: string };

/** Decides an intent on the state; pure. An intent that is fulfilled already has no facts. */
export function decideIntent(
  state: RunState,
  intent: Exclude<Intent, { kind: 'handoff' | 'message' }>,
  given: Given,
): Decided {
  const no = (reason: string, text: string): Decided => ({ reason, text });
  const { by } = intent;
  if (state.phase === 'finished' && !afterTheEnd.has(intent.kind))
    return no('finished', 'the run is over; only the selection can still be changed');
  switch (intent.kind) {
    case 'pause':
      if (state.pause) return { facts: [] };
      if (intent.after && (state.review || state.phase === 'concluding'))
        return no('no_boundary', 'there is no boundary after the final review; pause without --after to pause now');
      if (intent.after)
        return { facts: state.pauseAfter ? [] : [{ type: 'run.pauseAfter', data: { wanted: true, by } }] };
      return { facts: [{ type: 'run.paused', data: { reason: 'requested', detail: `paused by ${by}`, by } }] };
    case 'resume':
      if (!state.pause)
        return { facts: state.pauseAfter ? [{ type: 'run.pauseAfter', data: { wanted: false, by } }] : [] };
      return { facts: [{ type: 'run.resumed', data: { by } }] };
    case 'review':
      if (state.phase !== 'exploring') return no('not_exploring', 'exploration is over already');
      return {
        facts: state.explorationEnding ? [] : [{ type: 'exploration.ending', data: { reason: 'requested', by } }],
      };
    case 'stop':
      if (state.explorationEnding === 'stopped' && !state.pause) return { facts: [] };
      return {
        facts: [
          { type: 'run.stopping', data: { by } },
          ...(state.pause ? [{ type: 'run.resumed', data: { by } } as const] : []),
        ],
      };
    case 'budget':
      return decideBudget(state, intent, given);
    case 'select':
      if (!state.archive.some(({ id }) => id === intent.candidate)) return unknownCandidate(intent.candidate);
      if (state.archive.find(({ id }) => id === intent.candidate)?.disqualified)
        return no(
          'disqualified',
          `${intent.candidate} is disqualified; hma disqualify ${intent.candidate} --undo first`,
        );
      return {
        facts: [
          {
            type: 'candidate.selected',
            data: {
              candidate: intent.candidate,
              by: 'person',
              who: by,
              reason: intent.reason,
              gradesRevealed: state.gradesRevealed,
            },
          },
        ],
      };
    case 'grade':
    case 'reevaluate':
      return decideErrands(state, intent);
    case 'disqualify':
      return decideDisqualification(state, intent);
    case 'revealGrades':
      return { facts: state.gradesRevealed ? [] : [{ type: 'grades.revealed', data: { who: by } }] };
    case 'clearSelection':
      if (!pin(state.selections))
        return no('no_selection', 'no person has selected a candidate: there is nothing to clear');
      return {
        facts: [
          { type: 'selection.cleared', data: { who: by, reason: intent.reason, gradesRevealed: state.gradesRevealed } },
        ],
      };
  }
}

const unknownCandidate = (id: string): Decided => ({
  reason: 'unknown_candidate',
  text: `there is no candidate ${id}; see hma candidates`,
});

/** Grading and evaluating once more wait for the end: they would compete with the agents for the machine. */
function decideErrands(state: RunState, intent: Extract<Intent, { kind: 'grade' | 'reevaluate' }>): Decided {
  if (state.phase !== 'finished')
    return { reason: 'not_over', text: `the run is not over; ${intent.kind} works after its end` };
  const { archive } = state;
  if (intent.kind === 'reevaluate') {
    const { candidate, times, by } = intent;
    if (!archive.some(({ id }) => id === candidate)) return unknownCandidate(candidate);
    const errand = { kind: 'reevaluate', candidate } as const;
    return { facts: [{ type: 'errands.wanted', data: { errands: Array.from({ length: times }, () => errand), by } }] };
  }
  if (!state.terms.grades) return { reason: 'no_grader', text: 'this task has no hidden grader (`grade` in hma.yaml)' };
  const unknown = intent.candidates.find((wanted) => !archive.some(({ id }) => id === wanted));
  if (unknown !== undefined) return unknownCandidate(unknown);
  const wanted = archive.filter(({ id }) => intent.candidates.length === 0 || intent.candidates.includes(id));
  const errands = wanted
    .filter(({ grade }) => intent.again || grade?.kind !== 'graded')
    .map(({ id }) => ({ kind: 'grade', candidate: id }) as const);
  return { facts: errands.length === 0 ? [] : [{ type: 'errands.wanted', data: { errands, by: intent.by } }] };
}

function decideDisqualification(state: RunState, intent: Extract<Intent, { kind: 'disqualify' }>): Decided {
  const { candidate: id, undo, reason, by: who } = intent;
  const candidate = state.archive.find((one) => one.id === id);
  if (!candidate) return unknownCandidate(id);
  if (undo === (candidate.disqualified === undefined)) return { facts: [] };
  return { facts: [{ type: undo ? 'candidate.requalified' : 'candidate.disqualified', data: { id, reason, who } }] };
}
