/** The two agents of a configuration, by their place in it. */
export type AgentSlot = 'A' | 'B';

/** The agent whose turn it is not. */
export const otherAgent = (slot: AgentSlot): AgentSlot => (slot === 'A' ? 'B' : 'A');

/** A program to run: an argument list, never a shell string. Paths in it are as the user wrote them. */
export type Command = readonly [string, ...string[]];

/** How an evaluator tells its verdict. `file` is the safe way; candidate code can forge the other two. */
export type ResultSource =
  | { readonly from: 'file' }
  | { readonly from: 'lastLine' }
  | { readonly from: 'pattern'; readonly pattern: string };

/** Something that the evaluator finds at an absolute path (tier bubblewrap alone). */
export interface EvaluateBind {
  /** Absolute: shown read-only. Relative: below the checkout, writable. null: an empty folder of the evaluation's own, writable. */
  readonly from: string | null;
  readonly to: string;
}

/** The evaluator's contract: a command on a fresh checkout of the candidate. */
export interface EvaluateContract {
  readonly command: Command;
  /** Folder below the checkout that is the working directory; '.' is its root. */
  readonly cwd: string;
  readonly timeoutMs: number;
  /** The session is frozen while it runs. */
  readonly exclusive: boolean;
  /** Runs per submission; the score is their median. */
  readonly repeats: number;
  readonly result: ResultSource;
  /** Absolute paths readable for the evaluator, never for sessions. */
  readonly hidden: readonly string[];
  /** Absent for none. */
  readonly binds?: readonly EvaluateBind[];
}

/** An optional quick check of a candidate's form. It never runs the evaluator and is not counted. */
export interface ValidateContract {
  readonly command: Command;
  readonly cwd: string;
  readonly timeoutMs: number;
}

/** The optional hidden grader: its result is never seen by agents. */
export interface GradeContract {
  readonly command: Command;
  readonly cwd: string;
  readonly timeoutMs: number;
  /** Absolute paths that only the grader may read. */
  readonly hidden: readonly string[];
}

/** What is measured. All numbers are in the unit of the score. */
export interface Metric {
  /** Such as accuracy or cycles. */
  readonly name: string;
  readonly direction: 'maximize' | 'minimize';
  /** What a simple method reaches. */
  readonly baseline?: number;
  /** What a good one reaches. */
  readonly reference?: number;
  /** Named scores, such as medals. */
  readonly thresholds: readonly { readonly name: string; readonly score: number }[];
  /** The possible range; a score outside raises the flag `out_of_range`. */
  readonly range?: { readonly min?: number; readonly max?: number };
  /** Differences up to this are no improvement. Default 0. */
  readonly noise: number;
}

/** One agent: which adapter, and what the adapter needs. */
export interface AgentChoice {
  /** The name people see; unique within the pair. */
  readonly name: string;
  /** `command` for any program; other adapters by their harness's name. */
  readonly adapter: string;
  /** The program of the `command` adapter; `{prompt}` and `{promptFile}` in an argument are replaced. */
  readonly command?: Command;
  /** How the `command` adapter hands over the prompt: `file` sets HMA_PROMPT, `argument` appends it, `stdin` writes it. */
  readonly prompt: 'file' | 'argument' | 'stdin';
  readonly model?: string;
  readonly effort?: string;
  /** Names of environment variables passed on to this agent only. */
  readonly environment: readonly string[];
  /** The harness's program when it is not to be found by its usual name: a name on PATH, or a path. */
  readonly program?: string;
  /** A named endpoint with its model, such as `glm`: fills in what of `baseUrl`, `keyVariable`, `model` and `effort` is absent. */
  readonly preset?: string;
  /** Another endpoint that speaks the harness's protocol, http(s). */
  readonly baseUrl?: string;
  /** Name of the environment variable that holds the key. Absent: the harness's usual one where it is set, else the login made by `hma login`. */
  readonly keyVariable?: string;
  /**
   * Whether the harness asks before it acts. `auto`: never inside an isolation tier, `limited` without one. `limited`: it edits files and
   * runs commands by its own allow list, and what it would ask for is refused. `bypass`: never asks, isolated or not.
   */
  readonly permissions?: 'auto' | 'limited' | 'bypass';
  /** `shell`: the agent submits by the `hma` command. `mcp`: tools of the MCP server `hma` are offered besides. */
  readonly tools?: 'shell' | 'mcp';
}

/** Who takes turns, and how long a turn may be. */
export interface Policy {
  /** `single`: one agent alone, without a review. */
  readonly mode: 'alternate' | 'single';
  /** Most accepted experiments in one option [k]; null = natural termination. */
  readonly cap: number | null;
  /** Who begins. */
  readonly first: AgentSlot;
  /** Whether prompts name the cap. */
  readonly tellCap: boolean;
}

