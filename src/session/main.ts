import { sessionExit } from '../protocol/agent.ts';
import { sortWords, type OptionKind, type Words } from './arguments.ts';
import { archive } from './archive.ts';
import { nominate, result, status, submit, validate } from './commands.ts';
import { sessionHelp } from './help.ts';
import type { Output } from './output.ts';
import { controllerAt, defaultPatienceMs } from './patience.ts';
import type { Ask } from './ask.ts';

interface Command {
  readonly options: Readonly<Record<string, OptionKind>>;
  readonly positionals: readonly [least: number, most: number];
  readonly usage: string;
  readonly run: (ask: Ask, words: Words) => Promise<number>;
}

/** The commands inside a session by name. */
const commands: Readonly<Record<string, Command>> = {
  submit: {
    options: { note: 'value', score: 'value', wait: 'value', json: 'flag' },
    positionals: [0, 0],
    usage: 'hma submit [--note TEXT] [--score NUMBER] [--wait SECONDS] [--json]',
    run: submit,
  },
  result: {
    options: { wait: 'value', json: 'flag' },
    positionals: [1, 1],
    usage: 'hma result ID [--wait SECONDS] [--json]',
    run: result,
  },
  validate: { options: { json: 'flag' }, positionals: [0, 0], usage: 'hma validate [--json]', run: validate },
  status: { options: { json: 'flag' }, positionals: [0, 0], usage: 'hma status [--json]', run: status },
  archive: {
    options: { out: 'value', json: 'flag' },
    positionals: [0, 3],
    usage: 'hma archive [list | get ID [PATH] [--out FILE|FOLDER]] [--json]',
    run: archive,
  },
  nominate: {
    options: { reason: 'value', json: 'flag' },
    positionals: [1, 1],
    usage: 'hma nominate ID --reason TEXT [--json]',
    run: nominate,
  },
};

/** Whether a word is a command that belongs to a session. */
export const isSessionCommand = (word: string | undefined): boolean =>
  word !== undefined && Object.hasOwn(commands, word);

/** Everything a session command is given: words after `hma`, the environment, where to write. */
export interface SessionCall {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly output: Output;
  readonly patienceMs?: number;
}

/**
 * Runs one command of a session and answers its exit code (`sessionExit`). Knows who asks by `HMA_TOKEN` and where by `HMA_SOCKET`
 * alone, so it works from any folder.
 */
export async function runSession({ words, env, output, patienceMs = defaultPatienceMs }: SessionCall): Promise<number> {
  const [name, ...rest] = words;
  const wantsHelp =
    name === undefined ||
    name === 'help' ||
    name === '-h' ||
    rest.some((word) => word === '--help' || word === '-h') ||
    name === '--help';
  if (wantsHelp) {
    await output.print(sessionHelp);
    return name === undefined ? sessionExit.usage : 0;
  }
  const misuse = async (text: string): Promise<number> => {
    await output.remark(`hma: ${text}\n`);
    return sessionExit.usage;
  };
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command)
    return misuse(
      `there is no command ${JSON.stringify(name)} in a session; commands: ${Object.keys(commands).join(', ')}, help`,
    );
  const sorted = sortWords(rest, command.options);
  if (typeof sorted === 'string') return misuse(`${sorted}\nusage: ${command.usage}`);
  const count = sorted.positionals.length;
  const [least, most] = command.positionals;
  if (count < least || count > most)
    return misuse(
      `${count < least ? 'something is missing' : `unexpected ${JSON.stringify(sorted.positionals[most])}`}\nusage: ${command.usage}`,
    );

  const { HMA_SOCKET: socket, HMA_TOKEN: token } = env;
  if (!socket || !token) {
    const missing = socket ? 'HMA_TOKEN' : 'HMA_SOCKET';
    await output.remark(
      `hma ${name}: ${missing} is not set, so this process doesn't belong to a session. Run it in the session with its environment untouched.\n`,
    );
    return sessionExit.unreachable;
  }
  const controller = controllerAt({
    socket,
    patienceMs,
    onOutage: (detail) =>
      void output.remark(
        `hma: the controller is not answering (${detail}); trying again for up to ${Math.round(patienceMs / 1000)} s\n`,
      ),
  });
  try {
    return await command.run(
      {
        controller,
        token,
        output,
        json: sorted.flags.has('json'),
        misuse: (text) => misuse(`${text}\nusage: ${command.usage}`),
      },
      sorted,
    );
  } finally {
    await controller.close();
  }
}
