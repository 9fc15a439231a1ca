import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { adapters } from '../../src/agents/adapters.ts';
import { presets } from '../../src/agents/presets.ts';
import { formatMessages, type ContractMessage } from '../../src/task/messages.ts';
import { loadContract } from '../../src/task/load.ts';
import { malformed } from '../task/malformed.ts';
import { load, openWorkspace, smallest } from '../task/workspace.ts';
import type { BadInput, BadInputs } from './badInput.ts';
import { wall, type Place } from './place.ts';

/** Each message of the list that the contract's own tests have, as it is printed. */
const written = malformed.map(({ name, yaml, messages }): BadInput => ({
  name,
  given: '',
  says: messages.flatMap(([, what, fix]) => [what, fix]),
  give: async () => {
    const workspace = await openWorkspace();
    try {
      await workspace.write('hma.yaml', yaml);
      const loaded = await load(workspace.path);
      const found = loaded.ok ? loaded.value.warnings : loaded.refusal.messages;
      return formatMessages(found).replaceAll(workspace.path, '/work/houses');
    } finally {
      await workspace[Symbol.asyncDispose]();
    }
  },
}));

/** What is said about hma.yaml in a place that a case has made. */
async function read(place: Place): Promise<string> {
  const given = { wall, home: place.user, adapters: Object.keys(adapters), presets };
  const loaded = await loadContract({ workspace: place.workspace, given });
  const found: readonly ContractMessage[] = loaded.ok ? loaded.value.warnings : loaded.refusal.messages;
  return formatMessages(found);
}

const file = (name: string, given: string, says: readonly string[], make: (place: Place) => void): BadInput => ({
  name,
  given,
  says,
  give: (place) => {
    place.write('model.py', '');
    place.write('eval.py', '');
    make(place);
    return read(place);
  },
});

const put = (name: string, given: string, content: string | Uint8Array, ...says: readonly string[]): BadInput =>
  file(name, given, says, (place) => void place.write('hma.yaml', content));

const withPrivate = (name: string, text: string, ...says: readonly string[]): BadInput =>
  file(name, `private: ~/p.yaml, and in ~/p.yaml:\n${text}`, says, (place) => {
    place.write(join(place.user, 'p.yaml'), text);
    place.write('hma.yaml', `${smallest}metric: {direction: minimize}\nprivate: ~/p.yaml\n`);
  });

const aliasBomb = [
  'a0: &a0 [x]',
  ...Array.from({ length: 9 }, (_, level) => `a${level + 1}: &a${level + 1} [${`*a${level},`.repeat(9)}]`),
].join('\n');

/** Files that can't be a contract at all, and private files. */
const files: readonly BadInput[] = [
  file('no contract', 'a folder without hma.yaml', ['hma.yaml: error', 'three keys'], () => undefined),
  file('a folder in its place', 'mkdir hma.yaml', ['hma.yaml', 'is a folder'], (place) =>
    mkdirSync(join(place.workspace, 'hma.yaml')),
  ),
  file('a FIFO in its place', 'mkfifo hma.yaml', ['not a regular file'], (place) => {
    execFileSync('mkfifo', [join(place.workspace, 'hma.yaml')]);
  }),
  file('a link to itself', 'ln -s hma.yaml hma.yaml', ['leads back to itself', 'Replace the link'], (place) =>
    symlinkSync('hma.yaml', join(place.workspace, 'hma.yaml')),
  ),
  put(
    'Latin-1',
    'objective: é, saved as Latin-1',
    Buffer.from('name: x\nobjective: \u00e9\n', 'latin1'),
    'hma.yaml:2',
    'UTF-8',
  ),
  put(
    'UTF-16',
    'the smallest contract, saved as UTF-16',
    Buffer.from(`\ufeff${smallest}`, 'utf16le'),
    'UTF-16',
    'UTF-8',
  ),
  put('a NUL byte', 'b: \\0 in line 2', Buffer.from('a: 1\nb: \0\n'), 'hma.yaml:2', 'NUL'),
  put('a contract of 600 KiB', 'a comment of 600 KiB', `# ${'x'.repeat(600 * 1024)}\n`, '512 KiB', 'Shorten'),
  put('nested without end', 'a: [[[[[… 5,000 times', `a: ${'['.repeat(5_000)}`, 'nested too deeply', 'Flatten'),
  put('an alias bomb', 'nine levels of *a8,*a8,*a8 …', aliasBomb, 'aliases', 'Write the values out'),
  withPrivate('a key in both files', 'metric: {direction: maximize}\n', 'p.yaml:1:10', 'stands in hma.yaml too'),
  withPrivate('a wrong value in the private file', 'metric:\n  thresholds: {gold: x}\n', 'p.yaml:2:22', 'a number'),
  withPrivate('a private file that is a list', '- a\n', 'p.yaml', 'a mapping'),
  withPrivate('a private file that names another', 'private: /x\n', 'p.yaml:1:1', 'one file'),
  withPrivate('a syntax error in the private file', 'metric: {noise: 1\n', 'p.yaml:1:9', '`}`'),
  file('a private file that does not exist', 'private: ~/p.yaml', ['hma.yaml:4:10', 'does not exist'], (place) => {
    place.write('hma.yaml', `${smallest}private: ~/p.yaml\n`);
  }),
  put(
    'a preset that does not exist',
    'agents: {A: {adapter: claude-code, preset: gml}}',
    `${smallest}agents: {A: {adapter: claude-code, preset: gml}}\n`,
    ...['hma.yaml:4:44', '`gml`', 'glm'],
  ),
  put(
    'a preset that another harness speaks',
    'agents: {B: {adapter: codex, preset: glm}}',
    `${smallest}agents: {B: {adapter: codex, preset: glm}}\n`,
    ...['hma.yaml:4:38', '`codex`', '`claude-code`'],
  ),
  put(
    'a preset that needs a model',
    'agents: {A: {adapter: codex, preset: openrouter}, B: claude-code}',
    `${smallest}agents: {A: {adapter: codex, preset: openrouter}, B: claude-code}\n`,
    ...['hma.yaml:4:38', '`model:`'],
  ),
];

/** Contracts: hma.yaml and its private file. */
export const contracts: BadInputs = {
  title: 'Contracts',
  about:
    'What `hma run` and `hma check` print, and what VS Code underlines. All mistakes are told at once, each with its line and column; a file alone stands where no place in it is meant. Nothing is started.',
  cases: [...written, ...files],
};
