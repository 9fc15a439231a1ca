import type { AgentChoice, AgentSlot, Budgets, Contract, Metric, Policy } from './model.ts';
import { absolutePath, plainPath } from './paths.ts';
import {
  resolveCommand,
  resolveEvaluate,
  resolveGrade,
  resolveNotify,
  resolveValidate,
  type Report,
} from './programs.ts';
import { parseDateTime, parseDuration, parseSize, parseTokens, sayDuration } from './quantities.ts';
import type { ContractSource } from './schema.ts';

/** What resolving needs to know of the world: folders, and the texts of files that the contract names. */
export interface ResolveFacts {
  /** Absolute path of the workspace. */
  readonly workspace: string;
  /** The user's home folder, for `~/`. */
  readonly home: string;
  /** The task's name where the contract gives none. */
  readonly defaultName: string;
  readonly objective: string;
  readonly prompts: Contract['prompts'];
}

/** Default time for the final review, ms (paper: 15 minutes). */
export const defaultReviewMs = 15 * 60_000;

/** Default cap [k]. */
export const defaultCap = 5;

const ms = (value: number | string): number => parseDuration(value)!;
const bytes = (value: number | string): number => parseSize(value)!;

/**
 * Turns a valid source into a contract: shorthand expanded, commands split, durations in ms, sizes in bytes, paths absolute where the
 * contract says so. `protected` holds only what the user wrote. Pure; problems are reported, not thrown.
 */
export function resolveContract(source: ContractSource, facts: ResolveFacts, report: Report): Contract {
  const policy = resolvePolicy(source, report);
  const budgets = resolveBudgets(source, policy, report);
  return {
    schema: 1,
    name: source.name?.trim() ?? facts.defaultName,
    objective: facts.objective,
    candidate: list(source.candidate).map(plainPath),
    protected: list(source.protected).map(plainPath),
    evaluate: resolveEvaluate(source, facts, report),
    validate: resolveValidate(source, report),
    grade: resolveGrade(source, facts, report),
    metric: resolveMetric(source.metric),
    feedback: source.feedback,
    agents: resolveAgents(source, report),
    policy,
    budgets,
    lateRule: resolveLateRule(source, budgets, report),
    fallback: source.fallback,
    failures: {
      attempts: source.failures.attempts,
      waitMs: ms(source.failures.wait),
      then: source.failures.then,
      usageLimit:
        typeof source.failures.usageLimit === 'string'
          ? { then: source.failures.usageLimit, pauseClock: false }
          : source.failures.usageLimit,
    },
    stallMs: ms(source.stall),
    stopAfterBarren: source.stopAfterBarren === 'none' ? null : source.stopAfterBarren,
    notify: resolveNotify(source, report),
    limits: {
      candidateBytes: bytes(source.limits.candidateSize),
      candidateFiles: source.limits.candidateFiles,
      outputBytes: bytes(source.limits.output),
      diskFloorBytes: bytes(source.limits.diskFloor),
      queue: source.limits.queue,
    },
    isolation: resolveIsolation(source, facts),
    prompts: facts.prompts,
    environment: [...new Set(source.environment)],
    state: source.state === undefined ? null : absolutePath(source.state, facts),
  };
}

function resolveIsolation(source: ContractSource, facts: Parameters<typeof absolutePath>[1]): Contract['isolation'] {
  if (typeof source.isolation === 'string') {
    return { tier: source.isolation, network: 'open', ownHome: true, readable: [], writable: [] };
  }
  const absolute = (paths: readonly string[]): string[] => paths.map((one) => absolutePath(one, facts));
  const { readable, writable, hidden, ...rest } = source.isolation;
  return {
    ...rest,
    readable: absolute(readable),
    writable: absolute(writable),
    ...(hidden.length === 0 ? {} : { hidden: absolute(hidden) }),
  };
}

const list = (value: string | readonly string[]): readonly string[] => (typeof value === 'string' ? [value] : value);

function resolveMetric({
  name,
  direction,
  range,
  thresholds,
  baseline,
  reference,
  noise,
}: ContractSource['metric']): Metric {
  const [min, max] = range ?? [null, null];
  const named = Array.isArray(thresholds)
    ? thresholds
    : Object.entries(thresholds).map(([key, score]) => ({ name: key, score }));
  // + 0 makes a plain 0 of YAML's -0, which JSON can't keep
  return {
    name,
    direction,
    ...(baseline === undefined ? {} : { baseline: baseline + 0 }),
    ...(reference === undefined ? {} : { reference: reference + 0 }),
    thresholds: named.map((threshold) => ({ name: threshold.name, score: threshold.score + 0 })),
    ...(min === null && max === null
      ? {}
      : { range: { ...(min === null ? {} : { min: min + 0 }), ...(max === null ? {} : { max: max + 0 }) } }),
    noise: noise + 0,
  };
}

function resolveAgents(source: ContractSource, report: Report): Contract['agents'] {
  const a = resolveAgent(source.agents.A, 'A', report);
  const b = resolveAgent(source.agents.B, 'B', report);
  if (!sameName(a.choice.name, b.choice.name)) return { A: a.choice, B: b.choice };
  if (a.named && b.named)
    report({
      severity: 'error',
      code: 'same_names',
      path: ['agents', 'B', 'name'],
      what: `both agents are named \`${b.choice.name}\``,
      fix: 'Give them different names; people tell them apart by these.',
    });
  const numbered = (agent: typeof a, slot: AgentSlot): AgentChoice =>
    agent.named ? agent.choice : { ...agent.choice, name: `${agent.choice.name} ${slot}` };
  return { A: numbered(a, 'A'), B: numbered(b, 'B') };
}

