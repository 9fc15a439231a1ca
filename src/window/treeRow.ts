import type { SessionName } from '../options/model.ts';

/** A codicon by its id, and the theme colour it is drawn in, if not the text's. */
export interface RowIcon {
  readonly id: string;
  readonly color?: string;
}

/** What a click on a row does. */
export interface RowCommand {
  readonly command: string;
  readonly title: string;
  readonly arguments: readonly unknown[];
}

/**
 * A row of one of our trees as plain data: computed without VS Code, compared by value. The same thing has the same id for as long as
 * it is shown.
 */
export interface TreeRow {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly icon: RowIcon;
  /** Capabilities, as words: menus look at them (`viewItem`). */
  readonly context: string;
  /** The whole row in words, for a screen reader: icons and abbreviations spelled out. */
  readonly spoken: string;
  /** How it is shown at first; a person's own opening and closing counts afterwards. */
  readonly expand: 'none' | 'collapsed' | 'expanded';
  readonly children: readonly TreeRow[];
  /** Id of the candidate that it stands for. */
  readonly candidate: string | null;
  /** The session whose terminal it can show. */
  readonly session: SessionName | null;
  readonly command: RowCommand | null;
  /** Words that become a mark at the right of the row (`final`, `record` …). */
  readonly marks: readonly string[];
}

/** A leaf with nothing but words; `spoken` is made from label and description where it isn't given. */
export function row(given: Pick<TreeRow, 'id' | 'label' | 'icon' | 'context'> & Partial<TreeRow>): TreeRow {
  const { label, description = '' } = given;
  const spoken = description === '' ? label : `${label}, ${description.replaceAll(' · ', ', ')}`;
  const rest = { expand: 'none', children: [], candidate: null, session: null, command: null, marks: [] } as const;
  return { description, spoken, ...rest, ...given };
}

/** Whether two rows say the same, their children aside. */
export const saysTheSame = (a: TreeRow, b: TreeRow): boolean =>
  a === b ||
  (a.label === b.label &&
    a.description === b.description &&
    a.icon.id === b.icon.id &&
    a.icon.color === b.icon.color &&
    a.context === b.context &&
    a.spoken === b.spoken &&
    (a.expand === 'none') === (b.expand === 'none') &&
    a.marks.join() === b.marks.join());

/** What of a tree must be drawn again: the rows named, with all below them, or everything. */
export type Redraw = 'all' | ReadonlySet<string>;

/** Compares two trees. A row is named when it or the list of its children changed; rows below a named one are not named again. */
export function redrawOf(before: readonly TreeRow[], after: readonly TreeRow[]): Redraw {
  if (!sameIds(before, after)) return 'all';
  const named = new Set<string>();
  compare(before, after, named);
  return named;
}

const sameIds = (a: readonly TreeRow[], b: readonly TreeRow[]): boolean =>
  a.length === b.length && a.every((one, index) => one.id === b[index]?.id);

function compare(before: readonly TreeRow[], after: readonly TreeRow[], named: Set<string>): void {
  for (const [index, now] of after.entries()) {
    const was = before[index];
    if (was === undefined || was === now) continue;
    if (!saysTheSame(was, now) || !sameIds(was.children, now.children)) named.add(now.id);
    else compare(was.children, now.children, named);
  }
}

/** Text of others inside Markdown: nothing in it is markup, a link, an image or HTML; lines stay lines. */
export const mdText = (text: string): string =>
  text
    .replaceAll(/[\\`*_{}[\]()#+\-!~|>:.@/]/g, String.raw`\$&`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/\r?\n/g, '  \n');
