import { absolutePath } from '../base/program.ts';
import type { Launch, SessionContext } from './port.ts';

/** What a session's environment is made from. */
export interface SessionEnvironmentRequest {
  readonly context: SessionContext;
  readonly launch: Launch;
  /** Names of variables passed on to all programs of the run (`environment` of the contract); the agent's own are in `context`. */
  readonly named: readonly string[];
  /** The option's token; authorship comes from it (invariant 5). */
  readonly token: string;
  /** The controller's agent socket. */
  readonly socket: string;
  /** Folder of the `hma` shim; first on PATH. */
  readonly shimFolder: string;
  readonly run: string;
}

/**
 * The whole environment of one attempt, fresh: the named variables, what the adapter needs, PATH with the shim first (only
 * absolute entries: an empty one would let the workspace decide what `git` is), HOME, TMPDIR, LANG, TZ and the HMA_* variables.
 * Nothing else of the controller's environment (invariant 4). A named variable never overrides ours.
 */
export function sessionEnvironment(request: SessionEnvironmentRequest): Record<string, string> {
  const { context, launch } = request;
  const outer = context.outerEnvironment;
  const environment: Record<string, string> = { LANG: outer['LANG'] ?? 'C.UTF-8' };
  for (const name of ['TZ', ...request.named, ...context.agent.environment]) {
    const value = outer[name];
    if (value !== undefined) environment[name] = value;
  }
  return {
    ...environment,
    ...launch.environment,
    PATH: `${request.shimFolder}:${absolutePath(outer['PATH'])}`,
    HOME: context.home,
    TMPDIR: context.tmp,
    HMA_ROLE: context.role,
    HMA_OPTION: String(context.option),
    HMA_ATTEMPT: String(context.attempt),
    HMA_WORKSPACE: context.workspace,
    HMA_PROMPT: context.promptFile,
    HMA_TOKEN: request.token,
    HMA_SOCKET: request.socket,
    HMA_RUN: request.run,
  };
}
