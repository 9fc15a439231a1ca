import * as z from 'zod';

/*
 * What `--json` prints, command by command. Stable: fields are added, never renamed. All times are ms; `active` ones are active runtime,
 * `wall` ones Unix time. docs/json.md is made from these schemas.
 */

const ms = z.number().describe('milliseconds');
const wall = z.number().describe('Unix time, ms');
const score = z.number().describe("in the metric's unit");
const slot = z.enum(['A', 'B']).describe('which of the two agents');
const phase = z.enum(['exploring', 'reviewing', 'concluding', 'finished']);

/** Printed on stdout when a command with `--json` fails; its words go to stderr too. */
export const errorOutput = z.object({ error: z.object({ code: z.string(), what: z.string(), fix: z.string() }) });

/** `hma run --detach --json`. */
export const startedOutput = z.object({
  run: z.string(),
  runFolder: z.string(),
  workspace: z.string(),
  from: z.string().nullable().describe('the run that it goes on from'),
});

/** `hma init`. */
export const initOutput = z.object({
  file: z.string(),
  evaluate: z.array(z.string()).nullable().describe('null: none was found'),
  metric: z.object({ name: z.string(), direction: z.enum(['maximize', 'minimize']) }),
  candidate: z.array(z.string()),
  agents: z.object({ A: z.string().nullable(), B: z.string().nullable() }),
  remarks: z.array(z.string()).optional().describe('of a task from elsewhere: what was guessed or left out'),
});

/** `hma show`. */
export const showOutput = z.object({
  run: z.string(),
  id: z.string(),
  state: z.enum(['queued', 'evaluating', 'accepted', 'rejected']),
  code: z.string().nullable().describe('why it was rejected'),
  reason: z.string().nullable(),
  score: z.number().nullable().describe('of a candidate; what its author reported where the task is blind'),
  reported: z.number().nullable(),
  grade: z.number().nullable().describe('only once a person has revealed grades'),
  again: z
    .object({
      scored: z.number(),
      unscored: z.number(),
      mean: z.number().nullable(),
      error: z.number().nullable().describe('standard error of the mean; null with fewer than two'),
    })
    .nullable()
    .describe('what hma reevaluate gave; it never replaces the score'),
  disqualified: z.string().nullable().describe('why, in a person’s words'),
  marks: z.array(z.string()).describe('standing, record, nominated, final, disqualified, and flags'),
  author: slot.nullable().describe('null: an agent of an earlier run that is none of this run’s'),
  agent: z.string().describe('the author’s name'),
  option: z.number().describe('of this run, or of the run that `origin` names'),
  origin: z.string().nullable().describe('the earlier run that it came over from; null for this run’s own'),
  attempt: z.number().nullable().describe('null where it came over'),
  note: z.string().nullable(),
  submittedWall: z.number().describe('where it came over: of its acceptance'),
  contentHash: z.string().nullable(),
  files: z.array(z.object({ path: z.string(), kind: z.string(), bytes: z.number(), sha256: z.string() })),
  evaluations: z.array(
    z.object({
      kind: z.enum(['evaluate', 'control']),
      verdict: z.string().nullable().describe('null while it runs'),
      ms: z.number().nullable(),
      output: z.string().describe('where its output lies'),
    }),
  ),
});

/** `hma diff`. */
export const diffOutput = z.object({
  run: z.string(),
  before: z.string(),
  after: z.string(),
  changes: z.array(z.object({ path: z.string(), change: z.enum(['added', 'removed', 'changed']) })),
  patch: z.string().nullable().describe('unified diff; null with --stat'),
});

/** `hma export`. */
export const exportedOutput = z.object({ run: z.string(), file: z.string() });

/** `hma import`. */
export const importedOutput = z.object({
  run: z.string(),
  folder: z.string(),
  from: z.string().describe('the workspace it was made in, where it came from'),
  candidates: z.number(),
});

/** `hma secrets list`. */
export const secretsOutput = z.object({ home: z.string(), names: z.array(z.string()) });

