import type { ContractCode } from './codes.ts';
import type { KeyPath, Problem } from './document.ts';
import { covers, isGlob, overlap } from './globs.ts';
import type { Contract, Metric } from './model.ts';
import { isOfSystem } from './paths.ts';
import { sayDuration } from './quantities.ts';
import type { Report } from './programs.ts';

/** What a relative path of the workspace is; undefined where nothing is. */
export type FileKind = 'file' | 'folder' | 'other';

/** What the checks need beside the contract. */
export interface CheckFacts {
  /** Name of the contract's own file, relative to the workspace, where it lies in it. */
  readonly contractFile: string | undefined;
  readonly kindOf: (path: string) => FileKind | undefined;
  /** Wall time, Unix ms. */
  readonly wall: number;
  /** Whether a place stands in the contract; else its value is a default. */
  readonly isWritten: (path: KeyPath) => boolean;
}

const error = (path: KeyPath, code: ContractCode, what: string, fix: string): Problem => ({
  severity: 'error',
  code,
  path,
  what,
  fix,
});
const warning = (path: KeyPath, code: ContractCode, what: string, fix: string): Problem => ({
  severity: 'warning',
  code,
  path,
  what,
  fix,
});

/** All checks of meaning that need no look at files outside the contract's own paths. Pure. */
export function checkContract(contract: Contract, facts: CheckFacts, report: Report): void {
  checkPaths(contract, facts, report);
  checkMetric(contract.metric, report);
  checkUntil(contract, facts, report);
  checkEvaluate(contract, facts, report);
  checkBinds(contract, report);
  checkEnvironment(contract, report);
  if (contract.feedback === 'blind' && contract.grade === null) {
    report(
      warning(
        ['feedback'],
        'blind_without_grade',
        'a blind task without `grade` shows nobody a score',
        'Add a hidden `grade`, or write feedback: score.',
      ),
    );
  }
}

/** Where the n-th path of a key stands that may be one text or a list. */
const nth = (key: string, index: number): KeyPath => [key, index];

/** Why a path can't be one below the workspace, or undefined. */
export function leavesWorkspace(path: string): string | undefined {
  if (path.startsWith('/')) return 'is absolute';
  if (path === '~' || path.startsWith('~/')) return 'begins with ~';
  if (path.split(/[/{},()|]/).includes('..')) return 'leaves the workspace';
  return path.includes('\\') ? 'contains a backslash' : undefined;
}

function checkPaths(contract: Contract, facts: CheckFacts, report: Report): void {
  const isFile = (path: string): boolean => facts.kindOf(path) === 'file';
  for (const key of ['candidate', 'protected'] as const) {
    contract[key].forEach((path, index) => {
      const why = leavesWorkspace(path);
      if (why)
        report(
          error(
            nth(key, index),
            'outside_workspace',
            `\`${key}\`: ${path} ${why}`,
            'Write a path below the workspace, such as model.py or weights/**.',
          ),
        );
      else if (path.startsWith('!'))
        report(
          error(
            nth(key, index),
            'negated_path',
            `\`${key}\`: ${path} would exclude, which is not possible here`,
            'Name what belongs to it; what is not named does not.',
          ),
        );
    });
  }
  contract.candidate.forEach((candidate, index) => {
    if (leavesWorkspace(candidate) || candidate.startsWith('!')) return;
    const problem = ofOurs(candidate, facts.contractFile);
    if (problem)
      return report(
        error(
          nth('candidate', index),
          'candidate_is_contract',
          `\`candidate\`: ${candidate} ${problem}`,
          'Name only what agents are to improve.',
        ),
      );
    const guarded = contract.protected.find(
      (path) => !leavesWorkspace(path) && path !== facts.contractFile && overlap(candidate, path, isFile),
    );
    if (guarded !== undefined)
      return report(
        error(
          nth('candidate', index),
          'candidate_is_protected',
          `\`candidate\`: ${candidate} ${candidate === guarded ? 'is protected too' : `overlaps the protected ${guarded}`}`,
          'Narrow one of the two: agents can’t improve what they must not change.',
        ),
      );
    if (!isGlob(candidate) && facts.kindOf(candidate) === 'other')
      report(
        error(
          nth('candidate', index),
          'not_a_file',
          `\`candidate\`: ${candidate} is neither a file nor a folder`,
          'Name files or folders.',
        ),
      );
  });
}

