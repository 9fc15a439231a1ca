import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { assertNever } from '../base/assertNever.ts';
import { lastLineOf, oneLine } from '../base/oneLine.ts';
import { ok, refused, type Result } from '../base/result.ts';
import type { ExitReport } from '../machines/port.ts';
import type { ResultSource } from '../task/model.ts';
import { matchPattern } from './matchPattern.ts';
import type { Verdict } from './port.ts';
import { parsePlainScore, parseVerdict, type TextVerdict } from './verdictText.ts';

/** A result file may have this many bytes. */
export const resultLimit = 2 ** 20;

/** Of an output, this many bytes from its end are looked at. */
const outputLimit = 2 ** 20;

/** One evaluator run that is over. */
export interface FinishedRun {
  readonly exit: ExitReport;
  /** The file named by HMA_RESULT. */
  readonly resultFile: string;
  /** The runner's record of the program's output. */
  readonly outputLog: string;
  readonly source: ResultSource;
  readonly timeoutMs: number;
}

const nothing = (detail: string): TextVerdict => ({ kind: 'no_result', detail });

/** Reads `limit` bytes of a regular file from its end; never follows a link, never blocks on a FIFO. */
async function readTail(file: string, limit: number): Promise<Result<{ bytes: Buffer; size: number }, string>> {
  const folder = await lstat(dirname(file)).catch(() => null);
  if (!folder?.isDirectory()) return refused('its folder was replaced');
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return refused('it is not a regular file');
      const length = Math.min(stats.size, limit);
      const bytes = Buffer.alloc(length);
      const { bytesRead } = await handle.read(bytes, 0, length, stats.size - length);
      return ok({ bytes: bytes.subarray(0, bytesRead), size: stats.size });
    } finally {
      await handle.close();
    }
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'ENOENT')
      return refused('it was not written; the evaluator writes {"score": 0.5} into the file of that name');
    if (code === 'ELOOP') return refused('it is a symbolic link');
    if (code === 'ENXIO') return refused('it is not a regular file');
    return refused((cause as Error).message);
  }
}

async function fromFile(file: string): Promise<TextVerdict> {
  const read = await readTail(file, resultLimit);
  if (!read.ok) return nothing(`no result in $HMA_RESULT: ${read.refusal}`);
  if (read.value.size > resultLimit)
    return nothing(`the result has ${read.value.size} bytes; at most ${resultLimit} are read`);
  try {
    return parseVerdict(new TextDecoder('utf-8', { fatal: true }).decode(read.value.bytes));
  } catch {
    return nothing('the result is not UTF-8 text');
  }
}

async function fromOutput(log: string, source: Exclude<ResultSource, { from: 'file' }>): Promise<TextVerdict> {
  const read = await readTail(log, outputLimit);
  if (!read.ok) return nothing(`the output could not be read: ${read.refusal}`);
  const text = read.value.bytes.toString('utf8');
  switch (source.from) {
    case 'lastLine': {
      const line =
        text
          .trimEnd()
          .split(/[\r\n]/u)
          .at(-1)
          ?.trim() ?? '';
      if (line === '') return nothing('the output is empty; its last line must be the result');
      const verdict = parsePlainScore(line) ?? parseVerdict(line);
      if (verdict.kind !== 'no_result') return verdict;
      return nothing(`the last line of the output is no result: ${oneLine(line, 80)}`);
    }
    case 'pattern': {
      const matched = await matchPattern(source.pattern, text);
      if (!matched.ok) return nothing(matched.refusal);
      const verdict = parsePlainScore(matched.value);
      return (
        verdict ?? nothing(`the pattern matched ${JSON.stringify(oneLine(matched.value, 40))}, which is no number`)
      );
    }
    default:
      return assertNever(source);
  }
}

/** The last line of an output that says something, for a detail; empty when there is none. */
async function lastWords(log: string): Promise<string> {
  const read = await readTail(log, 4096);
  return read.ok ? lastLineOf(read.value.bytes.toString('utf8')) : '';
}

async function afterFailure(run: FinishedRun, said: TextVerdict): Promise<TextVerdict> {
  // a run that failed may still know that the candidate is wrong, but its score is not trusted
  if (said.kind === 'invalid' || said.kind === 'incorrect') return said;
  const how = run.exit.signal === null ? `exited with code ${run.exit.code}` : `was killed by ${run.exit.signal}`;
  const words = await lastWords(run.outputLog);
  const after = words === '' ? 'without any output' : `; its last output: ${words}`;
  const unused = said.kind === 'no_result' ? '' : ' (its score does not count: only exit code 0 does)';
  return nothing(`the evaluator ${how}${unused}${words === '' ? ' ' : ''}${after}`);
}

/**
 * What one finished evaluator run says.
 *
 * In order: `timeout` when the runner's deadline struck, whatever was written before; `lost` when it was ended from outside (the
 * run must be repeated); `no_result` when it never started or memory ran out; else the result. A score counts only with exit
 * code 0; `invalid` and `incorrect` count with any, since many evaluators say so and then fail. Never throws for what a program
 * can do to its result: a link, FIFO, folder, huge or non-UTF-8 file in its place is `no_result`.
 */
export async function readVerdict(run: FinishedRun): Promise<Verdict> {
  switch (run.exit.cause) {
    case 'timeout':
      return { kind: 'timeout', afterMs: run.timeoutMs };
    case 'ended':
      return { kind: 'lost' };
    case 'spawn':
      return nothing(`the evaluator could not be started: ${oneLine(run.exit.error ?? 'no reason given')}`);
    case 'exit': {
      if (run.exit.outOfMemory)
        return nothing('the evaluator ran out of memory; it, or the candidate, needs less of it');
      // nobody kills an evaluator with SIGKILL by rights: it is run once more before anything is said of the candidate
      if (run.exit.signal === 'SIGKILL') return { kind: 'lost' };
      const said =
        run.source.from === 'file' ? await fromFile(run.resultFile) : await fromOutput(run.outputLog, run.source);
      return run.exit.code === 0 ? said : await afterFailure(run, said);
    }
    default:
      return assertNever(run.exit.cause);
  }
}

/** What a validation said of a candidate's form: it never counts, and only an agent that asked is told. */
export type Validation =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'broken'; readonly detail: string };

/**
 * What one finished `validate` run says: exit code 0 is valid, unless it wrote `{"invalid": reason}` into $HMA_RESULT; another
 * code is invalid, with that reason or its last line of output. `broken`: it could not start, ran out of time or was ended.
 */
export async function readValidation(run: Omit<FinishedRun, 'source'>): Promise<Validation> {
  const { exit } = run;
  if (exit.cause === 'timeout')
    return { kind: 'broken', detail: `the check did not finish within ${run.timeoutMs / 1000} s` };
  if (exit.cause === 'spawn')
    return { kind: 'broken', detail: `the check could not be started: ${oneLine(exit.error ?? '')}` };
  if (exit.cause === 'ended' || exit.outOfMemory) {
    return {
      kind: 'broken',
      detail: exit.outOfMemory ? 'the check ran out of memory' : 'the check was ended; ask again',
    };
  }
  const said = await fromFile(run.resultFile);
  if (said.kind === 'invalid' || said.kind === 'incorrect') return { kind: 'invalid', reason: said.reason };
  if (exit.code === 0) return { kind: 'valid' };
  const words = await lastWords(run.outputLog);
  const how =
    exit.signal === null ? `the check exited with code ${exit.code}` : `the check was killed by ${exit.signal}`;
  return { kind: 'invalid', reason: words === '' ? how : words };
}