/** `hma remove`. */
export const removedOutput = z.object({ run: z.string(), bytes: z.number() });

/** `hma gc`. */
export const gcOutput = z.object({
  dryRun: z.boolean(),
  freed: z.number().describe('bytes'),
  programs: z.number().describe('bytes of copies of hma itself that no run uses'),
  runs: z.array(
    z.union([
      z.object({
        run: z.string(),
        kind: z.literal('collected'),
        snapshots: z.number(),
        bytesBefore: z.number(),
        bytesAfter: z.number(),
      }),
      z.object({ run: z.string(), kind: z.literal('left'), why: z.string() }),
    ]),
  ),
});

/** Commands that tell a run something: pause, handoff, review, stop, budget, select. */
export const intentOutput = z.object({
  run: z.string(),
  done: z.literal(true),
  seq: z.number().describe('number of the event that carries it out, or did already'),
});

/** `hma resume --json`; with `--all` one entry per run that was not over. */
export const resumedOutput = z.object({
  runs: z.array(
    z.object({
      run: z.string(),
      runFolder: z.string(),
      running: z.boolean(),
      goesOn: z.boolean().describe('false while the run is paused'),
      problem: z.string().nullable(),
    }),
  ),
});

/** One entry of `hma list --json`. */
export const runEntry = z.object({
  run: z.string(),
  runFolder: z.string(),
  workspace: z.string(),
  name: z.string(),
  openedWall: wall,
  phase,
  paused: z.boolean(),
  live: z.boolean().describe('a controller looks after it'),
  options: z.number(),
  accepted: z.number().describe('in this run; candidates that came over are not counted'),
  from: z.string().nullable().describe('the run that it goes on from'),
  record: score.nullable(),
  final: z.string().nullable().describe('id of the final candidate, as it stands'),
});

/** `hma list --json`. */
export const listOutput = z.object({
  runs: z.array(runEntry),
  unreadable: z.array(z.object({ runFolder: z.string(), why: z.string() })),
});

/** One candidate. */
const candidateEntry = z.object({
  id: z.string(),
  order: z.number().describe('place in the archive, from 1'),
  author: slot.nullable().describe('null: an agent of an earlier run that is none of this run’s'),
  agent: z.string(),
  option: z.number().describe('of this run, or of the run that `origin` names'),
  origin: z
    .object({
      run: z.string(),
      agent: z.string().describe('its author’s name there'),
      acceptedAt: ms.describe('active runtime of that run, ms'),
    })
    .nullable()
    .describe('the earlier run in which it was made; null for this run’s own'),
  score,
  reported: score.nullable().describe("what the agent's own validation gave"),
  grade: z
    .union([
      z.object({ kind: z.literal('graded'), grade: score }),
      z.object({ kind: z.literal('hidden') }).describe('graded; hma reveal shows it'),
      z.object({ kind: z.literal('ungraded'), reason: z.string() }),
    ])
    .nullable(),
  note: z.string().nullable(),
  flags: z.array(z.string()),
  acceptedAt: ms.describe('active runtime at its acceptance, ms; 0 where it came over from an earlier run'),
  acceptedWall: wall,
  snapshot: z.string(),
  contentHash: z.string(),
  files: z.number(),
  bytes: z.number(),
  marks: z.array(z.string()).describe('of: disqualified, final, so far final, record, standing'),
});

/** `hma candidates --json`. */
export const candidatesOutput = z.object({
  run: z.string(),
  metric: z.object({ name: z.string(), direction: z.enum(['maximize', 'minimize']) }),
  candidates: z.array(candidateEntry),
});

const tokens = z.number().describe('tokens');
const usd = z.number().describe('US dollars');