/** Why a candidate path touches what is the run's own. `.hma` and `.git` are left out of every capture, so a glob may pass over them. */
function ofOurs(candidate: string, contractFile: string | undefined): string | undefined {
  const folder = ['.hma', '.git'].find((path) => covers(path, candidate));
  if (folder !== undefined) return `lies in ${folder}`;
  if (candidate === contractFile) return 'is the contract itself, which is frozen during a run';
  return contractFile !== undefined && covers(candidate, contractFile)
    ? `includes ${contractFile}, which is frozen during a run`
    : undefined;
}

function checkMetric(metric: Metric, report: Report): void {
  const { baseline, reference, range, direction } = metric;
  if (range?.min !== undefined && range.max !== undefined && range.min >= range.max) {
    report(
      error(
        ['metric', 'range'],
        'empty_range',
        `\`metric.range\` is empty: ${range.min} is not below ${range.max}`,
        'Write [least, most].',
      ),
    );
  } else {
    const outside = (score: number): boolean => score < (range?.min ?? -Infinity) || score > (range?.max ?? Infinity);
    const checked = [
      { name: '`metric.baseline`', score: baseline, path: ['metric', 'baseline'] },
      { name: '`metric.reference`', score: reference, path: ['metric', 'reference'] },
    ];
    const named = metric.thresholds.map(({ name, score }, index) => ({
      name: `the threshold \`${name}\``,
      score,
      path: ['metric', 'thresholds', `${index}:${name}`],
    }));
    for (const { name, score, path } of [...checked, ...named]) {
      if (score !== undefined && outside(score))
        report(
          error(
            path,
            'outside_range',
            `${name} (${score}) lies outside the range ${range?.min ?? '-∞'} … ${range?.max ?? '∞'}`,
            'Correct it, or widen metric.range.',
          ),
        );
    }
  }
  metric.thresholds.forEach(({ name }, index) => {
    if (metric.thresholds.findIndex((other) => other.name === name) < index)
      report(
        error(
          ['metric', 'thresholds', `${index}:${name}`],
          'same_names',
          `two thresholds are named \`${name}\``,
          'Give each its own name.',
        ),
      );
  });
  if (baseline === undefined || reference === undefined) return;
  if (baseline === reference)
    report(
      error(
        ['metric', 'reference'],
        'baseline_is_reference',
        `\`metric.reference\` equals the baseline (${baseline}): there is no scale between them`,
        'Give the score before any work as baseline and a good one as reference, or leave one out.',
      ),
    );
  else if (direction === 'maximize' ? reference < baseline : reference > baseline)
    report(
      warning(
        ['metric', 'reference'],
        'reference_is_worse',
        `\`metric.reference\` (${reference}) is worse than the baseline (${baseline}) when the score is to be ${direction}d`,
        'Exchange them, or correct metric.direction.',
      ),
    );
}

function checkUntil(contract: Contract, facts: CheckFacts, report: Report): void {
  const { until, reviewMs } = contract.budgets;
  if (until === null) return;
  const left = until - facts.wall;
  if (left <= 0)
    report(
      error(
        ['budgets', 'until'],
        'until_is_past',
        `\`budgets.until\` (${new Date(until).toISOString()}) has passed`,
        'Write a time to come, or remove it.',
      ),
    );
  else if (left <= reviewMs)
    report(
      error(
        ['budgets', 'until'],
        'until_too_near',
        `\`budgets.until\` is ${sayDuration(left)} away: that leaves no time beside the review (${sayDuration(reviewMs)})`,
        'Write a later time, or a shorter budgets.review.',
      ),
    );
}

