/** How strongly a program is kept apart from the controller's state, the grades and its predecessors. */
export type Tier = 'bubblewrap' | 'uid' | 'none';

/** A process that can't be mistaken for a later one with the same pid: pid and kernel start time (clock ticks since boot). */
export interface ProcessIdentity {
  readonly pid: number;
  /** Kernel start time, clock ticks since boot, as decimal digits. */
  readonly start: string;
}

/** One process that was ended on the controller's behalf. */
export interface EndedProcess {
  readonly pid: number;
  /** Its command line. */
  readonly command: string;
  /** Age in milliseconds when it was ended. */
  readonly ageMs: number;
}

/** Something shown at an absolute path in the program's own view of the machine (tier `bubblewrap` alone). */
export interface Bind {
  /** Absolute; null for an empty folder of the program's own, in memory. */
  readonly from: string | null;
  readonly to: string;
  readonly writable: boolean;
}

/** What isolation a program gets. Paths are absolute. Whatever is not named is: readable system, no writes, hidden state. */
export interface Confinement {
  readonly tier: Tier;
  /** Folders the program may write. */
  readonly writable: readonly string[];
  /** Folders shown read-only although they lie below something hidden. */
  readonly readable: readonly string[];
  /** Files and folders that must look empty or be unreadable (state folder, hidden grader paths, other HOMEs, `hma.yaml`). */
  readonly hidden: readonly string[];
  /** HOME of the program; TMPDIR is `tmp`, and is /tmp too where the tier has mount namespaces. */
  readonly home: string;
  readonly tmp: string;
  readonly network: 'open' | 'none';
  /** For tier `uid`: the unused numeric uid this program runs as (sessions and evaluations have different ones). */
  readonly uid?: number;
  /** For tier `bubblewrap`: whether user namespaces inside are refused (default), or possible where the probe found that refusing fails. */
  readonly nested?: 'refused' | 'possible';
  /** Indexes of the GPUs whose device nodes the program sees (tier `bubblewrap`); all when absent. */
  readonly gpus?: readonly number[];
  /** Laid on top of everything else, in this order (tier `bubblewrap`; refused in the others). */
  readonly binds?: readonly Bind[];
}

/** How a program is asked to end: by which signal, and whether the program alone or its whole tree gets it. */
export interface Polite {
  readonly signal: 'SIGTERM' | 'SIGINT';
  readonly to: 'program' | 'tree';
}

/** All a runner needs to start one program; written as JSON (mode 0600) beside its outputs. The environment is never in it. */
export interface ProgramSpec {
  /** Unique per start; also the value of HMA_NONCE in the program's environment, by which its processes are found again. */
  readonly nonce: string;
  readonly kind: 'attempt' | 'review' | 'evaluation' | 'validation' | 'grade' | 'probe';
  /** Program and arguments; never a shell string. */
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly confinement: Confinement;
  /** Hard limit in milliseconds of CLOCK_MONOTONIC from the start, after which the runner ends the whole tree by itself. */
  readonly timeoutMs?: number;
  /** Output kept: the first and the last `bytes / 2` bytes. Default 64 MiB. */
  readonly outputBytes?: number;
  /** Text given on stdin; stdin is /dev/null without it. */
  readonly stdin?: string;
  /** Time from the polite signal to the hard end, milliseconds. */
  readonly graceMs?: number;
  /** How it is asked to end; SIGTERM to the whole tree when absent. */
  readonly polite?: Polite;
  /**
   * A harness puts what its tools start into groups of their own: whatever is in its own process group (its helpers, the harness
   * behind our driver) is part of it, and not counted among what it left.
   */
  readonly groupIsOwn?: true;
}

/** The runner's end report, `exit.json`, written atomically after the program itself has ended. */
export interface ExitReport {
  readonly nonce: string;
  readonly code: number | null;
  readonly signal: string | null;
  /** `timeout`: the runner's own deadline; `spawn`: the program could not be started (`error` says why); `ended`: an outside signal asked the runner to end it. */
  readonly cause: 'exit' | 'timeout' | 'spawn' | 'ended';
  readonly error?: string;
  /** The kernel's out-of-memory killer struck during the program's life and the program died of SIGKILL. */
  readonly outOfMemory: boolean;
  /** Machine clocks at the program's end. */
  readonly wall: number;
  readonly mono: number;
  readonly boot: string;
  readonly outputBytes: number;
}
