import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { BadInput, BadInputs } from './badInput.ts';

const of = (folder: string): string => join(folder, 'ledger-1.jsonl');

/** A finished run whose ledger was changed, looked at with `hma status` unless other words are given. */
const ledger = (
  name: string,
  given: string,
  says: readonly string[],
  more: {
    readonly change: (folder: string) => void;
    readonly words?: readonly string[];
    readonly exit?: number;
  },
): BadInput => ({
  name,
  given,
  says,
  exit: more.exit ?? 0,
  give: async (place) => {
    place.write('hma.yaml', 'objective: x\n');
    more.change(place.layRun());
    const said = await place.hma(more.words ?? ['status']);
    return { ...said, text: said.err }; // what could be read is shown all the same
  },
});

const lines = (file: string, change: (lines: string[]) => string[]): void => {
  const text = change(readFileSync(file, 'utf8').trimEnd().split('\n')).join('\n');
  writeFileSync(file, `${text}\n`);
};

/** Ledgers that are damaged: the run folder's `ledger-1.jsonl`. */
export const ledgers: BadInputs = {
  title: 'Ledgers',
  about:
    'What is before the damage is read and shown; nothing more is written. A last line that was never completely written, as after a power loss, is no damage and is set aside without a word.',
  cases: [
    ledger('a changed byte', 'a score in line 20 was changed', ['ledger-1.jsonl:', 'changed'], {
      change: (folder) =>
        lines(of(folder), (all) =>
          all.map((line, index) => (index === 19 ? line.replace(/\d(?=[^\d]*$)/, '~') : line)),
        ),
    }),
    ledger('a line taken out', 'line 12 was deleted', ['ledger-1.jsonl:12', 'is expected'], {
      change: (folder) => lines(of(folder), (all) => all.toSpliced(11, 1)),
    }),
    ledger('two lines exchanged', 'lines 5 and 6 were exchanged', ['ledger-1.jsonl:5', 'is expected'], {
      change: (folder) => lines(of(folder), (all) => all.with(4, all[5]!).with(5, all[4]!)),
    }),
    ledger('a line that is no event', 'line 8 says "hello"', ['ledger-1.jsonl:8', 'no event'], {
      change: (folder) => lines(of(folder), (all) => all.with(7, 'hello')),
    }),
    ledger('a first line that was changed', 'fence 1 became fence 7', ['ledger-1.jsonl:1', 'first line was changed'], {
      change: (folder) => lines(of(folder), (all) => all.with(0, all[0]!.replace('"fence":1', '"fence":7'))),
      exit: 1,
    }),
    ledger('a format of a newer version', 'format 9', ['ledger-1.jsonl:1', 'newer HMA'], {
      change: (folder) => lines(of(folder), (all) => all.with(0, all[0]!.replace('"v":1', '"v":9'))),
      exit: 1,
    }),
    ledger('a folder in its place', 'mkdir ledger-1.jsonl', ['ledger-1.jsonl', 'EISDIR'], {
      change: (folder) => {
        rmSync(of(folder));
        mkdirSync(of(folder));
      },
      exit: 1,
    }),
    ledger('an empty file', 'ledger-1.jsonl has no byte', ['holds no events', 'controller.log'], {
      change: (folder) => writeFileSync(of(folder), ''),
      exit: 1,
    }),
    ledger('no ledger', 'ledger-1.jsonl was deleted', ['20261130-181123-ab12', 'controller.log'], {
      change: (folder) => rmSync(of(folder)),
      exit: 1,
    }),
    ledger(
      'a ledger under another name',
      'ledger-1.jsonl was renamed to ledger-2.jsonl',
      ['ledger-2.jsonl:1', 'first line was changed'],
      {
        change: (folder) => {
          const [head = ''] = readFileSync(of(folder), 'utf8').split('\n');
          rmSync(of(folder));
          writeFileSync(join(folder, 'ledger-2.jsonl'), `${head.replace('"fence":1', '"fence":2')}\n`);
        },
        exit: 1,
      },
    ),
    ledger('a run that can’t be read, among others', 'line 1 says "hello"', ['ledger-1.jsonl:1'], {
      change: (folder) => lines(of(folder), (all) => all.with(0, 'hello')),
      words: ['list'],
    }),
    ledger('a run.json that is no JSON', 'run.json says "hello"', ['run.json', 'HMA_HOME'], {
      change: (folder) => writeFileSync(join(folder, 'run.json'), 'hello'),
      words: ['select', 'e3', '--reason', 'simplest'],
      exit: 1,
    }),
  ],
};
