import * as z from 'zod';

import type { LoginPlan } from '../port.ts';

const credentials = z.looseObject({
  claudeAiOauth: z.looseObject({ accessToken: z.string().min(1), refreshToken: z.string().min(1) }),
});

/** Where `claude auth login` keeps its tokens on Linux, below HOME. */
export const credentialsFile = '.claude/.credentials.json';

/**
 * Signing in with a Claude subscription: prints an address, and takes the code that the browser shows. `claude setup-token` is no
 * alternative here: it only prints a token, for the variable CLAUDE_CODE_OAUTH_TOKEN. The refresh token is good for one exchange.
 */
export const claudeLogin: LoginPlan = {
  argv: ['claude', 'auth', 'login'],
  environment: { DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  files: [credentialsFile],
  wellFormed(_, content) {
    try {
      return credentials.safeParse(JSON.parse(content)).success;
    } catch {
      return false; // torn
    }
  },
};
