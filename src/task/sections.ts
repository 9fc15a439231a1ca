import * as z from 'zod';

import {
  command,
  count,
  countOrNone,
  dateTime,
  duration,
  expecting,
  finite,
  flag,
  mapping,
  moneyOrNone,
  path,
  size,
  text,
  tokensOrNone,
  variableNames,
  wait,
  word,
} from './expect.ts';

/** A text, or the file that it is read from. */
export const textOrFile = (noun: string) =>
  z.union(
    [
      text(noun, 'Write the text, or {file: PATH}.'),
      mapping(
        { file: path.describe('Path of a text file (UTF-8), relative to the workspace.') },
        `${noun} or {file: PATH}`,
      ),
    ],
    expecting(`${noun} or {file: PATH}`, 'Write the text, or {file: PATH}.'),
  );

const cwd = path.default('.').describe('Folder below the checkout in which the command runs. Default: its root.');

const hidden = z
  .array(path, expecting('a list of paths', 'Write a list, such as [/data/hidden/labels.csv].'))
  .default([]);

const pattern = mapping(
  {
    pattern: text('a regular expression', 'Write a regular expression whose first group is the score.').describe(
      'Regular expression over standard output; its first group (or the one named `score`) is the score. The last match counts.',
    ),
  },
  '{pattern: …}',
);

const bind = mapping(
  {
    from: path
      .optional()
      .describe(
        'What is shown there: a path below the checkout (`.` is its root; writable), or an absolute path (read-only). Without it: an empty folder that this evaluation alone has.',
      ),
    to: path.describe('The absolute path at which the evaluator finds it, such as /app.'),
  },
  'a mapping',
);

/** `evaluate` in its long form. */
export const evaluateObject = mapping(
  {
    command: command.describe('The evaluator: a list of arguments, or a text that is split without a shell.'),
    cwd,
    timeout: duration
      .default('30m')
      .describe('The evaluation and all it started are ended after this long. Default 30m.'),
    exclusive: flag
      .default(false)
      .describe(
        'Freeze the agent’s session while the evaluator runs, so that both do not compete for the machine. Default false.',
      ),
    repeats: count(1, 99).default(1).describe('Runs per submission; the score is their median. Default 1.'),
    result: z
      .union(
        [word(['file', 'last-line']), pattern],
        expecting('file, last-line or {pattern: …}', 'Write file, and let the evaluator write JSON into $HMA_RESULT.'),
      )
      .default('file')
      .describe(
        'Where the verdict comes from. `file` (default, safe): JSON in the file that the variable HMA_RESULT names. `last-line` and `{pattern}` read standard output, which candidate code can forge.',
      ),
    hidden: hidden.describe('Files or folders outside the workspace that only the evaluator may read; agents never.'),
    binds: z
      .array(bind, expecting('a list of {from, to}', 'Write a list, such as [{from: ., to: /app}].'))
      .default([])
      .describe(
        'Absolute paths that the evaluator expects, such as /app: [{from: ., to: /app}]. They exist in its own view alone, which needs the isolation tier bubblewrap.',
      ),
  },
  'a command or a mapping',
);

/** `validate` in its long form. */
export const validateObject = mapping(
  { command: command.describe('The quick check.'), cwd, timeout: duration.default('5m').describe('Default 5m.') },
  'a command or a mapping',
);

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

/** A command alone, or a mapping that has one. */
export const orCommand = <Long extends z.ZodType>(long: Long) =>
  z.union(
    [command, long],
    expecting('a command or a mapping', 'Write a list of arguments, such as [python3, evaluate.py], or {command: …}.'),
  );

const threshold = mapping(
  {
    name: text('a name', 'Write a name, such as gold.').describe('Name of the threshold.'),
    score: finite.describe('The score that reaches it.'),
  },
  'a mapping',
);

const thresholds = z
  .union(
    [z.array(threshold), z.record(z.string(), finite)],
    expecting(
      'a list of {name, score} or a mapping of names to scores',
      'Write it like {bronze: 0.80, silver: 0.85, gold: 0.90}.',
    ),
  )
  .default([])
  .describe(
    'Named scores worth reaching, such as medals: {bronze: 0.80, gold: 0.90} or a list of {name, score}. Agents are not told.',
  );

const rangeSays = expecting('[least, most]', 'Write two numbers, such as [0, 1]; null leaves a side open.');

