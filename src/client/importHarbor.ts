import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';

import { parse, TomlError } from 'smol-toml';
import * as z from 'zod';

import { ok, type Result } from '../base/result.ts';
import { isOfSystem } from '../task/paths.ts';
import { canMountAt } from '../machines/bubblewrap.ts';
import type { TierProbe } from '../machines/isolation.ts';
import type { Failure } from './failure.ts';
import { environmentFiles, filesBelow, partsOf, readIfThere, toldFiles, type EnvironmentFiles } from './harborFiles.ts';
import { hiddenBeside, importFailure, shipped, sourceFolder, type ImportedTask } from './importTask.ts';
import type { MetricFound } from './setupDetect.ts';
import { reviewFor } from './setupWrite.ts';

const seconds = z.number().positive().optional();
const anchor = z.looseObject({ score: z.number().optional() }).optional();

/**
 * What is read of a task.toml: Harbor's format (schema 1.x; harborframework.com/docs/tasks), and AutoLab's `[optimization]` (its metric, which
 * way is better, baseline and reference). Other keys are left alone, as Harbor does.
 */
const taskToml = z.looseObject({
  task: z.looseObject({ name: z.string().optional() }).optional(),
  agent: z.looseObject({ timeout_sec: seconds }).optional(),
  verifier: z
    .looseObject({
      timeout_sec: seconds,
      env: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
      environment_mode: z.string().optional(),
    })
    .optional(),
  environment: z
    .looseObject({ allow_internet: z.boolean().optional(), docker_image: z.string().optional() })
    .optional(),
  optimization: z
    .looseObject({
      metric: z.string().optional(),
      direction: z.enum(['lower', 'higher', 'minimize', 'maximize']).optional(),
      baseline: anchor,
      reference: anchor,
    })
    .optional(),
  steps: z.array(z.unknown()).optional(),
});
type TaskToml = z.output<typeof taskToml>;

/** A run of two agents and a review needs this much, however short the time of a single agent, ms. */
const leastTotalMs = 10 * 60_000;

/** What a Harbor import is asked for. */
export interface HarborRequest {
  /** The task's folder. */
  readonly folder: string;
  /** The workspace, real and absolute. */
  readonly workspace: string;
  /** The whole time where a person gave one; else the task's own. */
  readonly total: string | undefined;
}

/**
 * Reads a Harbor (or AutoLab) task folder: task.toml, instruction.md, environment/ and tests/. Its solution/ is never read. Refuses what can't
 * be run here: several steps, services, a verifier in a machine of its own.
 */
export function readHarborTask(request: HarborRequest): Result<ImportedTask, Failure> {
  const source = sourceFolder(request.folder, request.workspace);
  if (!source.ok) return source;
  const folder = source.value;
  for (const part of ['task.toml', 'instruction.md', 'tests/test.sh'])
    if (!existsSync(join(folder, part)))
      return importFailure(
        'not_harbor',
        `${join(folder, part)} is missing`,
        'A Harbor task has task.toml, instruction.md, environment/ and tests/test.sh; name the folder that holds them.',
      );
  const settings = readToml(join(folder, 'task.toml'));
  if (!settings.ok) return settings;
  const unsupported = cannotRun(settings.value, folder);
  if (unsupported) return unsupported;
  const instruction = readIfThere(join(folder, 'instruction.md')) ?? '';
  if (instruction.trim() === '')
    return importFailure('empty_instruction', `${join(folder, 'instruction.md')} is empty`, 'Write the task into it.');
  const found = environment(folder);
  return found.ok ? ok(taskOf({ request, folder, settings: settings.value, instruction, found: found.value })) : found;
}

function readToml(file: string): Result<TaskToml, Failure> {
  let value: unknown;
  try {
    value = parse(readIfThere(file) ?? '');
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const [what = ''] = cause.message.split('\n');
    return importFailure('bad_toml', `${file}:${cause.line}:${cause.column}: ${what}`, 'Correct it; it must be TOML.');
  }
  const parsed = taskToml.safeParse(value);
  if (parsed.success) return ok(parsed.data);
  const [issue] = parsed.error.issues;
  return importFailure('bad_task', `${file}: ${issue?.path.join('.')}: ${issue?.message}`, 'Correct the value.');
}

