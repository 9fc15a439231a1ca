import type { Command } from 'commander';

import { version } from '../../src/base/version.ts';
import { exitCodes, exitMeanings, type ExitName } from '../../src/cli/exitCodes.ts';

/** Text as roff takes it: no character of it is a request or an escape. */
const plain = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('`', '')
    .replaceAll(/^([.'])/gm, '\\&$1')
    .replaceAll(/[^\n -~]/gu, (other) => `\\[u${other.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`);

const bold = (text: string): string => `\\fB${plain(text)}\\fR`;

/** A term and what it means. */
const item = (term: string, text: string): string => `.TP\n${bold(term)}\n${plain(text)}`;

/** A meaning as a sentence; a file's name at its beginning stays as it is. */
const sentence = (text: string): string =>
  `${/^\S*\./.test(text) ? text.charAt(0) : text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;

/** Lines as they are written. */
const verbatim = (text: string): string => `.PP\n.nf\n.RS\n${plain(text)}\n.RE\n.fi`;

const environment: readonly (readonly [string, string])[] = [
  ['HMA_HOME', 'The state folder; default: hma below $XDG_STATE_HOME or ~/.local/state.'],
  ['HMA_DEBUG', 'Set to 1: where a failure comes from.'],
  ['NO_COLOR', 'Set: no colours.'],
  ['FORCE_COLOR', 'Set: colours also where nothing is a terminal; 0: none.'],
  ['TERM', 'dumb: no colours, no line that is drawn anew.'],
  ['COLUMNS', 'How wide tables may be where output is no terminal.'],
];

const files: readonly (readonly [string, string])[] = [
  ['hma.yaml', 'The task, in its workspace.'],
  ['.hma/', 'In the workspace: who owns it, and the list of candidates.'],
  ['$HMA_HOME/workspaces/', 'Runs, with their ledgers and candidates.'],
  ['$HMA_HOME/runtime/', 'What living runs are run by.'],
];

/** The manual page of the command line, hma(1): the same as `hma --help` and each command's own help. */
export function manPage(program: Command): string {
  const help = program.createHelp();
  const commands = help.visibleCommands(program);
  const groups = Map.groupBy(commands, (command) => command.helpGroup());
  const exits = (Object.keys(exitCodes) as ExitName[]).map((name) =>
    item(String(exitCodes[name]), sentence(exitMeanings[name])),
  );
  return `${[
    `.\\" Made by node test/cli/writeCommandDocs.ts; do not edit.`,
    `.TH HMA 1 "" "hma ${version}" "User Commands"`,
    `.SH NAME\nhma \\- two coding agents take turns on one workspace to improve a machine\\-learning task`,
    `.SH SYNOPSIS\n.B hma\n.I command\n[\\fIoptions\\fR]`,
    `.SH DESCRIPTION\nRuns are started in a folder with an\n.BR hma.yaml ,\nand go on without a terminal. A command is about the latest run of the folder that it is given in, unless \\fB\\-\\-run\\fR names another.\nWith \\fB\\-\\-json\\fR the answer on standard output is documented JSON. Remarks, progress and errors go to standard error; progress only to a terminal.`,
    ...[...groups].map(([heading, members]) =>
      [`.SH ${heading.replace(/:$/, '').toUpperCase()}`, ...members.map((member) => section(member))].join('\n'),
    ),
    `.SH EXIT STATUS\n${exits.join('\n')}`,
    `.SH ENVIRONMENT\n${environment.map(([name, text]) => item(name, text)).join('\n')}`,
    `.SH FILES\n${files.map(([name, text]) => item(name, text)).join('\n')}`,
  ].join('\n')}\n`;
}

function section(command: Command, path = 'hma'): string {
  const help = command.createHelp();
  const name = `${path} ${command.name()}`;
  const inner = command.commands.filter((each) => each.name() !== 'help');
  const words = inner.length > 0 ? '' : command.usage();
  return [
    `.SS ${plain(`${name} ${words}`.trim())}`,
    plain(sentence(command.description())),
    ...help
      .visibleArguments(command)
      .map((argument) => item(help.argumentTerm(argument), sentence(help.argumentDescription(argument)))),
    ...help
      .visibleOptions(command)
      .filter((option) => option.long !== '--help')
      .map((option) => item(help.optionTerm(option), sentence(help.optionDescription(option)))),
    ...examplesOf(command),
    ...inner.map((each) => section(each, name)),
  ].join('\n');
}

/** The examples below a command's help. */
function examplesOf(command: Command): string[] {
  let text = '';
  command.configureOutput({ writeOut: (part) => void (text += part), getOutHelpWidth: () => 100 });
  command.outputHelp();
  const [, examples] = text.split('\nExamples:\n');
  return examples === undefined ? [] : [verbatim(examples.replaceAll(/^ {2}/gm, '').trimEnd())];
}
