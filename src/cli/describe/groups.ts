import type { Command } from 'commander';

/** The heading of what is in no group. */
export const otherCommands = 'Around it:';

/** The commands by when a person needs them, in the order in which `hma --help` shows them. */
const groups: readonly (readonly [heading: string, names: readonly string[]])[] = [
  ['Set up:', ['init', 'check', 'agents', 'login', 'logout', 'prices', 'prompt', 'notify', 'service', 'secrets']],
  ['Start and follow:', ['run', 'watch', 'status', 'log', 'list', 'resume']],
  ['While it runs:', ['message', 'handoff', 'pause', 'budget', 'review', 'stop']],
  ['The morning after:', ['candidates', 'show', 'diff', 'select', 'apply']],
  ['Judge again:', ['grade', 'reveal', 'reevaluate', 'disqualify']],
  ['Keep and clear up:', ['export', 'import', 'remove', 'gc']],
];

/** Puts the commands of the command line into groups; what is in none comes last. */
export function groupCommands(program: Command): void {
  const order = groups.flatMap(([, names]) => names);
  const place = (command: Command): number => {
    const at = order.indexOf(command.name());
    return at === -1 ? order.length : at;
  };
  // commander shows groups and commands in the order of this list, which it gives out as read-only
  (program.commands as Command[]).sort((a, b) => place(a) - place(b));
  for (const [heading, names] of groups)
    for (const command of program.commands) if (names.includes(command.name())) command.helpGroup(heading);
}
