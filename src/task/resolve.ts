import { isAbsolute, join, resolve } from 'node:path';

import { splitCommand } from './command.ts';
import type { KeyPath, Problem } from './document.ts';
import type { AgentChoice, AgentSlot, Budgets, Command, Contract, EvaluateContract, GradeContract, Metric, Notify, Policy, ResultSource, ValidateContract } from './model.ts';
import { parseDateTime, parseDuration, parseSize, sayDuration } from './quantities.ts';
import { evaluateObject, gradeObject, validateObject, type ContractSource } from './schema.ts';

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

/** Takes problems as they are found. */
export type Report = (problem: Problem) => void;

/** The command that stands in for one that can't be read; a contract with it is never given out. */
export const unreadable: Command = ['false'];

/** Default time for the final review, ms (paper: 15 minutes). */
export const defaultReviewMs = 15 * 60_000;

/** Default cap [k]. */
export const defaultCap = 5;

/** An absolute path of one that is absolute, begins with `~/`, or is relative to the workspace. */
export function absolutePath(path: string, facts: Pick<ResolveFacts, 'workspace' | 'home'>): string {
  if (path === '~' || path.startsWith('~/')) return join(facts.home, path.slice(1));
  return isAbsolute(path) ? resolve(path) : resolve(facts.workspace, path);
}

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
    failures: { attempts: source.failures.attempts, waitMs: ms(source.failures.wait), then: source.failures.then },
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
    isolation: typeof source.isolation === 'string' ? { tier: source.isolation, network: 'open', ownHome: false } : source.isolation,
    prompts: facts.prompts,
    environment: [...new Set(source.environment)],
    state: source.state === undefined ? null : absolutePath(source.state, facts),
  };
}

const list = (value: string | readonly string[]): readonly string[] => (typeof value === 'string' ? [value] : value);

/** `./a//b/` → `a/b`: how paths below the workspace are kept. */
export const plainPath = (path: string): string => path.replace(/\/+/g, '/').replace(/^(\.\/)+(?=.)/, '').replace(/(?<=.)\/$/, '');

/** Reads a command; `path` is where it stands. */
function resolveCommand(value: string | readonly string[], path: KeyPath, report: Report): Command {
  const wrong = (code: string, what: string, fix: string, offset?: number): Command => {
    report({ severity: 'error', code, path, what: `\`${String(path[0])}\`: ${what}`, fix, ...(offset === undefined ? {} : { offset }) });
    return unreadable;
  };
  if (typeof value === 'string') {
    const split = splitCommand(value);
    return split.ok ? split.value : wrong(split.refusal.reason === 'shell_syntax' ? 'shell_syntax' : 'bad_command', split.refusal.what, split.refusal.fix, split.refusal.at);
  }
  const [program, ...rest] = value;
  if (program === undefined || program.trim() === '') return wrong('bad_command', 'the program’s name is empty', 'Write a program and its arguments, such as [python3, evaluate.py].');
  if (rest.length === 0 && /\s/.test(program) && !program.includes('/')) {
    return wrong('bad_command', `the list has one item, ${JSON.stringify(program)}, which would be the name of the program`, `Write one item per argument: [${program.trim().split(/\s+/).join(', ')}].`);
  }
  const operator = rest.findIndex((argument) => /^(\||\|\||&|&&|;|>|>>|<|<<|2>|2>&1|&>)$/.test(argument));
  if (operator >= 0) {
    report({ severity: 'warning', code: 'shell_operator', path: [...path, operator + 1], what: `\`${String(path[0])}\`: \`${rest[operator]}\` is handed to the program as it is; no shell reads it`, fix: 'Put the line into a script, or name the shell yourself: [sh, -c, "…"].' });
  }
  return [program, ...rest];
}

/** Whether a command stands in its short form (list or text) rather than as a mapping. */
const isShort = (value: unknown): value is string | string[] => typeof value === 'string' || Array.isArray(value);

function resolveEvaluate(source: ContractSource, facts: ResolveFacts, report: Report): EvaluateContract {
  const short = isShort(source.evaluate);
  const long = short ? evaluateObject.parse({ command: source.evaluate }) : (source.evaluate as Exclude<ContractSource['evaluate'], string | string[]>);
  return {
    command: resolveCommand(long.command, short ? ['evaluate'] : ['evaluate', 'command'], report),
    cwd: plainPath(long.cwd),
    timeoutMs: ms(long.timeout),
    exclusive: long.exclusive,
    repeats: long.repeats,
    result: resultSource(long.result),
    hidden: long.hidden.map((path) => absolutePath(path, facts)),
  };
}

