import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { parse, TomlError } from 'smol-toml';
import { parse as parseYaml } from 'yaml';
import * as z from 'zod';

import { ok, type Result } from '../base/result.ts';
import type { Failure } from './failure.ts';
import { readIfThere } from './harborFiles.ts';
import { importFailure } from './importTask.ts';

const seconds = z.number().positive().optional();
const anchor = z.looseObject({ score: z.number().optional() }).optional();
const variables = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional();

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
      env: variables,
      environment_mode: z.string().optional(),
      network_mode: z.string().optional(),
    })
    .optional(),
  environment: z
    .looseObject({
      allow_internet: z.boolean().optional(),
      network_mode: z.string().optional(),
      docker_image: z.string().optional(),
      workdir: z.string().optional(),
      os: z.string().optional(),
      gpus: z.number().optional(),
      env: variables,
    })
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

/** A task.toml, as far as it is read. */
export type TaskToml = z.output<typeof taskToml>;

const composeYaml = z.looseObject({
  services: z.record(z.string(), z.looseObject({ network_mode: z.string().optional() }).nullish()).nullish(),
});

/** A task's settings. */
export interface HarborSettings {
  readonly toml: TaskToml;
  /** Whether the tests may reach the network; `some`: only hosts that the task names. */
  readonly network: 'open' | 'none' | 'some';
  /** A compose file that describes the task's one container, by its name; null for none. */
  readonly compose: string | null;
}

/** Reads what a task folder says of itself. Refuses one that isn't whole, and one that Harbor alone can run: several steps, services, a verifier in a machine of its own, Windows. */
export function readSettings(folder: string): Result<HarborSettings, Failure> {
  const file = join(folder, 'task.toml');
  if (!existsSync(file)) return noTask(folder);
  const read = readToml(file);
  if (!read.ok) return read;
  const toml = read.value;
  const only = (what: string): ReturnType<typeof importFailure> =>
    importFailure('needs_harbor', `${folder}: ${what}`, 'Run it with Harbor itself; hma init takes single-step tasks.');
  if (toml.steps && toml.steps.length > 0) return only(`the task has ${toml.steps.length} steps`);
  if (toml.verifier?.environment_mode === 'separate') return only('its verifier wants a machine of its own');
  if (toml.environment?.os === 'windows') return only('it runs on Windows');
  const compose = composeOf(folder);
  if (compose && compose.others.length > 0)
    return only(`environment/${compose.name} starts services: ${compose.others.join(', ')}`);
  for (const part of ['instruction.md', 'tests/test.sh', 'environment'])
    if (!existsSync(join(folder, part)))
      return importFailure(
        'not_harbor',
        `${join(folder, part)} is missing`,
        'A Harbor task has task.toml, instruction.md, environment/ and tests/test.sh; name the folder that holds them.',
      );
  return ok({ toml, network: networkOf(toml, compose?.network), compose: compose?.name ?? null });
}

/** What is said of a folder without a task.toml: one of many tasks, one of the older format, or something else. */
function noTask(folder: string): ReturnType<typeof importFailure> {
  const what = `${join(folder, 'task.toml')} is missing`;
  if (existsSync(join(folder, 'task.yaml')))
    return importFailure('not_harbor', `${what}; task.yaml is of Terminal-Bench 1`, 'Convert it with Harbor first.');
  const tasks = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(folder, entry.name, 'task.toml')))
    .map(({ name }) => name);
  return importFailure(
    'not_harbor',
    tasks.length === 0 ? what : `${what}; ${tasks.length === 1 ? 'a task lies' : `${tasks.length} tasks lie`} below it`,
    tasks[0] === undefined
      ? 'A Harbor task has task.toml, instruction.md, environment/ and tests/test.sh; name the folder that holds them.'
      : `Name one of them: ${join(folder, tasks[0])}`,
  );
}

function readToml(file: string): Result<TaskToml, Failure> {
  let value: unknown;
  try {
    value = parse((readIfThere(file) ?? '').replace(/^\uFEFF/, ''));
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

/** The compose file: its services besides the task's own container (`main`), which Harbor makes by itself, and what network that has. */
function composeOf(
  folder: string,
): { readonly name: string; readonly others: readonly string[]; readonly network: string | undefined } | null {
  const name = ['docker-compose.yaml', 'docker-compose.yml'].find((each) =>
    existsSync(join(folder, 'environment', each)),
  );
  if (name === undefined) return null;
  let value: unknown;
  try {
    value = parseYaml(readIfThere(join(folder, 'environment', name)) ?? '');
  } catch {
    return { name, others: ['it can’t be read'], network: undefined };
  }
  const parsed = composeYaml.safeParse(value);
  const services = parsed.success ? (parsed.data.services ?? {}) : { 'it can’t be read': null };
  return {
    name,
    others: Object.keys(services).filter((service) => service !== 'main'),
    network: services['main']?.network_mode,
  };
}

function networkOf({ verifier, environment }: TaskToml, ofContainer: string | undefined): HarborSettings['network'] {
  const mode = verifier?.network_mode ?? environment?.network_mode;
  if (mode === 'allowlist') return 'some';
  if (mode !== undefined) return mode === 'no-network' ? 'none' : 'open';
  return environment?.allow_internet === false || ofContainer === 'none' ? 'none' : 'open';
}
