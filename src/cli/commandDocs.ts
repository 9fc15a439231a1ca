import type { Command } from 'commander';

/** Commands that people don't call themselves. */
const hidden = new Set(['help', 'complete']);

/** The text of docs/commands.md: each command's own help. */
export function commandDocs(program: Command): string {
  const commands = program
    .createHelp()
    .visibleCommands(program)
    .filter((command) => !hidden.has(command.name()));
  const sections = commands.map((command) => `## hma ${command.name()}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`);
  return `# The commands of \`hma\`

Made from the command line itself by \`node test/cli/writeCommandDocs.ts\`; do not edit. What \`--json\` prints, and what exit codes mean: [json.md](json.md).
Tab completion: \`source <(hma completion bash)\`, or zsh, fish, powershell.

${sections.join('\n')}`;
}

/** Help as it is printed where nothing says how wide the terminal is. */
function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => void (text += part), getOutHelpWidth: () => 100 });
  command.outputHelp();
  return text.trimEnd();
}
