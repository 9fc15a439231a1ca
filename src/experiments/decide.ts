import type { Given } from '../base/fact.ts';
import type { RunFact } from '../run/events.ts';
import type { RunState } from '../run/model.ts';
import { capOf, experimentsLeft, explorationEndsAt, verdictsEndAt } from '../run/schedule.ts';
import type { Option } from '../options/model.ts';
import {
  isUndecided,
  type CapturedFiles,
  type Evaluation,
  type Experiment,
  type Flag,
  type RejectionCode,
} from './model.ts';

/** A refusal of the gate: the code, and words for the agent. */
export interface GateRefusal {
  readonly code: RejectionCode;
  readonly reason: string;
}

/** Who is calling, known by the token alone (invariant 5). */
export type Caller =
  | { readonly kind: 'option'; readonly option: number }
  | { readonly kind: 'review' }
  | { readonly kind: 'unknown' };

const refusal = (code: RejectionCode, reason: string): GateRefusal => ({ code, reason });

/** Recognizes a token by its hash. A token of an earlier option is `unknown` to the gate: it isn't that option's turn any more. */
export function callerOf(state: RunState, tokenHash: string): Caller {
  if (state.review?.tokenHash === tokenHash && state.review.state !== 'closed') return { kind: 'review' };
  const option = state.options.at(-1);
  return option?.tokenHash === tokenHash && state.phase === 'exploring'
    ? { kind: 'option', option: option.number }
    : { kind: 'unknown' };
}

/**
 * Whether a submission may be taken at all; null = yes. Asked before the capture and again after it. The cap and the deadline are
 * judged here and once more at the commit (invariant 2).
 */
export function admit(state: RunState, caller: Caller, given: Given): GateRefusal | null {
  if (state.phase === 'finished') return refusal('not_your_turn', 'the run is over');
  if (caller.kind === 'review')
    return refusal('in_review', 'the final review takes no submissions; nominate a candidate instead');
  if (caller.kind === 'unknown') return refusal('not_your_turn', 'this session is not the one whose turn it is');
  const option = state.options.at(-1);
  if (!option || option.number !== caller.option || option.state === 'closed')
    return refusal('not_your_turn', 'this option is over');
  if (state.explorationEnding === 'stopped') return refusal('cancelled', 'the run is being stopped');
  if (option.accepted.length >= capOf(state)) return refusal('cap_reached', 'this session takes no more experiments');
  if (experimentsLeft(state) <= 0) return refusal('budget_reached', 'the run takes no more experiments');
  if (given.active >= explorationEndsAt(state, given)) return refusal('late', 'exploration is over');
  if (option.state !== 'open' || state.explorationEnding) return refusal('not_your_turn', 'this option is ending');
  if (state.pause) return refusal('paused', 'the run is paused; submit again when it goes on');
  if (undecided(state).length >= state.terms.limits.queue)
    return refusal('paused', 'too many submissions are waiting; submit again when some are decided');
  return null;
}

/** Experiments not decided yet, in order of submission. */
export const undecided = (state: RunState): readonly Experiment[] => state.experiments.filter(isUndecided);

/**
 * What a captured submission becomes: the answer of an equal one of the same option (a lost reply is read back by asking again),
 * or new facts. A submission equal to another option's candidate is a `duplicate`.
 */
export function decideSubmission(
  state: RunState,
  submission: {
    option: Option;
    attempt: number;
    note: string | null;
    reported: number | null;
    request?: string;
    captured: CapturedFiles;
    tampered: readonly string[];
  },
):
  | { readonly kind: 'known'; readonly id: string }
  | { readonly kind: 'new'; readonly id: string; readonly facts: readonly RunFact[] } {
  const { option, attempt, note, reported, captured, tampered } = submission;
  const again = sentBefore(state, option, submission.request);
  if (again !== null) return { kind: 'known', id: again };
  const same = state.experiments.find(
    (e) =>
      e.option === option.number &&
      e.captured?.contentHash === captured.contentHash &&
      (isUndecided(e) || e.state === 'accepted'),
  );
  if (same) return { kind: 'known', id: same.id };
  const id = nextId(state);
  const submitted: RunFact = {
    type: 'experiment.submitted',
    data: {
      id,
      option: option.number,
      agent: option.agent,
      attempt,
      note,
      reported,
      captured,
      ...named(submission.request),
    },
  };
  const reject = (code: RejectionCode, reason: string): RunFact => ({
    type: 'experiment.rejected',
    data: { id, option: option.number, code, reason, score: null },
  });
  if (tampered.length > 0) {
    const names = tampered.join(', ');
    const noticed: RunFact = {
      type: 'run.noticed',
      data: {
        level: 'warning',
        code: 'tampered',
        text: `${id} by ${state.terms.agents[option.agent].name} was refused: protected files were changed (${names})`,
      },
    };
    return {
      kind: 'new',
      id,
      facts: [
        submitted,
        reject(
          'tampered',
          `protected files were changed: ${names}; get the original with: hma archive get protected PATH`,
        ),
        noticed,
      ],
    };
  }
  const twin = state.archive.find((candidate) => candidate.contentHash === captured.contentHash);
  if (twin)
    return {
      kind: 'new',
      id,
      facts: [submitted, reject('duplicate', `the same files are candidate ${twin.id} already`)],
    };
  return { kind: 'new', id, facts: [submitted] };
}

