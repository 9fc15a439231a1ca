import { basename, join, posix } from 'node:path';

import { ok, type Result } from '../base/result.ts';
import { canMountAt, topOf } from '../machines/bubblewrap.ts';
import type { TierProbe } from '../machines/isolation.ts';
import { isOfSystem } from '../task/paths.ts';
import type { Failure } from './failure.ts';
import {
  environmentFiles,
  filesBelow,
  isThere,
  partsOf,
  readIfThere,
  toldFiles,
  type EnvironmentFiles,
} from './harborFiles.ts';
import { readTests, type TestsRead } from './harborTests.ts';
import { readSettings, type HarborSettings } from './harborToml.ts';
import { hiddenBeside, importFailure, shipped, sourceFolder, type ImportedTask } from './importTask.ts';
import { reviewFor } from './setupWrite.ts';

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
 * be run here.
 */
export function readHarborTask(request: HarborRequest): Result<ImportedTask, Failure> {
  const source = sourceFolder(request.folder, request.workspace);
  if (!source.ok) return source;
  const folder = source.value;
  const settings = readSettings(folder);
  if (!settings.ok) return settings;
  const instruction = readIfThere(join(folder, 'instruction.md')) ?? '';
  if (instruction.trim() === '')
    return importFailure('empty_instruction', `${join(folder, 'instruction.md')} is empty`, 'Write the task into it.');
  const found = environment(folder, settings.value);
  if (!found.ok) return found;
  const tests = readTests(folder, settings.value.toml, found.value);
  return ok(taskOf({ request, folder, settings: settings.value, instruction, found: found.value, tests }));
}

function environment(folder: string, { toml }: HarborSettings): Result<EnvironmentFiles, Failure> {
  const place = join(folder, 'environment');
  const found = environmentFiles(place, toml.environment?.workdir);
  const escaping = found.escapes === null ? [] : [join(place, found.escapes)];
  filesBelow(join(folder, 'tests'), escaping);
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
  return ok(found);
}

interface Read {
  readonly request: HarborRequest;
  readonly folder: string;
  readonly settings: HarborSettings;
  readonly instruction: string;
  readonly found: EnvironmentFiles;
  readonly tests: TestsRead;
}

const shortest = (ms: number): string =>
  ms % 3_600_000 === 0 ? `${ms / 3_600_000}h` : ms % 60_000 === 0 ? `${ms / 60_000}m` : `${Math.ceil(ms / 1000)}s`;

