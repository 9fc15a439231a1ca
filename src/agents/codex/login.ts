import * as z from 'zod';

import type { LoginPlan } from '../port.ts';

const authSchema = z.looseObject({
  OPENAI_API_KEY: z.string().nullish(),
  tokens: z.looseObject({ access_token: z.string().min(1), refresh_token: z.string().min(1) }).nullish(),
});

/** The file that `codex login` writes, below HOME. */
export const authFile = '.codex/auth.json';

/**
 * Signing in with ChatGPT's plan, on a machine that may have no browser. Codex exchanges the refresh token about once an hour, and each is
 * good for one exchange.
 */
export const codexLogin: LoginPlan = {
  argv: ['codex', '-c', 'cli_auth_credentials_store="file"', 'login', '--device-auth'],
  environment: {},
  files: [authFile],
  wellFormed(_, content) {
    try {
      const { OPENAI_API_KEY, tokens } = authSchema.parse(JSON.parse(content));
      return Boolean(tokens ?? OPENAI_API_KEY);
    } catch {
      return false; // torn, empty, or something else
    }
  },
};