function resultSource(result: 'file' | 'last-line' | { pattern: string }): ResultSource {
  if (typeof result === 'object') return { from: 'pattern', pattern: result.pattern };
  return result === 'file' ? { from: 'file' } : { from: 'lastLine' };
}

function resolveValidate(source: ContractSource, report: Report): ValidateContract | null {
  if (source.validate === undefined) return null;
  const short = isShort(source.validate);
  const long = short ? validateObject.parse({ command: source.validate }) : (source.validate as Exclude<ContractSource['validate'], string | string[] | undefined>);
  return { command: resolveCommand(long.command, short ? ['validate'] : ['validate', 'command'], report), cwd: plainPath(long.cwd), timeoutMs: ms(long.timeout) };
}

function resolveGrade(source: ContractSource, facts: ResolveFacts, report: Report): GradeContract | null {
  if (source.grade === undefined) return null;
  const short = isShort(source.grade);
  const long = short ? gradeObject.parse({ command: source.grade }) : (source.grade as Exclude<ContractSource['grade'], string | string[] | undefined>);
  return {
    command: resolveCommand(long.command, short ? ['grade'] : ['grade', 'command'], report),
    cwd: plainPath(long.cwd),
    timeoutMs: ms(long.timeout),
    hidden: long.hidden.map((path) => absolutePath(path, facts)),
  };
}

function resolveMetric({ name, direction, range, thresholds, baseline, reference, noise }: ContractSource['metric']): Metric {
  const [min, max] = range ?? [null, null];
  const named = Array.isArray(thresholds) ? thresholds : Object.entries(thresholds).map(([key, score]) => ({ name: key, score }));
  // + 0 makes a plain 0 of YAML's -0, which JSON can't keep
  return {
    name,
    direction,
    ...(baseline === undefined ? {} : { baseline: baseline + 0 }),
    ...(reference === undefined ? {} : { reference: reference + 0 }),
    thresholds: named.map((threshold) => ({ name: threshold.name, score: threshold.score + 0 })),
    ...(min === null && max === null ? {} : { range: { ...(min === null ? {} : { min: min + 0 }), ...(max === null ? {} : { max: max + 0 }) } }),
    noise: noise + 0,
  };
}

function resolveAgents(source: ContractSource, report: Report): Contract['agents'] {
  const a = resolveAgent(source.agents.A, 'A', report);
  const b = resolveAgent(source.agents.B, 'B', report);
  if (!sameName(a.choice.name, b.choice.name)) return { A: a.choice, B: b.choice };
  if (a.named && b.named) report({ severity: 'error', code: 'same_names', path: ['agents', 'B', 'name'], what: `both agents are named \`${b.choice.name}\``, fix: 'Give them different names; people tell them apart by these.' });
  const numbered = (agent: typeof a, slot: AgentSlot): AgentChoice => (agent.named ? agent.choice : { ...agent.choice, name: `${agent.choice.name} ${slot}` });
  return { A: numbered(a, 'A'), B: numbered(b, 'B') };
}

const sameName = (a: string, b: string): boolean => a.normalize('NFKC').toLowerCase() === b.normalize('NFKC').toLowerCase();

function resolveAgent(agent: ContractSource['agents']['A'], slot: AgentSlot, report: Report): { choice: AgentChoice; named: boolean } {
  if (typeof agent === 'string') return resolveAgent({ adapter: agent, prompt: 'file', environment: [] }, slot, report);
  const path = ['agents', slot];
  const adapter = agent.adapter ?? (agent.command === undefined ? undefined : 'command');
  if (adapter === undefined) report({ severity: 'error', code: 'missing', path: [...path, 'adapter'], what: `\`agents.${slot}\` names neither adapter nor command`, fix: 'Write adapter: claude-code, codex, …, or a command of your own.' });
  if (adapter === 'command' && agent.command === undefined) report({ severity: 'error', code: 'missing', path: [...path, 'command'], what: `\`agents.${slot}\` uses the adapter \`command\` without a command`, fix: 'Write command: [my-agent, --prompt, "{promptFile}"].' });
  const choice: AgentChoice = {
    name: agent.name?.trim() ?? adapter ?? slot,
    adapter: adapter ?? 'command',
    ...(agent.command === undefined ? {} : { command: resolveCommand(agent.command, [...path, 'command'], report) }),
    prompt: agent.prompt,
    ...(agent.model === undefined ? {} : { model: agent.model }),
    ...(agent.effort === undefined ? {} : { effort: agent.effort }),
    environment: [...new Set(agent.environment)],
  };
  return { choice, named: agent.name !== undefined };
}

