import * as z from 'zod';

import {
  command,
  countOrNone,
  duration,
  expecting,
  flag,
  mapping,
  path,
  paths,
  text,
  variableNames,
  word,
} from './expect.ts';
import {
  agent,
  budgets,
  evaluateObject,
  failures,
  gradeObject,
  isolationObject,
  lateObject,
  limits,
  metric,
  notifySays,
  orCommand,
  policyObject,
  textOrFile,
  tier,
  validateObject,
} from './sections.ts';

/**
 * `hma.yaml` as its user writes it. Every mapping is strict: unknown keys are errors. Defaults are filled in; shorthand stays
 * shorthand (`resolveContract` turns it into a `Contract`).
 */
export const contractSource = mapping(
  {
    name: text('a name', 'Write a short name.').optional().describe('Name of the task. Default: the folder’s.'),
    objective: textOrFile('the objective’s text').describe(
      'What the agents are to achieve, in prose: the text itself, or {file: task.md}.',
    ),
    candidate: paths.describe(
      'The files that make up a candidate: a path or glob below the workspace, or a list of them. A folder stands for all below it.',
    ),
    protected: paths
      .default([])
      .describe(
        'Further paths or globs that agents must not change. `hma.yaml`, the objective’s file and workspace files named in commands always are.',
      ),
    evaluate: orCommand(evaluateObject).describe(
      'The evaluator: a command as a list, a text split without a shell, or {command, timeout, …}. It runs on a fresh checkout of the candidate and writes {"score": 0.9} into the file that HMA_RESULT names.',
    ),
    validate: orCommand(validateObject)
      .optional()
      .describe(
        'A quick check of a candidate’s form that agents may run as often as they like. It never runs the evaluator.',
      ),
    grade: orCommand(gradeObject).optional().describe('A hidden grader whose result agents never see.'),
    metric: metric.prefault({}).describe('What the score measures and which way is better.'),
    feedback: word(['score', 'blind'])
      .default('score')
      .describe(
        '`score`: agents are told the evaluator’s score. `blind`: only whether it was accepted. Default score.',
      ),
    agents: mapping(
      {
        A: agent.default('claude-code').describe('The first agent. Default claude-code.'),
        B: agent.default('codex').describe('The second agent. Default codex.'),
      },
      'a mapping',
    )
      .prefault({})
      .describe('The two agents that take turns.'),
    policy: z
      .union(
        [word(['alternate', 'single']), policyObject],
        expecting('alternate, single or a mapping', 'Write alternate, single, or {mode: alternate, cap: 5}.'),
      )
      .prefault({})
      .describe('Who works when: {mode, cap, first, tellCap}, or the mode alone.'),
    budgets: budgets.prefault({}).describe('How long and how much.'),
    lateRule: z
      .union(
        [word(['finished', 'submitted']), lateObject],
        expecting('finished, submitted or a mapping', 'Write finished, submitted, or {rule: submitted, grace: 2m}.'),
      )
      .default('finished')
      .describe(
        '`finished`: a verdict counts only if it comes before exploration ends (the paper’s rule, default). `submitted`: the submission must, and its verdict within the grace.',
      ),
    fallback: word(['standing', 'record'])
      .default('standing')
      .describe(
        'What is selected without a nomination: the standing (latest) candidate, or the record (best score). Default standing.',
      ),
    failures: failures.prefault({}).describe('What follows when an attempt fails: crash, usage limit, stall.'),
    stall: duration
      .default('30m')
      .describe('A session without output, CPU or GPU use for this long has stalled. Default 30m.'),
    stopAfterBarren: countOrNone
      .default('none')
      .describe('Options in a row without an accepted experiment after which the review begins. Default none.'),
    notify: z
      .union(
        [
          z.string(notifySays).min(1, notifySays),
          z.array(z.string(notifySays), notifySays).min(1, notifySays),
          mapping(
            { command: command.describe('The program that is called, with the JSON on its standard input.') },
            'a command, a URL or none',
          ),
          mapping(
            { url: text('a URL', 'Write https://…').describe('The http(s) URL that the JSON is posted to.') },
            'a command, a URL or none',
          ),
        ],
        notifySays,
      )
      .default('none')
      .describe(
        'Called with JSON when the run pauses, needs a person, is ready for review or has finished: a command as a list, an http(s) URL, or none. Default none.',
      ),
    limits: limits.prefault({}).describe('Bounds of candidates, output and disk.'),
    isolation: z
      .union(
        [tier, isolationObject],
        expecting(
          'auto, bubblewrap, uid, none or a mapping',
          'Write auto, bubblewrap, uid, none, or {tier: auto, network: none}.',
        ),
      )
      .prefault({})
      .describe('How agents and evaluators are kept apart: {tier, network, ownHome}, or the tier alone.'),
    prompts: mapping(
      {
        exploration: textOrFile('the prompt’s text').optional().describe('Template of an option’s prompt.'),
        review: textOrFile('the prompt’s text').optional().describe('Template of the reviewer’s prompt.'),
        recordKeeping: flag
          .default(false)
          .describe('Ask agents to commit each round to git and to keep a journal in JOURNAL.md. Default false.'),
      },
      'a mapping',
    )
      .prefault({})
      .describe('Templates that replace the built-in prompts: the text, or {file: PATH}.'),
    environment: variableNames
      .default([])
      .describe(
        'Names of environment variables passed on to sessions, evaluators and graders. Values come from the environment of `hma run`.',
      ),
    state: path
      .optional()
      .describe(
        'Folder outside the workspace for this run’s state. Default: the platform’s state folder, or HMA_HOME.',
      ),
    private: path
      .optional()
      .describe(
        'A YAML file outside the workspace with the keys that agents must not read (grade, thresholds, cap, hidden paths). It is merged in; a key may stand in one of the two only.',
      ),
  },
  'a mapping of keys and values',
);

/** The contract's source after defaults. */
export type ContractSource = z.output<typeof contractSource>;

/** The contract's source as users write it. */
export type ContractInput = z.input<typeof contractSource>;
