import { existsSync } from 'node:fs';

import tab from '@bomb.sh/tab/commander';
import { Command, CommanderError, Option } from 'commander';

import { version } from '../base/version.ts';
import { apply, type ApplyOptions } from './commands/apply.ts';
import { agents } from './commands/agents.ts';
import { check } from './commands/check.ts';
import { candidateOrders, candidates, list, status, type CandidateOrder, type RunOptions } from './commands/looking.ts';
import {
  budget,
  disqualify,
  handoff,
  message,
  pause,
  reveal,
  review,
  select,
  stop,
  type BudgetOptions,
} from './commands/intents.ts';
import { grade, reevaluate, type GradeOptions } from './commands/errands.ts';
import { init, type InitOptions } from './commands/init.ts';
import { login, logout } from './commands/logins.ts';
import { gc, remove, type GcOptions } from './commands/keeping.ts';
import { log, type LogOptions } from './commands/log.ts';
import { testNotify } from './commands/notify.ts';
import { exportTo, importFrom } from './commands/portable.ts';
import { prices } from './commands/prices.ts';
import { prompt, type PromptOptions } from './commands/prompt.ts';
import { listSecrets, removeSecret, setSecret } from './commands/secrets.ts';
import { installService, uninstallService } from './commands/service.ts';
import { diff, show, type DiffOptions } from './commands/showing.ts';
import { resume, run, watch } from './commands/starting.ts';
import { ControllerError } from '../client/connection.ts';
import { fail, remark, type Desk } from './desk.ts';
import { exitCodes, exitMeanings } from './exitCodes.ts';
import { endpoint, misuse, wholeNumber } from './misuse.ts';
import { failure } from '../client/failure.ts';
import { systemFailure } from '../client/systemFailure.ts';
import { SecretsError } from '../agents/secrets.ts';

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
  desk.stdout.on('error', () => undefined); // `hma log | head`: the write's own callback tells
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

type Act = (work: () => Promise<number>) => () => Promise<void>;

const withRun = (command: Command): Command =>
  command.option('--run <id>', 'another run than the latest of this folder').option('--json', 'print JSON');

/** The whole command line, as commander knows it. */
export function commandLine(desk: Desk, act: Act): Command {
  const program = new Command('hma')
    .description('Two coding agents take turns on one workspace to improve a machine-learning task.')
    .version(version, '-V, --version')
    .helpCommand(true)
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
  describeApplying(program, desk, act);
  describeLooking(program, desk, act);
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
  return program;
}

