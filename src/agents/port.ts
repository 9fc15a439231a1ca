import type { AgentChoice } from '../task/model.ts';
import type { ExitReport } from '../machines/port.ts';
import type { Result } from '../base/result.ts';

/** What a harness can do; a newer CLI changes this data, not the code that reads it. */
export interface Capabilities {
  /** Machine-readable events on its output. */
  readonly structuredEvents: boolean;
  /** Takes a message in mid-session. */
  readonly steering: boolean;
  /** Can be asked to stop without losing its transcript. */
  readonly cleanInterrupt: boolean;
  readonly sessionId: 'given' | 'reported' | 'none';
  readonly tokens: 'disk' | 'stream' | 'none';
  readonly cost: boolean;
  readonly effort: boolean;
  readonly goal: 'native' | 'reprompt' | 'none';
  readonly mcp: boolean;
}

/** Everything a session is made from. Paths are absolute; folders exist. */
export interface SessionContext {
  readonly role: 'explore' | 'review';
  readonly agent: AgentChoice;
  /** The workspace; the working directory too, except in a review, where that is `scratch`. */
  readonly workspace: string;
  readonly cwd: string;
  readonly home: string;
  readonly tmp: string;
  /** Folder of the session in the state folder; the adapter may keep files there that the session must not see. */
  readonly folder: string;
  readonly prompt: string;
  /** The prompt as a file that the session can read. */
  readonly promptFile: string;
  readonly option: number;
  readonly attempt: number;
  /** Environment of the controller, from which only named variables are taken. */
  readonly outerEnvironment: Readonly<Record<string, string | undefined>>;
}

/** How to start one attempt. The controller adds HMA_* variables, PATH, HOME, TMPDIR and the confinement. */
export interface Launch {
  readonly argv: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Folders beyond the workspace that must be readable or writable inside (login folders, the program's own installation). */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

/** Why an attempt is no natural end. */
export type FailureReason =
  | 'usage_limit'
  | 'login_expired'
  | 'model_not_found'
  | 'overloaded'
  | 'network'
  | 'context_overflow'
  | 'out_of_memory'
  | 'stall'
  | 'crash'
  | 'not_started'
  | 'runner_lost'
  | 'after_thaw';

export interface Failure {
  readonly reason: FailureReason;
  readonly detail: string;
  /** Unix ms before which another attempt is pointless (a usage limit's reset). */
  readonly resetAt?: number;
}

/** What an adapter is shown after an attempt's end. */
export interface AttemptEnd {
  readonly exit: ExitReport;
  /** The last 64 KiB of its output. */
  readonly outputTail: Uint8Array;
}

/** One harness, used as its maker ships it. */
export interface AgentAdapter {
  readonly name: string;
  readonly capabilities: Capabilities;
  /** The signal it takes as a polite request to end, and how long it gets, ms. */
  readonly politeSignal: 'SIGTERM' | 'SIGINT';
  readonly graceMs: number;
  /** Time between the k-th receipt's arrival in the session and the interrupt, ms. */
  readonly lingerMs: number;
  prepare(
    context: SessionContext,
  ): Promise<Result<Launch, { readonly reason: 'not_installed' | 'not_configured'; readonly detail: string }>>;
  /** null = a natural end. */
  classify(end: AttemptEnd): Failure | null;
}