function resolvePolicy(source: ContractSource, report: Report): Policy {
  const policy = typeof source.policy === 'string' ? { mode: source.policy, cap: undefined, first: 'A' as const, tellCap: false } : source.policy;
  if (policy.mode === 'single') {
    if (policy.cap !== undefined && policy.cap !== 'none') report({ severity: 'warning', code: 'unused', path: ['policy', 'cap'], what: '`policy.cap` has no effect with mode single: there is no other agent to take over', fix: 'Remove it, or bound the run by budgets.experiments.' });
    return { ...policy, mode: 'single', cap: null };
  }
  return { ...policy, cap: policy.cap === 'none' ? null : (policy.cap ?? defaultCap) };
}

function resolveBudgets(source: ContractSource, policy: Policy, report: Report): Budgets {
  const { total, review, experiments, until } = source.budgets;
  const totalMs = ms(total);
  let reviewMs = review === undefined ? defaultReviewMs : ms(review);
  if (policy.mode === 'single') {
    if (review !== undefined) report({ severity: 'warning', code: 'unused', path: ['budgets', 'review'], what: '`budgets.review` has no effect with policy single: it has no review', fix: 'Remove it.' });
    reviewMs = 0;
  } else if (reviewMs >= totalMs) {
    const path = review === undefined ? ['budgets', 'total'] : ['budgets', 'review'];
    report({ severity: 'error', code: 'review_too_long', path, what: `the review (${sayDuration(reviewMs)}) leaves no time to explore: the total is ${sayDuration(totalMs)}`, fix: `Make budgets.review shorter than budgets.total, such as ${sayDuration(Math.max(1_000, Math.round(totalMs / 24_000) * 1_000)).replace(/ (?=\d)/g, '').replace('min', 'm').replaceAll(' ', '')}.` });
  }
  return { totalMs, reviewMs, experiments: experiments === 'none' ? null : experiments, until: until === undefined ? null : parseDateTime(until)! };
}

function resolveLateRule(source: ContractSource, budgets: Budgets, report: Report): Contract['lateRule'] {
  const late = typeof source.lateRule === 'string' ? { rule: source.lateRule, grace: undefined } : source.lateRule;
  if (late.rule === 'finished') {
    if (late.grace !== undefined) report({ severity: 'warning', code: 'unused', path: ['lateRule', 'grace'], what: '`lateRule.grace` has no effect with rule finished', fix: 'Remove it, or write rule: submitted.' });
    return { rule: 'finished' };
  }
  const graceMs = late.grace === undefined ? Math.floor(budgets.reviewMs / 3) : ms(late.grace);
  if (graceMs > 0 && graceMs >= budgets.reviewMs) {
    report({ severity: 'error', code: 'grace_too_long', path: ['lateRule', 'grace'], what: `the grace (${sayDuration(graceMs)}) must lie inside the review’s reserve (${sayDuration(budgets.reviewMs)})`, fix: 'Make it shorter than budgets.review.' });
  }
  return { rule: 'submitted', graceMs };
}

function resolveNotify({ notify }: ContractSource, report: Report): Notify {
  if (notify === 'none') return { kind: 'none' };
  if (Array.isArray(notify)) return { kind: 'command', command: resolveCommand(notify, ['notify'], report) };
  if (typeof notify === 'object' && 'command' in notify) return { kind: 'command', command: resolveCommand(notify.command, ['notify', 'command'], report) };
  const url = typeof notify === 'string' ? notify : notify.url;
  return checkedUrl(url, typeof notify === 'string' ? ['notify'] : ['notify', 'url'], report);
}

function checkedUrl(text: string, path: KeyPath, report: Report): Notify {
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (parsed && (parsed.protocol === 'http:' || parsed.protocol === 'https:') && parsed.hostname !== '') return { kind: 'url', url: parsed.href };
  const what = parsed && text.includes('://') ? `\`notify\` can't call ${parsed.protocol}//; only http and https are called` : `\`notify\` is neither a list nor a URL: ${JSON.stringify(text)}`;
  report({ severity: 'error', code: 'bad_url', path, what, fix: 'Write https://example.org/hook, a command as a list such as [my-notifier, --quiet], or none.' });
  return { kind: 'none' };
}
