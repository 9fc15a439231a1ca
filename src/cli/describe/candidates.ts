import { Option, type Command } from 'commander';
import { apply, type ApplyOptions } from '../commands/apply.ts';
import {
  candidateOrders,
  candidates,
  list,
  status,
  type CandidateOrder,
  type RunOptions,
} from '../commands/looking.ts';
import { disqualify } from '../commands/intents.ts';
import { grade, reevaluate, type GradeOptions } from '../commands/errands.ts';
import { gc, remove, type GcOptions } from '../commands/keeping.ts';
import { log, type LogOptions } from '../commands/log.ts';
import { testNotify } from '../commands/notify.ts';
import { exportTo, importFrom } from '../commands/portable.ts';
import { prompt, type PromptOptions } from '../commands/prompt.ts';
import { diff, show, type DiffOptions } from '../commands/showing.ts';
import type { Desk } from '../desk.ts';
import { wholeNumber } from '../misuse.ts';
import { examples, withRun, type Act } from './parts.ts';

/** What a person does about single candidates. */
export function describeJudging(program: Command, desk: Desk, act: Act): void {
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

/** Bringing a candidate home. */
export function describeApplying(program: Command, desk: Desk, act: Act): void {
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

/** Looking at runs and candidates. */
export function describeLooking(program: Command, desk: Desk, act: Act): void {
  examples(
    withRun(
      program.command('status').description('where the run stands: phase, clock, budgets, handoffs, shares of time'),
    ),
    'hma status',
    'hma status --run 20261130-1811 --json',
  ).action((options: RunOptions) => act(() => status(desk, options))());
  examples(
    program
      .command('list')
      .description("this workspace's runs, newest first")
      .option('--all', 'of all workspaces')
      .option('--json', 'print JSON'),
    'hma list',
    'hma list --all --json',
  ).action((options: { all?: boolean; json?: boolean }) => act(() => list(desk, options))());
  examples(
    withRun(program.command('candidates').description('all candidates')).addOption(
      new Option('--sort <order>', 'how to order them').choices([...candidateOrders]).default(candidateOrders[0]),
    ),
    'hma candidates --sort score',
  ).action((options: RunOptions & { sort?: CandidateOrder }) => act(() => candidates(desk, options))());
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
  examples(
    program
      .command('import')
      .argument('<file>', 'what hma export made')
      .description('take in a run from elsewhere, for looking and applying')
      .option('--json', 'print JSON'),
    'hma import /media/usb/night.hma.tgz',
  ).action((file: string, options: { json?: boolean }) => act(() => importFrom(desk, file, options))());
  examples(
    program
      .command('notify')
      .description('whether the person whom hma.yaml names is reached')
      .option('--test', 'send one notification now'),
    'hma notify --test',
  ).action((options: { test?: boolean }) => act(() => testNotify(desk, options))());
  examples(
    program
      .command('remove')
      .argument('<run>', "the run's id or its beginning")
      .description('remove a run that is over, with all its candidates; the workspace stays')
      .option('--yes', 'do not ask')
      .option('--json', 'print JSON'),
    'hma remove 20261130-1811',
  ).action((named: string, options: { yes?: boolean; json?: boolean }) => act(() => remove(desk, named, options))());
  examples(
    program
      .command('gc')
      .description('free what no candidate needs, of runs that are over')
      .option('--all', 'of all workspaces')
      .option('--dry-run', 'only say what it would free')
      .option('--json', 'print JSON'),
    'hma gc --dry-run',
    'hma gc --all',
  ).action((options: GcOptions) => act(() => gc(desk, options))());
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
