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
  /** A fresh UUID of this attempt, for harnesses that take a session id. */
  readonly sessionId: string;
  /** Where an isolation tier keeps the session apart, its harness need not ask before it acts. */
  readonly isolated: boolean;
  /** Whether files can be hidden from the session although they lie in its workspace (tier bubblewrap). */
  readonly hides: boolean;
  /** `single`: one agent alone, which is to go on until the time is over (goal mode, where the harness has one). */
  readonly mode: 'alternate' | 'single';
  /** Node and the bundle `drive.js`, to which an adapter adds its driver's name; the drive comes on stdin. */
  readonly drive: readonly [string, string];
  /** Messages of a person for this attempt, JSON lines `{id, at, text}`: readable inside, written by the controller only. */
  readonly inbox: string;
  /** The folder of ours with this agent's login (`hma login`), absolute; it may be empty or absent. */
  readonly login: string;
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
  /** Files of the workspace that the harness must not find; only where the context says that they can be hidden. */
  readonly hidden?: readonly string[];
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

/** An attempt that is no natural end. */
export interface Failure {
  readonly reason: FailureReason;
  /** In words. */
  readonly detail: string;
  /** Unix ms before which another attempt is pointless (a usage limit's reset). */
  readonly resetAt?: number;
}

/** What an adapter is shown after an attempt's end. */
export interface AttemptEnd {
  readonly exit: ExitReport;
  /** The last 64 KiB of its output. */
  readonly outputTail: Uint8Array;
  /** Unix ms of the end, against which "resets 3pm" and Retry-After are read. */
  readonly wall: number;
}

/**
 * One recorded output of one model call, in the same words for every harness: counts of tokens as the provider told them. Input is
 * split without overlap; output includes reasoning. Source of the definitions: metrics.md, "Response length".
 */
export interface Response {
  /** The provider's message id, or what stands for it; unique within a session, so that nothing counts twice. */
  readonly id: string;
  /** Unix ms. */
  readonly at: number;
  /** The model as the harness reports it; null = not told. */
  readonly model: string | null;
  /** Tokens of the input that no cache had. */
  readonly uncachedInput: number;
  /** Tokens of the input that came from a cache. */
  readonly cachedInput: number;
  /** Tokens of the input that were written to a cache. */
  readonly cacheWrite: number;
  /** Tokens of the output, reasoning included. */
  readonly output: number;
  /** Tokens of the output that were reasoning. */
  readonly reasoning: number;
  /** Calls of tools that it asks for. */
  readonly toolCalls: number;
}

/** Where one attempt left its words. */
export interface AttemptPlace {
  readonly home: string;
  readonly cwd: string;
  /** Its output so far, the runner's log. */
  readonly output: string;
  readonly sessionId: string;
  /** Unix ms of the attempt's start: what is older in a HOME that is the user's own is not this session's. */
  readonly startedAt: number;
}

/**
 * Reads a session's responses as they come, from what the harness keeps on disk or prints. Each call gives back those that became
 * complete since the last one (after `last`: all that are left, also of a session that was killed). Never throws: an unknown or torn
 * line is skipped; a file that isn't there yet gives nothing.
 */
export interface ResponseReader {
  next(last: boolean): Promise<readonly Response[]>;
}

/** One line for a person of what a session said: text, a tool's call or its result, tokens. Without ANSI codes; the kind gives the colour. */
export interface SaidLine {
  readonly kind: 'text' | 'thinking' | 'tool' | 'result' | 'usage' | 'note' | 'error' | 'person';
  readonly text: string;
}

/** How a harness is signed in without a key: a login of ours, never a copy of the user's. */
export interface LoginPlan {
  /** The harness's own sign-in, run in a terminal with HOME as the login folder. */
  readonly argv: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  /** Files below HOME that make up the login, relative; taken into each session and written back when they are newer and well-formed. */
  readonly files: readonly string[];
  /** Whether a file's content is a whole login, so that a torn one is never written back. */
  wellFormed(file: string, content: string): boolean;
}

/** What the doctor finds out about a harness without starting a session. */
export interface Installed {
  readonly program: string;
  /** As it tells it; null = it does not say. */
  readonly version: string | null;
}

/** One harness, used as its maker ships it. */
export interface AgentAdapter {
  readonly name: string;
  readonly capabilities: Capabilities;
  /** The signal it takes as a polite request to end, whether its program alone or the whole tree gets it, and how long it gets, ms. */
  readonly politeSignal: 'SIGTERM' | 'SIGINT';
  readonly politeTo: 'program' | 'tree';
  readonly graceMs: number;
  /** Time between the k-th receipt's arrival in the session and the interrupt, ms. */
  readonly lingerMs: number;
  prepare(context: SessionContext): Promise<Result<Launch, PrepareRefusal>>;
  /** null = a natural end. */
  classify(end: AttemptEnd): Failure | null;
  /** What is told of it where agents are listed and checked; absent for `command` and `demo`. */
  readonly harness?: Harness;
  /** Opens the reader of one attempt's responses; absent where a harness tells none. */
  responses?(place: AttemptPlace): ResponseReader;
  /** What one line of its output says to a person; empty for a line that says nothing. Pure. */
  say?(line: string): readonly SaidLine[];
}

/** A harness as a product: where it comes from, which versions were tried, how it is signed in. */
export interface Harness {
  /** Its name as its maker writes it: Claude Code. */
  readonly title: string;
  /** The usual name of its program on PATH. */
  readonly program: string;
  /** The command that installs it, as one line for a person. */
  readonly install: string;
  /** Versions that the tests drive, oldest first. */
  readonly tested: readonly string[];
  /** Environment variables that hold a key, the usual one first. */
  readonly keys: readonly string[];
  readonly login: LoginPlan | null;
  /** Finds its program and asks for its version. */
  find(
    choice: AgentChoice,
    environment: SessionContext['outerEnvironment'],
  ): Promise<Result<Installed, PrepareRefusal>>;
}

/** Why a harness can't be started. */
export interface PrepareRefusal {
  readonly reason: 'not_installed' | 'not_configured';
  readonly detail: string;
}
