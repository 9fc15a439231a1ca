import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { exitCodes } from '../../src/cli/exitCodes.ts';
import { write } from '../evaluators/folders.ts';
import { tiersHere } from '../machines/machineRoom.ts';
import { ImportRoom } from './importRig.ts';

const answers = 'id,label\n1,SECRET-A\n2,SECRET-B\n3,SECRET-A\n';

/** A prepared competition, as `mlebench prepare` leaves it, with the leaderboard of its package beside it. */
const competition = {
  'prepared/public/description.md': '# Irises\n\nName the species. Submissions are scored by accuracy.\n',
  'prepared/public/train.csv': 'id,width,label\n9,1,a\n',
  'prepared/public/test.csv': 'id,width\n1,1\n2,2\n3,3\n',
  'prepared/public/sample_submission.csv': 'id,label\n1,a\n2,a\n3,a\n',
  'prepared/private/test.csv': answers,
  'raw/train.csv': answers,
  'leaderboard.csv': `teamName,score\n${Array.from({ length: 20 }, (_, team) => `"Team, ${team}",${(0.99 - team / 100).toFixed(2)}`).join('\n')}\n`,
};

/** Speaks as mlebench's grade-sample does: a log line, then the report as JSON over several lines. The real one needs Kaggle's data. */
const grader = (node: string) => `#!${node}
const { readFileSync } = require('node:fs');
const [command, submission, id, flag, data] = process.argv.slice(2);
if (command !== 'grade-sample' || flag !== '--data-dir') process.exit(2);
const labels = (file) => readFileSync(file, 'utf8').trim().split('\\n').slice(1).map((line) => line.split(',')[1]);
const [given, right] = [labels(submission), labels(data + '/' + id + '/prepared/private/test.csv')];
const hits = given.filter((label, at) => label === right[at]).length;
const score = given.includes('none') ? null : hits / right.length;
const log = (text) => console.error('[2026-11-30 22:00:00,000] [cli.py:1] ' + text);
log('Competition report:');
log(JSON.stringify({ competition_id: id, score, any_medal: false, submission_path: submission }, null, 4));
`;

function competitionRoom(changes: Readonly<Record<string, string | null>> = {}): { room: ImportRoom; folder: string } {
  const room = new ImportRoom();
  const folder = room.at('data', 'irises');
  write(folder, competition);
  for (const [path, text] of Object.entries(changes))
    if (text === null) rmSync(join(folder, path), { recursive: true });
    else write(folder, { [path]: text });
  return { room, folder };
}

/** PATH with our grade-sample on it. */
function withGrader(room: ImportRoom): string {
  write(room.at('.'), { 'tools/bin/mlebench': grader(process.execPath) });
  chmodSync(room.at('tools/bin/mlebench'), 0o755);
  return `${room.at('tools/bin')}:${process.env['PATH']}`;
}

const [tier] = tiersHere;
const submission = (...labels: readonly string[]): Record<string, string> => ({
  'submission.csv': `id,label\n${labels.map((label, at) => `${at + 1},${label}`).join('\n')}\n`,
});

