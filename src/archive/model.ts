import type { Flag } from '../experiments/model.ts';
import type { AgentSlot } from '../task/model.ts';

/** The archived files of an accepted experiment. Its place in the archive is its order, from 1. */
export interface Candidate {
  /** The experiment's id. */
  readonly id: string;
  readonly order: number;
  readonly author: AgentSlot;
  readonly option: number;
  readonly score: number;
  readonly reported: number | null;
  readonly note: string | null;
  /** Active runtime of its acceptance, ms. */
  readonly acceptedAt: number;
  readonly acceptedWall: number;
  readonly snapshot: string;
  readonly contentHash: string;
  readonly files: number;
  readonly bytes: number;
  readonly flags: readonly Flag[];
  /** Hidden offline score; null until graded. Never shown to agents. */
  readonly grade: Grade | null;
}

/** What the hidden grader said of a candidate. */
export type Grade =
  | { readonly kind: 'graded'; readonly grade: number; readonly wall: number }
  | { readonly kind: 'ungraded'; readonly reason: string; readonly wall: number };
