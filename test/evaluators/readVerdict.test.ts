import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readValidation, readVerdict, type FinishedRun } from '../../src/evaluators/readVerdict.ts';
import type { ExitReport } from '../../src/machines/port.ts';
import type { ResultSource } from '../../src/task/model.ts';
import { aFolder } from './folders.ts';

const exitOf = (parts: Partial<ExitReport>): ExitReport => ({
  nonce: 'n',
  code: 0,
  signal: null,
  cause: 'exit',
  outOfMemory: false,
  wall: 0,
  mono: 0,
  boot: 'b',
  outputBytes: 0,
  ...parts,
});

/** Runs a real evaluator script with files for its output, as a runner does, and reads what it says. */
async function evaluated(script: string, source: ResultSource = { from: 'file' }): Promise<FinishedRun> {
  const folder = aFolder();
  mkdirSync(join(folder, 'result'));
  const resultFile = join(folder, 'result', 'result.json');
  const outputLog = join(folder, 'output.log');
  const file = join(folder, 'evaluate.mjs');
  writeFileSync(file, `import fs from 'node:fs'; const out = process.env.HMA_RESULT;\n${script}`);
  const log = openSync(outputLog, 'w');
  const child = spawn(process.execPath, [file], { stdio: ['ignore', log, log], env: { HMA_RESULT: resultFile } });
  closeSync(log);
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  const exit = exitOf({ code, signal, outputBytes: statSync(outputLog).size });
  return { exit, resultFile, outputLog, source, timeoutMs: 1000 };
}

const verdictOf = async (script: string, source?: ResultSource) => readVerdict(await evaluated(script, source));

const says = (json: string): string => `fs.writeFileSync(out, ${JSON.stringify(json)});`;

describe('a result in $HMA_RESULT', () => {
  it('is the verdict of a program that exits with 0', async () => {
    expect(await verdictOf(says('{"score": 0.25}'))).toEqual({ kind: 'scored', score: 0.25 });
    expect(await verdictOf(says('{"invalid": "row 3 is short"}'))).toEqual({
      kind: 'invalid',
      reason: 'row 3 is short',
    });
    expect(await verdictOf(says('{"score": NaN}'))).toEqual({ kind: 'non_finite', text: 'NaN' });
  });

  it('is nothing when the program prints nothing and writes nothing', async () => {
    expect(await verdictOf('')).toEqual({
      kind: 'no_result',
      detail: expect.stringContaining('no result in $HMA_RESULT: it was not written; the evaluator writes') as string,
    });
  });

  it('is not taken from the output, which candidate code can forge', async () => {
    expect((await verdictOf('console.log(JSON.stringify({ score: 1 }))')).kind).toBe('no_result');
  });

  it('is found beside a huge log', async () => {
    const script = `const line = 'x'.repeat(1023) + '\\n'; for (let i = 0; i < 20000; i++) fs.writeSync(1, line); ${says('{"score": 7}')}`;
    expect(await verdictOf(script)).toEqual({ kind: 'scored', score: 7 });
  });

  it('must not hold two scores', async () => {
    const verdict = await verdictOf(`${says('{"score": 1}\n')} fs.appendFileSync(out, '{"score": 2}');`);
    expect(verdict).toEqual({
      kind: 'no_result',
      detail: 'the result is not JSON: it holds more than one JSON document; write exactly one',
    });
  });

  it('must be UTF-8 text of at most 1 MiB', async () => {
    expect(await verdictOf(`fs.writeFileSync(out, Buffer.from([0x7b, 0xff, 0xfe, 0x7d]));`)).toEqual({
      kind: 'no_result',
      detail: 'the result is not UTF-8 text',
    });
    expect(await verdictOf(`fs.writeFileSync(out, '{"score": 1' + ' '.repeat(2 ** 20) + '}');`)).toEqual({
      kind: 'no_result',
      detail: `the result has ${2 ** 20 + 12} bytes; at most ${2 ** 20} are read`,
    });
    expect(await verdictOf(`fs.closeSync(fs.openSync(out, 'w')); fs.truncateSync(out, 2 ** 40);`)).toMatchObject({
      kind: 'no_result',
    });
  });

  it('is not followed when it is a link, even to a valid result', async () => {
    const script = `fs.writeFileSync(out + '.real', '{"score": 1}'); fs.symlinkSync(out + '.real', out);`;
    expect(await verdictOf(script)).toEqual({
      kind: 'no_result',
      detail: 'no result in $HMA_RESULT: it is a symbolic link',
    });
    expect((await verdictOf(`fs.symlinkSync('/dev/zero', out);`)).kind).toBe('no_result');
  });

  it('does not block on a FIFO and is not a folder', async () => {
    const run = await evaluated('');
    expect(spawnSync('mkfifo', [run.resultFile]).status).toBe(0);
    const notRegular = { kind: 'no_result', detail: 'no result in $HMA_RESULT: it is not a regular file' };
    expect(await readVerdict(run)).toEqual(notRegular);
    expect(await verdictOf('fs.mkdirSync(out);')).toEqual(notRegular);
  });

  it('is not read through a folder that was replaced by a link', async () => {
    const run = await evaluated(says('{"score": 1}'));
    const folder = join(run.resultFile, '..');
    renameSync(folder, `${folder}-elsewhere`);
    symlinkSync(`${folder}-elsewhere`, folder);
    expect(existsSync(run.resultFile)).toBe(true);
    expect(await readVerdict(run)).toEqual({
      kind: 'no_result',
      detail: 'no result in $HMA_RESULT: its folder was replaced',
    });
  });
});

