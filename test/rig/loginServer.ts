import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A scripted sign-in server: each refresh token is good for one exchange; one that comes twice ends the login for good, as with real ones. */
export interface LoginServer extends AsyncDisposable {
  readonly url: string;
  /** Tokens of a new login. */
  signIn(): { readonly access: string; readonly refresh: string };
  /** Exchanges so far. */
  readonly exchanges: number;
  /** Tokens that came although they were spent. */
  readonly reused: readonly string[];
  /** Whether a refresh token would still be taken. */
  isGood(refresh: string): boolean;
  /** From now on the answer to an exchange, which is made at once, waits until `letGo`. */
  hold(): void;
  letGo(): void;
}

/** Starts one. `answer` gives the body for new tokens; default `{access, refresh}`. */
export async function startLoginServer(
  answer: (tokens: { access: string; refresh: string }) => unknown = (tokens) => tokens,
): Promise<LoginServer> {
  let count = 0;
  let exchanges = 0;
  let held: ServerResponse[] | null = null;
  const good = new Set<string>();
  const spent = new Set<string>();
  const reused: string[] = [];
  const issue = (): { access: string; refresh: string } => {
    count++;
    good.add(`refresh-${count}`);
    return { access: `access-${count}`, refresh: `refresh-${count}` };
  };
  const bodies = new Map<ServerResponse, string>();
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const token = /refresh-\d+/u.exec(body)?.[0] ?? '';
      if (!good.delete(token)) {
        if (spent.has(token)) {
          reused.push(token);
          good.clear(); // whoever comes twice has stolen it: the login is over
        }
        response.writeHead(401, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { code: 'refresh_token_reused', message: 'spent' } }));
        return;
      }
      spent.add(token);
      exchanges++;
      bodies.set(response, JSON.stringify(answer(issue())));
      if (held) held.push(response);
      else send(response);
    });
  });
  const send = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(bodies.get(response));
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    signIn: issue,
    get exchanges() {
      return exchanges;
    },
    reused,
    isGood: (refresh) => good.has(refresh),
    hold: () => void (held ??= []),
    letGo() {
      for (const response of held ?? []) send(response);
      held = null;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
