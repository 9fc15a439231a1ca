import { takesMessages } from '../agents/adapterNames.ts';
import type { Given } from '../base/fact.ts';
import { count } from '../base/words.ts';
import { isUndecided } from '../experiments/model.ts';
import { latestAttempt } from '../options/evolve.ts';
import { pin } from '../review/selection.ts';
import type { RunState } from '../run/model.ts';
import { runningSession } from '../run/runningSession.ts';
import { explorationEndsAt } from '../run/schedule.ts';
import type { Presence } from './runModel.ts';
import { agentName, expiredLogin, sayElapsed } from './runWords.ts';

/** One thing that can be done now. */
export interface MenuEntry {
  readonly command: string;
  /** `$(icon) Title`. */
  readonly label: string;
  /** What it does. */
  readonly detail: string;
}

/** How things are when the menu is opened. */
export interface MenuScene {
  readonly state: RunState | null;
  readonly presence: Presence;
  readonly trusted: boolean;
  readonly hasContract: boolean;
}

/** Everything that can be done now, the likeliest first; nothing that would be refused. */
export function menuEntries(scene: MenuScene): readonly MenuEntry[] {
  const { state, presence, trusted, hasContract } = scene;
  const running = state !== null && state.phase !== 'finished';
  const start: readonly MenuEntry[] = [
    ...(trusted && hasContract
      ? [
          {
            command: 'hma.start',
            label: '$(play) Start Alternation',
            detail: 'Begins a new run on this folder, as hma.yaml says',
          },
        ]
      : []),
    ...(hasContract
      ? [
          {
            command: 'hma.check',
            label: '$(checklist) Check the Task',
            detail: 'Checks hma.yaml, the agents and the evaluator without starting anything',
          },
        ]
      : []),
    ...(hasContract || !trusted
      ? []
      : [
          {
            command: 'hma.setUp',
            label: '$(new-file) Set Up a Task',
            detail: 'Writes an hma.yaml for this folder, in a few questions',
          },
        ]),
  ];
  if (!running) return [...(state ? afterwards(state, trusted) : []), ...start, ...(state ? looking : [])];
  if (presence === 'lost') return [...(trusted ? [lostResume] : []), ...afterwards(state, trusted), ...looking];
  return [...controls(state, trusted), ...afterwards(state, trusted), ...looking];
}

const lostResume: MenuEntry = {
  command: 'hma.resume',
  label: '$(debug-continue) Resume',
  detail: 'Brings the run’s controller back and goes on',
};

const looking: readonly MenuEntry[] = [
  {
    command: 'hma.showTerminal',
    label: '$(terminal) Show the Session’s Terminal',
    detail: 'What the agent prints, from its recorded output',
  },
  {
    command: 'hma.chooseRun',
    label: '$(history) Show Another Run',
    detail: 'Any run of this folder; nothing of a running one changes',
  },
  {
    command: 'hma.showLog',
    label: '$(output) Show the Controller’s Log',
    detail: 'What the controller did, for when something went wrong',
  },
];

const signIn: MenuEntry = {
  command: 'hma.signIn',
  label: '$(account) Sign In an Agent…',
  detail: 'For HMA alone, with the agent’s own sign-in in a terminal; then resume',
};

function controls(state: RunState, trusted: boolean): MenuEntry[] {
  const exploring = state.phase === 'exploring' && state.explorationEnding === null;
  const open = exploring && state.options.at(-1)?.state === 'open';
  const running = runningSession(state);
  const listener = running && takesMessages.has(state.terms.agents[running.agent].adapter) ? running.agent : null;
  const pause: MenuEntry[] = state.pause
    ? trusted
      ? [
          {
            command: 'hma.resume',
            label: '$(debug-continue) Resume',
            detail: 'Thaws the session; the clock runs again',
          },
        ]
      : []
    : [
        {
          command: 'hma.pause',
          label: '$(debug-pause) Pause',
          detail: 'Freezes the session and stops the clock; a running evaluation finishes',
        },
        ...(state.pauseAfter
          ? [
              {
                command: 'hma.resume',
                label: '$(debug-continue) Don’t Pause at the Next Handoff',
                detail: 'Takes back that the run pauses there',
              },
            ]
          : []),
        ...(exploring && !state.pauseAfter
          ? [
              {
                command: 'hma.pauseAfter',
                label: '$(debug-pause) Pause at the Next Handoff',
                detail: 'The session ends as it would; the next one waits for you',
              },
            ]
          : []),
      ];
  return [
    ...(state.pause && trusted && expiredLogin(state) !== null ? [signIn] : []),
    ...pause,
    ...(open
      ? [
          {
            command: 'hma.handOff',
            label: '$(arrow-swap) Hand Off Now',
            detail: 'Ends this session; the other agent starts with an empty context. Workspace and archive stay',
          },
        ]
      : []),
    ...(listener === null
      ? []
      : [
          {
            command: 'hma.sendMessage',
            label: `$(comment) Send a Message to ${agentName(state, listener)}…`,
            detail: 'It gets it at its next step; the message stays on record',
          },
        ]),
    ...(exploring
      ? [
          {
            command: 'hma.beginReview',
            label: '$(law) Begin the Final Review Now',
            detail: 'Ends exploration early; the time left of it is given up',
          },
        ]
      : []),
    ...(exploring || state.phase === 'reviewing'
      ? [
          {
            command: 'hma.editBudget',
            label: '$(watch) Edit the Remaining Budget…',
            detail: 'More or less time or experiments',
          },
        ]
      : []),
    {
      command: 'hma.stop',
      label: '$(debug-stop) Stop the Run…',
      detail: 'Ends the run for good, without a final review',
    },
  ];
}

