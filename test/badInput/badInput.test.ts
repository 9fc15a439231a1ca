import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { processDesk } from '../../src/cli/desk.ts';
import { commandLine } from '../../src/cli/program.ts';
import { isSessionCommand } from '../../src/session/main.ts';
import { all, answerTo, sectionOf } from './document.ts';

const docs = readFileSync(join(import.meta.dirname, '../../docs/bad-input.md'), 'utf8');

/** What no message may hold: a stack, a value that was forgotten, a word that only programmers know. */
const slips = /\n\s+at |undefined|\[object |this should not have happened/;

const commands = commandLine(processDesk(), () => async () => undefined).commands.flatMap((one) => [
  one.name(),
  ...one.aliases(),
]);

/** Commands that a message tells to use and that don't exist. */
const unknownCommands = (text: string): string[] =>
  [...text.matchAll(/\bhma ([a-z]+)/g)]
    .flatMap(([, name]) => name ?? [])
    .filter((name) => !commands.includes(name) && !isSessionCommand(name));

describe.each(all)('$title', ({ title, cases }) => {
  it.each(cases)('$name', async (one) => {
    const answer = await answerTo(one);
    for (const part of one.says) expect(answer.text).toContain(part);
    expect(answer.text).not.toMatch(slips);
    expect(unknownCommands(answer.text)).toEqual([]);
    expect(answer.exit).toBe(one.exit);
    // the whole message, as it was read: node test/badInput/writeBadInputDocs.ts
    expect(docs.slice(docs.indexOf(`\n## ${title}\n`))).toContain(sectionOf(one, answer));
  });
});

describe('the list', () => {
  const names = all.map(({ cases }) => cases.map(({ name }) => name));

  it('has at least sixty cases, of each kind some, no name twice', () => {
    expect(names.flat().length).toBeGreaterThanOrEqual(60);
    expect(names.filter((some) => some.length < 5)).toEqual([]);
    expect(names.flatMap((some) => some.filter((name, index) => some.indexOf(name) < index))).toEqual([]);
  });

  it('is what the page holds: node test/badInput/writeBadInputDocs.ts', () => {
    const headings = [...docs.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading?.toLowerCase());
    expect(headings).toEqual(names.flat().map((name) => name.toLowerCase()));
    expect(docs).toContain(`Each of these ${names.flat().length} cases`);
  });

  it('says where and what to do in each case', () => {
    const silent = all.flatMap(({ title, cases }) =>
      cases.filter(({ says }) => says.length === 0).map(({ name }) => `${title}: ${name}`),
    );
    expect(silent).toEqual([]);
  });
});
