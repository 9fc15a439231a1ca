import { nothing, type Explanation } from '../../src/cli/explain/explanation.ts';
import type { ExplainedWords } from '../../src/cli/explain/sections.ts';
import type { Telling } from '../../src/window/notificationsDecide.ts';
import type { Presence } from '../../src/window/runModel.ts';

/** Notifications of the window, by the setting that switches each. */
const tellings: Readonly<Record<Telling['kind'], Explanation>> = {
  handoff: {
    means: '"Option 3 by … ended (cap). Option 4 begins: …" (off unless you switch it on).',
    you: '*Show Terminal* shows the new session.',
  },
  paused: {
    means:
      '"The run has paused and needs you: …", "The run has paused at the handoff, as it was asked to.", or "No controller looks after the run any more".',
    you: 'Do what the words say, then *Resume*; *Show Log* has more. A pause that you asked for yourself is not told.',
  },
  reviewReady: {
    means: '"The final review is ready: … nominated e9 (chosen).", or that it is over without a nomination.',
    you: '*Open the Final Review*.',
  },
  finished: {
    means: '"The run is over. e9 is the final candidate, selected by …", or that there is no candidate and why.',
    you: '*Open the Final Review*, where you can choose otherwise; *Apply the Final Candidate*.',
  },
};

/** What the head of the Run view says where it isn't plain that all is well. */
const presences: Readonly<Record<Exclude<Presence, 'none' | 'over'>, Explanation>> = {
  connecting: { means: '"The run is starting."', you: nothing },
  live: {
    means: '"Paused by …" or "Paused: …": the run is paused, by whom or why.',
    you: 'See "Why a run is paused"; *Resume*.',
  },
  away: {
    means:
      '"The controller is away and is expected back by itself." Agents and evaluations go on meanwhile; what is shown is from before.',
    you: nothing,
  },
  lost: {
    means:
      '"No controller looks after this run any more." Controller and keeper are gone, or the keeper gave up. Nothing is lost.',
    you: '*Resume*. The reason, where one is known, stands behind it.',
  },
};

/** What only the window says. */
export const windowSections: readonly ExplainedWords[] = [
  {
    kind: 'notification of the window',
    title: 'Notifications in VS Code',
    where:
      'One at a time: what happens within two seconds is told as one, the weightiest. The settings `hma.notifications.handoff`, `.paused`, `.reviewReady`, `.finished` switch each.',
    words: tellings,
  },
  {
    kind: 'state of the view',
    title: 'What the Run view says at its head',
    where: 'Above the tree, and in the status bar: "HMA: no controller", "controller away".',
    words: presences,
  },
];