function taskOf(read: Read): ImportedTask {
  const { request, folder, settings, instruction, found, tests } = read;
  const { verifier, agent, task, environment: machine } = settings.toml;
  const beside = hiddenBeside(request.workspace);
  const told = toldFiles(instruction, found);
  // a task that names no file of its own is about its whole folder, with what will be made there
  const whole = told.edited.length + told.kept.length === 0;
  const root = whole ? posix.basename(found.app) : '.';
  const parts = whole ? { candidate: [`${root}/**`], protected: [] } : partsOf(found, told);
  const given = Object.entries({ ...machine?.env, ...verifier?.env }).map(
    ([name, value]) => [name, String(value)] as const,
  );
  const env = Object.fromEntries(given.filter(([, value]) => !value.includes('${')));
  const total = request.total ?? shortest(Math.max(leastTotalMs, (agent?.timeout_sec ?? 6 * 3600) * 1000));
  const { key, metric } = tests.scoring;
  const laid = (path: string): string => posix.join(root, path);
  return {
    contract: {
      name: (task?.name ?? basename(folder)).replace(/^.*\//, ''),
      origin: `The Harbor task ${basename(folder)}`,
      objectiveFile: 'OBJECTIVE.md',
      ...parts,
      evaluate: {
        command: ['node', join(beside, 'evaluate.mjs')],
        timeout: shortest((verifier?.timeout_sec ?? 600) * 1000),
        hidden: [beside],
        binds: [
          { from: root, to: found.app },
          { from: join(beside, 'tests'), to: '/tests' },
          ...[...new Set([...found.beside.keys()].map(topOf))].map((to) => ({ from: join(beside, 'image', to), to })),
          { to: '/logs' },
        ],
      },
      grade: null,
      metric,
      feedback: 'score',
      isolation: {
        ...(settings.network === 'none' ? { network: 'none' as const } : {}),
        readable: [],
        hidden: [folder],
      },
      total,
      review: reviewFor(total),
    },
    workspace: [
      { to: 'OBJECTIVE.md', text: objective(instruction, found.app, root) },
      ...[...found.files].map(([to, file]) => ({ to: laid(to), ...file })),
      ...(whole && found.files.size === 0 ? [{ to: laid('.gitkeep'), text: '' }] : []),
    ],
    hidden: [
      { to: 'tests', copy: join(folder, 'tests') },
      ...[...found.beside].map(([to, file]) => ({ to: join('image', to), ...file })),
      { to: 'evaluate.mjs', copy: shipped('evaluators', 'harbor.mjs') },
      { to: 'task.json', text: `${JSON.stringify({ workdir: found.workdir, key, env }, null, 2)}\n` },
    ],
    remarks: remarksOf(read, {
      whole,
      made: told.edited.filter((path) => !isThere(path, found.files)),
      unset: given.filter(([variable]) => !(variable in env)).map(([variable]) => variable),
    }),
  };
}

const objective = (instruction: string, app: string, root: string): string =>
  `Where this text says \`${app}\`, it means ${root === '.' ? 'your working folder' : `the folder \`${root}\` of your working folder`}. The tests are run by submitting; they are not in it.\n\n${instruction.trim()}\n`;

/** What a person should know of an import: what was guessed, left out, and is to be done by hand. */
function remarksOf(
  { request, settings, found, tests }: Read,
  { whole, made, unset }: { whole: boolean; made: readonly string[]; unset: readonly string[] },
): readonly string[] {
  const { optimization, environment: machine } = settings.toml;
  const anchors = optimization?.baseline?.score ?? optimization?.reference?.score;
  const beside = hiddenBeside(request.workspace);
  const some = (condition: boolean, ...lines: readonly string[]): readonly string[] => (condition ? lines : []);
  return [
    ...some(
      whole,
      `The instruction names no file to edit, so all of ${found.app} is the candidate: narrow \`candidate\` where you know better.`,
    ),
    ...some(
      made.length > 0,
      `To be made, as the instruction says: ${made.join(', ')}. A submission must have all of them; correct \`candidate\` where that is wrong.`,
    ),
    ...some(
      tests.scoring.key === 'reward' && anchors !== undefined,
      'The score is the reward; baseline and reference of task.toml are in another unit and were not taken over.',
    ),
    ...some(
      found.steps.length > 0,
      'What the Dockerfile does was not done; this machine must have it:',
      ...found.steps.map((step) => `  ${step.slice(0, 120)}`),
    ),
    ...some(
      found.left.length > 0,
      `Nothing can be shown there, so left out: ${[...new Set(found.left)].slice(0, 8).join('; ')}`,
    ),
    ...some(
      tests.missing.length > 0,
      `The tests name what is not here: ${tests.missing.join(', ')}. Lay it below ${join(beside, 'image')}, and add it to evaluate.binds.`,
    ),
    ...some(
      tests.installs.length > 0,
      `tests/test.sh installs or downloads while it runs (${tests.installs.join(', ')}), which can't work in isolation: have it on this machine, and take those lines out of ${join(beside, 'tests', 'test.sh')}.`,
    ),
    ...some(
      machine?.docker_image !== undefined && found.steps.length === 0,
      `The image ${machine?.docker_image} is not used; this machine must have what the tests need.`,
    ),
    ...some((machine?.gpus ?? 0) > 0, 'The task wants a GPU; its tests see those of this machine.'),
    ...some(settings.compose !== null, `Of environment/${settings.compose} only the network was taken over.`),
    ...some(settings.network === 'some', 'The task allows some hosts only; here the tests reach the whole network.'),
    ...some(unset.length > 0, `Variables of the tests that hold a secret were left out: ${unset.join(', ')}`),
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
