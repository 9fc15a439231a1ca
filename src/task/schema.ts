import { z } from 'zod';

import { command, count, countOrNone, dateTime, duration, expecting, finite, flag, mapping, path, paths, size, text, variableNames, wait, word } from './expect.ts';

const textOrFile = (noun: string) =>
  z.union([text(noun, 'Write the text, or {file: PATH}.'), mapping({ file: path.describe('Path of a text file (UTF-8), relative to the workspace.') }, `${noun} or {file: PATH}`)], expecting(`${noun} or {file: PATH}`, 'Write the text, or {file: PATH}.'));

const cwd = path.default('.').describe('Folder below the checkout in which the command runs. Default: its root.');

const hidden = z.array(path, expecting('a list of paths', 'Write a list, such as [/data/hidden/labels.csv].')).default([]);

const pattern = mapping({ pattern: text('a regular expression', 'Write a regular expression whose first group is the score.').describe('Regular expression over standard output; its first group (or the one named `score`) is the score. The last match counts.') }, '{pattern: …}');

/** `evaluate` in its long form. */
export const evaluateObject = mapping(
  {
    command: command.describe('The evaluator: a list of arguments, or a text that is split without a shell.'),
    cwd,
    timeout: duration.default('30m').describe('The evaluation and all it started are ended after this long. Default 30m.'),
    exclusive: flag.default(false).describe('Freeze the agent’s session while the evaluator runs, so that both do not compete for the machine. Default false.'),
    repeats: count(1, 99).default(1).describe('Runs per submission; the score is their median. Default 1.'),
    result: z
      .union([word(['file', 'last-line']), pattern], expecting('file, last-line or {pattern: …}', 'Write file, and let the evaluator write JSON into $HMA_RESULT.'))
      .default('file')
      .describe('Where the verdict comes from. `file` (default, safe): JSON in the file that the variable HMA_RESULT names. `last-line` and `{pattern}` read standard output, which candidate code can forge.'),
    hidden: hidden.describe('Files or folders outside the workspace that only the evaluator may read; agents never.'),
  },
  'a command or a mapping',
);

/** `validate` in its long form. */
export const validateObject = mapping({ command: command.describe('The quick check.'), cwd, timeout: duration.default('5m').describe('Default 5m.') }, 'a command or a mapping');

/** `grade` in its long form. */
export const gradeObject = mapping(
  {
    command: command.describe('The hidden grader.'),
    cwd,
    timeout: duration.default('30m').describe('Default 30m.'),
    hidden: hidden.describe('Files or folders outside the workspace that only the grader may read.'),
  },
  'a command or a mapping',
);

const orCommand = <Long extends z.ZodType>(long: Long) => z.union([command, long], expecting('a command or a mapping', 'Write a list of arguments, such as [python3, evaluate.py], or {command: …}.'));

const threshold = mapping({ name: text('a name', 'Write a name, such as gold.').describe('Name of the threshold.'), score: finite.describe('The score that reaches it.') }, 'a mapping');

const thresholds = z
  .union([z.array(threshold), z.record(z.string(), finite)], expecting('a list of {name, score} or a mapping of names to scores', 'Write it like {bronze: 0.80, silver: 0.85, gold: 0.90}.'))
  .default([])
  .describe('Named scores worth reaching, such as medals: {bronze: 0.80, gold: 0.90} or a list of {name, score}. Agents are not told.');

const rangeSays = expecting('[least, most]', 'Write two numbers, such as [0, 1]; null leaves a side open.');

const metric = mapping(
  {
    name: text('a name', 'Write the metric’s name, such as accuracy.').default('score').describe('Name of the metric for people. Default score.'),
    direction: word(['maximize', 'minimize']).default('maximize').describe('Which way is better. Default maximize.'),
    baseline: finite.optional().describe('The score before any work: quality 0 on the anchored scale.'),
    reference: finite.optional().describe('A known good score (a paper’s, a winner’s) to compare with.'),
    thresholds,
    range: z.tuple([z.union([finite, z.null()], rangeSays), z.union([finite, z.null()], rangeSays)], rangeSays).optional().describe('The possible scores as [least, most]; null leaves a side open. A score outside raises a flag.'),
    noise: finite.nonnegative(expecting('a number from 0', 'Write how much the score wavers by itself, such as 0.002.')).default(0).describe('Differences up to this (in the score’s unit) are no improvement. Default 0.'),
  },
  'a mapping',
);

