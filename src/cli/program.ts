import { existsSync } from 'node:fs';

import tab from '@bomb.sh/tab/commander';
import { Command, CommanderError } from 'commander';

import { version } from '../base/version.ts';
import { ControllerError } from '../client/connection.ts';
import { fail, remark, type Desk } from './desk.ts';
import { exitCodes, exitMeanings } from './exitCodes.ts';
import { misuse } from './misuse.ts';
import { Interrupted } from './progress.ts';
import { failure } from '../client/failure.ts';
import { systemFailure } from '../client/systemFailure.ts';
import { SecretsError } from '../agents/secrets.ts';
import { describeApplying, describeJudging, describeLooking } from './describe/candidates.ts';
import { describeAgents, describeCompletion, describeHousehold } from './describe/household.ts';
import { groupCommands, otherCommands } from './describe/groups.ts';
import { describeRuns, describeWishes } from './describe/runs.ts';
import type { Act } from './describe/parts.ts';

/** Commands that exist inside a session only. */
const sessionOnly = ['submit', 'result', 'validate', 'archive', 'nominate'] as const;

const exitTable = Object.entries(exitCodes)
  .map(([name, code]) => `  ${String(code).padStart(2)}  ${exitMeanings[name as keyof typeof exitCodes]}`)
  .join('\n');

const epilogue = `
Examples:
  hma run                              start the run that hma.yaml describes, and watch it
  hma run --detach && hma watch        the same, in the background
  hma pause --after                    pause when the present session is over
  hma candidates --sort score          all candidates, best first
  hma select e7 --reason "simplest of the best"

Exit codes:
${exitTable}

Runs live in $HMA_HOME (default: the platform's state folder). --json prints documented JSON (docs/json.md).`;

/** Runs a person's command line (words after `hma`) and answers its exit code. */
export async function runCli(desk: Desk, words: readonly string[]): Promise<number> {
  let exit: number = exitCodes.ok;
  const wantsJson = words.includes('--json');
  const act = (work: () => Promise<number>) => async (): Promise<void> => {
    exit = await work();
  };
  const program = commandLine(desk, act);
  // `hma log | head`: the write's own callback tells
  for (const stream of [desk.stdout, desk.stderr]) stream.on('error', () => undefined);
  try {
    if (words.length === 0) {
      program.outputHelp();
      return exitCodes.ok;
    }
    if (!existsSync(desk.cwd))
      return await fail(
        desk,
        failure('notFound', 'no_folder', {
          what: `the folder ${desk.cwd} does not exist any more`,
          fix: 'Go to another one, such as cd ~.',
        }),
        wantsJson,
      );
    await program.parseAsync([...words], { from: 'user' });
    return exit;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return exitCodes.ok;
      // a group without its command has printed its help
      return error.code === 'commander.help' ? exitCodes.usage : fail(desk, misuse(error, program, words), wantsJson);
    }
    if (error instanceof Interrupted) return exitCodes.interrupted;
    if (error instanceof ControllerError)
      return fail(
        desk,
        failure('failed', 'controller_error', {
          what: error.message,
          fix: 'Look with hma status; controller.log in the run folder may say more.',
        }),
        wantsJson,
      );
    if (desk.env['HMA_DEBUG']) remark(desk, String(error instanceof Error ? error.stack : error));
    if (error instanceof SecretsError)
      return fail(
        desk,
        failure('failed', 'bad_secrets', { what: error.message, fix: 'Mend or remove it, then hma secrets set NAME.' }),
        wantsJson,
      );
    const system = systemFailure(error);
    if (system) return fail(desk, system, wantsJson);
    const what = error instanceof Error ? error.message : String(error);
    return fail(
      desk,
      failure('bug', 'bug', {
        what: `this should not have happened: ${what}`,
        fix: 'Set HMA_DEBUG=1 and try again to see where; runs are not affected by a command that fails.',
      }),
      wantsJson,
    );
  }
}

/** The whole command line, as commander knows it. */
export function commandLine(desk: Desk, act: Act): Command {
  const program = new Command('hma')
    .description('Two coding agents take turns on one workspace to improve a machine-learning task.')
    .version(version, '-V, --version')
    .commandsGroup(otherCommands)
    .helpCommand('help [command]', 'show the help of a command')
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void desk.stdout.write(text),
      writeErr: (text) => void desk.stderr.write(text),
      outputError: () => undefined, // told as every failure is
    })
    .addHelpText('after', epilogue);
  describeRuns(program, desk, act);
  describeAgents(program, desk, act);
  describeWishes(program, desk, act);
  describeLooking(program, desk, act);
  describeJudging(program, desk, act);
  describeApplying(program, desk, act);
  describeHousehold(program, desk, act);
  for (const name of sessionOnly) {
    const sessionCommand = program
      .command(name, { hidden: true })
      .allowUnknownOption()
      .allowExcessArguments()
      .helpOption(false);
    sessionCommand.action(
      act(() =>
        fail(
          desk,
          failure('usage', 'not_in_a_session', {
            what: `hma ${name} works inside an agent's session only (HMA_TOKEN is not set)`,
            fix: 'Outside of one: hma status, hma candidates, hma select. See hma --help.',
          }),
          false,
        ),
      ),
    );
  }
  tab(program, { completionCommandName: 'completion' });
  describeCompletion(program);
  groupCommands(program);
  return program;
}
