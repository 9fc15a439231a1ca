import { oneLine } from '../base/oneLine.ts';
import type { Failure, FailureReason } from './port.ts';
import { resetTimeOf } from './resetTime.ts';

/** A failed model call as a harness prints it. */
export interface ApiError {
  /** The harness's title, before the words that a person reads. */
  readonly title: string;
  /** HTTP status; null = not told, or there was no answer. */
  readonly status: number | null;
  readonly text: string;
  /** More of the output, where only the end of a limit is looked for. */
  readonly around?: string;
  /** Unix ms at which it was printed. */
  readonly wall: number;
}

const byStatus: Readonly<Record<number, FailureReason>> = {
  401: 'login_expired',
  402: 'usage_limit',
  403: 'login_expired',
  404: 'model_not_found',
  413: 'context_overflow',
  429: 'usage_limit',
};

/** Words that say more than the status: a provider answers 400 to a bad key and to a full context alike. */
const byWords: readonly (readonly [RegExp, FailureReason])[] = [
  [
    /context (?:window|length)|prompt is too long|maximum number of tokens|token count .*exceeds|exceeds? .*\bcontext\b|context_length_exceeded/iu,
    'context_overflow',
  ],
  [
    /insufficient[_ ](?:quota|balance)|credit balance|exceeded your current quota|usage limit|rate.limit|(?:tokens|requests) per min/iu,
    'usage_limit',
  ],
  [
    /(?:invalid|incorrect|expired|missing) (?:api )?key|api key not valid|API_KEY_INVALID|unauthenticated|not logged in/iu,
    'login_expired',
  ],
  [/\bmodels?\b.{0,120}(?:not found|does not exist|is not supported)|ModelNotFound/iu, 'model_not_found'],
];

const overloadedWords = /overloaded|unavailable|too many requests|capacity/iu;

const networkWords =
  /fetch failed|connection (?:error|closed|reset|refused)|network|ECONN\w+|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ETIMEDOUT|UND_ERR|timed? ?out|socket|terminated|premature|unable to connect|stream (?:ended|closed|idle)|incomplete|aborted|no finish reason|empty response/iu;

/** Which failure of an attempt a failed model call is. */
export function apiFailure({ title, status, text, around = '', wall }: ApiError): Failure {
  const reason = reasonOf(status, text);
  const detail = `${title}: ${oneLine(text, 300) || 'the model call failed'}`;
  if (reason !== 'usage_limit' && reason !== 'overloaded') return { reason, detail };
  const resetAt = resetTimeOf(text, { wall }) ?? resetTimeOf(around, { wall });
  return resetAt !== null && resetAt > wall ? { reason, detail, resetAt } : { reason, detail };
}

function reasonOf(status: number | null, text: string): FailureReason {
  const told = byWords.find(([form]) => form.test(text))?.[1];
  if (told !== undefined) return told;
  if (status !== null && status >= 500) return 'overloaded';
  const known = status === null ? undefined : byStatus[status];
  if (known !== undefined) return known;
  if (overloadedWords.test(text)) return 'overloaded';
  return networkWords.test(text) ? 'network' : 'crash';
}