/** What a run may use. */
export interface Budgets {
  /** Active runtime of the whole run [t_total], ms. */
  readonly totalMs: number;
  /** Active runtime reserved for the final review [t_rev], ms. */
  readonly reviewMs: number;
  /** Most accepted experiments of the run [N]; null = no limit. */
  readonly experiments: number | null;
  /** Most tokens that exploration may use, input and output together; absent = no limit. */
  readonly tokens?: number;
  /** Most money that exploration may cost, USD; absent = no limit. */
  readonly cost?: number;
  /** Unix ms at which everything must be over (a rental's end); null = none. */
  readonly until: number | null;
}

/** What follows when an agent's usage limit is reached. */
export interface UsageLimitPolicy {
  /** Another attempt after the reset, the other agent at once, or a pause until a person resumes. A reset after the end of exploration is not waited for. */
  readonly then: 'wait' | 'handover' | 'pause';
  /** Whether waiting stops the run's clock. */
  readonly pauseClock: boolean;
}

/** What follows when an attempt failed (crash, usage limit, stall ...). */
export interface FailurePolicy {
  /** Attempts per option, the first included. */
  readonly attempts: number;
  /** First wait before another attempt, ms; doubled each time. */
  readonly waitMs: number;
  /** After the last attempt: let the option end and go on with the other agent, or pause the run. */
  readonly then: 'handover' | 'pause';
  /** Absent in contracts that were frozen before it existed: wait, with the clock running. */
  readonly usageLimit?: UsageLimitPolicy;
}

export type Notify =
  | { readonly kind: 'none' }
  | { readonly kind: 'command'; readonly command: Command }
  | { readonly kind: 'url'; readonly url: string };

/** The task contract, resolved: defaults filled in, files read, paths absolute where said. Frozen at a run's start. */
export interface Contract {
  readonly schema: 1;
  readonly name: string;
  /** The objective's text (already read when the contract named a file). */
  readonly objective: string;
  /** Paths or globs below the workspace that make up a candidate. */
  readonly candidate: readonly string[];
  /** Paths or globs below the workspace that agents must not change; `hma.yaml` and workspace files named in `evaluate` included. */
  readonly protected: readonly string[];
  readonly evaluate: EvaluateContract;
  readonly validate: ValidateContract | null;
  readonly grade: GradeContract | null;
  readonly metric: Metric;
  readonly feedback: 'score' | 'blind';
  readonly agents: Readonly<Record<AgentSlot, AgentChoice>>;
  readonly policy: Policy;
  readonly budgets: Budgets;
  /** `finished`: the verdict must come before the deadline. `submitted`: the submission must, and the verdict within `graceMs` after. */
  readonly lateRule: { readonly rule: 'finished' } | { readonly rule: 'submitted'; readonly graceMs: number };
  /** What is selected when no valid nomination was made. */
  readonly fallback: 'standing' | 'record';
  readonly failures: FailurePolicy;
  /** No output, CPU or GPU use in the whole tree for this long is a stall, ms. */
  readonly stallMs: number;
  /** Options in a row without an accepted experiment after which the review begins; null = never. */
  readonly stopAfterBarren: number | null;
  readonly notify: Notify;
  readonly limits: {
    /** Largest candidate, bytes. */
    readonly candidateBytes: number;
    /** Most files of a candidate. */
    readonly candidateFiles: number;
    /** Output kept of each program, bytes. */
    readonly outputBytes: number;
    /** Free bytes below which the run pauses. */
    readonly diskFloorBytes: number;
    /** Undecided submissions at once. */
    readonly queue: number;
  };
  readonly isolation: {
    readonly tier: 'auto' | 'bubblewrap' | 'uid' | 'none';
    /** Network of evaluators and graders; sessions need theirs. */
    readonly network: 'open' | 'none';
    /** Each session gets a HOME of its own. */
    readonly ownHome: boolean;
    /** Absolute paths that sessions and evaluations may read although they lie in a hidden place. */
    readonly readable: readonly string[];
    /** Absolute paths outside the workspace that sessions may write; they outlive sessions. */
    readonly writable: readonly string[];
    /** Absolute paths that no program of the run may read; absent for none. */
    readonly hidden?: readonly string[];
  };
  /** Prompt templates' texts that replace the built-in ones. */
  readonly prompts: {
    readonly exploration?: string;
    readonly review?: string;
    /** Asks agents to commit each round and to keep a journal. */
    readonly recordKeeping?: boolean;
  };
  /** Names of environment variables passed on to sessions, evaluations and graders. */
  readonly environment: readonly string[];
  /** State folder named by the contract, absolute; null = the default. */
  readonly state: string | null;
}
