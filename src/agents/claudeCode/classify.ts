import { oneLine } from '../../base/oneLine.ts';
import { classifyExit } from '../classifyExit.ts';
import type { AttemptEnd, Failure, FailureReason } from '../port.ts';
import { resetTimeOf } from '../resetTime.ts';
import { readFailure, type ClaudeFailure } from './said.ts';

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

function told(failure: ClaudeFailure, wall: number): Failure {
  const reason = reasonOf(failure);
  const detail = `Claude Code: ${oneLine(failure.text, 300) || failure.terminal || 'its last turn failed'}`;
  if (reason !== 'usage_limit' && reason !== 'overloaded') return { reason, detail };
  const resetAt = failure.resetsAt ?? resetTimeOf(failure.text, { wall });
  return { reason, detail, ...(resetAt === null ? {} : { resetAt }) };
}

function reasonOf({ status, kind, terminal, text }: ClaudeFailure): FailureReason {
  if (
    terminal === 'prompt_too_long' ||
    /prompt is too long|context (?:window|length)|input length and `?max_tokens`? exceed/iu.test(text)
  )
    return 'context_overflow';
  if (/credit balance|usage limit|hit your .*limit|insufficient (?:balance|quota)|out of extra usage/iu.test(text))
    return 'usage_limit';
  switch (status) {
    case 402:
    case 429:
      return 'usage_limit';
    case 401:
    case 403:
      return 'login_expired';
    case 404:
      return 'model_not_found';
    case 413:
      return 'context_overflow';
  }
  if (kind === 'overloaded_error' || (status !== null && status >= 500)) return 'overloaded';
  if (status === null && isNetwork(text)) return 'network';
  return /not logged in|invalid api key|please run \/login|oauth token/iu.test(text) ? 'login_expired' : 'crash';
}

const isNetwork = (text: string): boolean =>
  /connection|network|ECONN\w+|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ETIMEDOUT|timed? ?out|socket|fetch failed|certificate|unable to connect|stream (?:idle|ended|closed)|incomplete/iu.test(
    text,
  );

/** Refusals at the start are plain text on stderr. */
function saidBeforeStart(lines: readonly string[]): Failure | null {
  const line = lines.findLast((each) => /not logged in|invalid api key|please run \/login/iu.test(each));
  return line === undefined ? null : { reason: 'login_expired', detail: `Claude Code: ${oneLine(line, 300)}` };
}
