import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { smallest } from '../task/workspace.ts';
import type { BadInput, BadInputs } from './badInput.ts';
import type { Place } from './place.ts';

const secret = (
  name: string,
  given: string,
  more: { words: readonly string[]; input?: string; file?: string; exit: number },
  ...says: readonly string[]
): BadInput => ({
  name,
  given,
  says,
  exit: more.exit,
  give: (place) => {
    if (more.file !== undefined) place.write(join(place.home, 'secrets.json'), more.file);
    return place.hma(['secrets', ...more.words], { input: more.input ?? '' });
  },
});

/** Secrets: names and values that are none. */
export const secrets: BadInputs = {
  title: 'Secrets',
  about: 'No message ever holds a value.',
  cases: [
    secret(
      'a value for a name',
      'hma secrets set sk-ant-0123456789abcdef',
      { words: ['set', 'sk-ant-0123456789abcdef'], exit: 64 },
      'no variable',
      'ANTHROPIC_API_KEY',
    ),
    secret(
      'an empty value',
      'hma secrets set KEY < /dev/null',
      { words: ['set', 'KEY'], exit: 64 },
      'KEY is empty',
      '< file',
    ),
    secret(
      'two lines',
      'hma secrets set KEY < two-lines.txt',
      { words: ['set', 'KEY'], input: 'a\nb\n', exit: 64 },
      'more than one line',
      '< file',
    ),
    secret(
      'a file that is damaged',
      'secrets.json says "[]", then hma secrets list',
      { words: ['list'], file: '[]', exit: 1 },
      '/work/state/secrets.json',
      'Mend or remove it',
    ),
    secret(
      'a file that is damaged, written to',
      'secrets.json is cut off, then hma secrets set KEY',
      { words: ['set', 'KEY'], input: 'x', file: '{"A": "b', exit: 1 },
      '/work/state/secrets.json',
      'Mend or remove it',
    ),
    secret('no name', 'hma secrets remove', { words: ['remove'], exit: 64 }, "'name'", 'hma secrets remove --help'),
  ],
};

const price = (name: string, text: string, ...says: readonly string[]): BadInput => ({
  name,
  given: text,
  says: ['/work/state/prices.json does not count', ...says],
  exit: 1,
  give: async (place) => {
    place.write(join(place.home, 'prices.json'), text);
    const said = await place.hma(['prices']);
    return { ...said, text: said.err }; // beside the built-in prices
  },
});

/** Prices files. */
export const prices: BadInputs = {
  title: 'Prices files',
  about:
    'What `hma prices` and `hma status` say about the `prices.json` in the state folder; of a file with a mistake nothing counts.',
  cases: [
    price('a file that is cut off', '{"models": {', 'no JSON', '"cachedInput": 0.2'),
    price(
      'a price as text',
      '{"models": {"a": {"input": "2", "cachedInput": 0, "output": 9, "asOf": "2026-11-30", "source": "x"}}}',
      'models.a.input',
      'number',
      'USD per million',
    ),
    price(
      'a price below 0',
      '{"models": {"a": {"input": 2, "cachedInput": 0, "output": -9, "asOf": "2026-11-30", "source": "x"}}}',
      'models.a.output',
      'USD per million',
    ),
    price(
      'a price without a source',
      '{"models": {"a": {"input": 2, "cachedInput": 0, "output": 9, "asOf": "2026-11-30"}}}',
      'models.a.source',
      'missing',
    ),
    price(
      'a date in words',
      '{"models": {"a": {"input": 2, "cachedInput": 0, "output": 9, "asOf": "today", "source": "x"}}}',
      'models.a.asOf',
      '2026-11-30',
    ),
    price(
      'a misspelt key',
      '{"models": {"a": {"input": 2, "cached": 0, "output": 9, "asOf": "2026-11-30", "source": "x"}}}',
      'models.a',
      'cachedInput',
    ),
    price('models at the root', '{"a": {"input": 2}}', 'models', 'USD per million'),
    price('a list', '[]', 'the file', 'a mapping'),
  ],
};

const imported = (name: string, given: string, make: (place: Place) => void, ...says: readonly string[]): BadInput => ({
  name,
  given: `${given}, then hma import night.tgz`,
  says: ['/work/houses/night.tgz', ...says],
  exit: 1,
  give: (place) => {
    make(place);
    return place.hma(['import', 'night.tgz']);
  },
});

