import { oneLine } from '../../base/oneLine.ts';
import { classifyExit } from '../classifyExit.ts';
import type { AttemptEnd, Failure, FailureReason } from '../port.ts';
import { resetTimeOf } from '../resetTime.ts';

/** The line with which Kimi ends: `error: failed to run prompt: provider.rate_limit: 429 The usage limit has been reached`. */
const endForm = /^error: (?:failed to run prompt: )?([a-z_]+\.[a-z_]+): (.*)$/gmu;

/** Reasons by what stands in that line; the first that fits counts. */
const reasons: readonly (readonly [RegExp, FailureReason])[] = [
  [/APIContextOverflowError|context (?:window|length)/u, 'context_overflow'],
  [/^(?:provider\.auth_error|auth\.)|\b40[13]\b.*(?:key|token|credential|permission)/iu, 'login_expired'],
  [/\b429\b.*rate limit|^provider\.overloaded|\b(?:500|502|503|504|529)\b/iu, 'overloaded'],
  [/^provider\.rate_limit|\b429\b|quota|usage limit/iu, 'usage_limit'],
  [/\b404\b|model .*(?:not exist|not found|not configured)|^config\.model/iu, 'model_not_found'],
  [/^provider\.(?:connection_error|timeout)/u, 'network'],
];

/** Why a Kimi session is no natural end: by the line with which it ended. Without one as any program's. */
export function classifyKimi(end: AttemptEnd): Failure | null {
  const failure = classifyExit(end);
  if (failure?.reason !== 'crash' || end.exit.code === null) return failure;
  const told = [...new TextDecoder().decode(end.outputTail).matchAll(endForm)].at(-1);
  if (!told) return failure;
  const text = `${told[1]}: ${told[2]}`;
  const reason = reasons.find(([form]) => form.test(text))?.[1] ?? 'crash';
  const reset = reason === 'usage_limit' || reason === 'overloaded' ? resetTimeOf(text, { wall: end.wall }) : null;
  const resetAt = reset !== null && reset > end.wall ? { resetAt: reset } : {};
  return { reason, detail: `Kimi Code: ${oneLine(text, 300)}`, ...resetAt };
}
