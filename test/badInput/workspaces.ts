import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { openSnapshots } from '../../src/snapshots/store.ts';
import { runFiles } from '../../src/ledger/places.ts';
import { history, opened, optionFacts, type At } from '../cli/history.ts';
import { createLedger } from '../cli/ledgerOnDisk.ts';
import { smallest } from '../task/workspace.ts';
import type { BadInput, BadInputs } from './badInput.ts';
import { theRun, type Place, type Said } from './place.ts';

const command = (
  name: string,
  given: string,
  says: readonly string[],
  more: { readonly exit: number; readonly give: (place: Place) => Promise<Said> },
): BadInput => ({ name, given, says, ...more });

/** A finished run with one candidate `solution/model.py`, its snapshot kept as a controller keeps it. */
async function runWithCandidate(place: Place): Promise<void> {
  const folder = place.layRun(theRun, []);
  place.write('hma.yaml', smallest);
  place.write('solution/model.py', 'candidate\n');
  const store = await openSnapshots({ dir: runFiles(folder).snapshots });
  const taken = await store.capture({ root: place.workspace, include: ['solution'], kind: 'candidate', ref: 'e1' });
  await store.close();
  if (!taken.ok) throw new Error(taken.refusal.detail);
  rmSync(join(place.workspace, 'solution'), { recursive: true });
  const { id, contentHash, files, bytes } = taken.value;
  const captured = { snapshot: id, contentHash, files, bytes };
  const first = opened();
  if (first.type !== 'run.opened') throw new Error('not an opening');
  const facts: At[] = [
    [0, { ...first, data: { ...first.data, workspace: place.workspace } }],
    optionFacts.open(1, 1, 'A'),
    [
      2,
      {
        type: 'experiment.submitted',
        data: { id: 'e1', option: 1, agent: 'A', attempt: 1, note: null, reported: null, captured },
      },
    ],
    [3, { type: 'experiment.accepted', data: { id: 'e1', option: 1, score: 0.5, verdictAt: 3, flags: [] } }],
    [4, { type: 'run.stopping', data: { by: 'ada' } }],
    [5, { type: 'run.finished', data: { reason: 'stopped' } }],
  ];
  createLedger(folder, history(...facts));
}

const withPath = { env: { PATH: process.env['PATH'] ?? '' } };

const apply = (
  name: string,
  words: readonly string[],
  says: readonly string[],
  more: { readonly exit: number; readonly given?: string; readonly make?: (place: Place) => void },
): BadInput => ({
  name,
  given: `${more.given === undefined ? '' : `${more.given}, then `}hma ${words.join(' ')}`,
  says,
  exit: more.exit,
  give: async (place) => {
    await runWithCandidate(place);
    more.make?.(place);
    return place.hma(words, withPath);
  },
});

const git = (place: Place, ...args: readonly string[]): void => {
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@localhost'];
  execFileSync('git', [...who, ...args], { cwd: place.workspace, stdio: 'ignore' });
};