/** `hma prices --json`: US dollars per million tokens. */
export const pricesOutput = z.object({
  files: z.array(z.string()).describe("where a user's own prices may stand, the strongest last"),
  models: z.array(
    z.object({
      model: z.string(),
      input: usd,
      cachedInput: usd,
      cacheWrite: usd.nullable().describe('null: as uncached input'),
      output: usd,
      asOf: z.string().describe('day on which it was looked up'),
      source: z.string(),
      file: z.string().nullable().describe('the file it comes from; null = built in'),
    }),
  ),
  problems: z.array(z.object({ file: z.string(), what: z.string(), fix: z.string() })),
});

/** What models used, and what that costs. */
export const usageEntry = z.object({
  responses: z.number(),
  uncachedInput: tokens,
  cachedInput: tokens,
  cacheWrite: tokens,
  output: tokens.describe('tokens, reasoning included'),
  reasoning: tokens,
  toolCalls: z.number(),
  cost: z.object({
    billed: usd.nullable().describe('as the provider bills it; null where no price is known'),
    withoutCache: usd.nullable().describe('with all input at the price of uncached input'),
    unpriced: z
      .array(z.string().nullable())
      .describe('models with tokens and no price, in neither sum; null = not told'),
  }),
});

const optionEntry = z.object({
  number: z.number(),
  agent: slot,
  state: z.enum(['open', 'ending', 'closed']),
  closure: z.string().nullable(),
  endedItself: z.boolean(),
  attempts: z.number(),
  accepted: z.array(z.string()),
  submissions: z.number(),
  best: score.nullable(),
  openedAt: ms,
  endingAt: ms.nullable(),
  closedAt: ms.nullable(),
  usage: usageEntry,
});

const handoffEntry = z.object({
  from: z.number(),
  to: z.union([z.number(), z.literal('review')]),
  endedAt: ms,
  settledAt: ms.nullable(),
  reapedAt: ms.nullable(),
  cleanAt: ms.nullable(),
  spawnedAt: ms.nullable(),
  spokeAt: ms.nullable().describe("the successor's first output"),
  ms: ms.nullable().describe("from the end to the successor's start"),
  toFirstOutputMs: ms.nullable(),
  processesEnded: z.number(),
});

const bytes = z.number().describe('bytes');
const byCause = {
  workspace: bytes.nullable(),
  snapshots: bytes.nullable(),
  sessions: bytes.nullable(),
  evaluations: bytes.nullable(),
  ledger: bytes.nullable(),
};

const diskEntry = z.object({
  at: ms.describe('active time of the latest look'),
  places: z
    .array(
      z.object({
        path: z.string().describe('where it is mounted'),
        holds: z.array(z.enum(['workspace', 'state', 'home', 'tmp', 'writable'])),
        free: bytes,
        freeFiles: z.number().nullable().describe('free inodes; null where they are not counted'),
        floor: bytes.describe('the run pauses below it'),
      }),
    )
    .describe('each file system that the run needs'),
  bytes: z.object(byCause).describe('on disk; null where it could not be counted'),
  grown: z
    .object({ ...byCause, other: bytes.nullable().describe('what the file systems lost beyond that') })
    .nullable()
    .describe("since the run's first look; null before the second"),
  forecast: z
    .object({
      path: z.string(),
      perHour: bytes,
      reachedAt: ms.describe('active time at which its floor is reached at this pace'),
      mostly: z.string().describe('what grew most'),
    })
    .nullable()
    .describe('the file system that reaches its floor first; null while none shrinks or too little is known'),
});

