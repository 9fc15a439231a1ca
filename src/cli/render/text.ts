/** Escape sequences that style.ts writes. */
const escapes = /\u001b\[\d+m/g;
const wide =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}])/u;
const segmenter = new Intl.Segmenter();

const widthOfSegment = (segment: string): number =>
  /^[\p{Mark}\p{Format}]/u.test(segment) ? 0 : wide.test(segment) ? 2 : 1;

/** Columns a text takes on a terminal; styling takes none, wide characters two. */
export function widthOf(text: string): number {
  const plain = text.replace(escapes, '');
  if (/^[\u0020-\u007e]*$/.test(plain)) return plain.length;
  let width = 0;
  for (const { segment } of segmenter.segment(plain)) width += widthOfSegment(segment);
  return width;
}

/** Cuts a text to a number of columns, with `…` for what is missing; styling is closed. */
export function fit(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  if (columns <= 0) return '';
  let width = 0;
  let kept = '';
  let styled = false;
  for (const part of text.split(/(\u001b\[\d+m)/)) {
    if (part.startsWith('\u001b[')) {
      styled = true;
      kept += part;
      continue;
    }
    for (const { segment } of segmenter.segment(part)) {
      const next = widthOfSegment(segment);
      if (width + next > columns - 1) return `${kept}…${styled ? '\u001b[0m' : ''}`;
      width += next;
      kept += segment;
    }
  }
  return kept;
}

/** Fills up with spaces to a number of columns; `right` puts them in front. */
export function pad(text: string, columns: number, side: 'left' | 'right' = 'left'): string {
  const spaces = ' '.repeat(Math.max(0, columns - widthOf(text)));
  return side === 'left' ? text + spaces : spaces + text;
}

/**
 * A table: the first row is its head; columns of numbers are set to the right. Cells keep their styling; the last column is cut where
 * the table would be wider than `columns`.
 */
export function table(given: {
  readonly rows: readonly (readonly string[])[];
  readonly right?: ReadonlySet<number>;
  readonly columns: number;
  readonly indent?: string;
}): string[] {
  const { rows, right = new Set(), columns, indent = '' } = given;
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ''))));
  return rows.map((row) => {
    const cells = row.map((cell, column) => pad(cell, widths[column] ?? 0, right.has(column) ? 'right' : 'left'));
    return fit(`${indent}${cells.join('  ')}`.trimEnd(), columns);
  });
}

/**
 * Breaks a text without styling into lines of at most `columns`, at spaces where there are any; continuation lines begin with
 * `indent`. At most `most` lines; the last one ends in `…` where something is missing.
 */
export function wrap(
  text: string,
  columns: number,
  given: { readonly indent?: string; readonly most?: number } = {},
): string[] {
  const { indent = '', most = 6 } = given;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line.trim() === '' ? `${line}${word}` : `${line} ${word}`;
    if (line.trim() === '' || widthOf(longer) <= columns) {
      line = longer;
      continue;
    }
    lines.push(line);
    line = indent + word;
  }
  lines.push(line);
  const kept = lines.slice(0, most);
  if (lines.length > most) kept[most - 1] = `${fit(kept[most - 1] ?? '', columns - 2).replace(/ ?…$/, '')} …`;
  return kept.map((one) => fit(one, columns));
}
