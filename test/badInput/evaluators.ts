import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { readVerdict } from '../../src/evaluators/readVerdict.ts';
import type { ExitReport } from '../../src/machines/port.ts';
import type { ResultSource } from '../../src/task/model.ts';
import type { BadInput, BadInputs } from './badInput.ts';

const ended: ExitReport = {
  ...{ nonce: 'n', code: 0, signal: null, cause: 'exit', outOfMemory: false },
  ...{ wall: 0, mono: 0, boot: 'b', outputBytes: 0 },
};

interface Ending {
  readonly result?: string | Uint8Array;
  readonly output?: string;
  readonly exit?: Partial<ExitReport>;
  readonly source?: ResultSource;
  readonly place?: (resultFile: string) => void;
}

/** An evaluator that ended so, and what is made of it. */
const evaluator = (name: string, given: string, ending: Ending, ...says: readonly string[]): BadInput => ({
  name,
  given,
  says,
  give: async ({ root }) => {
    const resultFile = join(root, 'result', 'result.json');
    const outputLog = join(root, 'output.log');
    mkdirSync(join(root, 'result'));
    if (ending.result !== undefined) writeFileSync(resultFile, ending.result);
    writeFileSync(outputLog, ending.output ?? '');
    ending.place?.(resultFile);
    const verdict = await readVerdict({
      ...{ exit: { ...ended, ...ending.exit }, resultFile, outputLog, timeoutMs: 1_800_000 },
      source: ending.source ?? { from: 'file' },
    });
    switch (verdict.kind) {
      case 'scored':
        return `score ${verdict.score}`;
      case 'no_result':
        return `the evaluator gave no result (${verdict.detail})`;
      case 'non_finite':
        return `rejected (non_finite): the score was ${verdict.text}`;
      case 'invalid':
      case 'incorrect':
        return `rejected (${verdict.kind}): ${verdict.reason}`;
      case 'timeout':
        return `rejected (timeout): no verdict within ${verdict.afterMs / 1000} s`;
      case 'lost':
        return 'lost: it runs once more, then evaluator_error';
    }
  },
});

const writes = (name: string, text: string, ...says: readonly string[]): BadInput =>
  evaluator(name, `it writes ${text}`, { result: text }, ...says);
const prints = (name: string, text: string, source: ResultSource, ...says: readonly string[]): BadInput =>
  evaluator(
    name,
    `result: ${source.from === 'pattern' ? `{pattern: '${source.pattern}'}` : 'last-line'}, and it prints ${JSON.stringify(text)}`,
    { output: text, source },
    ...says,
  );

const pattern: ResultSource = { from: 'pattern', pattern: 'score: (\\S+)' };

