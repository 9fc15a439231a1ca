import type { FailureReason } from '../../src/agents/port.ts';
import type { Flag, RejectionCode } from '../../src/experiments/model.ts';
import type { Tier } from '../../src/machines/port.ts';
import type { Closure } from '../../src/options/model.ts';
import type { Intent } from '../../src/protocol/client.ts';
import type { ReviewOutcome } from '../../src/review/model.ts';
import type { ExplorationEnd, PauseReason, Phase } from '../../src/run/model.ts';

/*
 * What each value of the protocol's closed lists means, for docs/protocol.md. The types hold the lists: a value without a meaning, or a
 * meaning without its value, doesn't compile.
 */

const rejectionCodes: Readonly<Record<RejectionCode, string>> = {
  invalid: 'the candidate is wrong in form, by the evaluator or because its files could not be taken',
  incorrect: 'it runs, and fails the correctness check',
  duplicate: 'the same files as a candidate of another session',
  timeout: 'the evaluator ran out of time',
  non_finite: 'the score was NaN or infinite',
  late: 'it came, or its verdict did, after the end of exploration',
  cap_reached: 'the session has as many accepted experiments as it may have',
  budget_reached: 'the run has',
  evaluator_error:
    'the evaluator failed by its own fault, or the submission could not be kept; the agent may submit again',
  tampered: 'a protected file was changed',
  unstable: 'files changed while they were read, three times',
  too_large: 'more bytes or files than the contract allows',
  paused: 'the run is paused; submit again later',
  cancelled: 'a person stopped the run',
  in_review: 'the final review has begun',
  not_your_turn: "the token is no open session's",
};

const closures: Readonly<Record<Closure, string>> = {
  natural: 'the agent ended by itself',
  cap: 'as many experiments were accepted as a session may have; also where the agent ended itself then',
  deadline: 'exploration is over',
  budget: 'the run has as many accepted experiments, tokens or dollars as it may have',
  handoff: 'a person asked for the other agent',
  stopped: 'a person stopped the run',
  failed: 'its last attempt failed, and the failure policy grants no other',
  stalled: 'nothing of it moved for too long, and the failure policy grants no other attempt',
};

const explorationEnds: Readonly<Record<ExplorationEnd, string>> = {
  deadline: 'its time is over',
  budget: 'experiments, tokens or dollars are used up',
  barren: 'too many options in a row without an accepted experiment (`stopAfterBarren`)',
  requested: 'a person asked for the review',
  stopped: 'a person stopped the run',
};

const pauseReasons: Readonly<Record<PauseReason, string>> = {
  requested: 'a person asked',
  disk_low: 'less free space than the floor; goes on by itself when there is room',
  agent_failed: 'attempts failed, and the contract says to pause then',
  usage_limit: 'no agent may be used before its reset',
  agents_end_at_once: 'options end within seconds, one after the other',
  evaluator_broken: 'the evaluator fails on files that are known to work',
  survivors: "processes of a session could not be ended; the next one doesn't start beside them",
  workspace_gone: 'the workspace can not be reached',
  start_failed: 'a program could not be started',
  state_unwritable: 'the state folder can not be written',
};

const failureReasons: Readonly<Record<FailureReason, string>> = {
  usage_limit: "the account's limit is reached; `resetAt` says until when, where it was told",
  login_expired: 'the sign-in or key is no longer taken',
  model_not_found: 'the model is not known or not allowed',
  overloaded: "the model's provider turned calls away",
  network: 'the provider could not be reached',
  context_overflow: 'the context is full',
  out_of_memory: 'the kernel ended it for memory',
  stall: 'no output, CPU or GPU use in its whole tree for too long',
  crash: 'it ended with an error that is none of the others',
  not_started: 'its program could not be started',
  runner_lost: 'its runner vanished',
  after_thaw: 'it died within a minute of a pause’s end; another attempt is granted',
};

const reviewOutcomes: Readonly<Record<ReviewOutcome, string>> = {
  chosen: 'the reviewer nominated another candidate than the standing one',
  endorsed: 'it nominated the standing one',
  silent: 'it ended without a ballot',
  crashed: 'it failed',
  late: 'it did not end in time and had cast no valid ballot',
  invalid: 'it cast ballots, and none was valid',
  skipped: 'there was none: fewer than two candidates, one agent alone, or the run was stopped',
};

const flags: Readonly<Record<Flag, string>> = {
  out_of_range: 'the score lies outside the range that the contract names',
};

const tiers: Readonly<Record<Tier, string>> = {
  bubblewrap: 'namespaces of its own, by bubblewrap',
  uid: 'an unused user id of its own',
  none: 'nothing: it can reach what the user can',
};

const phases: Readonly<Record<Phase, string>> = {
  exploring: 'options follow each other',
  reviewing: 'the final review',
  concluding: 'selection is done; hidden grading goes on',
  finished: 'over',
};

/** Meanings by the name of their type. */
export const meanings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  RejectionCode: rejectionCodes,
  Closure: closures,
  ExplorationEnd: explorationEnds,
  PauseReason: pauseReasons,
  FailureReason: failureReasons,
  ReviewOutcome: reviewOutcomes,
  Flag: flags,
  Tier: tiers,
  Phase: phases,
};

/** What each intent leads to, and by which `reason` it can be refused besides `finished`. */
export const intents: Readonly<
  Record<Intent['kind'], { readonly does: string; readonly refusals: readonly string[] }>
> = {
  pause: {
    does: 'Stops the clock and freezes the session; with `after` at the next option boundary. Leads to `run.paused` or `run.pauseAfter`.',
    refusals: ['no_boundary'],
  },
  resume: { does: 'Goes on, and takes an intended pause back. Leads to `run.resumed`.', refusals: [] },
  handoff: {
    does: 'Ends the present session; the other agent is next. Leads to `option.ending`.',
    refusals: ['no_option'],
  },
  message: {
    does: 'A message to the running session, where its harness can take one. Leads to `message.sent`.',
    refusals: ['no_session', 'no_steering'],
  },
  review: {
    does: 'Ends exploration; the final review is next. Leads to `exploration.ending`.',
    refusals: ['not_exploring'],
  },
  stop: { does: 'Ends the run without a review. Leads to `run.stopping`.', refusals: [] },
  budget: {
    does: 'Changes what is named of the budgets; what is absent stays. Leads to `budget.changed`.',
    refusals: ['exploration_over', 'review_too_long', 'time_spent', 'until_past', 'experiments_spent', 'tokens_spent'],
  },
  select: {
    does: 'Makes a candidate the final one; also after the end. Leads to `candidate.selected`.',
    refusals: ['unknown_candidate', 'disqualified'],
  },
  revealGrades: {
    does: 'Shows hidden grades from now on; also after the end. Leads to `grades.revealed`.',
    refusals: [],
  },
  grade: {
    does: 'Hidden grading, after the end only; no candidates named = all. Leads to `errands.wanted`.',
    refusals: ['not_over', 'no_grader', 'unknown_candidate'],
  },
  reevaluate: {
    does: 'More runs of the evaluator on one candidate, after the end only. Leads to `errands.wanted`.',
    refusals: ['not_over', 'unknown_candidate'],
  },
  disqualify: {
    does: 'Marks a candidate as one that must not be chosen, or takes that back; also after the end. Leads to `candidate.disqualified` or `candidate.requalified`.',
    refusals: ['unknown_candidate'],
  },
  clearSelection: {
    does: "Takes a person's selection away; also after the end. Leads to `selection.cleared`.",
    refusals: ['no_selection'],
  },
};