/** The experiment that this very call of the option brought before; its answer was lost, whatever became of it. */
export const sentBefore = (state: RunState, option: Option, request: string | undefined): string | null =>
  (request === undefined
    ? undefined
    : state.experiments.find((e) => e.option === option.number && e.request === request)?.id) ?? null;

const named = (request: string | undefined) => (request === undefined ? {} : { request });

/** A submission whose files could not be captured: an experiment without files, rejected at once. */
export function decideUncaptured(
  state: RunState,
  submission: {
    option: Option;
    attempt: number;
    note: string | null;
    reported: number | null;
    request?: string;
    code: RejectionCode;
    reason: string;
  },
) {
  const { option, attempt, note, reported, code, reason } = submission;
  const id = nextId(state);
  const facts: RunFact[] = [
    {
      type: 'experiment.submitted',
      data: {
        id,
        option: option.number,
        agent: option.agent,
        attempt,
        note,
        reported,
        captured: null,
        ...named(submission.request),
      },
    },
    { type: 'experiment.rejected', data: { id, option: option.number, code, reason, score: null } },
  ];
  return { id, facts };
}

/** Numbers go on from the earlier run's highest, so that an id is used once along a chain of runs. */
const nextId = (state: RunState): string => `e${(state.from?.experiments ?? 0) + state.experiments.length + 1}`;

/** What the evaluation lane has to do next about the head of the queue. */
export type EvaluationStep =
  | { readonly do: 'nothing' }
  | { readonly do: 'record'; readonly facts: readonly RunFact[] }
  | { readonly do: 'startEvaluation'; readonly id: string; readonly kind: Evaluation['kind'] }
  | { readonly do: 'watchEvaluation'; readonly id: string; readonly nonce: string }
  /** Take its verdict if it came in time, else end it and reject with `code`. */
  | {
      readonly do: 'abandonEvaluation';
      readonly id: string;
      readonly nonce: string;
      readonly code: RejectionCode;
      readonly reason: string;
    };

/** Decides the head of the queue: submissions are judged one at a time, in order of submission. */
export function nextEvaluationStep(state: RunState, given: Given): EvaluationStep {
  const head = undecided(state)[0];
  if (!head) return { do: 'nothing' };
  const running = head.evaluations.at(-1);
  const fate = sealedFate(state, head, given);
  if (running && running.verdict === null) {
    return fate
      ? { do: 'abandonEvaluation', id: head.id, nonce: running.nonce, ...fate }
      : { do: 'watchEvaluation', id: head.id, nonce: running.nonce };
  }
  if (running) {
    const judged = judge(state, head, given);
    if (judged.do !== 'startEvaluation') return judged;
    if (!fate) return state.pause ? { do: 'nothing' } : judged;
  }
  if (fate) return { do: 'record', facts: [rejected(head, fate.code, fate.reason)] };
  if (state.pause) return { do: 'nothing' };
  return { do: 'startEvaluation', id: head.id, kind: 'evaluate' };
}

/** A fate that no verdict can change any more; null while the race is open. */
function sealedFate(state: RunState, experiment: Experiment, given: Given): GateRefusal | null {
  const option = state.options[experiment.option - 1];
  if (state.explorationEnding === 'stopped') return refusal('cancelled', 'the run was stopped');
  if (option && option.accepted.length >= capOf(state))
    return refusal('cap_reached', 'the session had no experiments left');
  if (experimentsLeft(state) <= 0) return refusal('budget_reached', 'the run had no experiments left');
  if (given.active >= verdictsEndAt(state, given)) return refusal('late', 'no verdict before the end of exploration');
  return null;
}

const rejected = (
  experiment: Experiment,
  code: RejectionCode,
  reason: string,
  score: number | null = null,
): RunFact => ({
  type: 'experiment.rejected',
  data: { id: experiment.id, option: experiment.option, code, reason, score },
});

