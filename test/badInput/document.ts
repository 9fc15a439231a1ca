import type { BadInput, BadInputs } from './badInput.ts';
import { candidates } from './candidates.ts';
import { commandLines } from './commandLines.ts';
import { goingOn } from './goingOn.ts';
import { contracts } from './contracts.ts';
import { evaluators } from './evaluators.ts';
import { imports, others, prices, secrets } from './household.ts';
import { ledgers } from './ledgers.ts';
import { Place } from './place.ts';
import { sessions, tools } from './sessions.ts';
import { workspaces } from './workspaces.ts';

/** All lists, in the order of the document. */
export const all: readonly BadInputs[] = [
  ...[contracts, commandLines, goingOn, workspaces, candidates, evaluators, ledgers],
  ...[secrets, prices, imports, others, sessions, tools],
];

/** What was said about one wrong thing; the exit code where a command said it. */
export interface Answer {
  readonly text: string;
  readonly exit?: number;
}

/** Gives one wrong thing in a fresh place and answers what was said. */
export async function answerTo({ give }: BadInput): Promise<Answer> {
  const place = new Place();
  try {
    const said = await give(place);
    return typeof said === 'string' ? { text: place.plain(said) } : { text: said.text, exit: said.exit };
  } finally {
    place[Symbol.dispose]();
  }
}

/** One case as it stands in docs/bad-input.md. */
export function sectionOf({ name, given }: BadInput, { text, exit }: Answer): string {
  const shown =
    /^hma [^\n]*$/.test(given) && !given.includes(', ')
      ? `$ ${given}`
      : given.trim() === ''
        ? ''
        : `# ${given.trim().replaceAll('\n', '\n# ')}`;
  const end = exit === undefined || exit === 0 ? '' : `\n(exit code ${exit})`;
  return `### ${name.charAt(0).toUpperCase()}${name.slice(1)}\n\n\`\`\`text\n${shown === '' ? '' : `${shown}\n`}${text}${end}\n\`\`\`\n`;
}

/** docs/bad-input.md: every case with the message that it gets. */
export async function badInputDocs(): Promise<string> {
  const parts: string[] = [];
  for (const { title, about, cases } of all) {
    parts.push(`## ${title}\n${about === '' ? '' : `\n${about}\n`}`);
    for (const one of cases) parts.push(sectionOf(one, await answerTo(one)));
  }
  const count = all.reduce((sum, { cases }) => sum + cases.length, 0);
  const table = all.map(({ title, cases }) => `| ${title} | ${cases.length} |`).join('\n');
  const head = `# Bad input, and what is said about it

Each of these ${count} cases is given to \`hma\` by a test (test/badInput), which compares the whole message with this page: what is wrong, where
(file:line:column where there is a file), why, and what to do. A line that begins with \`#\` or \`$\` is what was given. Paths are
those of a machine of its own: the workspace /work/houses, the state folder /work/state, the user's HOME /work/ada.

Made by \`node test/badInput/writeBadInputDocs.ts\`; do not edit.

| kind | cases |
|---|---|
${table}
`;
  return [head, ...parts].join('\n');
}
