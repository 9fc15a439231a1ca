import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { ok, type Result } from '../base/result.ts';
import { medalThresholds } from '../task/medals.ts';
import type { Failure } from './failure.ts';
import { isWithin } from '../base/folders.ts';
import { importFailure, hiddenBeside, shipped, sourceFolder, type ImportedTask } from './importTask.ts';
import { reviewFor } from './setupWrite.ts';

type Direction = 'maximize' | 'minimize';

/** What an MLE-bench import is asked for. */
export interface MleBenchRequest {
  /** A competition's folder in mlebench's data folder: it holds `prepared/public` and `prepared/private`. */
  readonly folder: string;
  /** The workspace, real and absolute. */
  readonly workspace: string;
  readonly total: string | undefined;
  /** Which way is better where a person says so; else the leaderboard's order tells. */
  readonly direction: string | undefined;
  /** The competition's leaderboard.csv where a person names it. */
  readonly leaderboard: string | undefined;
  /** The sample submission where a person names it. */
  readonly sample: string | undefined;
  /**
   * The `mlebench` program, the folders that it needs where they don't belong to the system, and its package's folder where that is known;
   * null where it is not installed.
   */
  readonly mlebench: {
    readonly program: string;
    readonly folders: readonly string[];
    readonly package: string | null;
  } | null;
}

/**
 * Reads a prepared competition of MLE-bench (`mlebench prepare`; github.com/openai/mle-bench): its public part becomes the read-only folder
 * `data`, its private part is for the official grader alone. Agents are told only whether a submission's form is right.
 */
export function readMleBench(request: MleBenchRequest): Result<ImportedTask, Failure> {
  const named = isPrepared(request.folder) ? dirname(request.folder) : request.folder;
  const source = sourceFolder(named, request.workspace);
  if (!source.ok) return source;
  const folder = source.value;
  const [open, secret] = [join(folder, 'prepared', 'public'), join(folder, 'prepared', 'private')];
  for (const part of [open, secret])
    if (!existsSync(part) || !statSync(part).isDirectory())
      return importFailure(
        'not_mle_bench',
        `${part} is missing`,
        `Prepare the competition (mlebench prepare -c ${basename(folder)}), and name the folder that holds \`prepared\`.`,
      );
  const description = [join(open, 'description.md'), join(folder, 'description.md')].find((file) => existsSync(file));
  if (description === undefined)
    return importFailure(
      'no_description',
      `${join(open, 'description.md')} is missing`,
      'Put the competition’s description there.',
    );
  const sample = request.sample ?? sampleIn(open);
  if (sample === undefined || !existsSync(sample))
    return importFailure(
      'no_sample',
      sample === undefined ? `${open} has no sample submission` : `${sample} is missing`,
      'Name it with --sample FILE: the form of submissions is checked against it.',
    );
  for (const file of [description, sample]) {
    const pointer = pointerFailure(file);
    if (pointer) return pointer;
  }
  const board = leaderboardOf(request, folder);
  if (!board.ok) return board;
  const direction = directionOf(request.direction, board.value);
  if (!direction.ok) return direction;
  return ok(
    taskOf({
      request,
      folder,
      open,
      secret,
      description,
      sample,
      scores: board.value?.scores ?? [],
      direction: direction.value,
    }),
  );
}

/** Whether a folder is a competition's `prepared`, not what holds it. */
const isPrepared = (folder: string): boolean =>
  basename(folder) === 'prepared' && existsSync(join(folder, 'public')) && existsSync(join(folder, 'private'));

/** The refusal of a file that Git LFS has left its pointer for. */
function pointerFailure(file: string): ReturnType<typeof importFailure> | null {
  // a pointer has about 130 bytes; what is larger may be very large
  const isPointer = statSync(file).size < 1024 && readFileSync(file, 'utf8').startsWith('version https://git-lfs.');
  return isPointer
    ? importFailure(
        'lfs_pointer',
        `${file} is a pointer of Git LFS, not the file itself`,
        'Fetch it in its repository: git lfs pull.',
      )
    : null;
}

/** The sample submission: at the top of the public part, or one folder deeper. */
function sampleIn(open: string): string | undefined {
  const named = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && /(sample.?submission|random.?prediction).*\.csv$/i.test(entry.name))
      .map((entry) => join(folder, entry.name))
      .toSorted((a, b) => a.length - b.length);
  const deeper = readdirSync(open, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [...named(open), ...deeper.flatMap((entry) => named(join(open, entry.name)))][0];
}

interface Leaderboard {
  readonly file: string;
  /** In the file's order: best first. */
  readonly scores: readonly number[];
}

