import { failures, outcomes } from './agents.ts';
import { rejections } from './experiments.ts';
import type { Explanation } from './explanation.ts';
import { closures, ends, notices, pauses } from './runs.ts';

/** Words of one kind. */
export interface ExplainedWords {
  /** What such a word is called, such as `pause`. */
  readonly kind: string;
  readonly title: string;
  /** Where a person sees them, in Markdown. */
  readonly where: string;
  readonly words: Readonly<Record<string, Explanation>>;
}

/** The words that a run uses of itself, in the order in which a night meets them: `hma explain` knows these. */
export const wordSections: readonly ExplainedWords[] = [
  {
    kind: 'rejection',
    title: 'Why an experiment was rejected',
    where:
      'The agent reads `e7: rejected (timeout): …` as its receipt (in blind tasks fixed words instead), you read it in `hma log`, `hma show e7` and the Run view. Rejected experiments count towards no cap and no budget; hma goes on.',
    words: rejections,
  },
  {
    kind: 'failure',
    title: 'Why an attempt failed',
    where:
      '`hma log`, `hma show` and the Run view, in words: "usage limit", "login expired". What follows is decided by `failures` in `hma.yaml`: [failures.md](failures.md). In the final review nobody waits.',
    words: failures,
  },
  {
    kind: 'closure',
    title: 'Why an option ended',
    where: 'At each handoff in `hma log` and the Run view. The other agent goes on, or the review follows.',
    words: closures,
  },
  {
    kind: 'end of exploration',
    title: 'Why exploration ended',
    where: '`hma log`, `hma status` and the review page. The final review follows, except after `stopped`.',
    words: ends,
  },
  {
    kind: 'pause',
    title: 'Why a run is paused',
    where:
      '`hma status`, the Run view, the status bar and notifications: "paused: disk low", with a detail. The clock stands, the session is frozen, submissions are refused; an evaluation that runs is finished. `hma resume` ends any pause.',
    words: pauses,
  },
  {
    kind: 'notice',
    title: 'Notices',
    where:
      'Lines in `hma log` and `hma watch`, and *Notices* in the Run view. The code is in the ledger (`run.noticed`). A run goes on after a notice.',
    words: notices,
  },
  {
    kind: 'outcome of the review',
    title: 'How the final review came out',
    where: '`hma status`, `hma log` and the review page. A person’s selection holds in every case.',
    words: outcomes,
  },
];
