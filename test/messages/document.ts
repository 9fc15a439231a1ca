import type { Explanation } from '../../src/cli/explain/explanation.ts';
import { beforeRuns, toOthers } from '../../src/cli/explain/messages.ts';
import { wordSections, type ExplainedWords } from '../../src/cli/explain/sections.ts';
import { windowSections } from './windowMessages.ts';

/** Everything that is explained, in the order of the document. */
export const allSections: readonly ExplainedWords[] = [...beforeRuns, ...wordSections, ...toOthers, ...windowSections];

/** The text of docs/messages.md. */
export const messageDocs = (): string => `# When things go wrong: every message explained

Made from src/cli/explain by \`node test/messages/writeMessageDocs.ts\`; do not edit. \`hma explain WORD\` tells a run's words in the terminal: \`hma explain disk_low\`.

Nothing that was accepted is lost, whatever dies. Where to look first:

1. \`hma status\` says where the run stands, and why if it stands still.
2. \`hma log\` is the whole story; \`hma log --session 3\` what one session printed, \`hma show e7\` all of one experiment with the evaluator's output.
3. \`hma doctor\` looks at this machine: agents, logins, isolation, disk, evaluator.
4. \`controller.log\` in the run folder (\`hma status --json\`: \`runFolder\`) is for what should not happen.

A command that can't do its work says what happened and, on the next line, what to do; case by case in [bad-input.md](bad-input.md).

${allSections.map(({ title }) => `- [${title}](#${anchor(title)})`).join('\n')}

${allSections.map(section).join('\n')}`;

/** GitHub's anchor of a heading. */
const anchor = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');

function section({ title, where, words }: ExplainedWords): string {
  const entries = Object.entries(words);
  const acts = entries.some(([, { did }]) => did !== undefined);
  const head = acts ? ['word', 'it means', 'hma does by itself', 'you can'] : ['word', 'it means', 'you can'];
  const row = ([word, { means, did = '', you }]: [string, Explanation]): string[] =>
    acts ? [`\`${word}\``, means, did, you] : [`\`${word}\``, means, you];
  return `## ${title}

${where}

${[head, head.map(() => '---'), ...entries.map(row)].map(line).join('\n')}
`;
}

const line = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
