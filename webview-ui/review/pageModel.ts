import type { ReviewFrame, ReviewRow } from '../../src/window/reviewMessages.ts';

/** What the host has told the page so far. */
export interface PageModel {
  readonly frame: ReviewFrame | null;
  /** All rows in order of submission. */
  readonly rows: readonly ReviewRow[];
  /** Why there is nothing to show; empty while the page waits for its first message. */
  readonly empty: string;
}

export const nothingYet: PageModel = { frame: null, rows: [], empty: '' };

/** Replaces the rows that are named, adds the new ones at the end; unnamed ones stay the same objects. */
export function withRows(rows: readonly ReviewRow[], changed: readonly ReviewRow[]): readonly ReviewRow[] {
  if (changed.length === 0) return rows;
  const next = [...rows];
  const places = new Map(rows.map((row, index) => [row.id, index]));
  for (const row of changed) {
    const place = places.get(row.id);
    if (place !== undefined) next[place] = row;
    else places.set(row.id, next.push(row) - 1);
  }
  return next;
}

/** How a candidate stands out in its archive. */
export type Place = 'final' | 'nominated' | 'record' | 'standing';

/** The words of each place, the strongest first. */
export const placeWords: Readonly<Record<Place, string>> = {
  final: 'Final',
  nominated: 'Nominated',
  record: 'Record',
  standing: 'Standing',
};

/** The places of each candidate that has one. */
export function placesOf(frame: ReviewFrame): ReadonlyMap<string, readonly Place[]> {
  const places = new Map<string, Place[]>();
  const add = (id: string | null | undefined, place: Place): void => {
    if (typeof id === 'string') places.set(id, [...(places.get(id) ?? []), place]);
  };
  add(frame.final?.candidate, 'final');
  add(frame.review?.nominated, 'nominated');
  add(frame.record, 'record');
  add(frame.standing, 'standing');
  return places;
}

/** The value that counts in this task: the score, in blind tasks what the agents reported. */
export const valueOf = (row: ReviewRow, frame: Pick<ReviewFrame, 'feedback'>): number | null =>
  frame.feedback === 'blind' ? row.reported : row.score;

/** The candidate before this one in the archive; undefined for the first and for rejected experiments. */
export function previousOf(row: ReviewRow, rows: readonly ReviewRow[]): ReviewRow | undefined {
  const { order } = row;
  return order === null ? undefined : rows.find((other) => other.order === order - 1);
}

/** The name of a row's author: an agent of this run, or of the earlier one that it came from. */
export const authorOf = (
  { author, origin }: Pick<ReviewRow, 'author' | 'origin'>,
  frame: Pick<ReviewFrame, 'agents'>,
): string => origin?.agent ?? (author === null ? '' : frame.agents[author]);

/** `#12 e14`; a rejected experiment has only its id. */
export const nameOf = (row: Pick<ReviewRow, 'id' | 'order'>): string =>
  row.order === null ? row.id : `#${row.order} ${row.id}`;

/** What a model's change is worth telling a screen reader; empty when nothing is. */
export function tell(before: PageModel, after: PageModel): string {
  const { frame } = after;
  if (!frame || !before.frame || before.frame.run !== frame.run) return '';
  const words: string[] = [];
  if (frame.final && frame.final.candidate !== before.frame.final?.candidate) {
    words.push(`${frame.final.candidate} is the final candidate, by ${frame.final.who}.`);
  }
  const fresh = after.rows.slice(before.rows.length);
  const last = fresh.at(-1);
  if (fresh.length > 1) words.push(`${fresh.length} new experiments.`);
  else if (last?.state === 'rejected') words.push(`${last.id} by ${authorOf(last, frame)} was rejected.`);
  else if (last)
    words.push(
      `${nameOf(last)} by ${authorOf(last, frame)} is standing${frame.record === last.id ? ', a new record' : ''}.`,
    );
  if (frame.review?.outcome && before.frame.review?.outcome !== frame.review.outcome) {
    words.push(`Final review: ${frame.review.outcome}.`);
  }
  if (frame.grades === 'revealed' && before.frame.grades !== 'revealed') words.push('Grades are revealed.');
  return words.join(' ');
}
