import { InvalidArgumentError, type Command, type CommanderError } from 'commander';

import { failure, type Failure } from '../client/failure.ts';

/** Reads a whole number of at least `least`. */
export const wholeNumber =
  (least: number) =>
  (text: string): number => {
    if (!/^\d{1,6}$/.test(text) || Number(text) < least)
      throw new InvalidArgumentError(`Here a whole number is needed, from ${least}.`);
    return Number(text);
  };

/** Reads an http(s) URL. */
export const endpoint = (text: string): string => {
  if (!/^https?:\/\/./.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError(`Here a URL is needed, such as http://127.0.0.1:8080.`);
  return text;
};

/** What commander found wrong, in our words' form: its suggestion, or where the help is, is what to do. */
export function misuse(error: CommanderError, program: Command, words: readonly string[]): Failure {
  const [first = '', ...more] = error.message.replace(/^error: /, '').split('\n');
  let command = program;
  for (const word of words) {
    const named = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (!named) break;
    command = named;
  }
  const name = command === program ? 'hma' : `hma ${words.slice(0, depthOf(command)).join(' ')}`;
  const meant = /\((Did you mean [^)]*)\)/.exec(more.join(' '))?.[1];
  return failure(
    'usage',
    error.code.replace(/^commander\./, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    {
      what: first,
      fix: `${meant === undefined ? '' : `${meant} `}See ${name} --help.`,
    },
  );
}

const depthOf = (command: Command): number => (command.parent === null ? 0 : 1 + depthOf(command.parent));
