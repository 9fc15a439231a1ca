import * as z from 'zod';

import type { LoginPlan } from '../port.ts';

const tokenSchema = z.looseObject({ access_token: z.string().min(1), refresh_token: z.string().min(1) });

/**
 * Signing in with Kimi's plan by a code on another device. Only the tokens are the login: config.toml beside them can hold hooks, so a
 * session's is never kept; ours is written anew.
 */
export const kimiLogin: LoginPlan = {
  argv: ['kimi', 'login', '--region', 'mainland-cn'],
  environment: { KIMI_DISABLE_TELEMETRY: '1', KIMI_CODE_NO_AUTO_UPDATE: '1' },
  files: ['.kimi-code/credentials/kimi-code.json'],
  wellFormed(_, content) {
    try {
      return tokenSchema.safeParse(JSON.parse(content)).success;
    } catch {
      return false; // torn
    }
  },
};

/** What `kimi login` writes into config.toml, without its web services. Source: Kimi Code 2.1.0 signed in at a scripted server. */
export function managedConfig(given: {
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
  readonly effort: string;
}): string {
  const model = given.model ?? 'kimi-for-coding';
  const alias = JSON.stringify(`kimi-code/${model}`);
  return `default_model = ${alias}
[providers."managed:kimi-code"]
type = "kimi"
api_key = ""
base_url = ${JSON.stringify(given.baseUrl ?? 'https://api.kimi.com/coding/v1')}
[providers."managed:kimi-code".oauth]
storage = "file"
key = "oauth/kimi-code"
[models.${alias}]
provider = "managed:kimi-code"
model = ${JSON.stringify(model)}
max_context_size = 262144
capabilities = ["thinking", "tool_use"]
support_efforts = ["low", "high", "max"]
[thinking]
enabled = true
effort = ${JSON.stringify(given.effort)}
`;
}
