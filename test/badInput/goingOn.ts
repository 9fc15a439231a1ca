import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { protectFiles } from '../../src/evaluators/protectedFiles.ts';
import { runFiles } from '../../src/ledger/places.ts';
import { contractHash, freezeContract } from '../../src/task/freeze.ts';
import { loadContract } from '../../src/task/load.ts';
import { goneOn, wholeRun } from '../cli/history.ts';
import type { BadInput, BadInputs } from './badInput.ts';
import { olderRun, theRun, wall, type Place } from './place.ts';

const task = `objective: Predict the prices of houses.
candidate: [model.py]
evaluate: [python3, score.py]
metric: { name: rmse, direction: minimize }
agents:
  A: { name: ada, adapter: command, command: [ada] }
  B: { name: bob, adapter: command, command: [bob] }
isolation: none
`;

/** A task, and a finished run of it as its controller left it. Answers the run's folder. */
async function lay(place: Place, more = ''): Promise<string> {
  place.write('hma.yaml', `${task}${more}`);
  place.write('old/a.csv', '1\n');
  place.write('score.py', 'print(1)\n');
  place.write('model.py', 'pass\n');
  const loaded = await loadContract({ workspace: place.workspace, given: { wall } });
  if (!loaded.ok) throw new Error(loaded.refusal.messages.map(({ what }) => what).join('; '));
  const { contract } = loaded.value;
  const [[at, opened] = [0], ...facts] = wholeRun();
  if (opened?.type !== 'run.opened') throw new Error('no opening');
  const data = { ...opened.data, contractHash: contractHash(contract) };
  const folder = place.layRun(theRun, [[at, { type: 'run.opened', data }], ...facts]);
  writeFileSync(runFiles(folder).contract, freezeContract(contract));
  await protectFiles({ workspace: place.workspace, patterns: contract.protected, store: runFiles(folder).protected });
  return folder;
}

/** `hma run --from` the finished run after something has been changed, unless another run is named. */
const from = (
  name: string,
  given: string,
  says: readonly string[],
  more: {
    readonly change: (folder: string, place: Place) => void;
    readonly run?: string;
    readonly exit?: number;
    /** What its hma.yaml had besides. */
    readonly was?: string;
  },
): BadInput => ({
  name,
  given,
  says,
  exit: more.exit ?? 2,
  give: async (place) => {
    const folder = await lay(place, more.was);
    more.change(folder, place);
    const said = await place.hma(['run', '--detach', '--from', more.run ?? theRun]);
    return { ...said, text: said.err.slice(said.err.indexOf('hma: ')) }; // without warnings about the task
  },
});

const nothing = (): void => undefined;
const rewrite = (file: string, change: (text: string) => string): void =>
  writeFileSync(file, change(readFileSync(file, 'utf8')));

/** Runs that a new one can't go on from. */
export const goingOn: BadInputs = {
  title: 'Going on from a run',
  about:
    'hma run --from, in the folder of a finished run with five candidates. Nothing is started and nothing written.',
  cases: [
    from('a run that does not exist', 'hma run --from nope', ['"nope"', 'hma list --all'], {
      change: nothing,
      run: 'nope',
      exit: 3,
    }),
    from('a run that is not over', `hma run --from ${olderRun}`, [olderRun, 'is not over', 'hma resume', 'hma stop'], {
      change: (folder, place) => {
        const older = place.layRun(olderRun, wholeRun().slice(0, 20));
        writeFileSync(runFiles(older).contract, readFileSync(runFiles(folder).contract));
      },
      run: olderRun,
    }),
    from('a run of another folder', 'the run worked in …/flats', [theRun, '/flats', '/houses', 'hma list'], {
      change: (folder, place) =>
        rewrite(runFiles(folder).run, (text) => text.replace(place.workspace, join(place.root, 'flats'))),
    }),
    from('a run from elsewhere', 'it came by hma import', [theRun, 'imported', 'hma apply'], {
      change: (folder) => rewrite(runFiles(folder).run, (text) => text.replace('{', '{"importedWall":1,')),
    }),
    from(
      'a ledger that was changed',
      'a score in its ledger was changed',
      [theRun, 'ledger-1.jsonl:', 'was changed', 'backup'],
      {
        change: (folder) =>
          rewrite(join(folder, 'ledger-1.jsonl'), (text) => text.replace('"score":0.3', '"score":0.1')),
        exit: 1,
      },
    ),
    from(
      'another metric',
      'direction: maximize',
      ['metric.direction was "minimize" and is "maximize"', 'Put back what differs'],
      {
        change: (_, place) => void place.write('hma.yaml', task.replace('direction: minimize', 'direction: maximize')),
      },
    ),
    from(
      'another evaluator, and more to the candidate',
      'evaluate: { command: …, repeats: 3 }, candidate: [model.py, data.csv]',
      ['evaluate.repeats was 1 and is 3', 'candidate was ["model.py"] and is ["data.csv","model.py"]'],
      {
        change: (_, place) => {
          place.write('data.csv', '1\n');
          place.write(
            'hma.yaml',
            task
              .replace('[python3, score.py]', '{ command: [python3, score.py], repeats: 3 }')
              .replace('[model.py]', '[model.py, data.csv]'),
          );
        },
      },
    ),
    from(
      'scores kept back that were shown',
      'feedback: blind',
      ['feedback was "score" and is "blind"', 'grade was nothing and is {'],
      {
        change: (_, place) => void place.write('hma.yaml', `${task}feedback: blind\ngrade: [python3, score.py]\n`),
      },
    ),
    from(
      'an evaluator’s file that was changed',
      'score.py has another line',
      ['the protected file score.py was changed', 'begin afresh'],
      {
        change: (_, place) => void place.write('score.py', 'print(2)\n'),
      },
    ),
    from(
      'files that are protected no more, and new ones',
      'protected: was [old/], is [new/]',
      ['the protected file new/b.csv is new', 'the protected file old/a.csv is protected no more'],
      {
        was: 'protected: [old/]\n',
        change: (_, place) => {
          place.write('new/b.csv', '1\n');
          place.write('hma.yaml', `${task}protected: [new/]\n`);
        },
      },
    ),
    {
      name: 'an earlier ledger that was rewritten afterwards',
      given: 'hma status of a run that went on from another ledger under that id',
      says: [theRun, 'event 99', 'not affected'],
      exit: 0,
      give: async (place) => {
        await lay(place);
        place.layRun('20261201-090000-cd34', goneOn());
        const said = await place.hma(['status']);
        return { ...said, text: said.err };
      },
    },
    from(
      'a contract that was changed',
      'contract.json of that run says direction: maximize',
      ['contract.json', 'was changed', 'backup'],
      {
        change: (folder) => rewrite(runFiles(folder).contract, (text) => text.replace('minimize', 'maximize')),
        exit: 1,
      },
    ),
    from('a contract that is gone', 'contract.json of that run was deleted', ['contract.json', 'gone', 'hma run'], {
      change: (folder) => rmSync(runFiles(folder).contract),
      exit: 1,
    }),
  ],
};