function checkEvaluate({ evaluate, validate, grade, budgets }: Contract, facts: CheckFacts, report: Report): void {
  const { result } = evaluate;
  if (result.from !== 'file')
    report(
      warning(
        ['evaluate', 'result'],
        'forgeable_result',
        'candidate code can print to standard output too, and so forge its score',
        'Let the evaluator write JSON into the file that HMA_RESULT names, and remove `result`.',
      ),
    );
  if (result.from === 'pattern') {
    const why = patternFault(result.pattern);
    if (why)
      report(
        error(
          ['evaluate', 'result', 'pattern'],
          'bad_pattern',
          `\`evaluate.result.pattern\` ${why}`,
          "Write a regular expression with one group around the number, such as 'score: ([-+.e\\d]+)'.",
        ),
      );
  }
  const exploration = budgets.totalMs - budgets.reviewMs;
  // the default timeout alone is no claim of anybody's
  const claimed = [['evaluate', 'timeout'] as const, ['evaluate', 'repeats'] as const].find(facts.isWritten);
  if (claimed && evaluate.timeoutMs * evaluate.repeats > exploration && exploration > 0) {
    report(
      warning(
        claimed,
        'timeout_too_long',
        `an evaluation may take longer (${sayDuration(evaluate.timeoutMs * evaluate.repeats)}) than all of exploration (${sayDuration(exploration)})`,
        `Shorten evaluate.timeout${evaluate.repeats > 1 ? ' or evaluate.repeats' : ''}, or lengthen budgets.total.`,
      ),
    );
  }
  if (validate && JSON.stringify(validate.command) === JSON.stringify(evaluate.command))
    report(
      error(
        ['validate'],
        'validate_is_evaluate',
        '`validate` runs the evaluator, which would give uncounted scores away',
        'Let it check only the candidate’s form, or remove it.',
      ),
    );
  for (const [key, part] of [
    ['evaluate', evaluate],
    ['validate', validate],
    ['grade', grade],
  ] as const) {
    const why = part && leavesWorkspace(part.cwd);
    if (why)
      report(
        error(
          [key, 'cwd'],
          'outside_workspace',
          `\`${key}.cwd\`: ${part.cwd} ${why}`,
          'Write a folder below the workspace; the command runs in a checkout of it.',
        ),
      );
  }
}

function checkBinds({ evaluate, isolation }: Contract, report: Report): void {
  const binds = evaluate.binds ?? [];
  if (binds.length > 0 && (isolation.tier === 'uid' || isolation.tier === 'none'))
    report(
      error(
        ['evaluate', 'binds'],
        'binds_need_bubblewrap',
        `\`evaluate.binds\` can't be served by isolation ${isolation.tier}: all programs see the same folders there`,
        'Write isolation: bubblewrap (or auto), or let the evaluator do without absolute paths.',
      ),
    );
  binds.forEach(({ from, to }, index) => {
    const way: KeyPath = ['evaluate', 'binds', index];
    const wrongTo = !to.startsWith('/') || to === '/' || to.split('/').includes('..');
    if (wrongTo || isOfSystem(to))
      report(
        error(
          [...way, 'to'],
          'bad_bind',
          `\`evaluate.binds\`: ${to} ${wrongTo ? 'is no absolute path below /' : 'is a folder of the system'}`,
          'Write an absolute path such as /app.',
        ),
      );
    const why = from === null || from.startsWith('/') ? undefined : leavesWorkspace(from);
    if (why)
      report(
        error(
          [...way, 'from'],
          'bad_bind',
          `\`evaluate.binds\`: ${from} ${why.replace('the workspace', 'the checkout')}`,
          'Write a path below the checkout, or an absolute one.',
        ),
      );
  });
}

function patternFault(pattern: string): string | undefined {
  try {
    const compiled = new RegExp(pattern);
    // the empty alternative always matches, and says how many groups there are
    const groups = new RegExp(`${compiled.source}|`).exec('')!.length - 1;
    return groups === 0 ? 'has no group' : undefined;
  } catch (cause) {
    return `is no regular expression: ${(cause as Error).message.replace(/^Invalid regular expression: /, '')}`;
  }
}

function checkEnvironment(contract: Contract, report: Report): void {
  const lists: [KeyPath, readonly string[]][] = [
    [['environment'], contract.environment],
    [['agents', 'A', 'environment'], contract.agents.A.environment],
    [['agents', 'B', 'environment'], contract.agents.B.environment],
  ];
  for (const [path, names] of lists) {
    names.forEach((name, index) => {
      if (name.startsWith('HMA_'))
        report(
          error(
            [...path, index],
            'reserved_variable',
            `\`${name}\`: variables that begin with HMA_ are set by the controller`,
            'Remove it.',
          ),
        );
    });
  }
}
