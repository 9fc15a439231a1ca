#!/usr/bin/env node
import { isSessionCommand, runSession } from './session/main.ts';
import { processOutput } from './session/output.ts';

/*
 * `hma` as a person starts it. Inside a session the same name means the session's commands, which need none of the rest: it is
 * imported only when it is needed.
 */
const words = process.argv.slice(2);
const inSession =
  Boolean(process.env['HMA_TOKEN']) && (isSessionCommand(words[0]) || words[0] === 'help' || words.length === 0);

const node = Number(process.versions.node.split('.')[0]);

if (node < 22) {
  process.stderr.write(
    `hma: this is Node ${process.versions.node}, and hma needs 22 or newer\n     Install a current Node (https://nodejs.org), or start hma with its path: /path/to/node ${process.argv[1] ?? 'hma'}\n`,
  );
  process.exitCode = 1;
} else if (inSession) {
  process.exitCode = await runSession({ words, env: process.env, output: processOutput() });
} else {
  const { runCli } = await import('./cli/program.ts');
  const { processDesk } = await import('./cli/desk.ts');
  process.exitCode = await runCli(processDesk(), words);
}
