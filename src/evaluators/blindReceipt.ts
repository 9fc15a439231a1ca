import type { RejectionCode } from '../experiments/model.ts';

const words: Readonly<Record<'accepted' | RejectionCode, string>> = {
  accepted: 'Accepted.',
  invalid: 'Not accepted: the candidate is wrong in form.',
  incorrect: 'Not accepted: the candidate is not correct.',
  duplicate: 'Not accepted: these files were submitted before.',
  timeout: 'Not accepted: the evaluation ran out of time.',
  non_finite: 'Not accepted: the evaluation gave no finite number.',
  late: 'Not accepted: it came too late.',
  cap_reached: 'Not accepted: this session can submit no more.',
  budget_reached: 'Not accepted: the run takes no more submissions.',
  evaluator_error: 'Not accepted: the evaluator failed by its own fault. The candidate may be submitted again.',
  tampered: 'Not accepted: a protected file was changed.',
  unstable: 'Not accepted: files changed while they were read. Submit again when nothing writes them.',
  too_large: 'Not accepted: the candidate is too large.',
  paused: 'Not accepted: the run is paused. Submit again later.',
  cancelled: 'Not accepted: it was cancelled.',
  in_review: 'Not accepted: the final review has begun.',
  not_your_turn: 'Not accepted: this session has ended.',
};

/** The fixed words of a receipt in blind mode: nothing of the evaluator's own words, output or score can pass through them. */
export const blindReceiptText = (code: 'accepted' | RejectionCode): string => words[code];
