import { oneLine } from '../base/oneLine.ts';
import { count } from '../base/words.ts';
import { latestAttempt } from '../options/evolve.ts';
import { skipReason } from '../review/decide.ts';
import type { Review, ReviewOutcome } from '../review/model.ts';
import { finalCandidate, ownSelection, pin } from '../review/selection.ts';
import type { RunState } from '../run/model.ts';
import { showFiles } from './runRowsExperiment.ts';
import type { RunScene } from './runRows.ts';
import { agentName, joined, sayElapsed } from './runWords.ts';
import { row, type RowIcon, type TreeRow } from './treeRow.ts';

/** Why a review had this outcome, where the word alone doesn't say it. */
const outcomeWords: Readonly<Record<ReviewOutcome, string>> = {
  chosen: 'the reviewer nominated another candidate than the standing one',
  endorsed: 'the reviewer nominated the standing candidate',
  silent: 'the reviewer ended without a nomination',
  crashed: 'the reviewer’s session failed',
  late: 'the window closed without a nomination',
  invalid: 'there was no valid ballot',
  skipped: 'there was no review',
};

/** The outcome of a review in a clause, with the reason where one is known. */
export function sayOutcome(state: RunState, review: Review): string {
  const { outcome } = review;
  if (outcome === null) return '';
  const last = latestAttempt(review);
  if (outcome === 'skipped') return skipReason(state) ?? 'the run was stopped';
  if (outcome === 'invalid' && review.invalidReason !== null)
    return `${outcomeWords.invalid}: ${oneLine(review.invalidReason, 300)}`;
  if (outcome === 'crashed' && last?.state === 'ended' && last.failure)
    return `${outcomeWords.crashed}: ${oneLine(last.failure.detail, 300)}`;
  return outcomeWords[outcome];
}

/** The final review, an entry of its own; null before it. */
export function reviewRow(scene: RunScene): TreeRow | null {
  const { state, given } = scene;
  const { review } = state;
  const chosen = finalRow(state);
  if (!review) return chosen && { ...chosen, id: `${state.run}/final` };
  const id = `${state.run}/review`;
  const reviewer = agentName(state, review.reviewer);
  const description =
    review.state === 'closed'
      ? joined(
          review.outcome,
          review.nomination ? `${review.nomination.candidate} by ${reviewer}` : sayOutcome(state, review),
        )
      : joined(reviewer, doing(state, review), sayElapsed(given.active - review.openedAt));
  const children = [...nominationRow(state, review), ...(chosen ? [chosen] : [])];
  if (children.length === 0)
    children.push(
      row({
        id: `${id}/none`,
        label: review.state === 'closed' ? 'No nomination' : 'No nomination yet',
        icon: { id: 'dash' },
        context: 'none',
      }),
    );
  return row({
    ...{ id, label: 'Final Review', description, icon: iconOf(review) },
    context: review.attempts.length > 0 ? 'review session' : 'review',
    ...(review.attempts.length > 0 ? { session: { kind: 'review' } as const } : {}),
    ...{ children, expand: 'expanded' },
    command: { command: 'hma.openReview', title: 'Open the final review', arguments: [] },
  });
}

function doing(state: RunState, review: Review): string {
  if (review.state === 'ending') return 'session is being ended';
  if (state.pause) return 'paused';
  if (review.nomination) return `nominates ${review.nomination.candidate}`;
  return review.attempts.length > 1
    ? 'is asked once more'
    : `looks through ${count(state.archive.length, 'candidate')}`;
}

function iconOf(review: Review): RowIcon {
  if (review.state !== 'closed' || review.nomination) return { id: 'law' };
  return review.outcome === 'skipped' ? { id: 'circle-slash' } : { id: 'warning', color: 'list.warningForeground' };
}

function nominationRow(state: RunState, { nomination }: Review): TreeRow[] {
  if (!nomination) return [];
  const { candidate, reason } = nomination;
  return [
    row({
      ...{ id: `${state.run}/nominated`, label: `Nominated ${candidate}`, description: oneLine(reason, 200) },
      ...{ icon: { id: 'law' }, context: 'nomination', candidate, command: showFiles(candidate) },
    }),
  ];
}

function finalRow(state: RunState): TreeRow | null {
  const final = state.selections.length > 0 ? finalCandidate({ ...state.terms, ...state }) : undefined;
  if (!final) return null;
  const who =
    final.by === 'person'
      ? `selected by ${pin(state.selections)?.who ?? 'a person'}`
      : final.by === 'reviewer'
        ? `selected by the reviewer ${ownSelection(state.selections)?.who ?? ''}`
        : 'selected by fallback';
  return row({
    ...{
      id: `${state.run}/final`,
      label: `Final ${final.candidate}`,
      description: joined(oneLine(who, 60), oneLine(final.reason, 200)),
    },
    icon: { id: final.by === 'person' ? 'pinned' : 'check-all', color: 'charts.green' },
    ...{ context: 'final', candidate: final.candidate, command: showFiles(final.candidate) },
  });
}
