import * as vscode from 'vscode';

/** Settings of the window, read at each use so that a change counts at once. */
export interface Settings {
  readonly openTerminals: boolean;
  /** Terminals show a session's bytes as they are, not what it said. */
  readonly rawTerminals: boolean;
  readonly openReview: boolean;
  readonly notify: Readonly<Record<'handoff' | 'paused' | 'reviewReady' | 'finished', boolean>>;
  /** State folder that takes HMA_HOME's place; empty = the default. */
  readonly stateFolder: string;
  /** Node binary (22 or later) that runs the controller; empty = found by itself. */
  readonly nodePath: string;
}

/** The settings as they are now. */
export function settings(): Settings {
  const section = vscode.workspace.getConfiguration('hma');
  return {
    openTerminals: section.get('terminals.openAutomatically', true),
    rawTerminals: section.get('terminals.raw', false),
    openReview: section.get('review.openAutomatically', true),
    notify: {
      handoff: section.get('notifications.handoff', false),
      paused: section.get('notifications.paused', true),
      reviewReady: section.get('notifications.reviewReady', true),
      finished: section.get('notifications.finished', true),
    },
    stateFolder: section.get('stateFolder', ''),
    nodePath: section.get('nodePath', ''),
  };
}
