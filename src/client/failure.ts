/** What kind of failure it is; the command line has an exit code for each. */
export type FailureKind =
  | 'failed'
  | 'refused'
  | 'notFound'
  | 'contract'
  | 'held'
  | 'notRunning'
  | 'noCandidate'
  | 'usage'
  | 'bug';

/** Why a command could not do its work: what happened and where, and what to do about it. */
export interface Failure {
  readonly exit: FailureKind;
  /** Stable name of the kind, for scripts. */
  readonly code: string;
  readonly what: string;
  readonly fix: string;
}

/** A failure as a value of its own kind, to be told apart from what a command looks for. */
export const failure = (
  exit: FailureKind,
  code: string,
  words: { readonly what: string; readonly fix: string },
): Failure => ({ exit, code, ...words });