const sameName = (a: string, b: string): boolean =>
  a.normalize('NFKC').toLowerCase() === b.normalize('NFKC').toLowerCase();

function resolveAgent(
  agent: ContractSource['agents']['A'],
  slot: AgentSlot,
  report: Report,
): { choice: AgentChoice; named: boolean } {
  if (typeof agent === 'string') return resolveAgent({ adapter: agent, prompt: 'file', environment: [] }, slot, report);
  const path = ['agents', slot];
  const adapter = agent.adapter ?? (agent.command === undefined ? undefined : 'command');
  if (adapter === undefined)
    report({
      severity: 'error',
      code: 'missing',
      path: [...path, 'adapter'],
      what: `\`agents.${slot}\` names neither adapter nor command`,
      fix: 'Write adapter: claude-code, codex, …, or a command of your own.',
    });
  if (adapter === 'command' && agent.command === undefined)
    report({
      severity: 'error',
      code: 'missing',
      path: [...path, 'command'],
      what: `\`agents.${slot}\` uses the adapter \`command\` without a command`,
      fix: 'Write command: [my-agent, --prompt, "{promptFile}"].',
    });
  const choice: AgentChoice = {
    name: agent.name?.trim() ?? adapter ?? slot,
    adapter: adapter ?? 'command',
    ...(agent.command === undefined ? {} : { command: resolveCommand(agent.command, [...path, 'command'], report) }),
    prompt: agent.prompt,
    ...(agent.model === undefined ? {} : { model: agent.model }),
    ...(agent.effort === undefined ? {} : { effort: agent.effort }),
    environment: [...new Set(agent.environment)],
    ...given(agent, ['program', 'preset', 'baseUrl', 'keyVariable', 'permissions', 'tools']),
  };
  return { choice, named: agent.name !== undefined };
}

/** The named keys that are there. */
function given<T extends object, K extends keyof T>(
  from: T,
  keys: readonly K[],
): { [P in K]?: Exclude<T[P], undefined> } {
  const found: { [P in K]?: Exclude<T[P], undefined> } = {};
  for (const key of keys) {
    const value = from[key];
    if (value !== undefined) found[key] = value as Exclude<T[K], undefined>;
  }
  return found;
}

function resolvePolicy(source: ContractSource, report: Report): Policy {
  const policy =
    typeof source.policy === 'string'
      ? { mode: source.policy, cap: undefined, first: 'A' as const, tellCap: false }
      : source.policy;
  if (policy.mode === 'single') {
    if (policy.cap !== undefined && policy.cap !== 'none')
      report({
        severity: 'warning',
        code: 'unused',
        path: ['policy', 'cap'],
        what: '`policy.cap` has no effect with mode single: there is no other agent to take over',
        fix: 'Remove it, or bound the run by budgets.experiments.',
      });
    return { ...policy, mode: 'single', cap: null };
  }
  return { ...policy, cap: policy.cap === 'none' ? null : (policy.cap ?? defaultCap) };
}

function resolveBudgets(source: ContractSource, policy: Policy, report: Report): Budgets {
  const { total, review, experiments, tokens, cost, until } = source.budgets;
  const totalMs = ms(total);
  let reviewMs = review === undefined ? defaultReviewMs : ms(review);
  if (policy.mode === 'single') {
    if (review !== undefined)
      report({
        severity: 'warning',
        code: 'unused',
        path: ['budgets', 'review'],
        what: '`budgets.review` has no effect with policy single: it has no review',
        fix: 'Remove it.',
      });
    reviewMs = 0;
  } else if (reviewMs >= totalMs) {
    const path = review === undefined ? ['budgets', 'total'] : ['budgets', 'review'];
    report({
      severity: 'error',
      code: 'review_too_long',
      path,
      what: `the review (${sayDuration(reviewMs)}${review === undefined ? ' unless written' : ''}) leaves no time to explore: the total is ${sayDuration(totalMs)}`,
      fix: `Make budgets.review shorter than budgets.total, such as ${sayDuration(
        Math.max(1_000, Math.round(totalMs / 24_000) * 1_000),
      )
        .replace(/ (?=\d)/g, '')
        .replace('min', 'm')
        .replaceAll(' ', '')}.`,
    });
  }
  return {
    totalMs,
    reviewMs,
    experiments: experiments === 'none' ? null : experiments,
    ...(tokens === 'none' ? {} : { tokens: parseTokens(tokens)! }),
    ...(cost === 'none' ? {} : { cost }),
    until: until === undefined ? null : parseDateTime(until)!,
  };
}

function resolveLateRule(source: ContractSource, budgets: Budgets, report: Report): Contract['lateRule'] {
  const late = typeof source.lateRule === 'string' ? { rule: source.lateRule, grace: undefined } : source.lateRule;
  if (late.rule === 'finished') {
    if (late.grace !== undefined)
      report({
        severity: 'warning',
        code: 'unused',
        path: ['lateRule', 'grace'],
        what: '`lateRule.grace` has no effect with rule finished',
        fix: 'Remove it, or write rule: submitted.',
      });
    return { rule: 'finished' };
  }
  const graceMs = late.grace === undefined ? Math.floor(budgets.reviewMs / 3) : ms(late.grace);
  if (graceMs > 0 && graceMs >= budgets.reviewMs) {
    report({
      severity: 'error',
      code: 'grace_too_long',
      path: ['lateRule', 'grace'],
      what: `the grace (${sayDuration(graceMs)}) must lie inside the review’s reserve (${sayDuration(budgets.reviewMs)})`,
      fix: 'Make it shorter than budgets.review.',
    });
  }
  return { rule: 'submitted', graceMs };
}