/** What more can be found out about candidates once the run is over. */
const measuring = (state: RunState): MenuEntry[] => [
  {
    command: 'hma.reevaluate',
    label: '$(sync) Re-evaluate a Candidate…',
    detail: 'More runs of the evaluator; mean ± standard error stand beside the score',
  },
  ...(state.terms.grades
    ? [
        {
          command: 'hma.gradeAll',
          label: '$(mortar-board) Grade All Candidates…',
          detail: 'By the hidden grader; grades stay hidden until somebody reveals them',
        },
      ]
    : []),
];

function afterwards(state: RunState, trusted: boolean): MenuEntry[] {
  if (state.archive.length === 0) return [];
  return [
    {
      command: 'hma.openReview',
      label: '$(star-full) Open the Final Review',
      detail: 'All candidates side by side; the final one is yours to select',
    },
    ...(trusted
      ? [
          {
            command: 'hma.applyFinal',
            label: '$(check-all) Apply the Final Candidate…',
            detail: 'To the workspace, a new folder or a git branch, after a preview',
          },
        ]
      : []),
    ...(trusted && state.phase === 'finished' ? measuring(state) : []),
    ...(pin(state.selections)
      ? [
          {
            command: 'hma.clearSelection',
            label: '$(pinned-dirty) Clear My Selection…',
            detail: 'The run’s own selection counts again',
          },
        ]
      : []),
  ];
}

/** What a confirmation says. Null = nothing is lost, so nothing is asked. */
export interface Confirmation {
  readonly message: string;
  readonly detail: string;
  readonly button: string;
}

/** What a stop loses; always something. */
export function stopConfirmation(state: RunState): Confirmation {
  const session = workingSession(state);
  const judged = state.experiments.filter(isUndecided).length;
  const lost = [
    ...(session ? [`The session of ${session} is ended where it is.`] : []),
    ...(judged > 0 ? [`${count(judged, 'experiment')} being evaluated ${judged === 1 ? 'is' : 'are'} cancelled.`] : []),
    state.phase === 'exploring' || state.phase === 'reviewing'
      ? 'There is no final review, and the run can’t be resumed.'
      : 'The run can’t be resumed.',
    state.archive.length === 0
      ? 'There is no candidate yet.'
      : `${count(state.archive.length, 'candidate')} and the workspace stay.`,
  ];
  return { message: 'Stop the run?', detail: lost.join(' '), button: 'Stop the Run' };
}

/** What is lost by beginning the review now: a session in mid-work; null when none is at work. */
export function reviewConfirmation(state: RunState, given: Given): Confirmation | null {
  const session = workingSession(state);
  if (session === null) return null;
  const left = Math.max(0, explorationEndsAt(state, given) - given.active);
  const skipped =
    state.archive.length < 2 ? ' With fewer than two candidates there is nothing to review, and the run ends.' : '';
  const detail = `The session of ${session} is ended in mid-work; what it has submitted is still evaluated. ${sayElapsed(left, true)} of exploration are given up.${skipped}`;
  return { message: 'Begin the final review now?', detail, button: 'Begin the Final Review' };
}

/** The session whose work would be cut off, in words; null when none is at work. */
function workingSession(state: RunState): string | null {
  if (state.phase === 'reviewing' && state.review?.state === 'open' && latestAttempt(state.review)?.state !== 'ended')
    return `the reviewer ${agentName(state, state.review.reviewer)}`;
  const option = state.options.at(-1);
  const latest = option && latestAttempt(option);
  if (state.phase !== 'exploring' || option?.state !== 'open' || latest?.state === 'ended') return null;
  return `${agentName(state, option.agent)} in option ${option.number}`;
}
