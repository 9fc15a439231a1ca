import { parseDuration } from '../task/quantities.ts';
import type { AgentKnown, MetricFound } from './setupDetect.ts';

/** What a set-up found out; null = not known, to be filled in by the person. */
export interface SetupChoices {
  readonly name: string;
  readonly evaluate: readonly string[] | null;
  readonly metric: MetricFound;
  readonly candidate: readonly string[];
  readonly A: AgentKnown | null;
  readonly B: AgentKnown | null;
  /** As durations are written: `6h`. */
  readonly total: string;
  readonly review: string;
  /** A file that has the objective already. */
  readonly objectiveFile: string | null;
}

/** Share of the whole time that is kept for the final review, and its bounds, ms. */
const [reviewShare, leastReviewMs, mostReviewMs] = [0.05, 3 * 60_000, 45 * 60_000];

/** The time to keep for the final review of a run of a total time, both as durations are written. */
export function reviewFor(total: string): string {
  const wanted = Math.max(leastReviewMs, (parseDuration(total) ?? 0) * reviewShare);
  return `${Math.round(Math.min(mostReviewMs, wanted) / 60_000)}m`;
}

/** A value as YAML in one line; JSON is YAML. Plain words stay plain. */
export const yamlText = (text: string): string =>
  /^[A-Za-z][\w./*-]*$/.test(text) && !/^(true|false|null|none|yes|no|on|off|y|n)$/i.test(text)
    ? text
    : JSON.stringify(text);

/** Texts as a YAML list in one line. */
export const yamlList = (items: readonly string[]): string => `[${items.map(yamlText).join(', ')}]`;

/** The text of a commented hma.yaml for these choices. What isn't known is a value that the checks mark, so that it can't be overlooked. */
export function contractText(choices: SetupChoices): string {
  const { name, evaluate, metric, candidate, total, review, objectiveFile } = choices;
  return `# The task that two agents take turns on.
# Hover a key to see what it means; problems are marked.
name: ${yamlText(name)}

# What they are to achieve. Both read this at the start of every session.
${objectiveFile === null ? `objective: |\n  Improve the ${metric.name} of the solution in this folder (${metric.direction === 'maximize' ? 'higher' : 'lower'} is better).\n  Say here what matters besides, and what must not be done.` : `objective: { file: ${yamlText(objectiveFile)} }`}

# The files that make up a candidate: what is submitted, archived and evaluated.
candidate: ${yamlList(candidate.length > 0 ? candidate : ['solution/**'])}

# It runs on a fresh copy of the candidate ($HMA_CANDIDATE) and writes
# {"score": 0.9} into the file that $HMA_RESULT names.
evaluate:
  command: ${evaluate === null ? '[python3, evaluate.py]  # write it, or name yours' : yamlList(evaluate)}
  timeout: 30m
  # result: last-line  # if it prints its score (a candidate's code could forge that)

metric:
  name: ${yamlText(metric.name)}
  direction: ${metric.direction}

# Each works until it has 5 accepted experiments, ends by itself, or time is up;
# then the other goes on, with an empty context. They run with a HOME of their own,
# with a key from the variable named, or signed in once with \`hma login NAME\`.
agents:
${agentLines(choices).join('\n')}
policy: { cap: 5 }

# Active time of the whole run; the end of it is reserved for the final review.
budgets: { total: ${total}, review: ${review} }
`;
}

/** The two agents of a set-up; null = not known. */
export type SetupAgents = Pick<SetupChoices, 'A' | 'B'>;

/** The lines below `agents:` for a pair; two of one kind get names of their own. */
export const agentLines = ({ A, B }: SetupAgents): readonly string[] => [
  agentText('A', A),
  agentText('B', B !== null && B.name === A?.name ? { ...B, name: `${B.name}-2` } : B),
];

function agentText(slot: 'A' | 'B', agent: AgentKnown | null): string {
  if (agent === null)
    return `${slot === 'A' ? '  # Any program that works in a folder and exits; {prompt} becomes its prompt.\n' : ''}  ${slot}: { name: agent-${slot.toLowerCase()}, adapter: command, command: [my-agent, "{prompt}"] }`;
  const { name, adapter, title, key } = { adapter: agent.name.replace(/-2$/, ''), ...agent };
  return [
    `  ${slot}:`,
    ...(name === adapter ? [] : [`    name: ${yamlText(name)}`]),
    `    adapter: ${yamlText(adapter)}  # ${title}`,
    `    # keyVariable: ${key}  # the usual one; or sign in with: hma login ${adapter}`,
    '    # model: …  # as its own CLI names it; effort: …',
  ].join('\n');
}
