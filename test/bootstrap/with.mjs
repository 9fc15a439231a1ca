// @ts-check
// Runs a command with the project's Node and tools, from any Node ≥ 20 and a bare clone:
//   node test/bootstrap/with.mjs tsc --noEmit
// `--then` separates commands of which a failing one stops the rest; `--and` runs the next one all the same.
import { run } from './environment.mjs';
import { ensurePackages } from './packages.mjs';

/**
 * @param {readonly string[]} words
 * @returns {{ command: string[], despite: boolean }[]} `despite`: runs although an earlier one failed
 */
export const splitCommands = (words) => {
  /** @type {{ command: string[], despite: boolean }[]} */
  const commands = [{ command: [], despite: false }];
  for (const word of words) {
    if (word === '--and' || word === '--then') commands.push({ command: [], despite: word === '--and' });
    else commands.at(-1)?.command.push(word);
  }
  return commands.filter((each) => each.command.length > 0);
};

/** @param {readonly string[]} words */
const main = async (words) => {
  const commands = splitCommands(words);
  if (commands.length === 0) {
    console.error('Usage: node test/bootstrap/with.mjs COMMAND [ARGUMENTS] [--and | --then COMMAND …]');
    return 2;
  }
  if (!(await ensurePackages())) return 1;
  let first = 0;
  for (const { command, despite } of commands) {
    if (first !== 0 && !despite) continue;
    const code = await run(command);
    if (first === 0) first = code;
  }
  return first;
};

if (process.argv[1] === import.meta.filename) process.exitCode = await main(process.argv.slice(2));
