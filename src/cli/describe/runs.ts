import type { Command } from 'commander';
import { check } from '../commands/check.ts';
import { type RunOptions } from '../commands/looking.ts';
import {
  budget,
  handoff,
  message,
  pause,
  reveal,
  review,
  select,
  stop,
  type BudgetOptions,
} from '../commands/intents.ts';
import { init, type InitOptions } from '../commands/init.ts';
import { resume, run, watch } from '../commands/starting.ts';
import type { Desk } from '../desk.ts';
import { endpoint, wholeNumber } from '../misuse.ts';
import { examples, withRun, type Act } from './parts.ts';

/** Starting runs and taking them up again. */
export function describeRuns(program: Command, desk: Desk, act: Act): void {
  const start = program
    .command('run')
    .description('check hma.yaml, start a run and watch it')
    .option('--detach', 'do not watch: the run goes on in the background')
    .option('--file <path>', 'another contract than hma.yaml')
    .option('--from <run>', 'go on from a finished run of this folder: its candidates come over')
    .option(
      '--accept-bypass',
      'yes: agents with permissions: bypass may act unasked although nothing isolates them from what you can reach',
    )
    .option('--json', 'print events as JSON lines; with --detach the run');
  examples(start, 'hma run', 'hma run --file quick.yaml --detach --json', 'hma run --from 20261130-1811').action(
    (options: { detach?: boolean; file?: string; json?: boolean; acceptBypass?: boolean; from?: string }) =>
      act(() => run(desk, options))(),
  );
  examples(
    program
      .command('init')
      .description('write a commented hma.yaml for this folder, with what can be guessed of it')
      .option('--agents <names>', 'one or two, by comma; otherwise those that are installed')
      .option('--total <duration>', 'active runtime of the whole run, such as 90m; default: the task’s own, else 6h')
      .option('--harbor <folder>', 'lay out a Harbor or AutoLab task in this empty folder')
      .option('--mle-bench <folder>', 'lay out a prepared MLE-bench competition in this empty folder')
      .option('--direction <way>', 'of its score, where no leaderboard tells: maximize or minimize')
      .option('--leaderboard <file>', "its leaderboard.csv, for medals; default: the competition's or mlebench's own")
      .option('--sample <file>', 'its sample submission, where no public file has such a name')
      .option('--template <name>', 'a small task to begin with: kernel')
      .option('--json', 'print JSON'),
    'hma init',
    'hma init --harbor ../autolab/tasks/toy_isa_opt',
    'hma init --mle-bench ~/.cache/mle-bench/data/spaceship-titanic',
    'hma init --agents claude-code,codex --total 12h',
  ).action((options: InitOptions) => act(() => init(desk, options))());
  examples(
    program
      .command('check')
      .alias('doctor')
      .description('look at all that a run needs, without starting one')
      .option('--json', 'print JSON')
      .option('--endpoint <url>', 'a test endpoint: one scripted turn of each agent there, without your keys', endpoint)
      .option('--no-evaluate', 'do not run the evaluator once on the files as they are'),
    'hma check',
    'hma check --no-evaluate --json',
  ).action((options: { json?: boolean; endpoint?: string; evaluate?: boolean }) => act(() => check(desk, options))());
  const look = withRun(
    program.command('watch').description('show a run live until it is over; Ctrl-C leaves, the run goes on'),
  ).option('--tail <lines>', 'lines of the past to show at first; default: all', wholeNumber(0));
  examples(look, 'hma watch', 'hma watch --tail 1000').action((options: RunOptions & { tail?: number }) =>
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

/** What a person wants of a run that goes on. */
export function describeWishes(program: Command, desk: Desk, act: Act): void {
  examples(
    withRun(program.command('pause').description('stop the clock and freeze the session')).option(
      '--after',
      'only when the present session is over',
    ),
    'hma pause',
    'hma pause --after',
  ).action((options: RunOptions & { after?: boolean }) => act(() => pause(desk, options))());
  examples(
    withRun(program.command('handoff').description('end the present session now; the other agent is next')),
    'hma handoff',
  ).action((options: RunOptions) => act(() => handoff(desk, options))());
  examples(
    withRun(
      program.command('message').description('say something to the running session, where its CLI can take it'),
    ).argument('<text...>', 'what to say'),
    'hma message "the validation split leaks: see notes.md"',
  ).action((words: readonly string[], options: RunOptions) => act(() => message(desk, words, options))());
  examples(
    withRun(program.command('review').description('end exploration and begin the final review now')),
    'hma review',
  ).action((options: RunOptions) => act(() => review(desk, options))());
  examples(
    withRun(
      program.command('reveal').description('show hidden grades from now on; that they were seen is recorded for good'),
    ),
    'hma reveal',
  ).action((options: RunOptions) => act(() => reveal(desk, options))());
  examples(
    withRun(program.command('stop').description('end the run now, without a review; candidates are kept')).option(
      '--yes',
      'do not ask',
    ),
    'hma stop',
    'hma stop --yes',
  ).action((options: RunOptions & { yes?: boolean }) => act(() => stop(desk, options))());
  const change = withRun(program.command('budget').description('change what is left'))
    .option('--total <duration>', 'active runtime of the whole run, such as 8h or 90m')
    .option('--add <duration>', 'add to the total, such as 1h')
    .option('--review <duration>', 'active runtime reserved for the final review, such as 20m')
    .option('--experiments <number>', 'accepted experiments in the whole run, or none for no limit')
    .option('--tokens <number>', 'tokens that exploration may use, such as 5M, or none for no limit')
    .option('--cost <dollars>', 'US dollars that exploration may cost, or none for no limit')
    .option(
      '--until <time>',
      'a date and time at which everything must be over, such as 2026-12-01T18:00 (local time), or none',
    );
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
