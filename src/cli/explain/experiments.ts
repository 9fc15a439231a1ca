import type { RejectionCode } from '../../experiments/model.ts';
import { nothing, type Explanation } from './explanation.ts';

/** Why an experiment was rejected. Only accepted ones count, and the agent may go on submitting unless it says otherwise. */
export const rejections: Readonly<Record<RejectionCode, Explanation>> = {
  invalid: {
    means:
      'The candidate is wrong in form: the evaluator wrote `{"invalid": "…"}`, gave no result on these files though it does on earlier ones, or a file of the candidate is missing, special, or links out of the workspace.',
    you: 'Nothing. If good candidates are refused, the evaluator or `candidate` is too strict.',
  },
  incorrect: {
    means: 'It runs, but the evaluator wrote `"correct": false`. It can never become the standing candidate.',
    you: nothing,
  },
  duplicate: {
    means: 'The same files are a candidate of another option already.',
    you: nothing,
  },
  timeout: {
    means: 'The evaluator was not done within `evaluate.timeout`, and was ended.',
    you: 'If honest candidates need longer, raise `evaluate.timeout` for the next run.',
  },
  non_finite: {
    means: 'The score was NaN or infinite.',
    you: 'Nothing. An evaluator can write `{"invalid": "reason"}` instead, which tells the agent more.',
  },
  late: {
    means:
      'Exploration was over before its verdict was there (`lateRule: finished`); with `submitted`, before it was submitted or its verdict had come within the grace.',
    you: 'Nothing. `hma status` inside the session tells agents the last safe time.',
  },
  cap_reached: {
    means: 'The session had its accepted experiments; this one came behind the last.',
    you: 'Nothing. Submitting the same files in a later option is possible.',
  },
  budget_reached: {
    means: 'The run had all its experiments (`budgets.experiments`).',
    you: '`hma budget --experiments 40` gives more while the run explores.',
  },
  evaluator_error: {
    means:
      'The evaluator failed by its own fault: no result here, nor on files that worked before; or there were none to try it on; or it vanished twice; or the submission could not be kept.',
    did: 'Tried it on earlier files first (a control run). After three in a row the run pauses.',
    you: '`hma show ID` names its output. See also the pause `evaluator_broken`.',
  },
  tampered: {
    means: 'A protected file in the workspace was changed.',
    did: 'Told the agent how to get the original (`hma archive get protected PATH`), and raised a notice.',
    you: nothing,
  },
  unstable: {
    means: 'Files of the candidate changed while they were read, three times in a row.',
    you: 'Nothing: the agent submits again when nothing writes them, such as a training in the background.',
  },
  too_large: {
    means: 'The candidate has more bytes or files than `limits.candidateSize` or `limits.candidateFiles`.',
    you: 'Narrow `candidate`, or raise the limit for the next run.',
  },
  paused: {
    means: 'The run is paused, or `limits.queue` submissions wait already.',
    you: nothing,
  },
  cancelled: { means: 'The run was being stopped.', you: nothing },
  in_review: { means: 'The caller is the reviewer, who nominates and does not submit.', you: nothing },
  not_your_turn: {
    means: 'The session is over, or its option is ending: a process that outlived it, or one that was too late.',
    you: nothing,
  },
};
