import type { Command } from 'commander';

/** Commands that people don't call themselves. */
const hidden = new Set(['help', 'complete']);

/** The text of docs/commands.md: each command's own help. */
export function commandDocs(program: Command): string {
  const commands = program
    .createHelp()
    .visibleCommands(program)
    .filter((command) => !hidden.has(command.name()));
  const index = [...Map.groupBy(commands, (command) => command.helpGroup())].map(
    ([heading, members]) =>
      `- ${heading} ${members.map((member) => `[${member.name()}](#hma-${member.name()})`).join(', ')}`,
  );
  const sections = commands.map((command) => `## hma ${command.name()}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`);
  return `# The commands of \`hma\`

Made from the command line itself by \`node test/cli/writeCommandDocs.ts\`; do not edit. What \`--json\` prints, and what exit codes mean: [json.md](json.md).
The same as a manual page: \`man docs/hma.1\`. Tab completion: \`source <(hma completion bash)\`, or zsh, fish, powershell.

Answers go to standard output; remarks, errors and progress to standard error, progress only where that is a terminal. Colours are left out where output is no terminal, with \`NO_COLOR\` and with
\`TERM=dumb\`; \`FORCE_COLOR=1\` brings them back. A reader that leaves (\`hma log | head\`) is no failure; Ctrl-C ends a command, and its temporary files are gone.

${index.join('\n')}

${sections.join('\n')}`;
}

/** Help as it is printed where nothing says how wide the terminal is. */
function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => void (text += part), getOutHelpWidth: () => 100 });
  command.outputHelp();
  return text.trimEnd();
}