/** `hma status --json`. */
export const statusOutput = z.object({
  run: z.string(),
  runFolder: z.string(),
  workspace: z.string(),
  name: z.string(),
  from: z
    .object({
      run: z.string(),
      seq: z.number().describe('number of its last event when this run was opened'),
      hash: z.string().describe('hash of that event’s line in its ledger'),
      candidates: z.number().describe('how many came over'),
    })
    .nullable()
    .describe('the run that this one goes on from'),
  live: z.boolean(),
  seq: z.number().describe('last event seen'),
  phase,
  pause: z
    .object({
      reason: z.string(),
      detail: z.string(),
      by: z.string(),
      until: z.number().nullable().describe('Unix ms at which it goes on by itself'),
    })
    .nullable(),
  pauseAfter: z.boolean(),
  active: ms.describe('active runtime so far'),
  budgets: z.object({
    totalMs: ms,
    reviewMs: ms,
    experiments: z.number().nullable(),
    tokens: tokens.nullable(),
    cost: usd.nullable(),
    until: wall.nullable(),
  }),
  leftMs: ms.describe('active time until exploration, or the review, ends'),
  isolation: z.object({ tier: z.string(), cannot: z.array(z.string()) }),
  agents: z.object({ A: z.string(), B: z.string() }),
  experiments: z.object({ accepted: z.number(), rejected: z.number(), pending: z.array(z.string()) }),
  options: z.array(optionEntry),
  review: z
    .object({ reviewer: slot, state: z.string(), outcome: z.string().nullable(), nomination: z.string().nullable() })
    .nullable(),
  standing: z.string().nullable(),
  record: z.string().nullable(),
  final: z
    .object({ candidate: z.string(), by: z.enum(['person', 'reviewer', 'fallback']), reason: z.string() })
    .nullable(),
  handoffs: z.object({
    count: z.number(),
    p50: ms.nullable(),
    p95: ms.nullable(),
    firstOutputP50: ms.nullable(),
    firstOutputP95: ms.nullable(),
    rows: z.array(handoffEntry),
  }),
  time: z.object({
    budget: ms,
    sessions: z.object({ A: ms, B: ms }),
    start: ms,
    between: ms,
    unusedReview: ms,
    unusedExploration: ms,
    ahead: ms,
    paused: ms.describe('wall time beside the budget'),
  }),
  usage: z.object({
    total: usageEntry,
    agents: z.object({ A: usageEntry, B: usageEntry }).describe("the reviewer's review included"),
    review: usageEntry,
    models: z.array(usageEntry.extend({ model: z.string().nullable() })),
  }),
  disk: diskEntry.nullable().describe('null before the first look, two minutes after the start'),
  notices: z.array(
    z.object({
      seq: z.number(),
      wall,
      level: z.enum(['info', 'warning', 'person']),
      code: z.string(),
      text: z.string(),
    }),
  ),
  problems: z
    .array(z.object({ file: z.string(), line: z.number(), reason: z.string(), detail: z.string() }))
    .describe('of the ledger, where it was read'),
});

/** One line of `hma run --json`, `hma watch --json`, `hma log --events --json`: an event as it is in the ledger. */
export const eventLine = z.object({
  seq: z.number().describe('from 1 without gaps'),
  v: z.number().describe("version of this type's data"),
  wall,
  mono: ms.describe('CLOCK_MONOTONIC of the boot, ms'),
  active: ms.describe('active runtime, ms'),
  type: z.string(),
  data: z.unknown(),
});

/** `hma log --session N --json`. */
export const sessionLogOutput = z.object({
  run: z.string(),
  session: z.union([z.number(), z.literal('review')]),
  attempts: z.array(
    z.object({
      attempt: z.number(),
      folder: z.string(),
      outputBytes: z.number(),
      prompt: z.string().describe('path of the prompt'),
    }),
  ),
});

/** `hma apply --json`; with `--dry-run` what would happen. */
export const appliedOutput = z.object({
  run: z.string(),
  dryRun: z.boolean(),
  candidate: z.string(),
  target: z.enum(['workspace', 'folder', 'branch']),
  where: z.string().describe('the folder written to, or the branch'),
  changes: z.array(
    z.object({
      path: z.string(),
      change: z.enum(['added', 'changed']),
      lost: z.boolean().describe('what stands there now is in no commit and no candidate'),
    }),
  ),
  unchanged: z.number().describe('files that were so already'),
  kept: z.string().nullable().describe('folder with copies of what was overwritten and stands nowhere else'),
  commit: z.string().nullable().describe("the new branch's commit"),
});

