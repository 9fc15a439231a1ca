import { shownRepeats } from '../analysis/shownScores.ts';
import { gradersOf } from '../analysis/graders.ts';
import { sayRepeats } from '../analysis/repeatsWords.ts';
import type { Candidate } from '../archive/model.ts';
import { authorName, sayOption } from '../archive/origin.ts';
import { sayBytes, sayClock, sayScore } from '../base/numbers.ts';
import { oneLine } from '../base/oneLine.ts';
import { sayWord } from '../base/words.ts';
import type { RunState } from '../run/model.ts';
import { errandWords, sayDisqualified, sayGrade } from './candidateStory.ts';
import { sayShown } from './runWords.ts';
import { mdText } from './treeRow.ts';

const line = (name: string, words: string): string => `**${name}** ${mdText(words)}`;

/** Lines about what a person had done about a candidate: its hidden grade, once grades are revealed; more runs of the evaluator; a disqualification. */
export function afterLines(state: RunState, id: string): string[] {
  const candidate = state.archive.find((one) => one.id === id);
  if (!candidate) return [];
  const { grade, disqualified, reevaluations = [] } = candidate;
  const why = state.gradesRevealed && grade?.kind === 'ungraded' ? `none: ${oneLine(grade.reason, 200)}` : '';
  const graded = why || sayGrade(state, candidate, gradersOf(state.archive).length > 1);
  const errand = errandWords(state).get(id);
  return [
    ...(disqualified ? [line('Disqualified', sayDisqualified(disqualified))] : []),
    ...(errand === undefined ? [] : [line('Now', errand)]),
    ...(shownRepeats(state, candidate) ? [line('Evaluated again', sayRepeats(reevaluations))] : []),
    ...(graded === '' ? [] : [line('Grade', graded)]),
  ];
}

/** The whole story of a candidate, in Markdown. `marks`: what it is at this moment. */
export function candidateTooltip(state: RunState, candidate: Candidate, marks: readonly string[]): string {
  const { id, order, reported, origin, note, flags, contentHash, files, bytes } = candidate;
  const blind = state.terms.feedback === 'blind';
  const number = blind
    ? [line('Reported', reported === null ? 'nothing' : `${sayScore(reported)}, the author’s own estimate`)]
    : [line(oneLine(state.terms.metric.name, 40), sayShown(state, candidate))];
  const kept = blind
    ? state.gradesRevealed
      ? [line('Score', sayScore(candidate.score))]
      : ['Scores of this task are kept back until a person reveals grades.']
    : [];
  return [
    `**Candidate ${mdText(id)}**${marks.length === 0 ? '' : ` ${mdText(marks.join(', '))}`}`,
    ...number,
    ...kept,
    ...(!blind && reported !== null ? [line('Reported', sayScore(reported))] : []),
    ...afterLines(state, id),
    line('Author', `${oneLine(authorName(candidate, state.terms.agents), 40)} in ${sayOption(candidate)}`),
    line(
      'Accepted',
      `${new Date(candidate.acceptedWall).toLocaleString()}, at ${sayClock(origin?.acceptedAt ?? candidate.acceptedAt)} of active runtime; number ${order} in the archive`,
    ),
    line('Files', `${files}, ${sayBytes(bytes)}, hash ${contentHash.slice(0, 12)}`),
    ...(flags.length > 0 ? [line('Flags', flags.map(sayWord).join(', '))] : []),
    ...(note === null ? [] : [line('Note', oneLine(note, 1000))]),
  ].join('  \n');
}