/** Judges an experiment whose latest evaluation has ended. */
function judge(state: RunState, experiment: Experiment, given: Given): EvaluationStep {
  const { id } = experiment;
  const record = (...facts: RunFact[]): EvaluationStep => ({ do: 'record', facts });
  const runs = experiment.evaluations.filter((e) => e.kind === 'evaluate');
  const control = experiment.evaluations.find((e) => e.kind === 'control' && e.verdict?.kind !== 'lost');
  const last = runs.at(-1)?.verdict;
  if (!last) return { do: 'startEvaluation', id, kind: 'evaluate' };
  switch (last.kind) {
    case 'invalid':
      return record(rejected(experiment, 'invalid', last.reason));
    case 'incorrect':
      return record(rejected(experiment, 'incorrect', last.reason, last.score ?? null));
    case 'non_finite':
      return record(rejected(experiment, 'non_finite', `the score was ${last.text}`));
    case 'timeout':
      return record(rejected(experiment, 'timeout', `no verdict within ${Math.round(last.afterMs / 1000)} s`));
    case 'lost':
      return runs.filter((run) => run.verdict?.kind === 'lost').length < 2
        ? { do: 'startEvaluation', id, kind: 'evaluate' }
        : record(rejected(experiment, 'evaluator_error', 'the evaluation was lost twice'));
    case 'no_result':
      return judgeByControl({ state, experiment, control, detail: last.detail });
    case 'scored':
      return judgeScored(state, experiment, given);
  }
}

function judgeByControl(given: {
  state: RunState;
  experiment: Experiment;
  control: Evaluation | undefined;
  detail: string;
}): EvaluationStep {
  const { state, experiment, control, detail } = given;
  const reference = state.archive.at(-1)?.snapshot ?? state.initial;
  const reject = (code: RejectionCode, reason: string): EvaluationStep => ({
    do: 'record',
    facts: [rejected(experiment, code, reason)],
  });
  if (reference === null)
    return reject(
      'evaluator_error',
      `the evaluator gave no result (${detail}), and there are no earlier files to try it on`,
    );
  if (!control) {
    const lost = experiment.evaluations.filter((e) => e.kind === 'control').length;
    return lost < 2
      ? { do: 'startEvaluation', id: experiment.id, kind: 'control' }
      : reject('evaluator_error', 'the control run was lost twice');
  }
  return control.verdict?.kind === 'scored'
    ? reject('invalid', `the evaluator gave no result on these files (${detail}), but did on earlier ones`)
    : brokenEvaluator(
        state,
        rejected(experiment, 'evaluator_error', `the evaluator gave no result (${detail}), nor on earlier files`),
      );
}

/** Evaluator errors in a row, none of them an agent's fault, after which only a person can help. */
const errorsToPause = 3;

/** One more evaluator error; the last of several in a row pauses the run, since every experiment until then is lost work. */
function brokenEvaluator(state: RunState, error: RunFact): EvaluationStep {
  const decided = state.experiments
    .filter((e) => !isUndecided(e) && 'decidedAt' in e && e.decidedAt >= (state.resumedAt ?? 0))
    .slice(1 - errorsToPause);
  const inARow =
    decided.length === errorsToPause - 1 &&
    decided.every((e) => e.state === 'rejected' && e.code === 'evaluator_error');
  if (!inARow || state.pause) return { do: 'record', facts: [error] };
  const detail = `the evaluator gave no result ${errorsToPause} times in a row, on earlier files neither; mend it (its output is in the run folder, evaluations/), then resume`;
  return {
    do: 'record',
    facts: [error, { type: 'run.paused', data: { reason: 'evaluator_broken', detail, by: 'hma' } }],
  };
}

function judgeScored(state: RunState, experiment: Experiment, given: Given): EvaluationStep {
  const runs = experiment.evaluations.filter((e) => e.kind === 'evaluate');
  const scores = runs.flatMap((run) => (run.verdict?.kind === 'scored' ? [run.verdict.score] : []));
  if (scores.length < state.terms.evaluate.repeats)
    return { do: 'startEvaluation', id: experiment.id, kind: 'evaluate' };
  const score = median(scores);
  const verdictAt = runs.at(-1)?.endedAt ?? given.active;
  if (verdictAt >= verdictsEndAt(state, given))
    return {
      do: 'record',
      facts: [rejected(experiment, 'late', 'the verdict came after the end of exploration', score)],
    };
  const option = state.options[experiment.option - 1];
  if (option && option.accepted.length >= capOf(state))
    return { do: 'record', facts: [rejected(experiment, 'cap_reached', 'the session had no experiments left', score)] };
  if (experimentsLeft(state) <= 0)
    return { do: 'record', facts: [rejected(experiment, 'budget_reached', 'the run had no experiments left', score)] };
  if (state.explorationEnding === 'stopped')
    return { do: 'record', facts: [rejected(experiment, 'cancelled', 'the run was stopped', score)] };
  const { range } = state.terms.metric;
  const outside =
    range !== undefined &&
    ((range.min !== undefined && score < range.min) || (range.max !== undefined && score > range.max));
  const flags: Flag[] = outside ? ['out_of_range'] : [];
  return {
    do: 'record',
    facts: [
      { type: 'experiment.accepted', data: { id: experiment.id, option: experiment.option, score, verdictAt, flags } },
    ],
  };
}

/** The median of at least one score; of an even number the mean of the middle two. */
function median(scores: readonly number[]): number {
  const sorted = scores.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return upper === lower ? upper : lower / 2 + upper / 2;
}
