import { ok, refused, type Result } from '../base/result.ts';
import { hasLogin } from './loginStore.ts';
import type { LoginPlan, PrepareRefusal, SessionContext } from './port.ts';

/** By what a session is let in: a key in a variable, or the files of a login. */
export type Credential =
  | { readonly kind: 'key'; readonly variable: string; readonly value: string }
  | { readonly kind: 'login' };

/** What a harness accepts. */
export interface CredentialsTaken {
  /** Names of the usual variables, the first that is set counts; `agent.keyVariable` alone counts where it is given. */
  readonly keys: readonly string[];
  readonly login: LoginPlan | null;
}

/**
 * The credential of a session: the key's variable where it is set, else a login (of ours, or the user's own where the session has the
 * user's own HOME). A variable that the author named and that is empty is refused: another account than the one meant is never taken.
 */
export async function credentialOf(
  context: Pick<SessionContext, 'agent' | 'home' | 'login' | 'outerEnvironment'>,
  taken: CredentialsTaken,
): Promise<Result<Credential, PrepareRefusal>> {
  const { agent, outerEnvironment: outer } = context;
  const variable = agent.keyVariable ?? taken.keys.find((name) => outer[name]) ?? taken.keys[0];
  const value = variable === undefined ? undefined : outer[variable];
  if (variable !== undefined && value) return ok({ kind: 'key', variable, value });
  if (agent.keyVariable === undefined && taken.login && isSignedIn(context, taken.login)) return ok({ kind: 'login' });
  const how = taken.login && agent.keyVariable === undefined ? `, or run \`hma login ${agent.adapter}\`` : '';
  return refused({ reason: 'not_configured', detail: `agent ${agent.name} has no login: set ${variable}${how}` });
}

const isSignedIn = ({ home, login }: Pick<SessionContext, 'home' | 'login'>, plan: LoginPlan): boolean =>
  [login, home].some((folder) => hasLogin({ folder, plan }));
