import { failure } from '../../client/failure.ts';
import { meant } from '../../task/nearest.ts';
import { fail, paperOf, sayLines, type Desk } from '../desk.ts';
import { exitCodes } from '../exitCodes.ts';
import type { Explanation } from '../explain/explanation.ts';
import { sections } from '../explain/sections.ts';
import type { Paper } from '../render/scene.ts';
import { wrap } from '../render/text.ts';

/** `hma explain WORD`: what a word or code of hma means, what was done about it and what one can do; without a word, all of them. */
export async function explain(desk: Desk, words: readonly string[]): Promise<number> {
  const paper = paperOf(desk);
  if (words.length === 0) {
    await sayLines(
      desk,
      sections.flatMap(({ title, words: known }) => [
        paper.style.bold(title),
        ...wrap(Object.keys(known).join(', '), paper.columns - 2, { most: 50 }).map((line) => `  ${line}`),
      ]),
    );
    return exitCodes.ok;
  }
  // as it was read: `usage limit`, `[unknown_key]`, `yaml_bad_indent`
  const code = words
    .join('_')
    .replace(/[[\]:]/gu, '')
    .replaceAll(/[\s-]+/gu, '_')
    .toLowerCase();
  const sought = code.startsWith('yaml_') ? 'yaml_…' : code;
  const found = sections.flatMap(({ kind, words: known }) =>
    Object.hasOwn(known, sought) ? [{ kind, explanation: known[sought] as Explanation }] : [],
  );
  if (found.length > 0) {
    await sayLines(
      desk,
      found.flatMap(({ kind, explanation }) => linesOf(`${code} (${kind})`, explanation, paper)),
    );
    return exitCodes.ok;
  }
  const near = meant(
    code,
    sections.flatMap(({ words: known }) => Object.keys(known)),
  );
  return fail(
    desk,
    failure('notFound', 'unknown_word', {
      what: `hma has no word ${JSON.stringify(words.join(' '))}`,
      fix: `${near === undefined ? '' : `Did you mean ${near}? `}hma explain lists all. A whole message is looked up by the word in it, such as disk_low.`,
    }),
    false,
  );
}

function linesOf(head: string, { means, did, you }: Explanation, { columns, style }: Paper): string[] {
  const paragraph = (label: string, text: string): string[] =>
    wrap(`${label}${text.replaceAll('`', '')}`, columns - 2).map((line) => `  ${line}`);
  return [
    style.bold(head),
    ...paragraph('', means),
    ...(did === undefined ? [] : paragraph('hma: ', did)),
    ...paragraph('you: ', you),
  ];
}
