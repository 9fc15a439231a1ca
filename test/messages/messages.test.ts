import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { checks } from '../../src/cli/explain/checks.ts';
import { contract } from '../../src/cli/explain/contract.ts';
import { notices } from '../../src/cli/explain/runs.ts';
import { allSections, messageDocs } from './document.ts';

const repository = join(import.meta.dirname, '../..');

it('docs/messages.md is current (node test/messages/writeMessageDocs.ts)', () => {
  expect(readFileSync(join(repository, 'docs/messages.md'), 'utf8')).toBe(messageDocs());
});

it('every code that is explained is one that hma says: none outlives its message', () => {
  const source = readdirSync(join(repository, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/cli\/explain\/|[cC]odes\.ts$|run\/notices\.ts$/u.test(path))
    .map((path) => readFileSync(join(repository, 'src', path), 'utf8'))
    .join('\n');
  const explained = Object.keys({ ...checks, ...contract, ...notices }).filter((code) => code !== 'yaml_…');
  expect(explained.filter((code) => !source.includes(`'${code}'`))).toEqual([]);
});

it('an explanation is sentences: what it means and what a person can do are never empty', () => {
  const texts = allSections.flatMap(({ words }) =>
    Object.entries(words).flatMap(([word, { means, did = '.', you }]) =>
      [means, did, you].map((text) => ({ word, text })),
    ),
  );
  expect(texts.filter(({ text }) => !/[.!?)]$|[.]"$/u.test(text))).toEqual([]);
});
