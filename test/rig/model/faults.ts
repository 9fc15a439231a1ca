import type { Api, Json } from './script.ts';

/** What goes wrong at a provider or on the way to it. */
export type Fault =
  | { readonly kind: 'unauthorized' | 'invalid_key' | 'login_expired' | 'forbidden' | 'model_not_found' }
  /** Too many requests; `retryAfter` (s) and `resetAt` (Unix ms) as the provider tells them, in headers and text. */
  | { readonly kind: 'rate_limited'; readonly retryAfter?: number; readonly resetAt?: number }
  /** A plan's allowance is used up until `resetAt` (Unix ms); `text` replaces the provider's words ("… resets 3pm"). */
  | { readonly kind: 'usage_limit'; readonly resetAt?: number; readonly text?: string }
  /** Nothing is left to spend, and waiting doesn't help. */
  | { readonly kind: 'no_credit' }
  | { readonly kind: 'overloaded' | 'unavailable' | 'context_overflow' }
  /** The connection is destroyed: before the headers, or after the answer's first event. */
  | { readonly kind: 'cut'; readonly when: 'before' | 'within' }
  /** Silence until the client gives up: before the headers, or after the answer's first event. */
  | { readonly kind: 'hang'; readonly when: 'before' | 'within' }
  | {
      readonly kind: 'raw';
      readonly status: number;
      readonly body: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

/** An error as it goes over the wire. */
export interface WireError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A fault as the provider of a protocol words it; null for one that is no answer at all (`cut`, `hang`). */
export function wireError(fault: Fault, api: Api, model: string): WireError | null {
  if (fault.kind === 'cut' || fault.kind === 'hang') return null;
  if (fault.kind === 'raw')
    return { status: fault.status, headers: { 'content-type': 'text/plain', ...fault.headers }, body: fault.body };
  const { status, body, headers } = { anthropic, responses: openai, chat: openai, gemini }[api](fault, model);
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

type Told = Exclude<Fault, { kind: 'cut' | 'hang' | 'raw' }>;
interface Answer {
  readonly status: number;
  readonly body: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

const seconds = (ms: number): number => Math.round(ms / 1000);
const secondsUntil = (at: number): number => Math.max(0, seconds(at - Date.now()));

/** Headers of a limit with its end; empty where nothing is told. */
const retryAfter = (told: { retryAfter?: number; resetAt?: number }): Readonly<Record<string, string>> => {
  const after = told.retryAfter ?? (told.resetAt === undefined ? undefined : secondsUntil(told.resetAt));
  return after === undefined ? {} : { 'retry-after': String(after) };
};

/** Source: docs.anthropic.com, "Errors" and "Rate limits"; the unified headers as plans of Claude Code send them. */
function anthropic(fault: Told, model: string): Answer {
  const error = (status: number, type: string, message: string, headers = {}): Answer => ({
    status,
    headers,
    body: { type: 'error', error: { type, message }, request_id: 'req_scripted' },
  });
  switch (fault.kind) {
    case 'unauthorized':
    case 'invalid_key':
      return error(401, 'authentication_error', 'invalid x-api-key');
    case 'login_expired':
      return error(
        401,
        'authentication_error',
        'OAuth token has expired. Please obtain a new token or refresh your existing token.',
      );
    case 'forbidden':
      return error(403, 'permission_error', 'Your API key does not have permission to use the specified resource.');
    case 'model_not_found':
      return error(404, 'not_found_error', `model: ${model}`);
    case 'rate_limited':
      return error(
        429,
        'rate_limit_error',
        "This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
        {
          ...retryAfter(fault),
          ...(fault.resetAt !== undefined && {
            'anthropic-ratelimit-requests-reset': new Date(fault.resetAt).toISOString(),
            'anthropic-ratelimit-tokens-reset': new Date(fault.resetAt).toISOString(),
          }),
        },
      );
    case 'usage_limit':
      return error(
        429,
        'rate_limit_error',
        fault.text ?? "This request would exceed your account's rate limit. Please try again later.",
        {
          'anthropic-ratelimit-unified-status': 'rejected',
          'anthropic-ratelimit-unified-representative-claim': 'five_hour',
          ...retryAfter(fault),
          ...(fault.resetAt !== undefined && {
            'anthropic-ratelimit-unified-reset': String(seconds(fault.resetAt)),
            'anthropic-ratelimit-unified-5h-reset': String(seconds(fault.resetAt)),
          }),
        },
      );
    case 'no_credit':
      return error(
        400,
        'invalid_request_error',
        'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
      );
    case 'overloaded':
      return error(529, 'overloaded_error', 'Overloaded');
    case 'unavailable':
      return error(503, 'api_error', 'Service unavailable');
    case 'context_overflow':
      return error(400, 'invalid_request_error', 'prompt is too long: 208310 tokens > 200000 maximum');
  }
}

/** Source: platform.openai.com, "Error codes"; `usage_limit_reached` as ChatGPT plans answer Codex. */
function openai(fault: Told, model: string): Answer {
  const error = (status: number, body: Json, headers = {}): Answer => ({
    status,
    headers,
    body: { error: { type: 'invalid_request_error', param: null, code: null, ...body } },
  });
  switch (fault.kind) {
    case 'unauthorized':
    case 'invalid_key':
      return error(401, {
        message:
          'Incorrect API key provided: dummy. You can find your API key at https://platform.openai.com/account/api-keys.',
        code: 'invalid_api_key',
      });
    case 'login_expired':
      return error(401, {
        message: 'Your authentication token has been invalidated. Please try signing in again.',
        code: 'token_invalidated',
      });
    case 'forbidden':
      return error(403, { message: 'You have insufficient permissions for this operation.', code: 'forbidden' });
    case 'model_not_found':
      return error(404, {
        message: `The model \`${model}\` does not exist or you do not have access to it.`,
        code: 'model_not_found',
      });
    case 'rate_limited': {
      const headers = retryAfter(fault);
      const after = headers['retry-after'];
      const again = after === undefined ? '' : ` Please try again in ${after}s.`;
      return error(
        429,
        {
          message: `Rate limit reached for ${model} in organization org-scripted on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.${again}`,
          type: 'tokens',
          code: 'rate_limit_exceeded',
        },
        { ...headers, ...(after !== undefined && { 'x-ratelimit-reset-tokens': `${after}s` }) },
      );
    }
    case 'usage_limit':
      return error(429, {
        message: fault.text ?? 'The usage limit has been reached',
        type: 'usage_limit_reached',
        plan_type: 'plus',
        ...(fault.resetAt !== undefined && {
          resets_at: seconds(fault.resetAt),
          resets_in_seconds: secondsUntil(fault.resetAt),
        }),
      });
    case 'no_credit':
      return error(429, {
        message: 'You exceeded your current quota, please check your plan and billing details.',
        type: 'insufficient_quota',
        code: 'insufficient_quota',
      });
    case 'overloaded':
    case 'unavailable':
      return error(503, {
        message: 'The server is currently overloaded with other requests. Sorry about that! Please retry later.',
        type: 'server_error',
        code: 'server_is_overloaded',
      });
    case 'context_overflow':
      return error(400, contextOverflow);
  }
}

/** How OpenAI says that a context is full; the Responses protocol also says it inside a stream. */
export const contextOverflow: Json = {
  message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
  type: 'invalid_request_error',
  param: 'input',
  code: 'context_length_exceeded',
};

/** Source: ai.google.dev, "Troubleshooting", and google.rpc's error details. */
function gemini(fault: Told, model: string): Answer {
  const error = (code: number, status: string, message: string, details: readonly Json[] = []): Answer => ({
    status: code,
    body: { error: { code, message, status, ...(details.length > 0 && { details }) } },
  });
  const info = (reason: string): Json => ({
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason,
    domain: 'googleapis.com',
    metadata: { service: 'generativelanguage.googleapis.com' },
  });
  switch (fault.kind) {
    case 'unauthorized':
    case 'login_expired':
      return error(
        401,
        'UNAUTHENTICATED',
        'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.',
      );
    case 'invalid_key':
      return error(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
        info('API_KEY_INVALID'),
      ]);
    case 'forbidden':
      return error(403, 'PERMISSION_DENIED', 'The caller does not have permission');
    case 'model_not_found':
      return error(
        404,
        'NOT_FOUND',
        `models/${model} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.`,
      );
    case 'rate_limited':
    case 'usage_limit':
    case 'no_credit':
      return quota(fault, error);
    case 'overloaded':
    case 'unavailable':
      return error(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.');
    case 'context_overflow':
      return error(
        400,
        'INVALID_ARGUMENT',
        'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      );
  }
}

function quota(
  fault: Extract<Told, { kind: 'rate_limited' | 'usage_limit' | 'no_credit' }>,
  error: (code: number, status: string, message: string, details: readonly Json[]) => Answer,
): Answer {
  const after = retryAfter(fault.kind === 'no_credit' ? {} : fault)['retry-after'];
  const text = 'text' in fault ? fault.text : undefined;
  const again = after === undefined ? '' : `\nPlease retry in ${after}s.`;
  return error(
    429,
    'RESOURCE_EXHAUSTED',
    text ?? `You exceeded your current quota, please check your plan and billing details.${again}`,
    [
      {
        '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
        violations: [
          {
            quotaMetric: 'generativelanguage.googleapis.com/generate_content_paid_tier_requests',
            quotaId:
              fault.kind === 'rate_limited'
                ? 'GenerateRequestsPerMinutePerProjectPerModel'
                : 'GenerateRequestsPerDayPerProjectPerModel',
          },
        ],
      },
      ...(after === undefined
        ? []
        : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${after}s` }]),
    ],
  );
}