/** `metric`. */
export const metric = mapping(
  {
    name: text('a name', 'Write the metric’s name, such as accuracy.')
      .default('score')
      .describe('Name of the metric for people. Default score.'),
    direction: word(['maximize', 'minimize']).default('maximize').describe('Which way is better. Default maximize.'),
    baseline: finite.optional().describe('The score before any work: quality 0 on the anchored scale.'),
    reference: finite.optional().describe('A known good score (a paper’s, a winner’s) to compare with.'),
    thresholds,
    range: z
      .tuple([z.union([finite, z.null()], rangeSays), z.union([finite, z.null()], rangeSays)], rangeSays)
      .optional()
      .describe('The possible scores as [least, most]; null leaves a side open. A score outside raises a flag.'),
    noise: finite
      .nonnegative(expecting('a number from 0', 'Write how much the score wavers by itself, such as 0.002.'))
      .default(0)
      .describe('Differences up to this (in the score’s unit) are no improvement. Default 0.'),
  },
  'a mapping',
);

const variableSays = expecting(
  'the name of an environment variable',
  'Write its name, such as ANTHROPIC_API_KEY; never the key itself.',
);

const agentObject = mapping(
  {
    name: text('a name', 'Write a short name.')
      .refine(
        (name) => name.length <= 40 && !/[\p{Cc}\p{Cf}]/u.test(name),
        expecting('a name of at most 40 characters in one line', 'Write a short name.'),
      )
      .optional()
      .describe('The name people see. Default: the adapter’s.'),
    adapter: z
      .string(expecting('an adapter’s name', 'Write claude-code, codex or command.'))
      .regex(/^[A-Za-z][A-Za-z0-9_-]*$/, expecting('an adapter’s name', 'Write claude-code, codex or command.'))
      .optional()
      .describe('How the agent is driven: claude-code, codex, … or command for any program.'),
    command: command
      .optional()
      .describe('The program to start (adapter `command`). `{prompt}` and `{promptFile}` in an argument are replaced.'),
    prompt: word(['file', 'argument', 'stdin'])
      .default('file')
      .describe(
        'How adapter `command` hands over the prompt: `file` sets HMA_PROMPT to its path (default), `argument` appends its text, `stdin` writes it.',
      ),
    model: text('a model’s name', 'Write the model as the agent’s own CLI names it.')
      .optional()
      .describe('Model, as the agent’s own CLI names it. Default: the CLI’s.'),
    effort: text('an effort', 'Write the effort as the agent’s own CLI names it.')
      .optional()
      .describe('Reasoning effort, as the agent’s own CLI names it.'),
    environment: variableNames.default([]).describe('Names of environment variables passed on to this agent only.'),
    program: text('a program', 'Write a name on PATH or a path.')
      .optional()
      .describe('The agent’s CLI when it is not on PATH under its usual name.'),
    preset: text('a preset’s name', 'Write a name that `hma agents` lists, such as glm.')
      .optional()
      .describe('A named endpoint with its model, such as glm, deepseek or kimi: `hma agents` lists them.'),
    baseUrl: z
      .url({ protocol: /^https?$/, ...expecting('an http(s) URL', 'Write it like https://api.example.com/anthropic.') })
      .optional()
      .describe('Another endpoint that speaks the protocol of the agent’s CLI: https://… .'),
    keyVariable: z
      .string(variableSays)
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, variableSays)
      .optional()
      .describe(
        'Name of the environment variable that holds the key. Default: the CLI’s usual one, else the login made by `hma login`.',
      ),
    permissions: word(['auto', 'limited', 'bypass'])
      .optional()
      .describe(
        '`auto` (default): the CLI does not ask inside an isolation tier, and is `limited` without one. `limited`: what it would ask for is refused. `bypass`: it never asks; without isolation it then can do all that you can.',
      ),
    tools: word(['shell', 'mcp'])
      .optional()
      .describe('`shell` (default): the agent calls `hma submit`. `mcp`: the same as tools of an MCP server, besides.'),
  },
  'an adapter’s name or a mapping',
);

const adapterName = z
  .string(expecting('an adapter’s name or a mapping', 'Write claude-code, codex, or {adapter: command, command: […]}.'))
  .regex(
    /^[A-Za-z][A-Za-z0-9_-]*$/,
    expecting('an adapter’s name', 'Write claude-code, codex, or {adapter: command, command: […]}.'),
  );

/** One of `agents`: an adapter’s name, or a mapping. */
export const agent = z.union(
  [adapterName, agentObject],
  expecting('an adapter’s name or a mapping', 'Write claude-code, codex, or {adapter: command, command: […]}.'),
);

/** `policy` in its long form. */
export const policyObject = mapping(
  {
    mode: word(['alternate', 'single'])
      .default('alternate')
      .describe('`alternate`: both agents take turns. `single`: agent `first` alone, without review, as a baseline.'),
    cap: countOrNone
      .optional()
      .describe(
        'Most accepted experiments in one option; then the other agent takes over. `none`: options end by themselves. Default 5.',
      ),
    first: word(['A', 'B']).default('A').describe('The agent that starts. Default A.'),
    tellCap: flag.default(false).describe('Tell agents the cap. Default false: the session is simply ended.'),
  },
  'alternate, single or a mapping',
);