function leaderboardOf(
  { leaderboard, mlebench }: MleBenchRequest,
  folder: string,
): Result<Leaderboard | null, Failure> {
  const ofPackage = join(mlebench?.package ?? folder, 'competitions', basename(folder), 'leaderboard.csv');
  const file = leaderboard ?? [join(folder, 'leaderboard.csv'), ofPackage].find((each) => existsSync(each));
  if (file === undefined) return ok(null);
  if (!existsSync(file))
    return importFailure(
      'no_leaderboard',
      `${file} is missing`,
      'Name the leaderboard file, or leave --leaderboard out.',
    );
  const pointer = pointerFailure(file);
  if (pointer) return pointer;
  const [header = '', ...rows] = readFileSync(file, 'utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '');
  const column = fieldsOf(header).findIndex((name) => name.toLowerCase() === 'score');
  if (column < 0)
    return importFailure(
      'bad_leaderboard',
      `${file}:1: there is no column \`score\``,
      'It needs a header line with a column score.',
    );
  const scores = rows.map((row) => Number(fieldsOf(row)[column]?.trim() || Number.NaN));
  const wrong = scores.findIndex((score) => !Number.isFinite(score));
  if (wrong >= 0)
    return importFailure(
      'bad_leaderboard',
      `${file}:${wrong + 2}: the score is no number`,
      'Correct or remove the line.',
    );
  if (scores.length === 0)
    return importFailure('bad_leaderboard', `${file} has no teams`, 'Name a leaderboard with scores.');
  return ok({ file, scores });
}

/** The fields of one line of CSV; team names may be quoted. */
const fieldsOf = (line: string): string[] =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');

/** Which way is better: as told, else as the leaderboard is sorted (as MLE-bench itself does). */
function directionOf(told: string | undefined, board: Leaderboard | null): Result<Direction, Failure> {
  if (told === 'maximize' || told === 'minimize') return ok(told);
  if (told !== undefined)
    return importFailure(
      'bad_direction',
      `--direction takes maximize or minimize, not ${JSON.stringify(told)}`,
      'Write one of the two.',
    );
  const [best, worst] = [board?.scores[0], board?.scores.at(-1)];
  if (best !== undefined && worst !== undefined && best !== worst) return ok(best < worst ? 'minimize' : 'maximize');
  return importFailure(
    'no_direction',
    board === null
      ? 'there is no leaderboard.csv that tells which way is better'
      : `${board.file} does not tell which way is better: its first and last scores are equal`,
    'Add --direction maximize or --direction minimize, or --leaderboard FILE (mlebench has one for each competition).',
  );
}

interface Read {
  readonly request: MleBenchRequest;
  readonly folder: string;
  readonly open: string;
  readonly secret: string;
  readonly description: string;
  readonly sample: string;
  readonly scores: readonly number[];
  readonly direction: Direction;
}

/** All of a competition's folder but its public part: raw data and archives hold the answers too. */
function privateParts({ folder, secret }: Read): readonly string[] {
  const rest = (within: string, but: string): string[] =>
    readdirSync(within)
      .filter((name) => name !== but)
      .map((name) => join(within, name));
  return [...rest(folder, 'prepared'), ...rest(dirname(secret), 'public')].filter((path) => path !== secret);
}

function taskOf(read: Read): ImportedTask {
  const { request, folder, open, secret, description, sample, scores, direction } = read;
  const beside = hiddenBeside(request.workspace);
  const competition = basename(folder);
  const thresholds = medalThresholds({ direction }, scores);
  const total = request.total ?? '6h';
  const grades = request.mlebench !== null;
  return {
    contract: {
      name: competition,
      origin: `The MLE-bench competition ${competition}`,
      objectiveFile: 'OBJECTIVE.md',
      candidate: ['submission.csv', 'solution/**'],
      protected: [],
      evaluate: {
        command: ['node', join(beside, 'form', 'evaluate.mjs')],
        timeout: '10m',
        hidden: [join(beside, 'form')],
        binds: [],
      },
      grade: grades
        ? { command: ['node', join(beside, 'grade', 'grade.mjs')], hidden: [join(beside, 'grade'), secret] }
        : null,
      metric: { name: 'score', direction, ...(thresholds ? { thresholds } : {}) },
      feedback: 'blind',
      isolation: {
        readable: [open, ...(request.mlebench?.folders ?? [])],
        hidden: [...(grades ? [] : [secret]), ...privateParts(read)],
      },
      total,
      review: reviewFor(total),
    },
    workspace: [
      { to: 'OBJECTIVE.md', text: objective(readFileSync(description, 'utf8')) },
      { to: 'data', link: open },
      { to: join('solution', 'README.md'), text: 'The code that makes submission.csv.\n' },
    ],
    hidden: [
      { to: join('form', 'evaluate.mjs'), copy: shipped('evaluators', 'submissionForm.mjs') },
      { to: join('form', 'sample.csv'), copy: sample },
      ...(request.mlebench === null
        ? []
        : [
            { to: join('grade', 'grade.mjs'), copy: shipped('evaluators', 'mleBenchGrade.mjs') },
            {
              to: join('grade', 'task.json'),
              text: `${JSON.stringify({ program: request.mlebench.program, competition, data: dirname(folder) }, null, 2)}\n`,
            },
          ]),
    ],
    remarks: [
      'Agents are told only whether a submission’s form is right (feedback: blind); let them report their own validation with hma submit --score.',
      `data is a link to ${open}: nothing is copied, and with isolation nobody can write there.`,
      ...(isWithin(open, sample)
        ? []
        : ['The sample submission is not among the public files: say in OBJECTIVE.md what a submission looks like.']),
      ...(grades
        ? []
        : [
            'There is no grade: mlebench is not installed. Install it (pip install git+https://github.com/openai/mle-bench), and run hma init again in an empty folder.',
          ]),
      ...(thresholds ? [] : ['There are no medals: no leaderboard.csv was found; --leaderboard FILE names one.']),
    ],
  };
}

const objective = (description: string): string =>
  `Train a model and predict the test set: \`submission.csv\` in your working folder is what counts, in the form of the sample submission. The data
lies in \`data\`, which can't be written. Keep the code that makes the submission in \`solution\`. The labels of the test set are not here, and no
score on them will be shown: validate on a part of the training data.

${description.trim()}
`;