const agentObject = mapping(
  {
    name: text('a name', 'Write a short name.').refine((name) => name.length <= 40 && !/[\p{Cc}\p{Cf}]/u.test(name), expecting('a name of at most 40 characters in one line', 'Write a short name.')).optional().describe('The name people see. Default: the adapter’s.'),
    adapter: z.string(expecting('an adapter’s name', 'Write claude-code, codex or command.')).regex(/^[A-Za-z][A-Za-z0-9_-]*$/, expecting('an adapter’s name', 'Write claude-code, codex or command.')).optional().describe('How the agent is driven: claude-code, codex, … or command for any program.'),
    command: command.optional().describe('The program to start (adapter `command`). `{prompt}` and `{promptFile}` in an argument are replaced.'),
    prompt: word(['file', 'argument', 'stdin']).default('file').describe('How adapter `command` hands over the prompt: `file` sets HMA_PROMPT to its path (default), `argument` appends its text, `stdin` writes it.'),
    model: text('a model’s name', 'Write the model as the agent’s own CLI names it.').optional().describe('Model, as the agent’s own CLI names it. Default: the CLI’s.'),
    effort: text('an effort', 'Write the effort as the agent’s own CLI names it.').optional().describe('Reasoning effort, as the agent’s own CLI names it.'),
    environment: variableNames.default([]).describe('Names of environment variables passed on to this agent only.'),
  },
  'an adapter’s name or a mapping',
);

const adapterName = z.string(expecting('an adapter’s name or a mapping', 'Write claude-code, codex, or {adapter: command, command: […]}.')).regex(/^[A-Za-z][A-Za-z0-9_-]*$/, expecting('an adapter’s name', 'Write claude-code, codex, or {adapter: command, command: […]}.'));

const agent = z.union([adapterName, agentObject], expecting('an adapter’s name or a mapping', 'Write claude-code, codex, or {adapter: command, command: […]}.'));

const policyObject = mapping(
  {
    mode: word(['alternate', 'single']).default('alternate').describe('`alternate`: both agents take turns. `single`: agent `first` alone, without review, as a baseline.'),
    cap: countOrNone.optional().describe('Most accepted experiments in one option; then the other agent takes over. `none`: options end by themselves. Default 5.'),
    first: word(['A', 'B']).default('A').describe('The agent that starts. Default A.'),
    tellCap: flag.default(false).describe('Tell agents the cap. Default false: the session is simply ended.'),
  },
  'alternate, single or a mapping',
);

const budgets = mapping(
  {
    total: duration.default('6h').describe('Active runtime of the whole run, review included. Pauses do not count. Default 6h.'),
    review: duration.optional().describe('Active runtime reserved for the final review. Default 15m.'),
    experiments: countOrNone.default('none').describe('Most accepted experiments of the whole run. Default none.'),
    until: dateTime.optional().describe('Date and time at which everything must be over, such as the end of a rental: 2026-12-01T18:00Z. Without a zone it is local time.'),
  },
  'a mapping',
);

const lateObject = mapping({ rule: word(['finished', 'submitted']).describe('What must come before the deadline: the verdict, or the submission.'), grace: wait.optional().describe('How long after the deadline a verdict may come. It lies inside the review’s reserve. Default: a third of it.') }, 'finished, submitted or a mapping');

const failures = mapping(
  {
    attempts: count(1, 100).default(3).describe('Attempts per option, the first included. Default 3.'),
    wait: wait.default('30s').describe('Wait before another attempt; doubled each time. Default 30s.'),
    then: word(['handover', 'pause']).default('handover').describe('After the last attempt: go on with the other agent, or pause the run. Default handover.'),
  },
  'a mapping',
);

const notifySays = expecting('a command, a URL or none', 'Write [my-notifier, --quiet], https://example.org/hook, or none.');

const limits = mapping(
  {
    candidateSize: size.default('2GB').describe('Largest candidate. Default 2GB.'),
    candidateFiles: count(1).default(20_000).describe('Most files of a candidate. Default 20000.'),
    output: size.default('64MiB').describe('Output kept of each program; the middle of more is dropped. Default 64MiB.'),
    diskFloor: size.default('1GB').describe('Free disk space below which the run pauses. Default 1GB.'),
    queue: count(1, 10_000).default(64).describe('Undecided submissions at once. Default 64.'),
  },
  'a mapping',
);

const tier = word(['auto', 'bubblewrap', 'uid', 'none']);

const isolationObject = mapping(
  {
    tier: tier.default('auto').describe('How programs are kept apart: bubblewrap, a separate uid, none, or auto for the best that works here. Default auto.'),
    network: word(['open', 'none']).default('open').describe('Network of evaluators and graders. Agents need theirs to reach their model. Default open.'),
    ownHome: flag.default(false).describe('Give each session a HOME of its own. Default false: the agent’s own login is used.'),
  },
  'auto, bubblewrap, uid, none or a mapping',
);

/**
 * `hma.yaml` as its user writes it. Every mapping is strict: unknown keys are errors. Defaults are filled in; shorthand stays
 * shorthand (`resolveContract` turns it into a `Contract`).
 */
