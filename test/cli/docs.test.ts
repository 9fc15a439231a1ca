import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';
import { parse } from 'yaml';

import { processDesk } from '../../src/cli/desk.ts';
import { commandLine } from '../../src/cli/program.ts';
import { isSessionCommand } from '../../src/session/main.ts';
import { contractSource } from '../../src/task/schema.ts';

const repository = join(import.meta.dirname, '../..');
const program = commandLine(processDesk(), () => async () => undefined);

/** The documents that a person reads; bad-input.md is full of commands that are wrong, and has its own test. */
const documents = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  ...['docs', 'docs/agents'].flatMap((folder) =>
    readdirSync(join(repository, folder))
      .filter((name) => name.endsWith('.md') && name !== 'bad-input.md')
      .map((name) => `${folder}/${name}`),
  ),
];

/** Every `hma …` in code: a span or a line of a block. */
const callsIn = (text: string): string[] =>
  [...text.matchAll(/`hma ([a-z][^`]*)`|^\s*(?:\$ )?hma ([a-z].*)$/gmu)].flatMap(([, span, line]) =>
    (span ?? line ?? '').split(/\s*(?:&&|·)\s*hma\s+/u),
  );

test.each(documents)('%s names only commands and options that exist', (path) => {
  const wrong = callsIn(readFileSync(join(repository, path), 'utf8')).filter((call) => {
    const [name = '', ...words] = call.replace(/\s#.*$/u, '').split(/\s+/u);
    if (isSessionCommand(name) || ['mcp', 'help', 'starts', 'inside', 'for'].includes(name)) return false;
    const outer = program.commands.find((each) => each.name() === name || each.aliases().includes(name));
    const command = outer?.commands.find((each) => each.name() === words[0]) ?? outer;
    const options = words.flatMap((word) => /^--[a-z-]+/u.exec(word)?.[0] ?? []);
    return (
      !command || options.some((option) => option !== '--help' && !command.options.some(({ long }) => long === option))
    );
  });
  expect(wrong).toEqual([]);
});

/** The least that a contract needs, for examples that show only some of its keys. */
const least = { objective: 'x', candidate: 'x', evaluate: 'x' };

test.each(documents)('%s shows parts of hma.yaml that are right', (path) => {
  const examples = [...readFileSync(join(repository, path), 'utf8').matchAll(/^```yaml\n(.*?)^```/gmsu)].map(
    ([, text]) => parse(text ?? '') as object,
  );
  const wrong = examples.flatMap((example) => contractSource.safeParse({ ...least, ...example }).error?.issues ?? []);
  expect(wrong).toEqual([]);
});

/** GitHub's anchors of a document's headings. */
const anchorsIn = (path: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gmu)].map(([, heading]) =>
    (heading ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

test.each(documents)('%s leads only to files and headings that are there', (path) => {
  const text = readFileSync(join(repository, path), 'utf8').replace(/^```.*?^```/gmsu, '');
  const wrong = [...text.matchAll(/\]\((?!https?:)([^)\s#]*)(?:#([^)\s]*))?\)/gu)].filter(([, file, anchor]) => {
    const target = file === '' ? join(repository, path) : join(repository, dirname(path), file ?? '');
    return !existsSync(target) || (anchor !== undefined && !anchorsIn(target).includes(anchor));
  });
  expect(wrong.map(([link]) => link)).toEqual([]);
});
