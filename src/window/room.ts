import type * as vscode from 'vscode';

import type { Intent, IntentReply } from '../protocol/client.ts';
import type { CandidateMarks } from './marks.ts';
import type { RunModel } from './runModel.ts';

/** An intent before it is said who wants it. */
export type Wish = Intent extends infer One ? (One extends { readonly by: string } ? Omit<One, 'by'> : never) : never;

/** What the parts of one window share. */
export interface WindowRoom {
  readonly context: vscode.ExtensionContext;
  /** Real path of the task's folder. */
  readonly folder: string;
  readonly model: RunModel;
  readonly marks: CandidateMarks;
  readonly log: vscode.LogOutputChannel;
  /** Asks the controller in this person's name; a finished run's is brought back for it. A refusal is shown, and returned. */
  ask(wish: Wish): Promise<IntentReply>;
}