/** `budgets`. */
export const budgets = mapping(
  {
    total: duration
      .default('6h')
      .describe('Active runtime of the whole run, review included. Pauses do not count. Default 6h.'),
    review: duration.optional().describe('Active runtime reserved for the final review. Default 15m.'),
    experiments: countOrNone.default('none').describe('Most accepted experiments of the whole run. Default none.'),
    tokens: tokensOrNone
      .default('none')
      .describe(
        'Most tokens of all sessions of exploration together, input of every kind (cache reads too) and output, as their harnesses tell them: 5M, 200k. When it is reached the session is ended and the review begins, whose tokens come on top. Default none.',
      ),
    cost: moneyOrNone
      .default('none')
      .describe(
        'The same in US dollars, by the prices that `hma prices` shows; models without a price are not counted, and said. Default none.',
      ),
    until: dateTime
      .optional()
      .describe(
        'Date and time at which everything must be over, such as the end of a rental: 2026-12-01T18:00Z. Without a zone it is local time.',
      ),
  },
  'a mapping',
);

/** `lateRule` in its long form. */
export const lateObject = mapping(
  {
    rule: word(['finished', 'submitted']).describe(
      'What must come before the deadline: the verdict, or the submission.',
    ),
    grace: wait
      .optional()
      .describe(
        'How long after the deadline a verdict may come. It lies inside the review’s reserve. Default: a third of it.',
      ),
  },
  'finished, submitted or a mapping',
);

/** `failures`. */
export const failures = mapping(
  {
    attempts: count(1, 100).default(3).describe('Attempts per option, the first included. Default 3.'),
    wait: wait.default('30s').describe('Wait before another attempt; doubled each time. Default 30s.'),
    then: word(['handover', 'pause'])
      .default('handover')
      .describe('After the last attempt: go on with the other agent, or pause the run. Default handover.'),
    usageLimit: z
      .union(
        [
          word(['wait', 'handover', 'pause']),
          mapping(
            {
              then: word(['wait', 'handover', 'pause'])
                .default('wait')
                .describe(
                  'Another attempt after the reset, the other agent at once, or a pause until you resume. Default wait.',
                ),
              pauseClock: flag.default(false).describe('Whether waiting stops the run’s clock. Default false.'),
            },
            'wait, handover, pause or a mapping',
          ),
        ],
        expecting(
          'wait, handover, pause or a mapping',
          'Write wait, handover, pause, or {then: wait, pauseClock: true}.',
        ),
      )
      .default('wait')
      .describe(
        'When an agent’s usage limit is reached. A reset after the end of exploration is never waited for: the other agent goes on. When both are out, the run pauses until the earliest reset.',
      ),
  },
  'a mapping',
);

/** What `notify` expects. */
export const notifySays = expecting(
  'a command, a URL or none',
  'Write [my-notifier, --quiet], https://example.org/hook, or none.',
);

/** `limits`. */
export const limits = mapping(
  {
    candidateSize: size.default('2GB').describe('Largest candidate. Default 2GB.'),
    candidateFiles: count(1).default(20_000).describe('Most files of a candidate. Default 20000.'),
    output: size
      .default('64MiB')
      .describe('Output kept of each program; the middle of more is dropped. Default 64MiB.'),
    diskFloor: size.default('1GB').describe('Free disk space below which the run pauses. Default 1GB.'),
    queue: count(1, 10_000).default(64).describe('Undecided submissions at once. Default 64.'),
  },
  'a mapping',
);

/** The isolation tiers. */
export const tier = word(['auto', 'bubblewrap', 'uid', 'none']);

/** `isolation` in its long form. */
export const isolationObject = mapping(
  {
    tier: tier
      .default('auto')
      .describe(
        'How programs are kept apart: bubblewrap, a separate uid, none, or auto for the best that works here. Default auto.',
      ),
    network: word(['open', 'none'])
      .default('open')
      .describe('Network of evaluators and graders. Agents need theirs to reach their model. Default open.'),
    ownHome: flag
      .default(true)
      .describe(
        'Give each attempt a HOME of its own, so that no session finds another’s files. Default true; with false agents work in your HOME and can read and change all that is in it.',
      ),
    readable: z
      .array(path, expecting('a list of paths', 'Write a list, such as [/data/images].'))
      .default([])
      .describe('Folders that agents and evaluators may read although they lie in a HOME or another hidden place.'),
    writable: z
      .array(path, expecting('a list of paths', 'Write a list, such as [~/.cache/huggingface].'))
      .default([])
      .describe('Folders outside the workspace that agents may write, such as caches. They outlive sessions.'),
    hidden: z
      .array(path, expecting('a list of paths', 'Write a list, such as [/data/solutions].'))
      .default([])
      .describe('Files or folders that neither agents nor evaluators may read, such as a private solution.'),
  },
  'auto, bubblewrap, uid, none or a mapping',
);