describe('hma init --mle-bench', () => {
  test('lays a competition out: public data linked, answers nowhere, blind, medals and direction by the leaderboard', async () => {
    const { room, folder } = competitionRoom();
    const made = await room.init(['--mle-bench', folder, '--json'], withGrader(room));
    expect(made).toMatchObject({ exit: 0, err: '' });
    expect(room.files()).toEqual(['OBJECTIVE.md', 'data', 'hma.yaml', 'solution/README.md']);
    expect(lstatSync(join(room.workspace, 'data')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(room.workspace, 'data/train.csv'), 'utf8')).toContain('width');
    const beside = `${room.workspace}.hidden`;
    expect(room.files(beside)).toEqual(['form/evaluate.mjs', 'form/sample.csv', 'grade/grade.mjs', 'grade/task.json']);
    const { contract, warnings } = await room.contract();
    expect(warnings).toEqual([]);
    expect(contract).toMatchObject({
      name: 'irises',
      candidate: ['submission.csv', 'solution/**'],
      feedback: 'blind',
      metric: {
        direction: 'maximize',
        // 20 teams: positions 2, 4 and 8
        thresholds: [
          { name: 'gold', score: 0.98 },
          { name: 'silver', score: 0.96 },
          { name: 'bronze', score: 0.92 },
        ],
      },
      evaluate: { hidden: [join(beside, 'form')] },
      grade: { hidden: [join(beside, 'grade'), join(folder, 'prepared/private')] },
      isolation: {
        readable: [join(folder, 'prepared/public'), room.at('tools')],
        hidden: expect.arrayContaining([join(folder, 'raw'), join(folder, 'leaderboard.csv')]),
      },
    });
    expect(contract.objective).toContain('Name the species');
  });

  test('the evaluator really looks at the form, and says what is wrong with it', async () => {
    const { room, folder } = competitionRoom();
    await room.init(['--mle-bench', folder]);
    const script = join(`${room.workspace}.hidden`, 'form', 'evaluate.mjs');
    const said = (text: string): unknown => {
      const env = { HMA_CANDIDATE: room.at('candidate'), HMA_RESULT: room.at('result.json') };
      write(env.HMA_CANDIDATE, { 'submission.csv': text });
      execFileSync(process.execPath, [script], { env });
      return JSON.parse(readFileSync(env.HMA_RESULT, 'utf8'));
    };
    const right = { 'submission.csv': 'label,id\r\n"a, or ""b""",3\r\nb,1\r\nc,2\r\n' };
    expect((await room.evaluate(right, 'evaluation', tier)).verdict).toEqual({ kind: 'scored', score: 0 });
    for (const [text, reason] of [
      ['id\n1\n2\n3\n', 'lacks the column "label"'],
      ['id,label,more\n1,a,b\n2,a,b\n3,a,b\n', 'has the column "more"'],
      ['id,label\n1,a\n2,a\n', 'has 2 rows; the sample submission has 3'],
      ['id,label\n1,a\n2,a\n4,a\n', 'has the id "4", which'],
      ['id,label\n1,a\n2,a\n2,a\n', 'has the id "2", "3" missing or repeated'],
      ['id,label\n1,a\n2\n3,a\n', 'row 2 of submission.csv has another number of fields'],
      ['id,label\n1,a\n"2"x,a\n3,a\n', 'line 3 is not CSV'],
    ] as const)
      expect(said(text)).toEqual({ invalid: expect.stringContaining(reason) });
    expect((await room.evaluate({ 'solution/a.py': '' }, 'evaluation', tier)).verdict).toMatchObject({
      kind: 'invalid',
      reason: 'there is no submission.csv',
    });
  });

  test('what lies elsewhere: `prepared` itself, a sample under another name or named, the leaderboard of an installed package', async () => {
    const sample = competition['prepared/public/sample_submission.csv'];
    const { room, folder } = competitionRoom({
      'prepared/public/sample_submission.csv': null,
      'prepared/public/randomPredictions.csv': sample,
      'leaderboard.csv': null,
    });
    const shippedBoard = { 'repository/mlebench/competitions/irises/leaderboard.csv': competition['leaderboard.csv'] };
    const path = withGrader(room);
    write(room.at('.'), {
      ...shippedBoard,
      'tools/lib/python3.12/site-packages/own.pth': `${room.at('repository')}\n`,
    });
    const made = await room.init(['--mle-bench', join(folder, 'prepared')], path);
    expect(made).toMatchObject({ exit: 0, err: '' });
    const { contract } = await room.contract();
    expect(contract).toMatchObject({ name: 'irises', metric: { direction: 'maximize' } });
    expect(contract.isolation.readable).toEqual([
      join(folder, 'prepared/public'),
      room.at('tools'),
      room.at('repository'),
    ]);
  });

  test('a sample submission that is named, though it is not public, is what forms are looked at by', async () => {
    const { room, folder } = competitionRoom({
      'prepared/public/sample_submission.csv': null,
      'prepared/private/sample_submission.csv': 'id,label\n1,a\n',
    });
    const made = await room.init([
      '--mle-bench',
      folder,
      '--sample',
      join(folder, 'prepared/private/sample_submission.csv'),
    ]);
    expect(made.out).toContain('The sample submission is not among the public files');
    expect((await room.evaluate({ 'submission.csv': 'id,label\n1,x\n' }, 'evaluation', tier)).verdict).toEqual({
      kind: 'scored',
      score: 0,
    });
  });

  test('the official grader is the hidden grade: its score, an invalid submission, and no report at all', async () => {
    const { room, folder } = competitionRoom();
    await room.init(['--mle-bench', folder], withGrader(room));
    const graded = async (...labels: readonly string[]) =>
      (await room.evaluate(submission(...labels), 'grade', tier)).verdict;
    expect(await graded('SECRET-A', 'x', 'SECRET-A')).toMatchObject({
      kind: 'scored',
      score: expect.closeTo(2 / 3, 10),
    });
    expect(await graded('none', 'x', 'y')).toMatchObject({ kind: 'invalid' });
    rmSync(join(folder, 'prepared/private/test.csv'));
    expect(await graded('a', 'b', 'c')).toMatchObject({
      kind: 'no_result',
      detail: expect.stringContaining('no report'),
    });
  });

  test('without mlebench there is no grade, which is said with how to install it; the answers stay hidden', async () => {
    const { room, folder } = competitionRoom({ 'leaderboard.csv': null });
    const made = await room.init(['--mle-bench', folder, '--direction', 'minimize'], '/usr/bin:/bin');
    expect(made.out).toMatch(/pip install git\+https:\/\/github.com\/openai\/mle-bench[^]*no medals/);
    const { contract, warnings } = await room.contract();
    expect(warnings).toEqual(['blind_without_grade']);
    expect(contract).toMatchObject({ grade: null, metric: { direction: 'minimize', thresholds: [] } });
    expect(contract.isolation.hidden).toContain(join(folder, 'prepared/private'));
  });

  test('a leaderboard that begins with its lowest score is one to minimize', async () => {
    const { room, folder } = competitionRoom({ 'board.csv': 'scoreNullable,score\n0.1,0.1\n0.2,0.2\n' });
    await room.init(['--mle-bench', folder, '--leaderboard', join(folder, 'board.csv')]);
    expect((await room.contract()).contract.metric).toMatchObject({
      direction: 'minimize',
      thresholds: [{ score: 0.1 }, { score: 0.1 }, { score: 0.1 }],
    });
  });

  test('its options mean nothing without it', async () => {
    const { room } = competitionRoom();
    expect(await room.init(['--direction', 'minimize'])).toMatchObject({
      exit: exitCodes.usage,
      err: expect.stringContaining('belong to --mle-bench'),
    });
    expect(room.files()).toEqual([]);
  });

  test.each([
    [
      'without a public part',
      { 'prepared/public': null },
      [],
      /prepared\/public is missing\n +Prepare the competition/,
    ],
    ['without a private part', { 'prepared/private': null }, [], /prepared\/private is missing/],
    ['without a description', { 'prepared/public/description.md': null }, [], /description\.md is missing/],
    [
      'with a pointer of Git LFS',
      { 'leaderboard.csv': 'version https://git-lfs.github.com/spec/v1\noid sha256:1\n' },
      [],
      /leaderboard\.csv is a pointer of Git LFS[^]*git lfs pull/,
    ],
    ['with a sample that is not there', {}, ['--sample', 'nowhere.csv'], /nowhere\.csv is missing/],
    ['without a sample', { 'prepared/public/sample_submission.csv': null }, [], /has no sample submission/],
    ['without a way', { 'leaderboard.csv': null }, [], /no leaderboard\.csv that tells[^]*--direction maximize/],
    ['with a flat leaderboard', { 'leaderboard.csv': 'score\n1\n1\n' }, [], /first and last scores are equal/],
    [
      'with a leaderboard without scores',
      { 'leaderboard.csv': 'team\nx\n' },
      [],
      /leaderboard\.csv:1: there is no column/,
    ],
    ['with a wrong score', { 'leaderboard.csv': 'score\n1\nx\n' }, [], /leaderboard\.csv:3: the score is no number/],
    ['with a wrong direction', {}, ['--direction', 'up'], /takes maximize or minimize, not "up"/],
  ] as const)('a competition %s is refused', async (_, changes, words, said) => {
    const { room, folder } = competitionRoom(changes);
    const refused = await room.init(['--mle-bench', folder, ...words]);
    expect(refused).toMatchObject({ exit: exitCodes.refused, out: '' });
    expect(refused.err).toMatch(said);
    expect(room.files()).toEqual([]);
  });
});
