import type { Candidate } from '../archive/model.ts';

/**
 * Versions of the hidden grader that gave an archive's grades, by the beginning of their hashes, in the order of the candidates. Grades of
 * different versions don't compare: where there are several, each grade is shown with its own. A grade from before versions were kept has none (`''`).
 */
export function gradersOf(archive: readonly Candidate[]): readonly string[] {
  const graders = new Set<string>();
  for (const { grade } of archive) if (grade?.kind === 'graded') graders.add(graderOf({ grade }));
  return [...graders];
}

/** The version that graded a candidate, as `gradersOf` names it. */
export const graderOf = ({ grade }: Pick<Candidate, 'grade'>): string => (grade?.grader ?? '').slice(0, 7);

/** A version in words. */
export const sayGrader = (grader: string): string => (grader === '' ? 'an unnamed grader' : `grader ${grader}`);
