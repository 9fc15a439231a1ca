import type { EndedProcess, ProcessIdentity } from '../machines/port.ts';
import type { Failure, Response } from '../agents/port.ts';
import type { AgentSlot } from '../task/model.ts';
import type { AttemptExit, Closure, SessionName } from './model.ts';

/** Facts about options and the attempts of sessions (an attempt of the final review is one too). */
export interface OptionEvents {
  /** An agent's turn begins; its first attempt starts after this. */
  'option.opened': {
    /** From 1, without gaps. */
    readonly option: number;
    readonly agent: AgentSlot;
    /** SHA-256 of the option's token, hex; the token itself is never in the ledger. */
    readonly tokenHash: string;
  };
  /** Write-ahead intent: nothing of the session was signalled before this was on disk. */
  'option.ending': {
    readonly option: number;
    readonly reason: Closure;
    /** The session's processes at that moment. */
    readonly descendants: readonly (ProcessIdentity & { readonly command: string })[];
  };
  /** All its submissions are decided. */
  'option.settled': { readonly option: number };
  /** All its processes are gone, as far as they could be ended. */
  'option.reaped': {
    readonly option: number;
    /** What outlived the harness's program and was ended for it. */
    readonly ended: readonly EndedProcess[];
    /** What could not be ended; the run pauses for a person. */
    readonly survivors: readonly EndedProcess[];
    /** How long the ending took, ms. */
    readonly ms: number;
  };
  /** Its temporary files are gone and protected files are whole. */
  'option.clean': {
    readonly option: number;
    /** Protected files that had been changed and were put back, relative to the workspace. */
    readonly restored: readonly string[];
  };
  /** The option is over; the next session starts after this. */
  'option.closed': {
    readonly option: number;
    readonly closure: Closure;
    /** Whether the agent ended it, whatever the closure is. */
    readonly endedItself: boolean;
    /** Snapshot of the workspace's text at the handoff: a commit of the run's private repository; null where none was taken. */
    readonly workspaceSnapshot: string | null;
  };
  /** The receipt that used the cap up has reached the session. */
  'option.capSeen': { readonly option: number };
  /** Write-ahead intent of a spawn. */
  'attempt.starting': {
    readonly session: SessionName;
    /** From 1 in each session. */
    readonly attempt: number;
    /** Names this start; its processes carry it as HMA_NONCE. */
    readonly nonce: string;
    /** SHA-256 of the prompt's text, hex. */
    readonly promptHash: string;
  };
  /** Its runner lives. */
  'attempt.started': {
    readonly session: SessionName;
    readonly attempt: number;
    readonly runner: ProcessIdentity;
  };
  /** Its first output was seen. */
  'attempt.spoke': {
    readonly session: SessionName;
    readonly attempt: number;
    /** When, CLOCK_MONOTONIC ms. */
    readonly mono: number;
  };
  /** Responses of the model that were read since the last such event; each id once in a session's attempt. */
  'attempt.responded': {
    readonly session: SessionName;
    readonly attempt: number;
    readonly responses: readonly Response[];
  };
  /** Write-ahead intent to end an attempt without ending its option. */
  'attempt.ending': { readonly session: SessionName; readonly attempt: number; readonly reason: 'stall' };
  /** Its program has ended, and what its harness tells of responses was read to the end. */
  'attempt.ended': {
    readonly session: SessionName;
    readonly attempt: number;
    /** How the program ended; null when it was never started. */
    readonly exit: AttemptExit | null;
    /** Whether the agent ended it, before anybody asked it to. */
    readonly endedItself: boolean;
    /** Why it is no natural end; null for one. */
    readonly failure: Failure | null;
    /** Active time of the next attempt, when the failure policy grants one; null otherwise. */
    readonly retryAt: number | null;
    /** Whether it counts against the failure policy's attempts. */
    readonly counts: boolean;
  };
}
