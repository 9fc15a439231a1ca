import { ok, refused, type Result } from '../base/result.ts';

/** Why a prompt template can't be used, in words for the person who wrote it. */
export interface TemplateRefusal {
  readonly reason: 'unknown_placeholder';
  readonly name: string;
  /** 1-based. */
  readonly line: number;
  readonly suggestion?: string;
  readonly detail: string;
}

const placeholder = /\{\{\s*([^{}]*?)\s*\}\}/gu;

/** Levenshtein distance of two short words. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

function nearest(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((candidate) => ({ candidate, far: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, far }) => far <= Math.max(2, candidate.length / 3))
    .toSorted((a, b) => a.far - b.far);
  return best?.candidate;
}

/** The first placeholder of a template that isn't among the known names. */
export function checkTemplate(template: string, known: readonly string[]): Result<null, TemplateRefusal> {
  for (const match of template.matchAll(placeholder)) {
    const name = match[1] ?? '';
    if (known.includes(name)) continue;
    const line = template.slice(0, match.index).split('\n').length;
    const suggestion = nearest(name, known);
    const hint =
      suggestion === undefined
        ? `known are ${known.map((each) => `{{${each}}}`).join(', ')}`
        : `did you mean {{${suggestion}}}?`;
    return refused({
      reason: 'unknown_placeholder',
      name,
      line,
      ...(suggestion === undefined ? {} : { suggestion }),
      detail: `line ${line} of the prompt template has the unknown placeholder {{${name}}}; ${hint}`,
    });
  }
  return ok(null);
}

/**
 * A template with its placeholders replaced, once: what a value contains is never replaced again. A line that consists of one
 * placeholder with an empty value disappears, and no more than one empty line is left in a row around it.
 */
export function fillTemplate(
  template: string,
  values: Readonly<Record<string, string>>,
): Result<string, TemplateRefusal> {
  const checked = checkTemplate(template, Object.keys(values));
  if (!checked.ok) return checked;
  const lines: string[] = [];
  let dropped = false;
  for (const line of template.split(/\r?\n/u)) {
    const alone = /^\s*\{\{\s*([^{}]*?)\s*\}\}\s*$/u.exec(line)?.[1];
    if (alone !== undefined && values[alone] === '') {
      dropped = true;
      continue;
    }
    if (dropped && line === '' && (lines.length === 0 || lines.at(-1) === '')) continue;
    if (line !== '') dropped = false;
    lines.push(line.replace(placeholder, (_, name: string) => values[name] ?? ''));
  }
  return ok(`${lines.join('\n').trim()}\n`);
}
