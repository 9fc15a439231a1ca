import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

import { createFileAtomic } from '../../base/files.ts';
import { failure } from '../../client/failure.ts';
import {
  agentsKnown,
  candidatesIn,
  evaluatorsIn,
  metricsIn,
  type AgentKnown,
  type FolderLook,
} from '../../client/setupDetect.ts';
import { lookAtFolder } from '../../client/setupLook.ts';
import { contractText, type SetupChoices } from '../../client/setupWrite.ts';
import { parseDuration } from '../../task/quantities.ts';
import { fail, sayJson, sayLines, type Desk } from '../desk.ts';
import { exitCodes } from '../exitCodes.ts';
import { initOutput } from '../schemas.ts';

/** What `hma init` may be told instead of guessing. */
export interface InitOptions {
  readonly agents?: string;
  readonly total?: string;
  readonly json?: boolean;
}

/** Share of the whole time that is kept for the final review, and its bounds, ms. */
const [reviewShare, leastReviewMs, mostReviewMs] = [0.05, 3 * 60_000, 45 * 60_000];

/** `hma init`: writes a commented hma.yaml for this folder with what can be guessed of it. Never over one that is there. */
export async function init(desk: Desk, options: InitOptions): Promise<number> {
  const json = options.json ?? false;
  const folder = realpathSync(desk.cwd);
  const file = join(folder, 'hma.yaml');
  const exists = () =>
    fail(
      desk,
      failure('refused', 'exists', {
        what: `${file} is there already; it was left as it is`,
        fix: 'Check it with hma check, or move it away and run hma init again.',
      }),
      json,
    );
  if (existsSync(file)) return exists();
  const wrong = misuse(options);
  if (wrong) return fail(desk, failure('usage', 'bad_init', wrong), json);
  const look = await lookAtFolder(folder, desk.env['PATH']);
  const choices = guess(look, options);
  if (!createFileAtomic(file, contractText(choices), 0o644)) return exists();
  if (json) await sayJson(desk, initOutput.parse({ file, ...told(choices) }));
  else await sayLines(desk, [`${file} is written.`, ...guessLines(choices, look), 'Read it, then: hma check']);
  return exitCodes.ok;
}

function misuse({ agents, total }: InitOptions): { readonly what: string; readonly fix: string } | null {
  const names = agents?.split(',').map((name) => name.trim()) ?? [];
  const unknown = names.find((name) => !agentsKnown.some((agent) => agent.name === name));
  if (unknown !== undefined || names.length > 2)
    return {
      what:
        unknown === undefined
          ? `--agents takes one or two agents, not ${names.length}`
          : `--agents names ${JSON.stringify(unknown)}, which is no agent`,
      fix: `Write --agents claude-code,codex; there are: ${agentsKnown.map(({ name }) => name).join(', ')}.`,
    };
  if (total !== undefined && parseDuration(total) === undefined)
    return { what: `--total takes a duration, not ${JSON.stringify(total)}`, fix: 'Write it like 6h or 90m.' };
  return null;
}

/** What a folder seems to be: the likeliest evaluator, its metric, what looks like a solution, the agents that are installed. */
function guess(look: FolderLook, { agents, total = '6h' }: InitOptions): SetupChoices {
  const evaluator = evaluatorsIn(look)[0] ?? null;
  const candidates = candidatesIn(look, evaluator?.file ?? null);
  const wanted = agents?.split(',').map((name) => name.trim());
  const known = (name: string): AgentKnown[] => agentsKnown.filter((agent) => agent.name === name);
  const installed = agentsKnown.filter(({ program }) => look.programs.includes(program));
  // the paper's pair fills up what is not installed: `hma check` says how to get it
  const [A, B] = wanted ? wanted.flatMap(known) : [...new Set([...installed, ...agentsKnown])];
  const totalMs = parseDuration(total) ?? 0;
  return {
    name: look.name,
    evaluate: evaluator?.command ?? null,
    metric: metricsIn(evaluator ? (look.texts[evaluator.file] ?? '') : '')[0] ?? {
      name: 'score',
      direction: 'maximize',
    },
    candidate: candidates.filter(({ likely }) => likely).map(({ path }) => path),
    A: A ?? null,
    B: B ?? A ?? null,
    total,
    review: `${Math.round(Math.min(mostReviewMs, Math.max(leastReviewMs, totalMs * reviewShare)) / 60_000)}m`,
    objectiveFile: look.files.find((path) => /^(objective|task)\.md$/i.test(path)) ?? null,
  };
}

const told = ({ evaluate, metric, candidate, A, B }: SetupChoices) => ({
  evaluate,
  metric,
  candidate,
  agents: { A: A?.name ?? null, B: B?.name ?? null },
});

/** The guesses in words, with what was not found. */
function guessLines({ evaluate, metric, candidate, A, B }: SetupChoices, { programs }: FolderLook): string[] {
  const agent = (one: AgentKnown | null): string =>
    one === null ? 'none' : `${one.title}${programs.includes(one.program) ? '' : ' (not installed here)'}`;
  return [
    `  evaluator   ${evaluate?.join(' ') ?? 'none found: python3 evaluate.py stands in its place'}`,
    `  metric      ${metric.name}, ${metric.direction === 'maximize' ? 'higher' : 'lower'} is better`,
    `  candidate   ${candidate.length === 0 ? 'nothing found: solution/** stands in its place' : candidate.join(', ')}`,
    `  agents      ${agent(A)} and ${agent(B)}`,
  ];
}
