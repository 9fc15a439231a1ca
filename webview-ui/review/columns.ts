import { sayMean } from '../../src/analysis/repeatsWords.ts';
import { sayBytes, sayClock, sayScore } from '../../src/base/numbers.ts';
import type { ReviewFrame, ReviewRow } from '../../src/window/reviewMessages.ts';
import { authorOf, nameOf, placesOf, placeWords } from './pageModel.ts';

/** A column's name in code and in what is remembered. */
export const columnIds = [
  'candidate',
  'score',
  'again',
  'reported',
  'author',
  'option',
  'quality',
  'change',
  'grade',
  'grader',
  'flags',
  'size',
  'age',
  'note',
] as const;
export type ColumnId = (typeof columnIds)[number];

/** What cells are made of. `wall`: the present, Unix ms. */
export interface Scene {
  readonly frame: ReviewFrame;
  readonly wall: number;
}

/** One column. */
export interface Column {
  readonly id: ColumnId;
  readonly label: (frame: ReviewFrame) => string;
  /** In em; the last one takes what is left. */
  readonly width: number;
  readonly numeric: boolean;
  /** What rows are sorted by; null goes last, whatever the direction. */
  readonly key: (row: ReviewRow, frame: ReviewFrame) => number | string | null;
  /** Whether the first click sorts downwards: where more is better, or later is nearer. */
  readonly downFirst: (frame: ReviewFrame) => boolean;
  readonly text: (row: ReviewRow, scene: Scene) => string;
  /** Whether there is anything in it in this run. */
  readonly there: (frame: ReviewFrame, rows: readonly ReviewRow[]) => boolean;
}

const nothing = '–';
const say = (value: number | null): string => (value === null ? nothing : sayScore(value));
const higher = ({ metric }: ReviewFrame): boolean => metric.direction === 'maximize';
const blind = ({ feedback }: ReviewFrame): boolean => feedback === 'blind';

/** A change against the record, signed: positive is better. */
export const sayChangeOf = (change: number | null): string =>
  change === null ? nothing : change === 0 ? '±0' : change > 0 ? `+${sayScore(change)}` : sayScore(change);

/** How long ago: `just now`, `12 min`, `3 h`, `2 d`. */
export function sayAge(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`;
}

/** What a row has to say of itself besides its numbers: why it failed, remarks that stay with it. */
export const flagWords = (row: ReviewRow): string[] => [
  ...(row.errand === '' ? [] : [row.errand]),
  ...(row.disqualified === '' ? [] : [`disqualified ${row.disqualified}`]),
  ...(row.code === null ? [] : [`rejected: ${row.code.replaceAll('_', ' ')}`]),
  ...row.flags.map((flag) => flag.replaceAll('_', ' ')),
];

const base = { numeric: false, downFirst: () => false, there: () => true } as const;
const numeric = { numeric: true, there: () => true } as const;

/** All columns in the order they are shown: the number that matters stays in sight in a narrow tab. */
export const columns: readonly Column[] = [
  {
    ...base,
    ...{ id: 'candidate', width: 15, label: () => 'Candidate' },
    key: (row) => row.order,
    downFirst: () => true,
    text: (row, { frame }) =>
      [nameOf(row), ...(placesOf(frame).get(row.id) ?? []).map((place) => placeWords[place])].join(' '),
  },
  {
    ...numeric,
    ...{ id: 'score', width: 7, label: (frame) => (blind(frame) ? 'Hidden score' : 'Score') },
    key: (row) => row.score,
    downFirst: higher,
    text: (row) => say(row.score),
    there: (frame) => !blind(frame) || frame.grades === 'revealed',
  },
  {
    ...numeric,
    ...{ id: 'again', width: 10, label: () => 'Again' },
    key: (row) => row.again?.mean ?? null,
    downFirst: higher,
    text: (row) => (row.again === null ? '' : `${sayMean(row.again)}, ${row.again.scored}×`),
    there: (_, rows) => rows.some((row) => row.again !== null),
  },
  {
    ...numeric,
    ...{ id: 'reported', width: 7, label: () => 'Reported' },
    key: (row) => row.reported,
    downFirst: higher,
    text: (row) => say(row.reported),
    there: (frame, rows) => blind(frame) || rows.some((row) => row.reported !== null),
  },
  {
    ...base,
    ...{ id: 'author', width: 8, label: () => 'Author' },
    key: authorOf,
    text: (row, { frame }) => authorOf(row, frame),
  },
  {
    ...numeric,
    id: 'option',
    width: 5.2,
    label: () => 'Option',
    key: (row) => (row.origin ? 0 : row.option),
    downFirst: () => true,
    text: (row) => (row.origin ? 'earlier' : String(row.option)),
  },
  {
    ...numeric,
    ...{ id: 'quality', width: 6.8, label: () => 'Quality' },
    key: (row) => row.quality,
    downFirst: () => true,
    text: (row) => (row.quality === null ? nothing : row.quality.toFixed(3)),
    there: ({ metric }) => metric.baseline !== null && metric.reference !== null,
  },
  {
    ...numeric,
    ...{ id: 'change', width: 7.5, label: () => 'vs. record' },
    key: (row) => row.change,
    downFirst: () => true,
    text: (row) => sayChangeOf(row.change),
  },
  {
    ...numeric,
    ...{ id: 'grade', width: 7, label: () => 'Grade' },
    key: (row) => (typeof row.grade === 'number' ? row.grade : null),
    downFirst: higher,
    text: ({ grade }) => (typeof grade === 'string' ? grade : say(grade)),
    there: ({ grades }) => grades === 'revealed',
  },
  {
    ...base,
    ...{ id: 'grader', width: 9, label: () => 'By' },
    key: (row) => row.grader || null,
    text: (row) => row.grader,
    there: ({ graders }) => graders.length > 0,
  },
  {
    ...base,
    ...{ id: 'flags', width: 11, label: () => 'Flags' },
    key: (row) => flagWords(row).join(', ') || null,
    text: (row) => flagWords(row).join(', '),
    there: (_, rows) => rows.some((row) => flagWords(row).length > 0),
  },
  {
    ...numeric,
    ...{ id: 'size', width: 6, label: () => 'Size' },
    key: (row) => row.bytes,
    downFirst: () => false,
    text: (row) => (row.bytes === null ? nothing : sayBytes(row.bytes)),
  },
  {
    ...numeric,
    ...{ id: 'age', width: 6, label: () => 'Age' },
    key: (row) => -row.at,
    downFirst: () => false,
    text: (row, { wall }) => sayAge(wall - row.wall),
  },
  { ...base, id: 'note', width: 15, label: () => 'Note', key: (row) => row.note, text: (row) => row.note ?? '' },
];

/** A point of active runtime for people. */
export const sayAt = (ms: number): string => sayClock(ms);
