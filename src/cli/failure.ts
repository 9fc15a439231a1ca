import type { ExitName } from './exitCodes.ts';

/** Why a command could not do its work: what happened and where, and what to do about it. */
export interface Failure {
  readonly exit: ExitName;
  /** Stable name of the kind, for scripts. */
  readonly code: string;
  readonly what: string;
  readonly fix: string;
}

/** A failure as a value of its own kind, to be told apart from what a command looks for. */
export const failure = (
  exit: ExitName,
  code: string,
  words: { readonly what: string; readonly fix: string },
): Failure => ({ exit, code, ...words });