export const contractSource = mapping(
  {
    name: text('a name', 'Write a short name.').optional().describe('Name of the task. Default: the folder’s.'),
    objective: textOrFile('the objective’s text').describe('What the agents are to achieve, in prose: the text itself, or {file: task.md}.'),
    candidate: paths.describe('The files that make up a candidate: a path or glob below the workspace, or a list of them. A folder stands for all below it.'),
    protected: paths.default([]).describe('Further paths or globs that agents must not change. `hma.yaml`, the objective’s file and workspace files named in commands always are.'),
    evaluate: orCommand(evaluateObject).describe('The evaluator: a command as a list, a text split without a shell, or {command, timeout, …}. It runs on a fresh checkout of the candidate and writes {"score": 0.9} into the file that HMA_RESULT names.'),
    validate: orCommand(validateObject).optional().describe('A quick check of a candidate’s form that agents may run as often as they like. It never runs the evaluator.'),
    grade: orCommand(gradeObject).optional().describe('A hidden grader whose result agents never see.'),
    metric: metric.prefault({}).describe('What the score measures and which way is better.'),
    feedback: word(['score', 'blind']).default('score').describe('`score`: agents are told the evaluator’s score. `blind`: only whether it was accepted. Default score.'),
    agents: mapping({ A: agent.default('claude-code').describe('The first agent. Default claude-code.'), B: agent.default('codex').describe('The second agent. Default codex.') }, 'a mapping').prefault({}).describe('The two agents that take turns.'),
    policy: z.union([word(['alternate', 'single']), policyObject], expecting('alternate, single or a mapping', 'Write alternate, single, or {mode: alternate, cap: 5}.')).prefault({}).describe('Who works when: {mode, cap, first, tellCap}, or the mode alone.'),
    budgets: budgets.prefault({}).describe('How long and how much.'),
    lateRule: z.union([word(['finished', 'submitted']), lateObject], expecting('finished, submitted or a mapping', 'Write finished, submitted, or {rule: submitted, grace: 2m}.')).default('finished').describe('`finished`: a verdict counts only if it comes before exploration ends (the paper’s rule, default). `submitted`: the submission must, and its verdict within the grace.'),
    fallback: word(['standing', 'record']).default('standing').describe('What is selected without a nomination: the standing (latest) candidate, or the record (best score). Default standing.'),
    failures: failures.prefault({}).describe('What follows when an attempt fails: crash, usage limit, stall.'),
    stall: duration.default('30m').describe('A session without output, CPU or GPU use for this long has stalled. Default 30m.'),
    stopAfterBarren: countOrNone.default('none').describe('Options in a row without an accepted experiment after which the review begins. Default none.'),
    notify: z
      .union([z.string(notifySays).min(1, notifySays), z.array(z.string(notifySays), notifySays).min(1, notifySays), mapping({ command: command.describe('The program that is called, with the JSON on its standard input.') }, 'a command, a URL or none'), mapping({ url: text('a URL', 'Write https://…').describe('The http(s) URL that the JSON is posted to.') }, 'a command, a URL or none')], notifySays)
      .default('none')
      .describe('Called with JSON when the run pauses, needs a person, is ready for review or has finished: a command as a list, an http(s) URL, or none. Default none.'),
    limits: limits.prefault({}).describe('Bounds of candidates, output and disk.'),
    isolation: z.union([tier, isolationObject], expecting('auto, bubblewrap, uid, none or a mapping', 'Write auto, bubblewrap, uid, none, or {tier: auto, network: none}.')).prefault({}).describe('How agents and evaluators are kept apart: {tier, network, ownHome}, or the tier alone.'),
    prompts: mapping({ exploration: textOrFile('the prompt’s text').optional().describe('Template of an option’s prompt.'), review: textOrFile('the prompt’s text').optional().describe('Template of the reviewer’s prompt.') }, 'a mapping').prefault({}).describe('Templates that replace the built-in prompts: the text, or {file: PATH}.'),
    environment: variableNames.default([]).describe('Names of environment variables passed on to sessions, evaluators and graders. Values come from the environment of `hma run`.'),
    state: path.optional().describe('Folder outside the workspace for this run’s state. Default: the platform’s state folder, or HMA_HOME.'),
    private: path.optional().describe('A YAML file outside the workspace with the keys that agents must not read (grade, thresholds, cap, hidden paths). It is merged in; a key may stand in one of the two only.'),
  },
  'a mapping of keys and values',
);

/** The contract's source after defaults. */
export type ContractSource = z.output<typeof contractSource>;

/** The contract's source as users write it. */
export type ContractInput = z.input<typeof contractSource>;