describe('how the program ended', () => {
  it('takes the score from a program that failed, but not what it says is wrong with the candidate', async () => {
    expect(await verdictOf(`${says('{"score": 1}')} console.error('boom'); process.exit(3);`)).toEqual({
      kind: 'no_result',
      detail:
        'the evaluator exited with code 3 (its score does not count: only exit code 0 does); its last output: boom',
    });
    expect(await verdictOf(`${says('{"invalid": "no file"}')} process.exit(1);`)).toEqual({
      kind: 'invalid',
      reason: 'no file',
    });
    expect(await verdictOf(`${says('{"correct": false}')} process.exit(1);`)).toMatchObject({ kind: 'incorrect' });
  });

  it('names the signal and the last words of one that crashed', async () => {
    expect(
      await verdictOf(
        `fs.writeSync(1, 'loading\\n\\x1b[31mbad row\\x1b[0m\\n'); process.kill(process.pid, 'SIGTERM'); await new Promise(() => {});`,
      ),
    ).toEqual({
      kind: 'no_result',
      detail: 'the evaluator was killed by SIGTERM; its last output: bad row',
    });
    expect(await verdictOf('process.exit(4)')).toEqual({
      kind: 'no_result',
      detail: 'the evaluator exited with code 4 without any output',
    });
  });

  it('is lost when something killed it from outside: it is run once more', async () => {
    expect(await verdictOf(`process.kill(process.pid, 'SIGKILL'); await new Promise(() => {});`)).toEqual({
      kind: 'lost',
    });
  });

  it('is a timeout whatever was written before, and lost when it was ended from outside', async () => {
    const run = await evaluated(says('{"score": 1}'));
    const ended = (parts: Partial<ExitReport>) => readVerdict({ ...run, exit: exitOf(parts) });
    expect(await ended({ cause: 'timeout', code: null, signal: 'SIGKILL' })).toEqual({
      kind: 'timeout',
      afterMs: 1000,
    });
    expect(await ended({ cause: 'ended', code: null, signal: 'SIGTERM' })).toEqual({ kind: 'lost' });
    expect(await ended({ cause: 'spawn', code: null, error: 'ENOENT python4' })).toEqual({
      kind: 'no_result',
      detail: 'the evaluator could not be started: ENOENT python4',
    });
    expect(await ended({ code: null, signal: 'SIGKILL', outOfMemory: true })).toMatchObject({
      kind: 'no_result',
      detail: expect.stringContaining('out of memory') as string,
    });
  });
});

