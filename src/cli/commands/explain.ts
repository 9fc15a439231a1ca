import { failure } from '../../client/failure.ts';
import { meant } from '../../task/nearest.ts';
import { fail, paperOf, sayLines, type Desk } from '../desk.ts';
import { exitCodes } from '../exitCodes.ts';
import type { Explanation } from '../explain/explanation.ts';
import { wordSections } from '../explain/sections.ts';
import type { Paper } from '../render/scene.ts';
import { wrap } from '../render/text.ts';

/** `hma explain WORD`: what a word that a run uses means, what was done about it and what one can do; without a word, all of them. */
export async function explain(desk: Desk, words: readonly string[]): Promise<number> {
  const paper = paperOf(desk);
  if (words.length === 0) {
    await sayLines(
      desk,
      wordSections.flatMap(({ title, words: known }) => [
        paper.style.bold(title),
        ...wrap(Object.keys(known).join(', '), paper.columns - 2, { most: 50 }).map((line) => `  ${line}`),
      ]),
    );
    return exitCodes.ok;
  }
  // as it was read: `usage limit`, `(timeout):`
  const code = words
    .join('_')
    .replaceAll(/[[\]():]/gu, '')
    .replaceAll(/[\s-]+/gu, '_')
    .toLowerCase();
  const found = wordSections.flatMap(({ kind, words: known }) =>
    Object.hasOwn(known, code) ? [{ kind, explanation: known[code] as Explanation }] : [],
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
    wordSections.flatMap(({ words: known }) => Object.keys(known)),
  );
  return fail(
    desk,
    failure('notFound', 'unknown_word', {
      what: `a run has no word ${JSON.stringify(words.join(' '))}`,
      fix: `${near === undefined ? '' : `Did you mean ${near}? `}hma explain lists all. Messages of commands and about hma.yaml say below them what to do; docs/messages.md has every one.`,
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