/** Packs what a function puts into a folder. */
const pack =
  (fill: (folder: string, place: Place) => void) =>
  (place: Place): void => {
    const folder = join(place.root, 'packed');
    mkdirSync(folder, { recursive: true });
    fill(folder, place);
    execFileSync('tar', ['-czf', join(place.workspace, 'night.tgz'), '-C', folder, '.']);
  };

const record = { run: '20261130-181123-ab12', workspace: '/work/houses', home: '/x', name: 'houses', openedWall: 0 };

/** Files that no export made. */
export const imports: BadInputs = {
  title: 'Imports',
  about: 'Everything is checked before it is put in place; a refused file leaves nothing behind.',
  cases: [
    imported(
      'no archive',
      'night.tgz says "noise"',
      (place) => void place.write('night.tgz', 'noise'),
      'could not be unpacked',
      'hma export',
    ),
    imported(
      'a folder',
      'mkdir night.tgz',
      (place) => mkdirSync(join(place.workspace, 'night.tgz')),
      'is no file',
      'hma export',
    ),
    imported(
      'an archive of something else',
      'tar -czf night.tgz notes.txt',
      pack((folder) => writeFileSync(join(folder, 'notes.txt'), '')),
      'no run.json',
      'hma export',
    ),
    imported(
      'a link inside',
      'an archive with a link to /etc/passwd',
      pack((folder) => symlinkSync('/etc/passwd', join(folder, 'odd'))),
      'odd',
      'neither a file nor a folder',
      'hma export',
    ),
    imported(
      'a run without its ledger',
      'an archive with run.json alone',
      pack((folder) => writeFileSync(join(folder, 'run.json'), JSON.stringify(record))),
      'ledger is missing',
      'hma export',
    ),
    imported(
      'a run whose id is a path',
      'run.json with "run": "../../x"',
      pack((folder) => writeFileSync(join(folder, 'run.json'), JSON.stringify({ ...record, run: '../../x' }))),
      'no run.json that can be read',
    ),
    imported(
      'a run without its candidates',
      'an archive without snapshots/',
      pack((folder, place) => {
        execFileSync('cp', ['-r', `${place.layRun()}/.`, folder]);
      }),
      'e1 are missing',
      'hma export',
    ),
    imported(
      'a ledger that was changed',
      'a score in the ledger was changed',
      pack((folder, place) => {
        execFileSync('cp', ['-r', `${place.layRun()}/.`, folder]);
        execFileSync('sed', ['-i', 's/"score":0.3/"score":0.2/', join(folder, 'ledger-1.jsonl')]);
      }),
      'ledger is broken at',
      'hma export',
    ),
  ],
};

const plain = (name: string, words: readonly string[], exit: number, ...says: readonly string[]): BadInput => ({
  name,
  given: `hma ${words.join(' ')}`,
  says,
  exit,
  give: (place) => place.hma(words),
});

/** The rest: beginnings, logins, notifications, tests of agents. */
export const others: BadInputs = {
  title: 'Beginnings, notifications and tests',
  about: '',
  cases: [
    plain('an agent that does not exist', ['init', '--agents', 'claude-code,clod'], 64, '"clod"', 'claude-code'),
    plain('three agents', ['init', '--agents', 'claude-code,codex,gemini'], 64, 'not 3', 'claude-code'),
    plain('a total in words', ['init', '--total', 'long'], 64, '"long"', '6h'),
    plain('an endpoint that is no URL', ['check', '--endpoint', 'localhost'], 64, "'localhost'", 'http://'),
    {
      name: 'nobody to notify',
      given: 'hma notify --test, without notify in hma.yaml',
      says: ['hma.yaml tells nobody', 'Add notify'],
      exit: 0,
      give: (place) => {
        place.write('hma.yaml', smallest);
        place.write('eval.py', '');
        return place.hma(['notify', '--test']);
      },
    },
    {
      name: 'a notifier that is not there',
      given: 'notify: [my-notifier], then hma notify --test',
      says: ['did not arrive', 'my-notifier', 'notify in hma.yaml'],
      exit: 1,
      give: (place) => {
        place.write('hma.yaml', `${smallest}notify: [my-notifier]\n`);
        place.write('eval.py', '');
        return place.hma(['notify', '--test']);
      },
    },
    {
      name: 'a prompt of a contract with mistakes',
      given: 'hma prompt',
      says: ['hma.yaml:1:1', 'objective'],
      exit: 4,
      give: (place) => {
        place.write('hma.yaml', 'objectiv: x\ncandidate: model.py\nevaluate: [python3, eval.py]\n');
        place.write('eval.py', '');
        return place.hma(['prompt']);
      },
    },
  ],
};