/** `hma check --json`. */
export const checkOutput = z.object({
  workspace: z.string(),
  ready: z.boolean().describe('nothing keeps a run from starting'),
  night: z.enum(['works', 'might', 'fails']).describe('whether a night would work'),
  words: z.string().describe('the same in words'),
  tier: z
    .object({
      tier: z.enum(['bubblewrap', 'uid', 'none']),
      cannot: z.array(z.string()).describe("what it can't protect"),
    })
    .nullable()
    .describe('isolation that a run would get'),
  items: z.array(
    z.object({
      topic: z.enum(['contract', 'evaluator', 'agent', 'isolation', 'inside', 'disk', 'git', 'run']),
      state: z.enum(['good', 'warning', 'bad']),
      code: z.string().nullable().describe('what was found, explained in messages.md; null where all is well'),
      what: z.string(),
      detail: z.string(),
      fix: z.string().nullable(),
    }),
  ),
});

/** `hma agents --json`. */
export const agentsOutput = z.object({
  home: z.string().describe('the state folder, in which logins lie'),
  agents: z.array(
    z.object({
      adapter: z.string(),
      title: z.string(),
      install: z.string().describe('the command that installs it'),
      program: z.string().nullable().describe('null where it was not found'),
      why: z.string().describe('where it was looked for, if it was not found'),
      version: z.string().nullable(),
      tested: z.array(z.string()).describe('versions that hma is tested with, oldest first'),
      known: z.enum(['tested', 'older', 'newer', 'between', 'unknown']).describe('how its version stands to them'),
      signedIn: z.union([
        z.object({ by: z.literal('key'), variable: z.string() }),
        z.object({ by: z.literal('login'), heldBy: z.string().nullable().describe('the run that has it now') }),
        z.object({ by: z.literal('nothing'), variables: z.array(z.string()), canLogin: z.boolean() }),
      ]),
      capabilities: z.object({
        structuredEvents: z.boolean(),
        steering: z.boolean(),
        cleanInterrupt: z.boolean(),
        sessionId: z.enum(['given', 'reported', 'none']),
        tokens: z.enum(['disk', 'stream', 'none']),
        cost: z.boolean(),
        effort: z.boolean(),
        goal: z.enum(['native', 'reprompt', 'none']),
        mcp: z.boolean(),
      }),
    }),
  ),
  presets: z.array(
    z.object({
      name: z.string(),
      title: z.string(),
      adapters: z.array(z.string()),
      keyVariable: z.string(),
      keySet: z.boolean(),
    }),
  ),
});

/** Every output by the command that prints it, for the documentation. */
export const outputs: readonly { readonly command: string; readonly lines?: true; readonly schema: z.ZodType }[] = [
  {
    command: 'hma run --json · hma watch --json · hma log --json · hma log --events --json',
    lines: true,
    schema: eventLine,
  },
  { command: 'hma init --json', schema: initOutput },
  { command: 'hma run --detach --json', schema: startedOutput },
  { command: 'hma status --json', schema: statusOutput },
  { command: 'hma list --json', schema: listOutput },
  {
    command: 'hma pause | handoff | message | review | stop | budget | select | reveal | disqualify --json',
    schema: intentOutput,
  },
  { command: 'hma resume --json', schema: resumedOutput },
  { command: 'hma candidates | grade | reevaluate --json', schema: candidatesOutput },
  { command: 'hma show --json', schema: showOutput },
  { command: 'hma diff --json', schema: diffOutput },
  { command: 'hma export --json', schema: exportedOutput },
  { command: 'hma import --json', schema: importedOutput },
  { command: 'hma secrets list --json', schema: secretsOutput },
  { command: 'hma remove --json', schema: removedOutput },
  { command: 'hma gc --json', schema: gcOutput },
  { command: 'hma apply --json', schema: appliedOutput },
  { command: 'hma check --json', schema: checkOutput },
  { command: 'hma agents --json', schema: agentsOutput },
  { command: 'hma prices --json', schema: pricesOutput },
  { command: 'hma log --session N --json', schema: sessionLogOutput },
  { command: 'any command that fails, with --json', schema: errorOutput },
];
