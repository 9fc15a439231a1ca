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
import { contractText, reviewFor, type SetupAgents, type SetupChoices } from '../../client/setupWrite.ts';
import { parseDuration } from '../../task/quantities.ts';
import { fail, sayJson, sayLines, type Desk } from '../desk.ts';
import { exitCodes } from '../exitCodes.ts';
import { showing } from '../progress.ts';
import { initOutput } from '../schemas.ts';
import { hasOrigin, readTask, writeTask } from './initTask.ts';
import type { TaskOrigin } from './initTask.ts';

/** What `hma init` may be told instead of guessing. */
export interface InitOptions extends TaskOrigin {
  readonly agents?: string;
  readonly total?: string;
  readonly json?: boolean;
}

/** Active runtime of the whole run where nobody says otherwise. */
const defaultTotal = '6h';

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
  if (hasOrigin(options)) return initTask(desk, options, { folder, look });
  const choices = guess(look, options);
  if (!createFileAtomic(file, contractText(choices), 0o644)) return exists();
  if (json) await sayJson(desk, initOutput.parse({ file, ...told(choices) }));
  else await sayLines(desk, [`${file} is written.`, ...guessLines(choices, look), 'Read it, then: hma check']);
  return exitCodes.ok;
}

/** `hma init --harbor | --mle-bench | --template`: a task of another collection, laid out in this folder. */
async function initTask(
  desk: Desk,
  options: InitOptions,
  { folder, look }: { readonly folder: string; readonly look: FolderLook },
): Promise<number> {
  const json = options.json ?? false;
  const read = await showing(desk, 'reading the task', () =>
    readTask(desk, options, { workspace: folder, total: options.total }),
  );
  if (!read.ok) return fail(desk, read.refusal, json);
  const agents = agentsFor(look, options);
  const written = await showing(desk, 'laying out the task', () => writeTask(read.value, folder, agents));
  if (!written.ok) return fail(desk, written.refusal, json);
  const { file } = written.value;
  const { contract, remarks } = read.value;
  const { metric, candidate } = contract;
  const choices = { evaluate: contract.evaluate.command, metric: { name: metric.name, direction: metric.direction } };
  const all = { ...choices, candidate, ...agents };
  if (json) await sayJson(desk, initOutput.parse({ file, ...told(all), remarks }));
  else await sayLines(desk, [`${file} is written.`, ...guessLines(all, look), ...remarks, 'Read it, then: hma check']);
  return exitCodes.ok;
}

function misuse({ agents, total, ...origin }: InitOptions): { readonly what: string; readonly fix: string } | null {
  if (
    origin.mleBench === undefined &&
    [origin.direction, origin.leaderboard, origin.sample].some((each) => each !== undefined)
  )
    return {
      what: '--direction, --leaderboard and --sample belong to --mle-bench',
      fix: 'Leave them out, or name the competition’s folder.',
    };
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
function guess(look: FolderLook, options: InitOptions): SetupChoices {
  const { total = defaultTotal } = options;
  const evaluator = evaluatorsIn(look)[0] ?? null;
  const candidates = candidatesIn(look, evaluator?.file ?? null);
  return {
    name: look.name,
    evaluate: evaluator?.command ?? null,
    metric: metricsIn(evaluator ? (look.texts[evaluator.file] ?? '') : '')[0] ?? {
      name: 'score',
      direction: 'maximize',
    },
    candidate: candidates.filter(({ likely }) => likely).map(({ path }) => path),
    ...agentsFor(look, options),
    total,
    review: reviewFor(total),
    objectiveFile: look.files.find((path) => /^(objective|task)\.md$/i.test(path)) ?? null,
  };
}

/** The two agents: those that were named, else those that are installed. */
function agentsFor(look: FolderLook, { agents }: InitOptions): SetupAgents {
  const wanted = agents?.split(',').map((name) => name.trim());
  const known = (name: string): AgentKnown[] => agentsKnown.filter((agent) => agent.name === name);
  const installed = agentsKnown.filter(({ program }) => look.programs.includes(program));
  // the paper's pair fills up what is not installed: `hma check` says how to get it
  const [A, B] = wanted ? wanted.flatMap(known) : [...new Set([...installed, ...agentsKnown])];
  return { A: A ?? null, B: B ?? A ?? null };
}

/** The part of the choices that is told. */
type Told = Pick<SetupChoices, 'evaluate' | 'metric' | 'candidate' | 'A' | 'B'>;

const told = ({ evaluate, metric, candidate, A, B }: Told) => ({
  evaluate,
  metric,
  candidate,
  agents: { A: A?.name ?? null, B: B?.name ?? null },
});

/** The guesses in words, with what was not found. */
function guessLines({ evaluate, metric, candidate, A, B }: Told, { programs }: FolderLook): string[] {
  const agent = (one: AgentKnown | null): string =>
    one === null ? 'none' : `${one.title}${programs.includes(one.program) ? '' : ' (not installed here)'}`;
  return [
    `  evaluator   ${evaluate?.join(' ') ?? 'none found: python3 evaluate.py stands in its place'}`,
    `  metric      ${metric.name}, ${metric.direction === 'maximize' ? 'higher' : 'lower'} is better`,
    `  candidate   ${candidate.length === 0 ? 'nothing found: solution/** stands in its place' : candidate.join(', ')}`,
    `  agents      ${agent(A)} and ${agent(B)}`,
  ];
}