describe('a result in the output, where the task opted in', () => {
  const lastLine: ResultSource = { from: 'lastLine' };
  const pattern = (text: string): ResultSource => ({ from: 'pattern', pattern: text });

  it('is the last line that says something: JSON or a plain number', async () => {
    expect(await verdictOf(`console.log('epoch 1: 0.9'); console.log('0.25'); console.log('');`, lastLine)).toEqual({
      kind: 'scored',
      score: 0.25,
    });
    expect(await verdictOf(`console.log('{"score": 3}')`, lastLine)).toEqual({ kind: 'scored', score: 3 });
    expect(await verdictOf(`console.log('nan')`, lastLine)).toEqual({ kind: 'non_finite', text: 'nan' });
    expect(await verdictOf(`console.log('done')`, lastLine)).toEqual({
      kind: 'no_result',
      detail: 'the last line of the output is no result: done',
    });
    expect((await verdictOf('', lastLine)).kind).toBe('no_result');
    expect(
      await verdictOf(
        `const l = 'y'.repeat(1023) + '\\n'; for (let i = 0; i < 9000; i++) fs.writeSync(1, l); fs.writeSync(1, '5');`,
        lastLine,
      ),
    ).toEqual({ kind: 'scored', score: 5 });
  });

  it('is the one match of the pattern', async () => {
    const score = pattern('^final: (\\S+)$');
    expect(await verdictOf(`console.log('final?\\nfinal: 0.5\\nbye')`, score)).toEqual({ kind: 'scored', score: 0.5 });
    expect(await verdictOf(`console.log('final: inf')`, score)).toEqual({ kind: 'non_finite', text: 'inf' });
    expect(await verdictOf(`console.log('final: 1\\nfinal: 2')`, score)).toEqual({
      kind: 'no_result',
      detail: 'the pattern /^final: (\\S+)$/ matches the output more than once; a result is given once',
    });
    expect(await verdictOf(`console.log('nothing')`, score)).toEqual({
      kind: 'no_result',
      detail: 'the pattern /^final: (\\S+)$/ matches nothing in the output',
    });
    expect(await verdictOf(`console.log('final: good')`, score)).toEqual({
      kind: 'no_result',
      detail: 'the pattern matched "good", which is no number',
    });
    expect(await verdictOf('', pattern('('))).toMatchObject({
      kind: 'no_result',
      detail: expect.stringContaining("can't be used") as string,
    });
  });

  it('does not hang, nor block others, on a catastrophic pattern', async () => {
    const run = await evaluated(`console.log('a'.repeat(5000) + '!')`, pattern('^(a+)+$'));
    let ticks = 0;
    const ticking = setInterval(() => (ticks += 1), 50);
    const verdict = await readVerdict(run);
    clearInterval(ticking);
    expect(verdict).toEqual({
      kind: 'no_result',
      detail: 'the pattern took longer than 2 s on the output; make it simpler',
    });
    expect(ticks).toBeGreaterThan(10);
  });
});

describe('a validation', () => {
  it('is valid with exit code 0 unless it says otherwise, else invalid with a reason', async () => {
    expect(await readValidation(await evaluated(''))).toEqual({ kind: 'valid' });
    expect(await readValidation(await evaluated(says('{"invalid": "two columns"}')))).toEqual({
      kind: 'invalid',
      reason: 'two columns',
    });
    expect(await readValidation(await evaluated(`console.log('row 9 is short'); process.exit(1)`))).toEqual({
      kind: 'invalid',
      reason: 'row 9 is short',
    });
    const run = await evaluated('');
    expect(await readValidation({ ...run, exit: exitOf({ cause: 'timeout' }) })).toEqual({
      kind: 'broken',
      detail: 'the check did not finish within 1 s',
    });
  });
});