/** Folders in which nothing can be found, or into which nothing can go. */
export const workspaces: BadInputs = {
  title: 'Workspaces and state folders',
  about: 'The workspace is /work/houses, the state folder (HMA_HOME) /work/state.',
  cases: [
    command('no task here', 'hma status, in a folder without hma.yaml', ['/work/ada', 'hma.yaml', '--run'], {
      exit: 3,
      give: (place) => place.hma(['status'], { cwd: place.user }),
    }),
    command('no run yet', 'hma candidates', ['/work/houses has no runs in /work/state', 'hma run'], {
      exit: 3,
      give: (place) => {
        place.write('hma.yaml', smallest);
        return place.hma(['candidates']);
      },
    }),
    command('a folder that is gone', 'hma status, in a folder that was deleted', ['/work/gone', 'does not exist'], {
      exit: 3,
      give: (place) => place.hma(['status'], { cwd: join(place.root, 'gone') }),
    }),
    command('nothing to tidy up', 'hma gc, in a folder without hma.yaml', ['/work/ada', 'hma gc --all'], {
      exit: 3,
      give: (place) => place.hma(['gc'], { cwd: place.user }),
    }),
    command(
      'a state folder in the workspace',
      'HMA_HOME=/work/houses/state hma run',
      ['lies in the workspace', 'HMA_HOME'],
      {
        exit: 1,
        give: (place) => {
          place.write('hma.yaml', smallest);
          place.write('eval.py', '');
          place.write('model.py', '');
          return place.hma(['run', '--detach'], { env: { HMA_HOME: join(place.workspace, 'state') } });
        },
      },
    ),
    command('no git on PATH', 'PATH=/usr/games hma run', ['candidates are kept with git', 'Install git'], {
      exit: 1,
      give: (place) => {
        place.write('hma.yaml', smallest);
        place.write('eval.py', '');
        place.write('model.py', '');
        return place.hma(['run', '--detach'], { env: { PATH: place.home } });
      },
    }),
    command('a state folder that is a file', 'HMA_HOME=/work/ada/notes.txt hma run', ["can't be written", 'HMA_HOME'], {
      exit: 1,
      give: (place) => {
        place.write('hma.yaml', smallest);
        place.write('eval.py', '');
        place.write('model.py', '');
        const file = place.write(join(place.user, 'notes.txt'), '');
        return place.hma(['run', '--detach'], { env: { HMA_HOME: file } });
      },
    }),
    command(
      'a state folder below a file',
      'HMA_HOME=/work/houses/model.py/x hma secrets set KEY',
      ['/work/houses/model.py/x', 'HMA_HOME'],
      {
        exit: 1,
        give: (place) => {
          const file = place.write('model.py', '');
          return place.hma(['secrets', 'set', 'KEY'], { env: { HMA_HOME: join(file, 'x') }, input: 'sesame\n' });
        },
      },
    ),
    command('a contract with mistakes', 'hma notify --test', ['hma.yaml:4:11', 'total'], {
      exit: 4,
      give: (place) => {
        place.write('hma.yaml', `${smallest}budgets: {totl: 1h}\n`);
        place.write('eval.py', '');
        return place.hma(['notify', '--test']);
      },
    }),
    command('an export over a file', 'night.tgz is there, then hma export --out night.tgz', ['night.tgz', 'there'], {
      exit: 2,
      give: (place) => {
        place.write('hma.yaml', smallest);
        place.layRun();
        place.write('night.tgz', 'mine');
        return place.hma(['export', '--out', 'night.tgz']);
      },
    }),
    command(
      'an export into a folder that does not exist',
      'hma export --out nowhere/night.tgz',
      ['nowhere', 'folder'],
      {
        exit: 1,
        give: (place) => {
          place.write('hma.yaml', smallest);
          place.layRun();
          return place.hma(['export', '--out', 'nowhere/night.tgz']);
        },
      },
    ),
    apply('unsaved work in the way', ['apply', 'e1'], ['solution/model.py', 'no commit', '--overwrite'], {
      exit: 2,
      given: 'echo mine > solution/model.py',
      make: (place) => void place.write('solution/model.py', 'mine\n'),
    }),
    apply('a link in the way', ['apply', 'e1'], ['solution', 'symbolic link', 'Move it away'], {
      exit: 2,
      given: 'ln -s /tmp solution',
      make: (place) => symlinkSync('/tmp', join(place.workspace, 'solution')),
    }),
    apply('a folder where a file goes', ['apply', 'e1'], ['solution/model.py', 'a folder', 'Move it away'], {
      exit: 2,
      given: 'mkdir -p solution/model.py',
      make: (place) => mkdirSync(join(place.workspace, 'solution/model.py'), { recursive: true }),
    }),
    apply(
      'a folder that is not empty',
      ['apply', 'e1', '--to', 'folder', 'best'],
      ['/work/houses/best', 'empty folder'],
      {
        exit: 1,
        given: 'best/note.txt is there',
        make: (place) => void place.write('best/note.txt', ''),
      },
    ),
    apply('a branch without a repository', ['apply', 'e1', '--to', 'branch', 'best'], ['/work/houses', 'git'], {
      exit: 2,
    }),
    apply(
      'a branch that is there',
      ['apply', 'e1', '--to', 'branch', 'best'],
      ['best', 'there already', 'another name'],
      {
        exit: 2,
        given: 'git branch best',
        make: (place) => {
          git(place, 'init', '-q');
          git(place, 'commit', '-q', '--allow-empty', '-m', 'x');
          git(place, 'branch', 'best');
        },
      },
    ),
    apply('a name that no branch can have', ['apply', 'e1', '--to', 'branch', 'a..b'], ['a..b', 'name', 'hma/e7'], {
      exit: 64,
      given: 'git init',
      make: (place) => git(place, 'init', '-q'),
    }),
    command(
      'candidates that are gone',
      'snapshots/ of the run was deleted, then hma diff e1',
      ['e1', 'missing', 'hma export'],
      {
        exit: 1,
        give: async (place) => {
          await runWithCandidate(place);
          rmSync(runFiles(place.layout()).snapshots, { recursive: true });
          return place.hma(['diff', 'e1', 'e1'], withPath);
        },
      },
    ),
    command(
      'candidates that are gone, and wanted',
      'snapshots/ of the run was deleted, then hma apply e1',
      ['e1', 'hma export'],
      {
        exit: 1,
        give: async (place) => {
          await runWithCandidate(place);
          rmSync(runFiles(place.layout()).snapshots, { recursive: true });
          return place.hma(['apply', 'e1'], withPath);
        },
      },
    ),
  ],
};