const examples = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`);

function describeRuns(program: Command, desk: Desk, act: Act): void {
  const start = program
    .command('run')
    .description('check hma.yaml, start a run and watch it')
    .option('--detach', 'do not watch: the run goes on in the background')
    .option('--file <path>', 'another contract than hma.yaml')
    .option(
      '--accept-bypass',
      'yes: agents with permissions: bypass may act unasked although nothing isolates them from what you can reach',
    )
    .option('--json', 'print events as JSON lines; with --detach the run');
  examples(start, 'hma run', 'hma run --file quick.yaml --detach --json').action(
    (options: { detach?: boolean; file?: string; json?: boolean; acceptBypass?: boolean }) =>
      act(() => run(desk, options))(),
  );
  examples(
    program
      .command('init')
      .description('write a commented hma.yaml for this folder, with what can be guessed of it')
      .option('--agents <names>', 'one or two, by comma; otherwise those that are installed')
      .option('--total <duration>', 'active runtime of the whole run (default: the task’s own, else 6h)')
      .option('--harbor <folder>', 'lay out a Harbor or AutoLab task in this empty folder')
      .option('--mle-bench <folder>', 'lay out a prepared MLE-bench competition in this empty folder')
      .option('--direction <way>', 'of its score, where no leaderboard tells: maximize or minimize')
      .option('--leaderboard <file>', "its leaderboard.csv, for medals; default: the one in the competition's folder")
      .option('--template <name>', 'a small task to begin with: kernel')
      .option('--json', 'print JSON'),
    'hma init',
    'hma init --harbor ../autolab/tasks/toy_isa_opt',
    'hma init --mle-bench ~/.cache/mle-bench/data/spaceship-titanic',
    'hma init --agents claude-code,codex --total 12h',
  ).action((options: InitOptions) => act(() => init(desk, options))());
  program
    .command('check')
    .alias('doctor')
    .description('look at all that a run needs, without starting one')
    .option('--json', 'print JSON')
    .option('--endpoint <url>', 'a test endpoint: one scripted turn of each agent there, without your keys', endpoint)
    .action((options: { json?: boolean; endpoint?: string }) => act(() => check(desk, options))());
  const look = withRun(
    program.command('watch').description('show a run live until it is over; Ctrl-C leaves, the run goes on'),
  ).option('--tail <lines>', 'lines of the past to show at first', wholeNumber(0));
  examples(look, 'hma watch --tail 1000').action((options: RunOptions & { tail?: number }) =>
    act(() => watch(desk, options))(),
  );
  const again = withRun(
    program
      .command('resume')
      .argument('[run]', "the run's id or its beginning")
      .description('end a pause; start the controller again after a crash or a reboot'),
  )
    .option('--all', 'every run that is not over and has no controller; pauses stay')
    .option(
      '--take-over',
      'take the workspace from an owner that cannot be seen from here: only when you know that it is gone',
    );
  examples(again, 'hma resume', 'hma resume 20261130-1811', 'hma resume --all').action(
    (named: string | undefined, options: RunOptions & { all?: boolean; takeOver?: boolean }) =>
      act(() => resume(desk, named, options))(),
  );
}

function describeAgents(program: Command, desk: Desk, act: Act): void {
  program
    .command('agents')
    .description("the agents' CLIs: found, version, how signed in, what each can do; and the presets")
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => act(() => agents(desk, options))());
  program
    .command('prices')
    .description('what models cost, from when and where; and where your own prices stand')
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => act(() => prices(desk, options))());
  examples(
    program
      .command('login')
      .argument('<agent>', 'such as claude-code or codex')
      .description('sign an agent in, for hma alone: its own sign-in in this terminal, with a HOME of its own')
      .action((name: string) => act(() => login(desk, name))()),
    'hma login claude-code',
  );
  program
    .command('logout')
    .argument('<agent>', 'such as claude-code or codex')
    .description("forget hma's login of an agent")
    .action((name: string) => act(() => logout(desk, name))());
}

/** Commands about the machine and its user, not about one run. */
function describeHousehold(program: Command, desk: Desk, act: Act): void {
  const service = program.command('service').description('take runs up again after a reboot, by systemd for this user');
  service
    .command('install')
    .description('write and enable the service')
    .action(act(() => installService(desk)));
  service
    .command('uninstall')
    .description('remove it')
    .action(act(() => uninstallService(desk)));
  const secrets = examples(
    program.command('secrets').description('values kept for variables that are not set where a run is taken up again'),
    'hma secrets list',
    'hma secrets set ANTHROPIC_API_KEY < key.txt',
  );
  secrets
    .command('list')
    .description('the names; never a value')
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => act(() => listSecrets(desk, options))());
  secrets
    .command('set')
    .argument('<name>', "the variable's name")
    .description('keep a value, read from standard input')
    .action((name: string) => act(() => setSecret(desk, name))());
  secrets
    .command('remove')
    .argument('<name>', "the variable's name")
    .description('forget it')
    .action((name: string) => act(() => removeSecret(desk, name))());
}

/** What a person does about single candidates. */
function describeJudging(program: Command, desk: Desk, act: Act): void {
  examples(
    withRun(
      program
        .command('disqualify')
        .argument('<id>', 'a candidate')
        .description('a candidate that must not be chosen; it stays in the archive, marked'),
    )
      .option('--reason <text>', 'why, for the record')
      .option('--undo', 'take it back'),
    'hma disqualify e7 --reason "reads the test labels"',
  ).action((id: string, options: RunOptions & { reason?: string; undo?: boolean }) =>
    act(() => disqualify(desk, id, options))(),
  );
  examples(
    withRun(
      program
        .command('grade')
        .argument('[ids...]', 'candidates')
        .description('have candidates graded by the hidden grader, after the end'),
    )
      .option('--all', 'every candidate that has no grade')
      .option('--regrade', 'also those that have one'),
    'hma grade --all',
    'hma grade e3 --regrade',
  ).action((ids: readonly string[], options: GradeOptions) => act(() => grade(desk, ids, options))());
  examples(
    withRun(
      program
        .command('reevaluate')
        .argument('<id>', 'a candidate')
        .description(
          'run the evaluator again on a candidate, after the end; mean and standard error stand beside its score',
        ),
    ).option('-n, --times <number>', 'how often', wholeNumber(1), 5),
    'hma reevaluate e7 -n 5',
  ).action((id: string, options: RunOptions & { times?: number }) => act(() => reevaluate(desk, id, options))());
}

function describeWishes(program: Command, desk: Desk, act: Act): void {
  withRun(program.command('pause').description('stop the clock and freeze the session'))
    .option('--after', 'only when the present session is over')
    .action((options: RunOptions & { after?: boolean }) => act(() => pause(desk, options))());
  withRun(program.command('handoff').description('end the present session now; the other agent is next')).action(
    (options: RunOptions) => act(() => handoff(desk, options))(),
  );
  withRun(program.command('message').description('say something to the running session, where its CLI can take it'))
    .argument('<text...>', 'what to say')
    .action((words: readonly string[], options: RunOptions) => act(() => message(desk, words, options))());
  withRun(program.command('review').description('end exploration and begin the final review now')).action(
    (options: RunOptions) => act(() => review(desk, options))(),
  );
  withRun(
    program.command('reveal').description('show hidden grades from now on; that they were seen is recorded for good'),
  ).action((options: RunOptions) => act(() => reveal(desk, options))());
  describeJudging(program, desk, act);
  withRun(program.command('stop').description('end the run now, without a review; candidates are kept'))
    .option('--yes', 'do not ask')
    .action((options: RunOptions & { yes?: boolean }) => act(() => stop(desk, options))());
  const change = withRun(program.command('budget').description('change what is left'))
    .option('--total <duration>', 'active runtime of the whole run')
    .option('--add <duration>', 'add to the total')
    .option('--review <duration>', 'reserved for the final review')
    .option('--experiments <number>', 'accepted experiments in the whole run, or none for no limit')
    .option('--tokens <number>', 'tokens that exploration may use, such as 5M, or none for no limit')
    .option('--cost <dollars>', 'US dollars that exploration may cost, or none for no limit')
    .option('--until <time>', 'a date and time at which everything must be over, or none');
  examples(
    change,
    'hma budget --add 1h',
    'hma budget --total 8h --review 20m',
    'hma budget --experiments none --until 2026-12-01T18:00',
    'hma budget --tokens 5M --cost 20',
  ).action((options: BudgetOptions) => act(() => budget(desk, options))());
  const choose = withRun(
    program
      .command('select')
      .argument('[id]', 'the candidate')
      .description('make a candidate the final one, at any time; or clear that'),
  )
    .option('--reason <text>', 'why; it stays on record')
    .option('--clear', "let the run's own selection count again");
  examples(
    choose,
    'hma select e7 --reason "simplest of the best"',
    'hma select --clear --reason "the review was right"',
  ).action((id: string | undefined, options: RunOptions & { reason?: string; clear?: boolean }) =>
    act(() => select(desk, id, options))(),
  );
}

function describeApplying(program: Command, desk: Desk, act: Act): void {
  const bring = withRun(
    program
      .command('apply')
      .argument('[id]', 'the candidate; default: the final one')
      .description("bring a candidate's files into the workspace, a new folder or a new git branch"),
  )
    .option('--to <where...>', 'workspace (default), folder DIR, or branch NAME')
    .option('--dry-run', 'only tell what would change')
    .option('--overwrite', 'also what stands in no commit and no candidate; a copy is kept in the run folder');
  examples(bring, 'hma apply --dry-run', 'hma apply e7 --to folder best', 'hma apply --to branch hma/final').action(
    (id: string | undefined, options: ApplyOptions) => act(() => apply(desk, id, options))(),
  );
}

function describeLooking(program: Command, desk: Desk, act: Act): void {
  withRun(
    program.command('status').description('where the run stands: phase, clock, budgets, handoffs, shares of time'),
  ).action((options: RunOptions) => act(() => status(desk, options))());
  program
    .command('list')
    .description("this workspace's runs, newest first")
    .option('--all', 'of all workspaces')
    .option('--json', 'print JSON')
    .action((options: { all?: boolean; json?: boolean }) => act(() => list(desk, options))());
  withRun(program.command('candidates').description('all candidates'))
    .addOption(new Option('--sort <order>', 'how to order them').choices([...candidateOrders]))
    .action((options: RunOptions & { sort?: CandidateOrder }) => act(() => candidates(desk, options))());
  examples(
    withRun(
      program.command('show').argument('<id>', 'an experiment').description('all that is known of one experiment'),
    ),
    'hma show e7',
  ).action((id: string, options: RunOptions) => act(() => show(desk, id, options))());
  examples(
    withRun(
      program
        .command('diff')
        .argument('<id>', 'an experiment, or initial')
        .argument('[other]', 'another; without it, the candidate before the first is compared with it')
        .description('what separates two candidates'),
    ).option('--stat', 'only the names of the files'),
    'hma diff e7',
    'hma diff initial e7 --stat',
  ).action((id: string, other: string | undefined, options: DiffOptions) =>
    act(() => diff(desk, other === undefined ? [id] : [id, other], options))(),
  );
  examples(
    withRun(program.command('export').description('pack a run into one file that can be read elsewhere')).option(
      '--out <file>',
      'default: RUN.hma.tgz here',
    ),
    'hma export --out /media/usb/night.hma.tgz',
  ).action((options: RunOptions & { out?: string }) => act(() => exportTo(desk, options))());
  program
    .command('import')
    .argument('<file>', 'what hma export made')
    .description('take in a run from elsewhere, for looking and applying')
    .option('--json', 'print JSON')
    .action((file: string, options: { json?: boolean }) => act(() => importFrom(desk, file, options))());
  program
    .command('notify')
    .description('whether the person whom hma.yaml names is reached')
    .option('--test', 'send one notification now')
    .action((options: { test?: boolean }) => act(() => testNotify(desk, options))());
  describeHousehold(program, desk, act);
  program
    .command('remove')
    .argument('<run>', "the run's id or its beginning")
    .description('remove a run that is over, with all its candidates; the workspace stays')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .action((named: string, options: { yes?: boolean; json?: boolean }) => act(() => remove(desk, named, options))());
  program
    .command('gc')
    .description('free what no candidate needs, of runs that are over')
    .option('--all', 'of all workspaces')
    .option('--dry-run', 'only say what it would free')
    .option('--json', 'print JSON')
    .action((options: GcOptions) => act(() => gc(desk, options))());
  examples(
    program
      .command('prompt')
      .description('what the agents will be told, or what a session was told')
      .option('--review', 'the final review’s prompt instead of an option’s')
      .option('--template', 'the built-in template, to begin your own with')
      .option('--session <option>', 'what was sent: an option’s number, or review')
      .option('--run <id>', 'another run than the latest of this folder')
      .action((options: PromptOptions) => act(() => prompt(desk, options))()),
    'hma prompt                       the first session’s prompt, from hma.yaml',
    'hma prompt --template > my.md    then: prompts: {exploration: {file: my.md}}',
    'hma prompt --session 3',
  );
  const read = withRun(program.command('log').description('what happened; or what a session printed'))
    .option('--session <n>', "an option's number, or review: its program's output")
    .option('--events', 'the ledger as JSON lines')
    .option('--follow', 'go on until the run, or the session, is over')
    .option('--raw', "the output's bytes as they are, terminal sequences included");
  examples(
    read,
    'hma log',
    'hma log --session 3 --follow',
    'hma log --session review --raw > review.log',
    'hma log --events --follow',
  ).action((options: LogOptions) => act(() => log(desk, options))());
}