/** What makes a task one for Harbor alone. */
function cannotRun({ steps, verifier }: TaskToml, folder: string): ReturnType<typeof importFailure> | null {
  const only = (what: string): ReturnType<typeof importFailure> =>
    importFailure('needs_harbor', `${folder}: ${what}`, 'Run it with Harbor itself; hma init takes single-step tasks.');
  if (steps && steps.length > 0) return only(`the task has ${steps.length} steps`);
  if (verifier?.environment_mode === 'separate') return only('its verifier wants a machine of its own');
  const services = ['docker-compose.yaml', 'docker-compose.yml'].find((name) =>
    existsSync(join(folder, 'environment', name)),
  );
  return services === undefined ? null : only(`environment/${services} starts services`);
}

function environment(folder: string): Result<EnvironmentFiles, Failure> {
  const place = join(folder, 'environment');
  if (!existsSync(place))
    return importFailure('not_harbor', `${place} is missing`, 'It holds the files that the task begins with.');
  const found = environmentFiles(place);
  const escaping = found.escapes === null ? [] : [join(place, found.escapes)];
  if (existsSync(join(folder, 'tests'))) filesBelow(join(folder, 'tests'), escaping);
  if (escaping[0] !== undefined)
    return importFailure(
      'link_outside',
      `${escaping[0]} is a link that leads elsewhere or nowhere`,
      'Put the file itself there.',
    );
  if (!canMountAt(found.app) || /^\/(tests|logs)(\/|$)/.test(found.app) || isOfSystem(found.app))
    return importFailure(
      'app_folder',
      `the task lives in ${found.app}, which can't be made beside what this machine has there`,
      'Set another WORKDIR in environment/Dockerfile, such as /app.',
    );
  if (found.files.size > 0) return ok(found);
  return importFailure(
    'no_files',
    `${place} has no file that comes to lie below ${found.app}`,
    'Copy the task’s files there in its Dockerfile (COPY), or put them beside it without COPY.',
  );
}

interface Read {
  readonly request: HarborRequest;
  readonly folder: string;
  readonly settings: TaskToml;
  readonly instruction: string;
  readonly found: EnvironmentFiles;
}

/** Which number of reward.json is the score: the measured one where the tests write it and the task says which way is better. */
interface Scoring {
  readonly key: string;
  readonly metric: MetricFound & { readonly baseline?: number; readonly reference?: number };
}

function scoringOf({ settings, folder }: Read): Scoring {
  const { optimization } = settings;
  const tests = filesBelow(join(folder, 'tests')).map((path) => readIfThere(join(folder, 'tests', path)) ?? '');
  const keys = ['metric', ...(optimization?.metric === undefined ? [] : [optimization.metric])];
  const key = keys.find((each) =>
    tests.some((text) => new RegExp(`["']${escaped(each)}\\\\?["']\\s*\\]?\\s*[:=]`).test(text)),
  );
  if (optimization?.direction === undefined || key === undefined)
    return { key: 'reward', metric: { name: 'reward', direction: 'maximize' } };
  const [baseline, reference] = [optimization.baseline?.score, optimization.reference?.score];
  return {
    key,
    metric: {
      name: optimization.metric ?? 'metric',
      direction: /^(lower|minimize)$/.test(optimization.direction) ? 'minimize' : 'maximize',
      ...(baseline === undefined ? {} : { baseline }),
      ...(reference === undefined ? {} : { reference }),
    },
  };
}

const escaped = (text: string): string => text.replaceAll(/[^\w]/g, '\\$&');

const shortest = (ms: number): string =>
  ms % 3_600_000 === 0 ? `${ms / 3_600_000}h` : ms % 60_000 === 0 ? `${ms / 60_000}m` : `${Math.ceil(ms / 1000)}s`;

