import type { EndedProcess, ProcessIdentity } from '../machines/port.ts';
import type { Failure, Response } from '../agents/port.ts';
import type { AgentSlot } from '../task/model.ts';
import type { AttemptExit, Closure, SessionName } from './model.ts';

/** Facts about options and the attempts of sessions (an attempt of the final review is one too). */
export interface OptionEvents {
  'option.opened': { readonly option: number; readonly agent: AgentSlot; readonly tokenHash: string };
  /** Write-ahead intent: nothing of the session was signalled before this was on disk. */
  'option.ending': {
    readonly option: number;
    readonly reason: Closure;
    readonly descendants: readonly (ProcessIdentity & { readonly command: string })[];
  };
  'option.settled': { readonly option: number };
  'option.reaped': {
    readonly option: number;
    readonly ended: readonly EndedProcess[];
    readonly survivors: readonly EndedProcess[];
    readonly ms: number;
  };
  'option.clean': { readonly option: number; readonly restored: readonly string[] };
  'option.closed': {
    readonly option: number;
    readonly closure: Closure;
    readonly endedItself: boolean;
    readonly workspaceSnapshot: string | null;
  };
  /** The receipt that used the cap up has reached the session. */
  'option.capSeen': { readonly option: number };
  /** Write-ahead intent of a spawn. */
  'attempt.starting': {
    readonly session: SessionName;
    readonly attempt: number;
    readonly nonce: string;
    readonly promptHash: string;
  };
  'attempt.started': { readonly session: SessionName; readonly attempt: number; readonly runner: ProcessIdentity };
  /** Its first output was seen. */
  'attempt.spoke': { readonly session: SessionName; readonly attempt: number; readonly mono: number };
  /** Responses of the model that were read since the last such event; each id once in a session's attempt. */
  'attempt.responded': {
    readonly session: SessionName;
    readonly attempt: number;
    readonly responses: readonly Response[];
  };
  /** Write-ahead intent to end an attempt without ending its option. */
  'attempt.ending': { readonly session: SessionName; readonly attempt: number; readonly reason: 'stall' };
  'attempt.ended': {
    readonly session: SessionName;
    readonly attempt: number;
    readonly exit: AttemptExit | null;
    readonly endedItself: boolean;
    readonly failure: Failure | null;
    /** Active time of the next attempt, when the failure policy grants one; null otherwise. */
    readonly retryAt: number | null;
    readonly counts: boolean;
  };
}
