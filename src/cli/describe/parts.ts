import type { Command } from 'commander';

/** Makes an action of work that answers an exit code. */
export type Act = (work: () => Promise<number>) => () => Promise<void>;

/** The options of every command about one run. */
export const withRun = (command: Command): Command =>
  command.option('--run <id>', 'another run than the latest of this folder').option('--json', 'print JSON');

/** Adds examples below a command's help. */
export const examples = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`);