function taskOf(read: Read): ImportedTask {
  const { request, folder, settings, instruction, found } = read;
  const { key, metric } = scoringOf(read);
  const beside = hiddenBeside(request.workspace);
  const parts = partsOf(found, toldFiles(instruction, found));
  const given = Object.entries(settings.verifier?.env ?? {}).map(([name, value]) => [name, String(value)] as const);
  const env = Object.fromEntries(given.filter(([, value]) => !value.includes('${')));
  const total = request.total ?? shortest(Math.max(leastTotalMs, (settings.agent?.timeout_sec ?? 6 * 3600) * 1000));
  const name = (settings.task?.name ?? basename(folder)).replace(/^.*\//, '');
  return {
    contract: {
      name,
      origin: `The Harbor task ${basename(folder)}`,
      objectiveFile: 'OBJECTIVE.md',
      ...parts,
      evaluate: {
        command: ['node', join(beside, 'evaluate.mjs')],
        timeout: shortest((settings.verifier?.timeout_sec ?? 600) * 1000),
        hidden: [beside],
        binds: [{ from: '.', to: found.app }, { from: join(beside, 'tests'), to: '/tests' }, { to: '/logs' }],
      },
      grade: null,
      metric,
      feedback: 'score',
      isolation: {
        ...(settings.environment?.allow_internet === false ? { network: 'none' as const } : {}),
        readable: [],
        hidden: [folder],
      },
      total,
      review: reviewFor(total),
    },
    workspace: [
      { to: 'OBJECTIVE.md', text: objective(instruction, found.app) },
      ...[...found.files].map(([to, copy]) => ({ to, copy })),
    ],
    hidden: [
      { to: 'tests', copy: join(folder, 'tests') },
      { to: 'evaluate.mjs', copy: shipped('evaluators', 'harbor.mjs') },
      { to: 'task.json', text: `${JSON.stringify({ app: found.app, key, env }, null, 2)}\n` },
    ],
    remarks: remarksOf(read, {
      key,
      unset: given.filter(([variable]) => !(variable in env)).map(([variable]) => variable),
    }),
  };
}

const objective = (instruction: string, app: string): string =>
  `Where this text says \`${app}\`, it means your working folder. The tests are run by submitting; they are not in it.\n\n${instruction.trim()}\n`;

function remarksOf(
  { settings, found }: Read,
  { key, unset }: { key: string; unset: readonly string[] },
): readonly string[] {
  const { optimization, environment: machine } = settings;
  const anchors = optimization?.baseline?.score ?? optimization?.reference?.score;
  return [
    ...(key === 'reward' && anchors !== undefined
      ? ['The score is the reward; baseline and reference of task.toml are in another unit and were not taken over.']
      : []),
    ...(found.steps.length > 0
      ? [
          `What the Dockerfile does was not done; this machine must have it:`,
          ...found.steps.map((step) => `  ${step.slice(0, 120)}`),
        ]
      : []),
    ...(found.left.length > 0 ? [`Not below ${found.app}, so left out: ${found.left.join('; ')}`] : []),
    ...(found.steps.length === 0 && machine?.docker_image !== undefined
      ? [`The image ${machine.docker_image} is not used; this machine must have what the tests need.`]
      : []),
    ...(unset.length > 0 ? [`Variables of the tests that hold a secret were left out: ${unset.join(', ')}`] : []),
  ];
}

/** Whether a machine can give an evaluator absolute paths of its own: bubblewrap can. `engine`: a container engine that is installed. */
export function servesAbsolutePaths(probe: TierProbe | undefined, engine: string | null): Result<null, Failure> {
  if (probe?.available) return ok(null);
  return importFailure(
    'no_absolute_paths',
    `the task's tests expect /app, /tests and /logs, which need bubblewrap here: ${probe?.why ?? 'it was not found'}`,
    engine === null
      ? 'Install bubblewrap (Debian: apt-get install bubblewrap); there is no container engine either.'
      : `Install bubblewrap, or start hma inside a container of ${engine} that allows user namespaces; hma runs no evaluator in ${engine} by itself.`,
  );
}
