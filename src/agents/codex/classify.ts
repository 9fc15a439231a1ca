import { oneLine } from '../../base/oneLine.ts';
import { classifyExit } from '../classifyExit.ts';
import { fieldsOf, numberOf, textOf, type Fields } from '../fields.ts';
import { parseJsonLine } from '../jsonLine.ts';
import type { AttemptEnd, Failure, FailureReason } from '../port.ts';
import { resetTimeOf } from '../resetTime.ts';

/** Reasons by Codex's own word for an error, `codexErrorInfo`. */
const byWord: Readonly<Record<string, FailureReason>> = {
  contextWindowExceeded: 'context_overflow',
  sessionBudgetExceeded: 'usage_limit',
  usageLimitExceeded: 'usage_limit',
  rateLimitExceeded: 'overloaded',
  flexUnavailable: 'overloaded',
  serverOverloaded: 'overloaded',
  policyCapacityUnavailable: 'overloaded',
  internalServerError: 'overloaded',
  modelNotFound: 'model_not_found',
  unauthorized: 'login_expired',
  httpConnectionFailed: 'network',
  responseStreamConnectionFailed: 'network',
  responseStreamDisconnected: 'network',
};

/** Reasons by HTTP status, where the word only says that a request failed. */
function byStatus(status: number): FailureReason | null {
  if (status === 401 || status === 403) return 'login_expired';
  if (status === 404) return 'model_not_found';
  if (status === 429) return 'usage_limit';
  return status >= 500 ? 'overloaded' : null;
}

/** Words of errors for which Codex has no word of its own (`other`). */
const byText: readonly (readonly [RegExp, FailureReason])[] = [
  [
    /stream disconnected|error sending request|network error|connection (?:failed|refused|reset|closed)|idle timeout|timed out/iu,
    'network',
  ],
  [/context (?:window|length)|too many tokens/iu, 'context_overflow'],
  [
    /refresh token|sign in again|log ?in again|not (?:logged|signed) in|token (?:has )?(?:expired|been invalidated|was revoked)/iu,
    'login_expired',
  ],
  [/usage limit|quota/iu, 'usage_limit'],
  [/overloaded|at capacity/iu, 'overloaded'],
  [/model .*(?:not (?:supported|found)|does not exist)/iu, 'model_not_found'],
];

/**
 * Why a Codex session is no natural end: by the error of its last turn, as the app-server told it. An end without one is classified as
 * any program's.
 */
export function classifyCodex(end: AttemptEnd): Failure | null {
  const failure = classifyExit(end);
  if (failure?.reason !== 'crash' || end.exit.code === null) return failure;
  const { error, limitEnds } = readTail(new TextDecoder().decode(end.outputTail));
  if (!error) return failure;
  const { word, status } = infoOf(error['codexErrorInfo']);
  const text = [textOf(error['message']), textOf(error['additionalDetails'])].filter(Boolean).join(': ');
  const reason =
    (status === null ? null : byStatus(status)) ??
    byWord[word] ??
    byText.find(([form]) => form.test(text))?.[1] ??
    'crash';
  const told =
    reason === 'usage_limit' || reason === 'overloaded' ? (limitEnds ?? resetTimeOf(text, { wall: end.wall })) : null;
  const resetAt = told !== null && told > end.wall ? { resetAt: told } : {};
  return { reason, detail: `Codex: ${oneLine(text, 300)}`, ...resetAt };
}

/** `"usageLimitExceeded"` or `{"httpConnectionFailed":{"httpStatusCode":401}}`. */
function infoOf(info: unknown): { readonly word: string; readonly status: number | null } {
  if (typeof info === 'string') return { word: info, status: null };
  const [word = '', details] = Object.entries(fieldsOf(info))[0] ?? [];
  return { word, status: numberOf(fieldsOf(details)['httpStatusCode']) };
}

/** The error that ended the last turn, and the end of a limit that is used up, Unix ms. */
function readTail(tail: string): { readonly error: Fields | null; readonly limitEnds: number | null } {
  let error: Fields | null = null;
  let limitEnds: number | null = null;
  for (const line of tail.split('\n')) {
    const message = fieldsOf(parseJsonLine(line));
    const params = fieldsOf(message['params']);
    switch (message['method']) {
      case 'turn/started':
        error = null;
        break;
      case 'turn/completed': {
        const failed = fieldsOf(fieldsOf(params['turn'])['error']);
        if (textOf(failed['message']) !== '') error = failed;
        break;
      }
      case 'error':
        error = fieldsOf(params['error']);
        break;
      case 'account/rateLimits/updated':
        limitEnds = usedUpUntil(fieldsOf(params['rateLimits'])) ?? limitEnds;
        break;
      default:
    }
  }
  return { error, limitEnds };
}

/** When the windows of a plan that are used up begin anew. */
function usedUpUntil(limits: Fields): number | null {
  const ends = ['primary', 'secondary'].flatMap((name) => {
    const { usedPercent, resetsAt } = fieldsOf(limits[name]);
    const at = numberOf(resetsAt);
    return at !== null && (numberOf(usedPercent) ?? 0) >= 100 ? [at * 1000] : [];
  });
  return ends.length > 0 ? Math.max(...ends) : null;
}
