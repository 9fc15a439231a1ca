import { wholeRun } from '../cli/history.ts';
import type { BadInput, BadInputs } from './badInput.ts';
import { olderRun, theRun } from './place.ts';

type Words = readonly string[];
const shown = (words: Words): string =>
  `hma ${words.map((word) => (/^[\w./:=,-]+$/.test(word) ? word : JSON.stringify(word))).join(' ')}`;

/** A command in a workspace with a finished run and an interrupted one. */
const line = (name: string, words: Words, exit: number, ...says: readonly string[]): BadInput => ({
  name,
  given: shown(words),
  says,
  exit,
  give: (place) => {
    place.write('hma.yaml', 'objective: x\n');
    place.layRun();
    place.layRun(olderRun, wholeRun().slice(0, 20));
    return place.hma(words);
  },
});

/** Command lines that no command takes. */
export const commandLines: BadInputs = {
  title: 'Command lines',
  about: `In a folder with a finished run (${theRun}) and one that was interrupted (${olderRun}).`,
  cases: [
    line('a misspelt command', ['statsu'], 64, "'statsu'", 'status'),
    line('an unknown option', ['status', '--frobnicate'], 64, "'--frobnicate'", 'hma status --help'),
    line('a word too many', ['status', 'e3'], 64, 'hma status --help'),
    line('a word too few', ['show'], 64, "'id'", 'hma show --help'),
    line('an option without its value', ['status', '--run'], 64, '--run <id>', 'hma status --help'),
    line('an order that is none', ['candidates', '--sort', 'beauty'], 64, "'beauty'", 'score'),
    line('a number in words', ['watch', '--tail', 'all'], 64, "'all'", 'whole number'),
    line('how often: not at all', ['reevaluate', 'e3', '-n', '0'], 64, "'0'", 'from 1'),
    line('a run that does not exist', ['status', '--run', 'nope'], 3, '"nope"', 'hma list --all'),
    line('a run of which too little is named', ['status', '--run', '20261130'], 3, theRun, olderRun, 'more of the id'),
    line('a run named by nothing', ['status', '--run', ''], 3, 'hma list --all'),
    line('an experiment that does not exist', ['show', 'e99'], 3, theRun, '"e99"', 'hma candidates'),
    line('a comparison with an experiment that does not exist', ['diff', 'e3', 'e99'], 3, '"e99"', 'hma candidates'),
    line('a comparison with a start that had no files', ['diff', 'initial', 'e3'], 3, theRun, 'another candidate'),
    line('a session that does not exist', ['log', '--session', '9'], 3, 'option 9', 'hma status'),
    line('a session that is no number', ['log', '--session', 'last'], 64, '"last"', 'review', 'hma status'),
    line('a session that is a path', ['log', '--session', '../1'], 64, '"../1"', 'hma status'),
    line('a prompt of a session that was none', ['prompt', '--session', '9'], 3, 'option 9', 'hma status'),
    line('a pause after the end', ['pause'], 2, theRun, 'is over', 'hma run'),
    line('a handoff after the end', ['handoff'], 2, theRun, 'is over', 'hma run'),
    line('a resume after the end', ['resume'], 2, theRun, 'is over', 'hma run'),
    line('a message without words', ['message', ' '], 64, 'nothing to say', 'hma message "'),
    line('a message after the end', ['message', 'hello'], 2, theRun, 'is over'),
    line('a stop that nobody can confirm', ['stop', '--run', olderRun], 64, 'nobody can answer', '--yes'),
    line('a removal that nobody can confirm', ['remove', theRun], 64, 'nobody can answer', '--yes'),
    line('a removal of a run that is not over', ['remove', olderRun, '--yes'], 2, olderRun, 'hma stop'),
    line('a selection of nothing', ['select', '--reason', 'best'], 64, 'a candidate', 'hma candidates'),
    line('a selection without a reason', ['select', 'e3'], 64, 'reason', '--reason "'),
    line('a selection that is set and cleared', ['select', 'e3', '--clear'], 64, '--clear', 'hma select ID'),
    line('a disqualification without a reason', ['disqualify', 'e3'], 64, 'reason', '--reason "'),
    line('grades of nothing', ['grade'], 64, 'no candidate', '--all'),
    line('a budget without a change', ['budget'], 64, 'nothing to change', '--total'),
    line('a budget that is no duration', ['budget', '--total', 'long'], 64, '--total', '"long"', '1h30m'),
    line('a budget that is set and added to', ['budget', '--total', '8h', '--add', '1h'], 64, '--add', 'Give one'),
    line('no experiments at all', ['budget', '--experiments', '0'], 64, '--experiments', '"0"', 'none'),
    line('tokens in bytes', ['budget', '--tokens', '5 MB'], 64, '--tokens', '"5 MB"', '200k'),
    line('a price in words', ['budget', '--cost', 'little'], 64, '--cost', '"little"', 'US dollars'),
    line('a time in words', ['budget', '--until', 'tomorrow'], 64, '--until', '"tomorrow"', '2026-12-01T18:00'),
    line('a place to apply to that is none', ['apply', '--to', 'cloud'], 64, 'cloud', 'folder DIR'),
    line('a folder to apply to without a name', ['apply', '--to', 'folder'], 64, "folder's name", '--to folder'),
    line('a branch to apply to without a name', ['apply', '--to', 'branch'], 64, "branch's name", 'hma apply e7'),
    line('a candidate to apply that does not exist', ['apply', 'e99'], 2, 'e99', 'hma candidates'),
    line('an agent’s command outside of a session', ['submit'], 64, 'HMA_TOKEN', 'hma status'),
    line('a notification without a test', ['notify'], 64, 'sends nothing', 'hma notify --test'),
    line('a contract that does not exist', ['run', '--file', 'quick.yaml'], 4, 'quick.yaml', 'Create it'),
    line('a contract that is a folder', ['run', '--file', '.'], 4, 'is a folder', 'Name a file'),
    line('a login of an agent that does not exist', ['login', 'clod'], 64, 'clod', 'claude-code', 'hma agents'),
    line('a login of an agent without one', ['login', 'gemini'], 2, 'with a key', 'Set '),
    line('a login of an agent that is not installed', ['login', 'claude-code'], 1, 'claude', 'Install it'),
    line('a service that is none', ['service', 'start'], 64, "'start'"),
    line('an init over a contract', ['init'], 2, 'hma.yaml', 'hma check'),
    line('a file to import that does not exist', ['import', 'night.tgz'], 1, '/work/houses/night.tgz', 'path'),
  ],
};
