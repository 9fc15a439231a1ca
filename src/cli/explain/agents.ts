import type { FailureReason } from '../../agents/port.ts';
import type { ReviewOutcome } from '../../review/model.ts';
import { nothing, type Explanation } from './explanation.ts';

const seeOutput = '`hma log --session 3` shows what it printed.';

/** Why an attempt is no natural end. */
export const failures: Readonly<Record<FailureReason, Explanation>> = {
  usage_limit: {
    means: "The plan's or the key's limit is reached.",
    did: 'By `failures.usageLimit`: waits for the reset that was told, hands over, or pauses. With both agents out it pauses until the earlier reset and goes on by itself.',
    you: nothing,
  },
  login_expired: {
    means: 'The provider refuses the login or the key.',
    did: 'No further attempt. The other agent goes on; where it cannot, the run pauses.',
    you: '`hma login NAME`, or renew the key (`hma secrets set NAME`); then `hma resume` if it is paused.',
  },
  model_not_found: {
    means: 'The provider does not know `model`, or the account may not use it.',
    did: 'No further attempt, and never another model by itself.',
    you: 'Correct `model` in `hma.yaml` and start another run: the contract of a run is frozen.',
  },
  overloaded: {
    means: 'The provider said that it is overloaded, or to come back later.',
    did: 'Another attempt after a wait that doubles; a told Retry-After at least.',
    you: nothing,
  },
  network: {
    means: 'The provider could not be reached.',
    did: 'Another attempt after a wait that doubles.',
    you: 'If it lasts: proxy, firewall, `baseUrl`. `hma check` looks at the network from inside a session.',
  },
  context_overflow: {
    means: "The session's context is full.",
    did: 'Another attempt at once: it begins with an empty context.',
    you: nothing,
  },
  out_of_memory: {
    means: 'The kernel ended the program because memory ran out.',
    did: 'Another attempt after a wait that doubles.',
    you: 'Less beside it on this machine; say in the objective how much memory there is.',
  },
  stall: {
    means:
      'No output, no CPU and no GPU in the whole session for `stall` (30 min), or a question that nobody answered for two minutes.',
    did: 'Ended it; another attempt.',
    you: `Nothing. ${seeOutput} Raise \`stall\` if it only waited for something far away.`,
  },
  crash: {
    means: 'The program ended with an error that says none of the other reasons.',
    did: 'Another attempt after a wait that doubles, as often as `failures.attempts`.',
    you: seeOutput,
  },
  not_started: {
    means: 'The program could not be started: not found, not executable, or its isolation failed.',
    did: 'Another attempt after a wait that doubles.',
    you: '`hma check` says what is missing.',
  },
  runner_lost: {
    means: 'The small process around the session is gone: killed, or the machine restarted.',
    did: 'Ended what was left of it; another attempt.',
    you: nothing,
  },
  after_thaw: {
    means: 'The session died within a minute after a pause: connections that stood still too long.',
    did: 'Another attempt at once, which counts for nothing.',
    you: nothing,
  },
};

/** How the final review came out. */
export const outcomes: Readonly<Record<ReviewOutcome, Explanation>> = {
  chosen: {
    means: 'The reviewer nominated another candidate than the standing one.',
    you: 'Read its reason (`hma status`); agree or `hma select`.',
  },
  endorsed: { means: 'The reviewer looked, and nominated the standing candidate.', you: 'The same.' },
  silent: {
    means: 'The reviewer ended without a nomination.',
    did: 'Asked once more if a third of the window was left; then selected the fallback (`fallback`: the standing candidate, or the record).',
    you: 'Choose yourself: `hma candidates --sort score`, `hma select ID --reason "…"`.',
  },
  crashed: {
    means: "The reviewer's session failed.",
    did: 'As for silent; not asked again where it would fail in the same way (usage limit, login, model).',
    you: '`hma log --session review` shows its output. Choose yourself.',
  },
  late: {
    means: 'The window closed without a nomination.',
    did: 'Selected the fallback.',
    you: 'Choose yourself; give more `budgets.review` next time.',
  },
  invalid: {
    means: 'All its ballots were invalid: an unknown or disqualified candidate, or no reason.',
    did: 'Told the reviewer each time; selected the fallback.',
    you: 'Choose yourself.',
  },
  skipped: {
    means: 'There was no review: fewer than two candidates, a single agent, or the run was stopped.',
    did: 'Selected the fallback, if there is a candidate.',
    you: nothing,
  },
};