/** Evaluators whose result is none. */
export const evaluators: BadInputs = {
  title: 'Evaluators',
  about:
    'What stands in the receipt and in `hma show`. Without a result the evaluator runs once more on earlier files: where it gives one there, the submission is `invalid`, else it is an `evaluator_error`, which is never the agent’s fault; three in a row pause the run.',
  cases: [
    evaluator('nothing written', 'it ends with 0 and writes nothing', {}, '$HMA_RESULT', 'not written'),
    writes('an empty file', '', 'is empty', '{"score": 0.5}'),
    writes('a word', 'good', '"good"', 'not JSON'),
    writes('two results', '{"score": 1}{"score": 2}', 'more than one', 'exactly one'),
    writes('a result that is cut off', '{"score": 1', 'a comma or } is missing', 'not JSON'),
    writes('single quotes', "{'score': 1}", 'not JSON'),
    writes('a list', '[0.5]', '{"score": 0.5}'),
    writes('a bare number', '0.5', '{"score": 0.5}'),
    writes('no score', '{}', 'no "score"', '{"score": 0.5}'),
    writes('another key', '{"accuracy": 0.5}', '"accuracy"', '{"score": 0.5}'),
    writes('a key twice', '{"score": 1, "score": 2}', '"score" twice', 'write it once'),
    writes('a score as text', '{"score": "0.5"}', '"0.5"', 'without quotes'),
    writes('a score that is null', '{"score": null}', 'null', 'finite number'),
    writes('a score that is a list', '{"score": [1]}', 'a list', 'write a number'),
    writes('NaN', '{"score": NaN}', 'NaN', 'non_finite'),
    writes('a number beyond all bounds', '{"score": 1e999}', '1e999', 'non_finite'),
    writes('correct as text', '{"score": 1, "correct": "yes"}', '"correct"', 'true or false'),
    writes('invalid beside a score', '{"score": 1, "invalid": "x"}', '"invalid"', 'one or the other'),
    writes('invalid without words', '{"invalid": true}', '"invalid"', 'the reason'),
    evaluator(
      'a result of 2 MiB',
      'it writes 2 MiB',
      { result: ' '.repeat(2 ** 21) },
      '2097152 bytes',
      'at most 1048576',
    ),
    evaluator('UTF-16', 'it writes UTF-16', { result: Buffer.from('\ufeff{"score": 1}', 'utf16le') }, 'UTF-8'),
    evaluator(
      'a link in its place',
      'the candidate’s code puts a link to a file of its own there',
      { place: (file) => symlinkSync('/etc/hostname', file) },
      ...['symbolic link'],
    ),
    evaluator(
      'a FIFO in its place',
      'the candidate’s code puts a FIFO there',
      { place: (file) => void execFileSync('mkfifo', [file]) },
      ...['not a regular file'],
    ),
    evaluator(
      'a folder in its place',
      'it makes a folder there',
      { place: (file) => mkdirSync(file) },
      'not a regular file',
    ),
    evaluator(
      'a result folder that was replaced',
      'the candidate’s code replaces the folder by a link',
      {
        place: (file) => {
          rmSync(join(file, '..'), { recursive: true });
          symlinkSync('/tmp', join(file, '..'));
        },
      },
      ...['folder was replaced'],
    ),
    evaluator(
      'a traceback',
      'it writes nothing, prints a traceback and ends with 1',
      { exit: { code: 1 }, output: 'Traceback …\nModuleNotFoundError: No module named numpy\n' },
      ...['exited with code 1', 'No module named numpy'],
    ),
    evaluator(
      'an end without a word',
      'it ends with 3 and prints nothing',
      { exit: { code: 3 } },
      'code 3',
      'without any output',
    ),
    evaluator(
      'a score before a crash',
      'it writes {"score": 1} and ends with 1',
      { result: '{"score": 1}', exit: { code: 1 }, output: 'Segmentation fault\n' },
      ...['does not count', 'exit code 0'],
    ),
    evaluator('a crash', 'it dies of SIGSEGV', { exit: { code: null, signal: 'SIGSEGV' } }, 'SIGSEGV'),
    evaluator(
      'memory used up',
      'the kernel ends it',
      { exit: { code: null, signal: 'SIGKILL', outOfMemory: true } },
      'out of memory',
      'less of it',
    ),
    evaluator('killed by somebody', 'it dies of SIGKILL', { exit: { code: null, signal: 'SIGKILL' } }, 'once more'),
    evaluator('too slow', 'it runs for half an hour', { exit: { cause: 'timeout' } }, '1800 s'),
    evaluator(
      'a program that is not there',
      'evaluate: [pyhton3, eval.py]',
      { exit: { cause: 'spawn', code: null, error: '`pyhton3` was not found on PATH' } },
      ...['could not be started', 'pyhton3'],
    ),
    prints('no output', '', { from: 'lastLine' }, 'output is empty', 'last line'),
    prints('a last line in words', 'accuracy 0.5\nall done\n', { from: 'lastLine' }, 'all done', 'is no result'),
    prints('no match', 'accuracy 0.5\n', pattern, 'score: (\\S+)'),
    prints('a match that is no number', 'score: high\n', pattern, '"high"', 'no number'),
  ],
};
