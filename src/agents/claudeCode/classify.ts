import { oneLine } from '../../base/oneLine.ts';
import { apiFailure } from '../apiFailure.ts';
import { classifyExit } from '../classifyExit.ts';
import type { AttemptEnd, Failure } from '../port.ts';
import { readFailure, type ClaudeFailure } from './said.ts';

const title = 'Claude Code';

/**
 * Why an attempt of Claude Code is no natural end. The driver's last line tells the failed turn in the API's own terms; without one it is a
 * crash of the program, or of the driver.
 */
export function classifyClaude(end: AttemptEnd): Failure | null {
  const plain = classifyExit(end);
  if (plain === null || plain.reason !== 'crash') return plain;
  const lines = new TextDecoder().decode(end.outputTail).split('\n');
  const failure = lines.map(readFailure).findLast((found) => found !== null);
  if (failure) return told(failure, end.wall);
  return saidBeforeStart(lines) ?? plain;
}

function told({ status, terminal, text, resetsAt }: ClaudeFailure, wall: number): Failure {
  const words = text === '' ? terminal : text;
  const failure = apiFailure({ title, status, text: words, wall });
  if (terminal === 'prompt_too_long') return { reason: 'context_overflow', detail: failure.detail };
  return failure.reason === 'usage_limit' && resetsAt !== null && resetsAt > wall
    ? { ...failure, resetAt: resetsAt }
    : failure;
}

/** Refusals at the start are plain text on stderr. */
function saidBeforeStart(lines: readonly string[]): Failure | null {
  const line = lines.findLast((each) => /not logged in|invalid api key|please run \/login/iu.test(each));
  return line === undefined ? null : { reason: 'login_expired', detail: `${title}: ${oneLine(line, 300)}` };
}
